//! Stand-ins for histograms, generated from a seed.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::column::Column;
use super::schema::{Generator, Schema, Shape};
use super::{Dataset, Provenance};

/// Counts decrease with their rank r as (1 + r / c)^-EXPONENT. Our choice, between the exponents of
/// network degrees and of traffic.
const EXPONENT: f64 = 1.5;
/// Bins per burst, and the number of bins in which a burst decays to 1/e. Our choice.
const BETWEEN_BURSTS: usize = 256;
const DECAY_BINS: f64 = 48.0;

/// The records of the histogram that the generator describes. Depends on the schema and the
/// generator only. The schema has been checked.
pub(super) fn records(schema: &Schema, generator: &Generator) -> Dataset {
    let bins = schema.attributes()[0].size();
    let total = schema.expected.records.unwrap_or(0);
    let mut rng = ChaCha20Rng::seed_from_u64(generator.seed);
    let counts = power_law(bins - generator.zeros, generator.maximum, total);
    let order = match generator.shape {
        Shape::Sorted => (0..bins).collect(),
        Shape::Sparse => {
            let mut order: Vec<usize> = (0..bins).collect();
            order.shuffle(&mut rng);
            order
        }
        Shape::Bursty => by_intensity(bins, &mut rng),
    };
    let mut histogram = vec![0; bins];
    order.into_iter().zip(counts).for_each(|(bin, count)| histogram[bin] = count);
    let mut column = Column::new(bins);
    for (bin, &count) in histogram.iter().enumerate() {
        (0..count).for_each(|_| column.push(bin as u32));
    }
    let provenance = Provenance { stand_in: true, ..Provenance::default() };
    Dataset::from_declared(&schema.name, schema.domain(), vec![column], provenance)
}

/// Positive integers in descending order with this sum. The first one is `maximum`.
fn power_law(count: usize, maximum: usize, total: usize) -> Vec<usize> {
    let (most, last) = ((maximum - 1) as f64, count - 1);
    let at = |rank: usize, c: f64| 1.0 + most * (1.0 + rank as f64 / c).powf(-EXPONENT);
    let (mut low, mut high) = (1e-9, 1e12);
    for _ in 0..200 {
        let middle = f64::sqrt(low * high);
        let sum: f64 = (0..count).map(|rank| at(rank, middle)).sum();
        if sum < total as f64 { low = middle } else { high = middle }
    }
    let mut counts: Vec<usize> = (0..count).map(|rank| at(rank, low).round() as usize).collect();
    counts[0] = maximum;
    // Correct the sum after rounding. One more or less matters least in the middle ranks.
    let mut sum: usize = counts.iter().sum();
    let mut rank = last / 2;
    while sum != total {
        rank = if rank >= last { 1.min(last) } else { rank + 1 };
        match sum < total {
            true if counts[rank] < maximum => (counts[rank], sum) = (counts[rank] + 1, sum + 1),
            false if counts[rank] > 1 => (counts[rank], sum) = (counts[rank] - 1, sum - 1),
            _ => {}
        }
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

/// The bins by descending intensity of bursts.
fn by_intensity(bins: usize, rng: &mut ChaCha20Rng) -> Vec<usize> {
    let mut intensity = vec![0.0; bins];
    for _ in 0..bins.div_ceil(BETWEEN_BURSTS) {
        let start = rng.random_range(0..bins);
        let height = rng.random_range(0.0f64..1.0).powi(-1).min(1e3);
        let mut now = height;
        for bin in intensity.iter_mut().skip(start) {
            *bin += now;
            now *= (-1.0 / DECAY_BINS).exp();
            if now < 1e-3 {
                break;
            }
        }
    }
    intensity.iter_mut().for_each(|bin| *bin *= rng.random_range(0.5..1.5));
    let mut order: Vec<usize> = (0..bins).collect();
    order.sort_by(|&a, &b| intensity[b].total_cmp(&intensity[a]));
    order
}
