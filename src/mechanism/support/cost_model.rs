/// A rough prediction of the wall time of a release.
///
/// The coefficients were measured on the papers' experiments (release build, one core of a 2 GHz
/// server).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostModel {
    /// Iterations of a graphical model.
    pub iterations: f64,
    pub iterations_per_attribute: f64,
    pub seconds: f64,
    pub seconds_per_query: f64,
    /// Per pair of attributes.
    pub seconds_per_pair: f64,
    /// Per attribute and marginal of the workload, for mechanisms that compare all marginals in
    /// each round and have some rounds per attribute. A model of many cells takes longer.
    pub seconds_per_candidate: f64,
    /// Iterations of a graphical model as the mechanism's own estimator.
    pub own_iterations: f64,
    pub measured: Measured,
    /// False if the time depends on the data or on a program in ways that a plan cannot know.
    pub is_known: bool,
}

/// What a mechanism measures, for the size of the model of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured {
    /// The workload.
    Workload,
    /// A part of the workload; its model is assumed to have that part of the cells.
    Part(f64),
    /// The one-way marginals.
    Attributes,
    /// The two-way marginals of a tree on the attributes.
    Pairs,
    /// Marginals that are chosen one by one, in a junction tree of limited size, with the noise of
    /// this number of rounds per attribute: the larger, the smaller the noise is.
    ChosenByNoise { rounds_per_attribute: f64 },
    /// The same with a penalty for cells that does not depend on the noise.
    ChosenByCells,
}

/// The cells of a model from which on the time per candidate grows with them.
const SMALL_MODEL: f64 = 1e5;

impl CostModel {
    /// For mechanisms that make one pass over the data and add noise.
    pub(crate) const NEGLIGIBLE: Self = Self {
        iterations: 0.0,
        iterations_per_attribute: 0.0,
        seconds: 1e-3,
        seconds_per_query: 0.0,
        seconds_per_pair: 0.0,
        seconds_per_candidate: 0.0,
        own_iterations: 0.0,
        measured: Measured::Workload,
        is_known: true,
    };

    /// The seconds of a release. `iteration_seconds` is the time of one iteration of the model, and
    /// `cells` its size.
    pub(crate) fn predicted(
        &self,
        attributes: usize,
        (marginals, queries): (usize, usize),
        (iteration_seconds, cells): (f64, f64),
    ) -> f64 {
        let (attributes, queries) = (attributes as f64, queries as f64);
        let iterations = self.iterations + self.iterations_per_attribute * attributes;
        let pairs = attributes * attributes;
        iterations * iteration_seconds
            + self.seconds
            + self.seconds_per_query * queries
            + self.seconds_per_pair * pairs
            + self.seconds_per_candidate
                * attributes
                * marginals as f64
                * (1.0 + cells / SMALL_MODEL)
    }
}
