/// A rough prediction of the wall time of a release.
///
/// The coefficients were measured on the papers' experiments (release build, one core of a 2 GHz
/// server). A prediction can be wrong by a factor of ten; it only has to separate long from short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostModel {
    /// Iterations of a graphical model.
    pub iterations: f64,
    pub iterations_per_attribute: f64,
    pub seconds: f64,
    pub seconds_per_query: f64,
    /// Per pair of attributes.
    pub seconds_per_pair: f64,
    /// The size of the model of what is measured, as a fraction of the model of the workload. Less
    /// than 1 for mechanisms that choose what they measure.
    pub measured_fraction: f64,
    /// The most cells of that model, for mechanisms that limit it.
    pub most_cells: f64,
}

/// The mean over the rounds of AIM and MWEM+PGM on Adult, whose limit is ten times as much, roughly.
pub(crate) const CELLS_OF_ROUNDS: f64 = 1e6;

impl CostModel {
    /// For mechanisms that make one pass over the data and add noise.
    pub(crate) const NEGLIGIBLE: Self = Self {
        iterations: 0.0,
        iterations_per_attribute: 0.0,
        seconds: 1e-3,
        seconds_per_query: 0.0,
        seconds_per_pair: 0.0,
        measured_fraction: 1.0,
        most_cells: f64::INFINITY,
    };

    /// The seconds of a release. `iteration_seconds` is the time of one iteration of the model.
    pub(crate) fn predicted(
        &self,
        attributes: usize,
        queries: usize,
        iteration_seconds: f64,
    ) -> f64 {
        let (attributes, queries) = (attributes as f64, queries as f64);
        let iterations = self.iterations + self.iterations_per_attribute * attributes;
        let pairs = attributes * attributes;
        iterations * iteration_seconds
            + self.seconds
            + self.seconds_per_query * queries
            + self.seconds_per_pair * pairs
    }
}
