//! Blocks of a row that fit in registers.

/// Runs `$body` for blocks of `$most` (16 or 8), then 8, 4, 2 and 1 values that cover `0..$n`, with
/// the block's start bound to `$first` and its width to the constant `$W`.
macro_rules! in_blocks {
    ($n:expr, |$first:ident, $W:ident| $body:expr) => {
        in_blocks!(16, $n, |$first, $W| $body)
    };
    ($most:literal, $n:expr, |$first:ident, $W:ident| $body:expr) => {{
        let n: usize = $n;
        let mut $first = 0;
        while n - $first >= $most {
            const $W: usize = $most;
            $body;
            $first += $most;
        }
        if n - $first >= 8 {
            const $W: usize = 8;
            $body;
            $first += 8;
        }
        if n - $first >= 4 {
            const $W: usize = 4;
            $body;
            $first += 4;
        }
        if n - $first >= 2 {
            const $W: usize = 2;
            $body;
            $first += 2;
        }
        if n - $first >= 1 {
            const $W: usize = 1;
            $body;
        }
    }};
}
pub(super) use in_blocks;

#[inline(always)]
pub(super) fn block<const W: usize>(table: &[f64], start: usize) -> &[f64; W] {
    table[start..start + W].try_into().expect("W values")
}

#[inline(always)]
pub(super) fn store<const W: usize>(o: &mut [f64], start: usize, values: [f64; W]) {
    o[start..start + W].copy_from_slice(&values);
}

/// Where the factors of one term of one row start.
#[inline(always)]
pub(super) fn factors(row: [u32; 2], term: [u32; 2]) -> (usize, usize) {
    (row[0] as usize + term[0] as usize, row[1] as usize + term[1] as usize)
}

/// Calls `$f` with the row length as a constant if it is below 16 and neither 1 nor 8, else with 0.
/// With a constant length a short row is a few registers, without loops and checks that would take
/// longer than the arithmetic.
macro_rules! of_length {
    ($n:expr, $f:ident $arguments:tt) => {
        match $n {
            2 => $f::<2> $arguments,
            3 => $f::<3> $arguments,
            4 => $f::<4> $arguments,
            5 => $f::<5> $arguments,
            6 => $f::<6> $arguments,
            7 => $f::<7> $arguments,
            9 => $f::<9> $arguments,
            10 => $f::<10> $arguments,
            11 => $f::<11> $arguments,
            12 => $f::<12> $arguments,
            13 => $f::<13> $arguments,
            14 => $f::<14> $arguments,
            15 => $f::<15> $arguments,
            _ => $f::<0> $arguments,
        }
    };
}
pub(super) use of_length;

/// The sum of any number of values, in a fixed order.
#[inline(always)]
pub(super) fn sum<const N: usize>(values: [f64; N]) -> f64 {
    let mut lanes = [0.0; 4];
    for i in 0..N {
        lanes[i % 4] += values[i];
    }
    total(lanes)
}

/// The sum of the lanes, a power of two of them, in a fixed order.
#[inline(always)]
pub(super) fn total<const W: usize>(mut lanes: [f64; W]) -> f64 {
    let mut half = W / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}
