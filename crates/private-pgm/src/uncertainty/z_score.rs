/// The number of standard deviations that a Gaussian variable deviates by at most with this
/// probability: 1.96 for 0.95. `None` unless the probability is above 0 and at most 1 - 1e-9.
///
/// P(|Z| <= z) = 2 phi(z) (z + z^3 / 3 + z^5 / (3 * 5) + ...), inverted by bisection.
pub fn z_score(probability: f64) -> Option<f64> {
    if !(probability > 0.0 && probability <= 1.0 - 1e-9) {
        return None;
    }
    // Beyond 7 the probability is above 1 - 1e-11.
    let (mut low, mut high) = (0.0, 7.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match probability_within(middle) < probability {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(f64::midpoint(low, high))
}

fn probability_within(z: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (z, z, 1.0);
    while term > f64::EPSILON * sum {
        odd += 2.0;
        term *= z * z / odd;
        sum += term;
    }
    2.0 * sum * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_tables() {
        for (probability, z) in [
            (0.5, 0.674_489_750_196_08),
            (0.682_689_492_137_086, 1.0),
            (0.95, 1.959_963_984_540_05),
            (0.999, 3.290_526_731_491_89),
            (1.0 - 1e-9, 6.109_410_2),
        ] {
            let found = z_score(probability).unwrap();
            assert!((found - z).abs() < 1e-6, "{probability}: {found}");
        }
    }

    #[test]
    fn only_probabilities_have_a_score() {
        for probability in [0.0, 1.0, 95.0, -0.5, f64::NAN] {
            assert_eq!(z_score(probability), None);
        }
    }
}
