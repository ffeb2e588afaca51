//! Validation of values: ranges of numbers, characters of names, lists without duplicates.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;
use std::ops::RangeInclusive;

use toml::Spanned;

use super::Checked;
use crate::config::dataset::{Chain, Dataset};
use crate::config::form::Numbers;
use crate::config::source::Source;

/// The largest count of any kind (our choice: above every sensible value, below overflow).
pub(in crate::config) const MAX_COUNT: u64 = 1_000_000_000;

/// Limits of generated records (our choice: about a minute and a gigabyte).
const MAX_CHAIN: u64 = 10_000;
const MAX_RECORDS: u64 = 10_000_000;

/// A whole number within its range.
pub(in crate::config) fn count(
    source: &Source,
    setting: &str,
    value: &Spanned<u64>,
    range: RangeInclusive<u64>,
) -> Checked<usize> {
    match usize::try_from(*value.as_ref()) {
        Ok(number) if range.contains(value.as_ref()) => Ok(number),
        _ => {
            let message = format!("{setting} = {value} is out of range");
            let (low, high) = range.into_inner();
            let help = format!("{setting} is a whole number from {low} to {high}");
            Err(source.error(value.span(), message, Some(&help)))
        }
    }
}

/// A list of distinct whole numbers within their range.
pub(super) fn counts(
    source: &Source,
    setting: &str,
    list: &Spanned<Vec<Spanned<u64>>>,
    range: RangeInclusive<u64>,
) -> Checked<Vec<usize>> {
    not_empty(source, setting, list)?;
    distinct(source, setting, list.as_ref(), |number| *number, None)?;
    list.as_ref().iter().map(|number| count(source, setting, number, range.clone())).collect()
}

pub(in crate::config) fn positive(
    source: &Source,
    setting: &str,
    value: &Spanned<f64>,
) -> Checked<f64> {
    let number = *value.as_ref();
    if number > 0.0 && number.is_finite() {
        return Ok(number);
    }
    let message = format!("{setting} = {number} is out of range");
    let help = format!("{setting} is a positive, finite number");
    Err(source.error(value.span(), message, Some(&help)))
}

/// The probability with which error bars should contain the truth.
pub(super) fn probability(source: &Source, value: &Spanned<f64>) -> Checked<f64> {
    let number = *value.as_ref();
    // Further out, Gaussian tails are no model of any noise.
    if (0.01..=0.9999).contains(&number) {
        return Ok(number);
    }
    let message = format!("coverage = {number} is out of range");
    let help = "coverage is a probability from 0.01 to 0.9999, such as 0.95";
    Err(source.error(value.span(), message, Some(help)))
}

/// A certified gap at which estimates stop.
pub(in crate::config) fn gap(source: &Source, value: &Spanned<f64>) -> Checked<f64> {
    let number = *value.as_ref();
    if number >= 0.0 && number.is_finite() {
        return Ok(number);
    }
    let message = format!("gap = {number} is out of range");
    let help = "gap is a number that is not negative, in units of the loss";
    Err(source.error(value.span(), message, Some(help)))
}

pub(super) fn epsilon(source: &Source, written: Spanned<Numbers>) -> Checked<Vec<Spanned<f64>>> {
    let span = written.span();
    let list = Spanned::new(span, written.into_inner().0);
    not_empty(source, "epsilon", &list)?;
    for value in list.as_ref() {
        positive(source, "epsilon", value)?;
    }
    distinct(source, "epsilon", list.as_ref(), |value| value.to_bits(), None)?;
    Ok(list.into_inner())
}

/// A probability that is neither 0 nor 1.
pub(super) fn delta(source: &Source, value: Spanned<f64>) -> Checked<Spanned<f64>> {
    if *value.as_ref() > 0.0 && *value.as_ref() < 1.0 {
        return Ok(value);
    }
    let message = format!("delta = {value} is out of range");
    let help = "delta is a number between 0 and 1, such as 0.001; leave it out for none";
    Err(source.error(value.span(), message, Some(help)))
}

