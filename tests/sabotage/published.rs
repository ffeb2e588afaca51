//! The errors of what was published, from the records and without the mechanism's own code.

use dp::Draw as Entry;
use dp::transcript::Event;
use pgmbench::data::Dataset;
use pgmbench::mechanism::{Published, Release};
use pgmbench::workload::SubWorkload;
use private_pgm::domain::Clique;
use private_pgm::model::Projectable;
use private_pgm::query::QueryMatrix;

use crate::setup::Run;

/// The published answers minus the true ones, in the order of the draws. For EFPA, those of the
/// Fourier coefficients that were measured.
pub(crate) fn errors(
    release: &Release,
    data: &Dataset,
    entries: &[&Entry],
) -> Result<Vec<f64>, String> {
    let Published::Answers(answers) = &release.published else { return Ok(Vec::new()) };
    let is_fourier = |entry: &&&Entry| entry.label.starts_with("Fourier coefficients");
    let kept: Vec<usize> = entries.iter().filter(is_fourier).map(|entry| entry.values).collect();
    let mut errors = Vec::new();
    for (place, answer) in answers.iter().enumerate() {
        let truth = truth(&answer.clique, &answer.query, data);
        let differences: Vec<f64> = answer.y.iter().zip(&truth).map(|(y, x)| y - x).collect();
        match kept.get(place) {
            None => errors.extend(differences),
            Some(&kept) => {
                // The others are published as 0.
                let others = &fourier(&answer.y)[kept..];
                if others.iter().any(|coefficient| coefficient.abs() > 1e-6) {
                    return Err("a coefficient that was not measured is published".into());
                }
                errors.extend_from_slice(&fourier(&differences)[..kept]);
            }
        }
    }
    Ok(errors)
}

/// Checks the scores of DualQuery, which publishes no answers. In round t the score of a query is
/// (t - 1) c - N A, with c of the N records in it and A of the t - 1 synthetic ones; that of its
/// negation is the negative of it.
pub(crate) fn check_game(run: &Run, parts: &[SubWorkload], data: &Dataset) -> Result<(), String> {
    let counts = || parts.iter().flat_map(|part| truth(&part.clique, &part.query, data));
    for (updates, event) in (1..).zip(run.events.iter().filter_map(Event::handed)) {
        let updates = f64::from(updates);
        let (queries, negations) = event.values.split_at(event.values.len() / 2);
        for ((count, score), negation) in counts().zip(queries).zip(negations) {
            let synthetic = (updates * count - score) / data.len() as f64;
            let is_count = (synthetic - synthetic.round()).abs() < 1e-9;
            if !is_count || !(-1e-9..updates + 1e-9).contains(&synthetic) || *negation != -score {
                return Err(format!("{}: a score of {score}", event.draw.label));
            }
        }
    }
    Ok(())
}

/// Q x, by counting records.
fn truth(clique: &Clique, query: &QueryMatrix, data: &Dataset) -> Vec<f64> {
    let (domain, matrix) = (data.domain(), query.to_dense());
    let mut truth = vec![0.0; matrix.rows()];
    for record in 0..data.len() {
        let cell = clique
            .iter()
            .fold(0, |cell, id| cell * domain.size(id) + data.code(record, id) as usize);
        for (row, answer) in truth.iter_mut().enumerate() {
            *answer += matrix[(row, cell)];
        }
    }
    truth
}

/// The coefficients in the orthonormal real Fourier basis: the constant, pairs of cosine and sine
/// of rising frequency, and the alternating one.
fn fourier(cells: &[f64]) -> Vec<f64> {
    let n = cells.len();
    let angle = |frequency: usize, place: usize| {
        2.0 * std::f64::consts::PI * (frequency * place % n) as f64 / n as f64
    };
    let product = |length: f64, of: &dyn Fn(usize) -> f64| -> f64 {
        cells.iter().enumerate().map(|(place, x)| length * of(place) * x).sum()
    };
    let (single, pair) = ((1.0 / n as f64).sqrt(), (2.0 / n as f64).sqrt());
    let mut coefficients = vec![product(single, &|_| 1.0)];
    for frequency in 1..n.div_ceil(2) {
        coefficients.push(product(pair, &|place| angle(frequency, place).cos()));
        coefficients.push(product(pair, &|place| angle(frequency, place).sin()));
    }
    if n.is_multiple_of(2) {
        coefficients.push(product(single, &|place| if place % 2 == 0 { 1.0 } else { -1.0 }));
    }
    coefficients
}

#[test]
fn fourier_coefficients_have_the_length_of_the_cells() {
    for n in [1, 2, 4, 8] {
        let cells: Vec<f64> = (0..n).map(|i| f64::from(i * i % 5)).collect();
        let squares = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>();
        assert!((squares(&fourier(&cells)) - squares(&cells)).abs() < 1e-9, "{n}");
        assert_eq!(fourier(&cells).len(), n as usize);
    }
}
