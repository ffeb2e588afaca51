//! The variables z and u of each term, and their updates.

use rayon::prelude::*;

use super::admm::Term;
use super::map::Map;
use super::proximal::Proximal;
use private_pgm::numeric::distance::squared_distance;

/// Entries per block, which stays in the L1 cache. Our choice.
const BLOCK: usize = 512;

/// Entries per task of a thread, and the number of tasks from which on threads are used. Our
/// choice: about twenty microseconds per task.
pub(super) const PART: usize = 1 << 13;
pub(super) const PARALLEL: usize = 4;

pub(super) struct Copies<'a> {
    /// Of the terms whose map is the identity.
    parts: Vec<Part<'a>>,
    mapped: Vec<Mapped<'a>>,
    /// Whether the map of a term is not the identity.
    is_mapped: Vec<bool>,
}

/// The changes of a term in an iteration: sums of squares over the entries.
pub(super) struct Change {
    /// A x - z.
    pub(super) residual: f64,
    /// A x - A x', with x' of the iteration before.
    pub(super) step: f64,
    pub(super) entries: usize,
}

impl<'a> Copies<'a> {
    pub(super) fn new(terms: &'a [Term<'a>], x: &[f64]) -> Self {
        let is_mapped: Vec<bool> =
            terms.iter().map(|term| !matches!(term.map, Map::Identity)).collect();
        let local = || terms.iter().zip(&is_mapped).filter(|(_, mapped)| !**mapped);
        let part = |start: usize| {
            let entries = PART.min(x.len() - start);
            let copy = |term: &'a Term<'a>| Copy {
                function: term.function,
                u: vec![0.0; entries],
                residual: 0.0,
            };
            Part { start, copies: local().map(|(term, _)| copy(term)).collect(), step: 0.0 }
        };
        let parts = (0..x.len()).step_by(PART).map(part).collect();
        let mapped = terms.iter().zip(&is_mapped).filter(|(_, mapped)| **mapped);
        Self { parts, mapped: mapped.map(|(term, _)| Mapped::new(term, x)).collect(), is_mapped }
    }

    /// Computes the first z of the terms without a map, from x. Adds z - u to the sum.
    pub(super) fn begin(&mut self, rho: f64, x: &[f64], sum: &mut [f64]) {
        for (part, (x, sum)) in self.parts.iter().zip(x.chunks(PART).zip(sum.chunks_mut(PART))) {
            part.begin(rho, x, sum);
        }
    }

    /// Computes z of the terms with a map. Adds A^T (z - u) to the sum.
    pub(super) fn minimise(&mut self, rho: f64, sum: &mut [f64]) {
        self.mapped.iter_mut().for_each(|copy| copy.minimise(rho, sum));
    }

    /// Given x and the next x: updates x, u, and z of the terms without a map, whose z - u replaces
    /// the sum. Returns the changes of each term.
    pub(super) fn advance(&mut self, rho: f64, x: &mut [f64], next: &mut [f64]) -> Vec<Change> {
        let advance = |(part, (x, next)): (&mut Part<'_>, (&mut [f64], &mut [f64]))| {
            part.advance(rho, x, next);
        };
        if self.parts.len() < PARALLEL {
            self.parts
                .iter_mut()
                .zip(x.chunks_mut(PART).zip(next.chunks_mut(PART)))
                .for_each(advance);
        } else {
            let entries = x.par_chunks_mut(PART).zip(next.par_chunks_mut(PART));
            self.parts.par_iter_mut().zip(entries).for_each(advance);
        }
        let mut mapped = self.mapped.iter_mut();
        let mut local = 0..;
        let step = self.parts.iter().map(|part| part.step).sum();
        let changes = self.is_mapped.iter().map(|is_mapped| match is_mapped {
            true => mapped.next().expect("an entry per mapped term").update_dual(x),
            false => {
                let index = local.next().expect("an infinite range");
                let residual = self.parts.iter().map(|part| part.copies[index].residual).sum();
                Change { residual, step, entries: x.len() }
            }
        });
        changes.collect()
    }
}

/// A range of the entries, with the copies of the terms without a map.
struct Part<'a> {
    start: usize,
    copies: Vec<Copy<'a>>,
    /// The square of x - x'.
    step: f64,
}

