/// What a release takes, roughly, for predictions of time. Whatever is not said is too little to count.
///
/// Measured on runs of the papers' experiments (release build, one core of a 2 GHz server). Ten times off
/// is possible; what matters is that large is told from small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Iterations of a graphical model,
    pub iterations: f64,
    /// and how many more there are for each attribute.
    pub iterations_an_attribute: f64,
    /// Seconds, whatever is asked,
    pub seconds: f64,
    /// for each query,
    pub seconds_a_query: f64,
    /// and for each pair of attributes.
    pub seconds_a_pair: f64,
    /// How much of the workload's own model those end up with that choose what they measure.
    pub part_measured: f64,
}

impl Effort {
    /// For mechanisms that look at the data once and add noise.
    pub const LITTLE: Self = Self {
        iterations: 0.0,
        iterations_an_attribute: 0.0,
        seconds: 1e-3,
        seconds_a_query: 0.0,
        seconds_a_pair: 0.0,
        part_measured: 1.0,
    };

    /// The seconds of a release for so many attributes and queries, when an iteration takes
    /// `iteration`.
    pub fn predicted(&self, attributes: usize, queries: usize, iteration: f64) -> f64 {
        let (attributes, queries) = (attributes as f64, queries as f64);
        let iterations = self.iterations + self.iterations_an_attribute * attributes;
        let pairs = attributes * attributes;
        iterations * iteration
            + self.seconds
            + self.seconds_a_query * queries
            + self.seconds_a_pair * pairs
    }
}
