use super::*;
use crate::numeric::strided::{for_each_offset, row_major_strides};
use proptest::prelude::*;

fn cells(axes: &[Axis], has: impl Fn(&Axis) -> bool) -> usize {
    axes.iter().filter(|axis| has(axis)).map(|axis| axis.size).product()
}

/// By a loop over every combination of all axes.
fn direct(axes: &[Axis], a: &[f64], b: &[f64], o: &mut [f64], join: impl Fn(f64, f64, f64) -> f64) {
    let strides = |has: &dyn Fn(&Axis) -> bool| -> Vec<usize> {
        let shape: Vec<usize> =
            axes.iter().map(|axis| if has(axis) { axis.size } else { 1 }).collect();
        let strides = row_major_strides(&shape);
        axes.iter().zip(strides).map(|(axis, s)| if has(axis) { s } else { 0 }).collect()
    };
    let shape: Vec<usize> = axes.iter().map(|axis| axis.size).collect();
    let offsets = |strides: &[usize]| {
        let mut list = Vec::new();
        for_each_offset(&shape, strides, |_, offset| list.push(offset));
        list
    };
    let (at_a, at_b, at_o) = (
        offsets(&strides(&|axis| axis.in_a)),
        offsets(&strides(&|axis| axis.in_b)),
        offsets(&strides(&|axis| axis.in_o)),
    );
    for i in 0..at_a.len() {
        o[at_o[i]] = join(o[at_o[i]], a[at_a[i]], b[at_b[i]]);
    }
}

fn axes() -> impl Strategy<Value = Vec<Axis>> {
    let size = prop_oneof![4 => 1usize..6, 1 => 6usize..40];
    let axis = (size, 0usize..7).prop_map(|(size, presence)| {
        // Every combination of tables, except for none.
        let (in_a, in_b, in_o) = [
            (true, true, true),
            (true, false, true),
            (false, true, true),
            (true, true, false),
            (true, false, false),
            (false, true, false),
            (false, false, true),
        ][presence];
        Axis { size, in_a, in_b, in_o }
    });
    prop::collection::vec(axis, 0..5).prop_filter("small", |axes| cells(axes, |_| true) <= 20_000)
}

fn numbers(n: usize, salt: u64) -> Vec<f64> {
    (0..n as u64)
        .map(|i| {
            ((i.wrapping_mul(0x9E37_79B9).wrapping_add(salt * 77)) % 1009) as f64 / 300.0 - 1.2
        })
        .collect()
}