/// z is recomputed where u needs it, which is faster than reading it from memory.
struct Copy<'a> {
    function: &'a dyn Proximal,
    u: Vec<f64>,
    /// The square of x - z.
    residual: f64,
}

impl Part<'_> {
    fn begin(&self, rho: f64, x: &[f64], sum: &mut [f64]) {
        let mut z = vec![0.0; x.len()];
        for copy in &self.copies {
            minimise_term(copy.function, rho, self.start, x, &copy.u, &mut z);
            add_difference(&z, &copy.u, sum);
        }
    }

    fn advance(&mut self, rho: f64, x: &mut [f64], next: &mut [f64]) {
        let mut z = [0.0; BLOCK];
        self.step = 0.0;
        self.copies.iter_mut().for_each(|copy| copy.residual = 0.0);
        for (block, (x, next)) in x.chunks_mut(BLOCK).zip(next.chunks_mut(BLOCK)).enumerate() {
            let (first, z) = (block * BLOCK, &mut z[..x.len()]);
            self.step += squared_distance(next, x, false);
            for Copy { function, u, residual } in &mut self.copies {
                let u = &mut u[first..][..x.len()];
                minimise_term(*function, rho, self.start + first, x, u, z);
                *residual += add_residual(next, z, u);
            }
            x.copy_from_slice(next);
            next.fill(0.0);
            for Copy { function, u, .. } in &self.copies {
                let u = &u[first..][..x.len()];
                minimise_term(*function, rho, self.start + first, x, u, z);
                add_difference(z, u, next);
            }
        }
    }
}

/// z = argmin f(z) + rho/2 |x - z + u|^2, for a part of the entries from `start` on.
fn minimise_term(
    function: &dyn Proximal,
    rho: f64,
    start: usize,
    x: &[f64],
    u: &[f64],
    z: &mut [f64],
) {
    add(x, u, z);
    function.minimise(rho, start, z);
}

/// A term with a map, and its variables.
struct Mapped<'a> {
    term: &'a Term<'a>,
    z: Vec<f64>,
    u: Vec<f64>,
    /// A x.
    image: Vec<f64>,
    /// z - u, and then the next A x.
    scratch: Vec<f64>,
}

impl<'a> Mapped<'a> {
    fn new(term: &'a Term<'a>, x: &[f64]) -> Self {
        let rows = term.map.rows(x.len());
        let [mut image, z, u, scratch] = std::array::from_fn(|_| vec![0.0; rows]);
        term.map.apply(x, &mut image);
        Self { term, z, u, image, scratch }
    }

    fn minimise(&mut self, rho: f64, sum: &mut [f64]) {
        minimise_term(self.term.function, rho, 0, &self.image, &self.u, &mut self.z);
        self.scratch.fill(0.0);
        add_difference(&self.z, &self.u, &mut self.scratch);
        self.term.map.add_transposed(&self.scratch, sum);
    }

    /// Adds A x - z to u.
    fn update_dual(&mut self, x: &[f64]) -> Change {
        self.term.map.apply(x, &mut self.scratch);
        let step = squared_distance(&self.scratch, &self.image, false);
        std::mem::swap(&mut self.image, &mut self.scratch);
        let residual = add_residual(&self.image, &self.z, &mut self.u);
        Change { residual, step, entries: self.z.len() }
    }
}

fn add(x: &[f64], u: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(x).zip(u).for_each(|((out, x), u)| *out = x + u);
}

fn add_difference(z: &[f64], u: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(z).zip(u).for_each(|((out, z), u)| *out += z - u);
}

/// Adds x - z to u. Returns the sum of its squares.
fn add_residual(x: &[f64], z: &[f64], u: &mut [f64]) -> f64 {
    // Eight independent sums, so that additions do not wait for each other.
    let mut squares = [0.0; 8];
    let mut add = |u: &mut [f64], x: &[f64], z: &[f64]| {
        for (((square, u), x), z) in squares.iter_mut().zip(u).zip(x).zip(z) {
            let residual = x - z;
            *u += residual;
            *square += residual * residual;
        }
    };
    let mut us = u.chunks_exact_mut(8);
    let (xs, zs) = (x.chunks_exact(8), z.chunks_exact(8));
    let rest = (xs.remainder(), zs.remainder());
    us.by_ref().zip(xs).zip(zs).for_each(|((u, x), z)| add(u, x, z));
    add(us.into_remainder(), rest.0, rest.1);
    squares.iter().sum()
}
