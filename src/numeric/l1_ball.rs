//! Projection onto the unit ball of the L1 norm.

/// Replaces `v` by the nearest vector, in L2, whose L1 norm is at most 1: all entries shrink
/// towards 0 by the same amount, and smaller entries become 0 (Duchi, Shalev-Shwartz, Singer,
/// Chandra, ICML 2008). Cost: O(n log n).
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
        /// v - p is in the normal cone of the ball at p: its inner product with any vertex of the
        /// ball is at most that with p.
        #[test]
        fn the_projection_is_the_nearest_point_of_the_ball(
            v in prop::collection::vec(prop_oneof![Just(0.0), -2.0..2.0f64, -0.1..0.1f64], 1..9),
        ) {
            let mut p = v.clone();
            project_onto_l1_ball(&mut p, &mut Vec::new());
            prop_assert!(p.iter().map(|x| x.abs()).sum::<f64>() <= 1.0 + 1e-12);
            let away: Vec<f64> = v.iter().zip(&p).map(|(v, p)| v - p).collect();
            let here: f64 = away.iter().zip(&p).map(|(a, p)| a * p).sum();
            prop_assert!(away.iter().all(|vertex| vertex.abs() <= here + 1e-12));
        }
    }
}