proptest! {
    #[test]
    fn every_semiring_agrees_with_a_direct_loop(axes in axes(), salt in 0u64..1000) {
        let a = numbers(cells(&axes, |axis| axis.in_a), salt);
        let b = numbers(cells(&axes, |axis| axis.in_b), salt + 1);
        let n = cells(&axes, |axis| axis.in_o);
        let plan = Contraction::new(&axes);
        let mut ours = vec![f64::NAN; n];
        let mut expected = vec![0.0; n];

        plan.multiply(&a, &b, &mut ours, true);
        direct(&axes, &a, &b, &mut expected, |o, a, b| o + a * b);
        for (x, y) in ours.iter().zip(&expected) {
            prop_assert!((x - y).abs() <= 1e-10 * (1.0 + y.abs()), "{x} {y}");
        }

        plan.log_multiply(&a, &b, &mut ours, true);
        expected.fill(0.0);
        direct(&axes, &a, &b, &mut expected, |o, a, b| o + (a + b).exp());
        for (x, y) in ours.iter().zip(&expected) {
            prop_assert!((x - y.ln()).abs() <= 1e-12 * (1.0 + y.abs()), "{x} {y}");
        }

        let mut some = vec![f64::NAN; n];
        let wanted = |cell: usize| (cell / plan.row_length()).is_multiple_of(3);
        plan.log_multiply_where(&a, &b, &mut some, |_, cells| wanted(cells.start), true);
        for (cell, (x, y)) in some.iter().zip(&ours).enumerate() {
            prop_assert!(x == y && wanted(cell) || x.is_nan() && !wanted(cell));
        }

        for (cell, expected) in expected.iter().enumerate() {
            let mut sum = 0.0;
            plan.each_term(cell, |at_a, at_b| sum += (a[at_a] + b[at_b]).exp());
            prop_assert!((sum - expected).abs() <= 1e-12 * (1.0 + sum));
        }

        plan.max_multiply(&a, &b, &mut ours, true);
        expected.fill(f64::NEG_INFINITY);
        direct(&axes, &a, &b, &mut expected, |o, a, b| o.max(a + b));
        prop_assert_eq!(&ours, &expected);
    }

    #[test]
    fn absorb_back_equals_two_contractions_and_a_product(
        axes in prop::collection::vec((1usize..6, 0usize..4), 1..5),
        last in 1usize..40,
        swap: bool,
    ) {
        // The full table has every axis; the other table and O have some.
        let sizes = axes.iter().map(|axis| axis.0).chain([last]);
        let kinds = axes.iter().map(|axis| axis.1).chain([last % 4]);
        let axes: Vec<Axis> = sizes.zip(kinds).map(|(size, kind)| {
            let (in_other, in_o) = (kind % 2 == 0, kind < 2);
            let (in_a, in_b) = if swap { (in_other, true) } else { (true, in_other) };
            Axis { size, in_a, in_b, in_o }
        }).collect();
        let plan = Contraction::new(&axes);
        let has_other = |axis: &Axis| if swap { axis.in_a } else { axis.in_b };
        // Where both tables have every axis, the first one absorbs the second.
        let both = axes.iter().all(|axis| axis.size == 1 || has_other(axis));
        prop_assert_eq!(plan.absorbs(), Some(swap && !both));
        if swap && both {
            return Ok(());
        }
        // Tables of probabilities and their derivatives are not negative.
        let positive =
            |n, salt| -> Vec<f64> { numbers(n, salt).into_iter().map(f64::abs).collect() };
        let full = positive(cells(&axes, |_| true), 1);
        let other = positive(cells(&axes, has_other), 2);
        let d = positive(cells(&axes, |axis| axis.in_o), 3);
        let (mut product, mut adjoint) = (full.clone(), vec![f64::NAN; other.len()]);
        plan.absorb_back(&mut product, &other, &d, &mut adjoint);

        let mut back = vec![0.0; full.len()];
        let to_full: Vec<Axis> = axes.iter().map(|axis| {
            Axis { size: axis.size, in_a: has_other(axis), in_b: axis.in_o, in_o: true }
        }).collect();
        direct(&to_full, &other, &d, &mut back, |o, a, b| o + a * b);
        for i in 0..full.len() {
            prop_assert!((product[i] - full[i] * back[i]).abs() < 1e-12);
        }
        let mut expected = vec![0.0; other.len()];
        let to_other: Vec<Axis> = axes.iter().map(|axis| {
            Axis { size: axis.size, in_a: true, in_b: axis.in_o, in_o: has_other(axis) }
        }).collect();
        direct(&to_other, &full, &d, &mut expected, |o, a, b| o + a * b);
        for (ours, theirs) in adjoint.iter().zip(&expected) {
            prop_assert!((ours - theirs).abs() < 1e-9);
        }
    }

    #[test]
    fn results_are_bit_identical_with_and_without_threads(
        rows in 700usize..800, length in 20usize..60, terms in 10usize..20
    ) {
        let axes = [
            Axis { size: terms, in_a: true, in_b: true, in_o: false },
            Axis { size: rows, in_a: true, in_b: false, in_o: true },
            Axis { size: length, in_a: true, in_b: true, in_o: true },
        ];
        let (a, b) = (numbers(rows * length * terms, 1), numbers(terms * length, 2));
        let plan = Contraction::new(&axes);
        let (mut alone, mut shared) = (vec![0.0; rows * length], vec![0.0; rows * length]);
        plan.multiply(&a, &b, &mut alone, false);
        plan.multiply(&a, &b, &mut shared, true);
        prop_assert_eq!(&alone, &shared);
        prop_assert!(plan.is_shared());
        let wanted = |row: usize, cells: std::ops::Range<usize>| {
            row.is_multiple_of(3) && cells == (row * length..(row + 1) * length)
        };
        plan.log_multiply_where(&a, &b, &mut alone, wanted, false);
        plan.log_multiply_where(&a, &b, &mut shared, wanted, true);
        prop_assert_eq!(alone, shared);
    }
}

#[test]
fn excluded_cells_stay_excluded_in_log_space() {
    let axes = [
        Axis { size: 2, in_a: true, in_b: true, in_o: true },
        Axis { size: 3, in_a: true, in_b: true, in_o: false },
    ];
    let plan = Contraction::new(&axes);
    let zero = f64::NEG_INFINITY;
    let mut o = [f64::NAN; 2];
    plan.log_multiply(&[zero, zero, zero, 1.0, zero, 2.0], &[zero; 6], &mut o, false);
    assert_eq!(o, [zero, zero]);
    plan.log_multiply(&[zero, zero, zero, 1.0, zero, 2.0], &[0.0; 6], &mut o, false);
    assert_eq!(o[0], zero);
    assert!((o[1] - (1f64.exp() + 2f64.exp()).ln()).abs() < 1e-14);
}
