//! Where the time of an AIM run on Adult goes, round by round.
//!
//!     cargo run --release --example aim_rounds -- [--epsilon E] [--triples]
//!
//! Without `--triples` the workload is all three-way marginals of Adult without `education`, with
//! it the 15 triples of the ICML 2019 paper. Prints a line of JSON per round with what the run took
//! so far, in seconds: `cpu` and `seconds` of everything after the data was read, and of these
//! `estimation` (fits), `candidates` (marginals of the model that are compared with the data's) and
//! `planning_and_selection` (all else: counts of the data, sizes of junction trees, scores, noise).
//! Round 0 is the
//! estimate from single attributes, and the last line the final estimate. `scripts/compare_aim.py`
//! reads them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dp::{Budget, Delta, Epsilon, Neighbours, NoiseSource, Rho, SeedPath};
use pgmbench::config::{Overrides, Source};
use pgmbench::data::{Dataset, Registry};
use pgmbench::experiment::{Filter, Plan};
use pgmbench::mechanism::{Noise, Private, Task, find};
use pgmbench::workload::Workload;
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::fit::{
    Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Observed, Pgm, Settings,
};
use private_pgm::model::{MarginalError, Projectable};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

/// As in configs/aim-fig.toml.
const MEMORY: u64 = 8_000_000_000;

/// Clock ticks per second in /proc on Linux.
const TICKS: f64 = 100.0;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().collect();
    let after = |flag| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
    let epsilon: f64 = after("--epsilon").map_or(Ok(1.0), |text| text.parse())?;
    let workload = match words.iter().any(|word| word == "--triples") {
        true => "",
        false => "[workload]\nevery = 3\nprefix = []\n",
    };
    let text = format!(
        "name = \"aim-rounds\"\nepsilon = {epsilon}\ndelta = 1e-9\n\
         datasets = [{{ name = \"adult\", without = [\"education\"] }}]\n{workload}\
         [[mechanism]]\nname = \"aim\"\n"
    );
    let source = Source { path: "aim-rounds.toml".into(), text };
    let overrides = Overrides::default();
    let plan = Plan::new(source, &overrides, &Registry::default(), &Filter::default())?;
    let planned = &plan.datasets[0];
    run(&planned.data, &planned.cases[0].workload, epsilon)
}

fn run(data: &Dataset, workload: &Workload, epsilon: f64) -> Result<(), Failure> {
    let pgm = |iterations| {
        let settings = Settings { iterations: Some(iterations), ..Settings::default() };
        Pgm::new(settings)
    };
    let timer = Timer {
        inner: pgm(100),
        clock: Arc::new(Clock { began: Instant::now(), cpu: cpu(), candidates: AtomicU64::new(0) }),
        state: Mutex::new((0, Duration::ZERO)),
    };
    let task = Task {
        data: Private::new(data),
        workload,
        public: None,
        noise: Noise::Exact,
        estimator: &timer,
        memory_limit: MEMORY,
        deadline: None,
    };
    let rho = Rho::implying(Epsilon::new(epsilon)?, Delta::new(1e-9)?)?;
    let mut budget = Budget::new(rho, Neighbours::AddRemove);
    let mut source = NoiseSource::seeded(&SeedPath::new("seed", 0));
    let aim = (find("aim").expect("it is listed").build)(&toml::Table::new())?;
    let release = aim.release(&task, &mut budget, &mut source)?;
    let mut context = EstimatorContext {
        memory_limit: MEMORY,
        deadline: None,
        warm_start: release.warm_start.as_ref(),
        rng: &mut ChaCha20Rng::seed_from_u64(0),
        observer: &mut |_| {},
    };
    let last = Timer { inner: pgm(1000), ..timer };
    last.estimate(&release.evidence(data.domain()), &mut context)?;
    Ok(())
}

/// The estimator of the rounds, with the time that it takes.
struct Timer {
    inner: Pgm,
    clock: Arc<Clock>,
    /// The number of estimates, and the time that they took.
    state: Mutex<(usize, Duration)>,
}

/// Times since the data was read.
struct Clock {
    began: Instant,
    /// Then, in seconds.
    cpu: f64,
    /// In marginals of models, in nanoseconds.
    candidates: AtomicU64,
}

impl Estimator for Timer {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let began = Instant::now();
        let estimated = self.inner.estimate(evidence, context)?;
        let mut state = self.state.lock().expect("no other thread panics");
        state.1 += began.elapsed();
        let chosen = match evidence.observed {
            Observed::Answers([.., last]) => evidence.domain.names(&last.clique).join(" x "),
            _ => String::new(),
        };
        let seconds = self.clock.began.elapsed().as_secs_f64();
        let estimation = state.1.as_secs_f64();
        let candidates = self.clock.candidates.load(Ordering::Relaxed) as f64 / 1e9;
        println!(
            "{{\"round\": {}, \"chosen\": {chosen:?}, \"cpu\": {:.2}, \"seconds\": {seconds:.2}, \
             \"estimation\": {estimation:.2}, \"candidates\": {candidates:.2}, \
             \"planning_and_selection\": {:.2}, \"cells\": {}}}",
            state.0,
            cpu() - self.clock.cpu,
            seconds - estimation - candidates,
            estimated.diagnostics.junction_tree_cells.unwrap_or_default(),
        );
        state.0 += 1;
        let answers = Timed { inner: estimated.answers, clock: Arc::clone(&self.clock) };
        Ok(Estimated { answers: Box::new(answers), ..estimated })
    }
}

/// An estimate, with the time that its marginals take.
struct Timed {
    inner: Box<dyn Projectable>,
    clock: Arc<Clock>,
}

impl Projectable for Timed {
    fn domain(&self) -> &Domain {
        self.inner.domain()
    }

    fn project(&self, clique: &Clique) -> Result<Factor, MarginalError> {
        Ok(self.marginals(std::slice::from_ref(clique))?.remove(0))
    }

    fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, MarginalError> {
        let began = Instant::now();
        let marginals = self.inner.marginals(cliques);
        self.clock.candidates.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        marginals
    }
}

/// CPU seconds of this process, of all its threads. 0 where there is no /proc.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may contain spaces.
    let after_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}