pub(super) fn datasets(source: &Source, written: Spanned<Vec<Dataset>>) -> Checked<Vec<Dataset>> {
    not_empty(source, "datasets", &written)?;
    let datasets = written.into_inner();
    distinct(
        source,
        "datasets",
        datasets.iter().map(Dataset::label),
        String::clone,
        Some("data that takes part twice needs a label: { name = \"adult\", label = \"other\" }"),
    )?;
    for dataset in &datasets {
        if let Some(label) = &dataset.label {
            name(source, "label", label)?;
        }
        for (setting, number) in
            [("records", &dataset.records), ("attributes", &dataset.attributes)]
        {
            if let Some(number) = number {
                count(source, setting, number, 1..=MAX_COUNT)?;
            }
        }
        if let Some(written) = &dataset.chain {
            let reason = "records that are drawn from a chain are taken as they are drawn: its own \
                          settings are `chain.attributes` and `chain.records`";
            alone(source, dataset, reason)?;
            chain(source, written)?;
        }
        if let Some(written) = &dataset.sizes {
            alone(source, dataset, "`sizes` are those of all attributes, without any records")?;
            sizes(source, written)?;
        }
    }
    Ok(datasets)
}

/// What is in place of data excludes the other keys of a data set, and its name must be a valid
/// folder.
fn alone(source: &Source, dataset: &Dataset, reason: &str) -> Checked<()> {
    name(source, "name of a data set", &dataset.name)?;
    let others = [
        dataset.schema.as_ref().map(Spanned::span),
        dataset.bins.as_ref().map(Spanned::span),
        dataset.without.first().map(Spanned::span),
        dataset.only.as_ref().map(Spanned::span),
        dataset.attributes.as_ref().map(Spanned::span),
        dataset.records.as_ref().map(Spanned::span),
    ];
    if let Some(other) = others.into_iter().flatten().next() {
        return Err(source.error(other, reason, Some("leave it out")));
    }
    match (&dataset.chain, &dataset.sizes) {
        (Some(_), Some(sizes)) => Err(source.error(sizes.span(), reason, Some("leave it out"))),
        _ => Ok(()),
    }
}

fn sizes(source: &Source, written: &Spanned<Vec<u64>>) -> Checked<()> {
    not_empty(source, "sizes", written)?;
    for &size in written.as_ref() {
        count(source, "sizes", &Spanned::new(written.span(), size), 1..=MAX_COUNT)?;
    }
    Ok(())
}

fn chain(source: &Source, written: &Spanned<Chain>) -> Checked<()> {
    let Chain { attributes, records, ones, flips, .. } = *written.as_ref();
    let number = |value| Spanned::new(written.span(), value);
    count(source, "attributes", &number(attributes), 1..=MAX_CHAIN)?;
    count(source, "records", &number(records), 1..=MAX_RECORDS)?;
    for (setting, value) in [("ones", ones), ("flips", flips)] {
        if !(0.0..=1.0).contains(&value) {
            let message = format!("{setting} = {value} is out of range");
            let help = format!("{setting} is a probability, from 0 to 1");
            return Err(source.error(written.span(), message, Some(&help)));
        }
    }
    Ok(())
}

/// A name that is valid as a folder, as a CSV field and as a command-line argument.
pub(super) fn name(source: &Source, setting: &str, value: &Spanned<String>) -> Checked<()> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !value.as_ref().is_empty() && value.as_ref().chars().all(fits) {
        return Ok(());
    }
    let message = format!("\"{value}\" cannot be a {setting}");
    let help = "names consist of lower-case letters, digits and hyphens";
    Err(source.error(value.span(), message, Some(help)))
}

/// Rejects an empty list.
pub(super) fn not_empty<T>(source: &Source, setting: &str, list: &Spanned<Vec<T>>) -> Checked<()> {
    match list.as_ref().is_empty() {
        true => Err(source.error(list.span(), format!("`{setting}` is empty"), None)),
        false => Ok(()),
    }
}

/// Rejects duplicates.
pub(super) fn distinct<'a, T: Display + 'a, K: Eq + Hash>(
    source: &Source,
    setting: &str,
    list: impl IntoIterator<Item = &'a Spanned<T>>,
    key: impl Fn(&T) -> K,
    help: Option<&str>,
) -> Checked<()> {
    let mut seen = HashSet::new();
    for value in list {
        if !seen.insert(key(value.as_ref())) {
            let message = format!("`{setting}` has {value} twice");
            return Err(source.error(value.span(), message, help));
        }
    }
    Ok(())
}
