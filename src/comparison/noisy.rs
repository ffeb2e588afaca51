use super::{
    Comparison, Distance, Marginals, NoMarginal, Reference, SizeSummary, chosen_sets, names, sort,
    total_variation,
};
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;

/// Attributes of a marginal at most.
const LARGEST: usize = 2;

/// A marginal with unbiased noise.
pub struct NoisyMarginal {
    /// May be negative.
    pub counts: Factor,
    /// Of every cell.
    pub stddev: f64,
}

/// Compares one- and two-way marginals with the noisy answers that a release has about them. `None`
/// stands for a marginal that it has not measured. Uses no true records.
///
/// A distance is that of the noise where the synthetic records are better than the answers. With
/// Gaussian noise of the standard deviation s on all n cells, the noise alone has the expected
/// distance sqrt(2/pi) s n / (2 N).
pub fn compare_with_answers(
    domain: &Domain,
    (synthetic, synthetic_records, found): (&str, usize, Marginals),
    (name, total): (&str, f64),
    noisy: &dyn Fn(&Clique) -> Option<NoisyMarginal>,
) -> Result<Comparison, NoMarginal> {
    let (mut sizes, mut marginals) = (Vec::new(), Vec::new());
    for size in 1..=LARGEST.min(domain.len()) {
        let (sets, chosen) = chosen_sets(domain, size);
        let (mut sum, mut largest, mut compared) = (0.0, 0f64, 0u32);
        for clique in chosen {
            let Some(NoisyMarginal { counts, stddev }) = noisy(&clique) else { continue };
            let distance = total_variation(found(&clique)?.values(), counts.values());
            let cells = counts.values().len() as f64;
            let noise = std::f64::consts::FRAC_2_PI.sqrt() * stddev * cells / (2.0 * total);
            (sum, largest, compared) = (sum + distance, largest.max(distance), compared + 1);
            let attributes = names(domain, &clique);
            marginals.push(Distance { attributes, distance, noise: Some(noise) });
        }
        let mean = if compared == 0 { 0.0 } else { sum / f64::from(compared) };
        let compared = compared as usize;
        sizes.push(SizeSummary { attributes: size, compared, sets, mean, largest });
    }
    sort(&mut marginals);
    Ok(Comparison {
        notice:
            "computed from the released noisy answers and the synthetic records alone, without \
                 true records; distances contain the noise of the answers"
                .into(),
        synthetic: synthetic.into(),
        synthetic_records,
        reference: Reference { name: name.into(), records: total, is_true_data: false },
        sizes,
        workload: None,
        marginals,
        associations: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_measured_marginals_are_compared_each_with_its_noise() {
        let domain = Domain::new([("a", 2), ("b", 3), ("c", 2)]).unwrap();
        let table = Factor::new(&domain, domain.everything(), (1..=12).map(f64::from).collect());
        let found = |clique: &Clique| Ok(table.sum_onto(clique));
        let pair: Clique = ["a", "b"].iter().map(|name| domain.id(name).unwrap()).collect();
        // A tenth of the records is in another cell of the pair. The others were not measured.
        let noisy = |clique: &Clique| {
            let mut counts = table.sum_onto(clique);
            counts.values_mut()[0] -= 7.8;
            counts.values_mut()[1] += 7.8;
            (*clique == pair).then_some(NoisyMarginal { counts, stddev: 3.0 })
        };
        let reference = ("answers", 78.0);
        let compared =
            compare_with_answers(&domain, ("new", 78, &found), reference, &noisy).unwrap();
        let counts: Vec<usize> = compared.sizes.iter().map(|size| size.compared).collect();
        assert_eq!(counts, [0, 1]);
        let [marginal] = &compared.marginals[..] else { panic!("{:?}", compared.marginals) };
        assert_eq!(marginal.attributes, ["a", "b"]);
        assert!((marginal.distance - 0.1).abs() < 1e-12);
        let expected = f64::sqrt(2.0 / std::f64::consts::PI) * 3.0 * 6.0 / 156.0;
        assert!((marginal.noise.unwrap() - expected).abs() < 1e-12);
        assert!(compared.notice.contains("without true records"));
    }
}
