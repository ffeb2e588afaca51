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
    /// each round and have some rounds per attribute.
    pub seconds_per_candidate: f64,
    /// Iterations of a graphical model as the mechanism's own estimator.
    pub own_iterations: f64,
    pub measured: Measured,
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
    /// Marginals that are chosen one by one with Gaussian noise, so many rounds per attribute at
    /// most, in a junction tree of limited size. They are the larger the smaller the noise is.
    Chosen { rounds_per_attribute: f64 },
}

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
    };

    /// The seconds of a release. `iteration_seconds` is the time of one iteration of the model.
    pub(crate) fn predicted(
        &self,
        attributes: usize,
        (marginals, queries): (usize, usize),
        iteration_seconds: f64,
    ) -> f64 {
        let (attributes, queries) = (attributes as f64, queries as f64);
        let iterations = self.iterations + self.iterations_per_attribute * attributes;
        let pairs = attributes * attributes;
        iterations * iteration_seconds
            + self.seconds
            + self.seconds_per_query * queries
            + self.seconds_per_pair * pairs
            + self.seconds_per_candidate * attributes * marginals as f64
    }
}
