//! Made-up histograms.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::column::Column;
use super::schema::{Generator, Schema, Shape};
use super::{Dataset, Provenance};

/// Counts fall with their rank r as (1 + r / c)^-EXPONENT. Our choice, between the exponents that are
/// found for degrees of networks and for traffic.
const EXPONENT: f64 = 1.5;
/// Bins for each burst, and in how many of them it fades to a third. Our choice.
const BETWEEN_BURSTS: usize = 256;
const FADING: f64 = 48.0;

/// The records of a histogram as the generator describes it, which the schema has checked. Depends on
/// nothing but these two.
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

/// Positive whole numbers from the largest to the smallest, the first of them `maximum`, with this sum.
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
    // Rounding has left a few too many or too few; those in the middle change least by one more.
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

/// The bins, those in the middle of bursts first.
fn by_intensity(bins: usize, rng: &mut ChaCha20Rng) -> Vec<usize> {
    let mut intensity = vec![0.0; bins];
    for _ in 0..bins.div_ceil(BETWEEN_BURSTS) {
        let start = rng.random_range(0..bins);
        let height = rng.random_range(0.0f64..1.0).powi(-1).min(1e3);
        let mut now = height;
        for bin in intensity.iter_mut().skip(start) {
            *bin += now;
            now *= (-1.0 / FADING).exp();
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
