//! What was drawn, compared with the distribution that the ledger states: scale, shape, tails and
//! independence, of noise and of choices.
//!
//! Noise is compared twice: as it left the sampler, and as it was published, that is the published
//! answers minus the true ones, which are computed here from the records. A mechanism that changes
//! its answers anywhere else is found by the second.

use std::collections::HashMap;

use dp::transcript::Event;
use dp::{Draw as Entry, Mechanism};
use pgmbench::data::Dataset;
use pgmbench::mechanism::Published;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::distribution::{Stated, choice};
use crate::published::{check_game, errors};
use crate::search::of_run;
use crate::setup::{Run, Setup};
use crate::statistics::{Draw, Pairs, Sample};

/// Draws further apart within a release than this are not paired.
const LAGS: usize = 3;

/// The samples of many releases.
#[derive(Default)]
pub(crate) struct Calibration {
    /// As it left the sampler.
    noise: Sample,
    /// The published answers minus the true ones.
    published: Sample,
    choices: Sample,
    /// Of draws 1, 2 and 3 places apart.
    near: [Pairs; LAGS],
    /// The first values of different entries of a release, as after a restart of the generator.
    starts: Pairs,
    /// The same place in consecutive releases.
    releases: Pairs,
}

/// The draws of a release.
struct Drawn {
    noise: Vec<Vec<Draw>>,
    published: Vec<Draw>,
    choices: Vec<Vec<Draw>>,
}

/// Releases `trials` times from these counts and compares. An error is a finding.
pub(crate) fn calibrate(setup: &Setup, counts: &[u64], trials: usize) -> Result<(), String> {
    let found = Calibration::of(setup, counts, trials)?;
    found.test()?;
    found.check_strength(setup)
}

impl Calibration {
    pub(crate) fn of(setup: &Setup, counts: &[u64], trials: usize) -> Result<Self, String> {
        let data = setup.shape.data(counts);
        let drawn: Vec<Drawn> = (0..trials)
            .into_par_iter()
            .map(|trial| {
                let run = setup.run(&data, trial).map_err(of_run)?;
                if matches!(run.release.published, Published::Likelihood(_)) {
                    check_game(&run, setup.workload.parts(), &data)?;
                }
                Drawn::new(&run, &data, trial)
            })
            .collect::<Result<_, String>>()?;
        let mut calibration = Self::default();
        let mut before: [Vec<f64>; 2] = Default::default();
        for drawn in drawn {
            before = calibration.add(drawn, &before);
        }
        Ok(calibration)
    }

    /// Adds a release. Returns its uniform values, for the pairs with the next one.
    ///
    /// Noise and choices are paired apart, each in the order of the draws: whether there is a draw
    /// at some place then depends on earlier draws and not on its own value.
    fn add(&mut self, drawn: Drawn, before: &[Vec<f64>; 2]) -> [Vec<f64>; 2] {
        drawn.noise.iter().flatten().for_each(|&draw| self.noise.add(draw));
        drawn.choices.iter().flatten().for_each(|&draw| self.choices.add(draw));
        drawn.published.iter().for_each(|&draw| self.published.add(draw));
        let mut index = 0;
        [&drawn.noise, &drawn.choices].map(|entries| {
            let all: Vec<f64> = entries.iter().flatten().map(|draw| draw.uniform).collect();
            for (lag, pairs) in (1..).zip(&mut self.near) {
                all.iter().zip(all.iter().skip(lag)).for_each(|(&a, &b)| pairs.add(a, b));
            }
            let first: Vec<f64> = entries.iter().map(|draws| draws[0].uniform).collect();
            for (place, &one) in first.iter().enumerate() {
                first[..place].iter().for_each(|&other| self.starts.add(one, other));
            }
            all.iter().zip(&before[index]).for_each(|(&now, &then)| self.releases.add(now, then));
            index += 1;
            all
        })
    }

