//! The vectors whose entries have absolute values of at most 1 in sum.

/// Replaces `v` by the nearest vector of L1 norm 1 at most: all entries shrink by the same amount,
/// those that are smaller become 0 (Duchi, Shalev-Shwartz, Singer, Chandra, ICML 2008). Costs a sort.
pub fn project_onto_l1_ball(v: &mut [f64], scratch: &mut Vec<f64>) {
    if v.iter().map(|x| x.abs()).sum::<f64>() <= 1.0 {
        return;
    }
    scratch.clear();
    scratch.extend(v.iter().map(|x| x.abs()));
    scratch.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shrink) = (0.0, 0.0);
    for (place, &size) in scratch.iter().enumerate() {
        sum += size;
        let by = (sum - 1.0) / (place + 1) as f64;
        if size <= by {
            break;
        }
        shrink = by;
    }
    v.iter_mut().for_each(|x| *x -= x.clamp(-shrink, shrink));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// v - p is a normal of the ball at p: its product with any point of the ball, corners
        /// above all, is largest at p.
        #[test]
        fn the_projection_is_in_the_ball_and_nothing_there_is_nearer(
            v in prop::collection::vec(prop_oneof![Just(0.0), -2.0..2.0f64, -0.1..0.1f64], 1..9),
        ) {
            let mut p = v.clone();
            project_onto_l1_ball(&mut p, &mut Vec::new());
            prop_assert!(p.iter().map(|x| x.abs()).sum::<f64>() <= 1.0 + 1e-12);
            let away: Vec<f64> = v.iter().zip(&p).map(|(v, p)| v - p).collect();
            let here: f64 = away.iter().zip(&p).map(|(a, p)| a * p).sum();
            prop_assert!(away.iter().all(|corner| corner.abs() <= here + 1e-12));
        }
    }
}