    pub(crate) fn test(&self) -> Result<(), String> {
        let of = |what: &str, result: Result<(), String>| {
            result.map_err(|reason| format!("{what}: {reason}"))
        };
        of("noise", self.noise.test())?;
        of("published minus true answers", self.published.test())?;
        of("choices", self.choices.test())?;
        for pairs in &self.near {
            of("draws of a release", pairs.test())?;
        }
        of("first draws of the entries of a release", self.starts.test())?;
        of("draws of consecutive releases", self.releases.test())
    }

    /// Fails if a factor of 1.05 could be missed.
    fn check_strength(&self, setup: &Setup) -> Result<(), String> {
        for (what, sample) in
            [("noise", &self.noise), ("published", &self.published), ("choices", &self.choices)]
        {
            if !sample.is_empty() && !sample.is_strong() {
                let information = sample.information;
                return Err(format!("{}: too few {what} ({information:.0})", setup.title()));
            }
        }
        Ok(())
    }
}

impl Drawn {
    fn new(run: &Run, data: &Dataset, trial: usize) -> Result<Self, String> {
        // For the randomised distribution functions alone.
        let mut rng = ChaCha20Rng::seed_from_u64(trial as u64);
        let mut stated = HashMap::new();
        let entries: Vec<&Entry> = run.ledger.lines().iter().map(|line| &line.entry.draw).collect();
        let drawn: Vec<&Event> =
            run.events.iter().filter(|event| event.handed().is_some()).collect();
        if drawn.len() != entries.len() {
            return Err(format!("{} draws, {} entries", drawn.len(), entries.len()));
        }
        let (mut noise, mut choices) = (Vec::new(), Vec::new());
        for (event, &entry) in drawn.into_iter().zip(&entries) {
            match event {
                Event::Noise { handed, noisy } => {
                    let stated = stated_by(&mut stated, entry)?;
                    let spacing = entry.spacing.unwrap_or(1.0);
                    let one = |(noisy, exact): (&f64, &f64)| {
                        let exact = (exact / spacing).round_ties_even();
                        stated.compare(noisy / spacing - exact, &mut rng)
                    };
                    noise.push(noisy.iter().zip(&handed.values).map(one).collect());
                }
                Event::Selection { handed, chosen } => {
                    let one = |&place: &usize| choice(entry, &handed.values, place, &mut rng);
                    choices.push(chosen.iter().map(one).collect::<Result<_, _>>()?);
                }
                Event::PublicChoices { .. } => {}
            }
        }
        let mut published = Vec::new();
        let mut published_errors = errors(&run.release, data, &entries)?.into_iter();
        let is_noise = |entry: &&&Entry| {
            !matches!(entry.mechanism, Mechanism::Exponential | Mechanism::MonotoneExponential)
        };
        for entry in entries.iter().filter(is_noise) {
            if matches!(run.release.published, Published::Likelihood(_)) {
                break;
            }
            let stated = stated_by(&mut stated, entry)?;
            let spacing = entry.spacing.unwrap_or(1.0);
            for error in published_errors.by_ref().take(entry.values) {
                published.push(stated.compare(on_lattice(error / spacing), &mut rng));
            }
        }
        if published_errors.next().is_some() {
            return Err("more answers than draws".into());
        }
        Ok(Self { noise, published, choices })
    }
}

/// An error in grid steps. Of integers it is exact; otherwise there are thousands of steps per
/// scale, and the rounding of the true answer to the grid is negligible.
fn on_lattice(steps: f64) -> f64 {
    steps.round_ties_even()
}

/// The stated distribution of an entry, computed once per release and scale.
fn stated_by<'a>(
    known: &'a mut HashMap<(u64, bool), Stated>,
    entry: &Entry,
) -> Result<&'a Stated, String> {
    let steps = entry.scale / entry.spacing.ok_or("noise that is not on a grid")?;
    let key = (steps.to_bits(), entry.mechanism == Mechanism::DiscreteLaplace);
    if !known.contains_key(&key) {
        known.insert(key, Stated::new(entry)?);
    }
    Ok(&known[&key])
}
