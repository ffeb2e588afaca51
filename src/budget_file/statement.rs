use blake3::Hash;

use super::line::{Entry, Header, unseal};
use super::{Charge, Completion, Problem, Request};
use dp::{Accountant, Guarantee};

/// The verified content of a budget file: every line has the right hash, and the charges add up to
/// at most the total.
#[derive(Clone, Debug)]
pub struct Statement {
    pub header: Header,
    /// In the order of their charges.
    pub releases: Vec<Release>,
    /// The cost of all charges.
    pub account: Accountant,
    /// The hash of the last line, which covers all lines.
    pub chain: Hash,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    pub charge: Charge,
    /// `None` for a release that failed or is not finished; its charge counts nevertheless.
    pub completion: Option<Completion>,
}

impl Statement {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.split_inclusive('\n').zip(1..);
        let (first, _) = lines.next().ok_or(Problem::Format)?;
        let Some(first) = first.strip_suffix('\n') else {
            return Err(Problem::Format);
        };
        let (header, chain) = Header::unseal(first)?;
        let account = Accountant::new(header.total);
        let mut statement = Self { header, releases: Vec::new(), account, chain };
        for (line, number) in lines {
            let Some(line) = line.strip_suffix('\n') else {
                return Err(Problem::Incomplete { line: number });
            };
            let (entry, chain) = unseal(line, number, Some(&statement.chain))?;
            statement.add(entry, chain).map_err(|problem| match problem {
                Problem::Budget(error) => {
                    Problem::Line { line: number, problem: error.to_string() }
                }
                other => other,
            })?;
        }
        Ok(statement)
    }

    /// Adds the content of the next line, whose hash is `chain`.
    pub(super) fn add(&mut self, entry: Entry, chain: Hash) -> Result<(), Problem> {
        let line = self.lines() + 1;
        let wrong = |problem: &str| Problem::Line { line, problem: problem.into() };
        match entry {
            Entry::Charge(charge) => {
                if charge.number != self.releases.len() + 1 {
                    return Err(wrong("the numbers of charges are not consecutive"));
                }
                if self.account.charge(charge.cost)? != charge.cost {
                    return Err(wrong("the cost is not in the currency of the total"));
                }
                self.releases.push(Release { charge, completion: None });
            }
            Entry::Completed(completion) => {
                let charge = completion.charge.checked_sub(1);
                match charge.and_then(|charge| self.releases.get_mut(charge)) {
                    Some(release) if release.completion.is_none() => {
                        release.completion = Some(completion);
                    }
                    _ => {
                        return Err(wrong(
                            "completes a charge that does not exist or is complete already",
                        ));
                    }
                }
            }
        }
        self.chain = chain;
        Ok(())
    }

    /// The number of lines in the file.
    pub fn lines(&self) -> usize {
        let completed = self.releases.iter().filter(|release| release.completion.is_some());
        1 + self.releases.len() + completed.count()
    }

    /// The cost of a release, if the budget suffices.
    pub fn price(&self, request: &Request) -> Result<Guarantee, Problem> {
        let Header { dataset, neighbours, .. } = &self.header;
        if dataset != request.dataset {
            let (expected, found) = (dataset.clone(), request.dataset.into());
            return Err(Problem::Dataset { expected, found });
        }
        if *neighbours != request.neighbours {
            let (expected, found) = (*neighbours, request.neighbours);
            return Err(Problem::Neighbours { expected, found });
        }
        let guarantee = match self.account.counts(request.kept) {
            true => request.kept,
            false => request.promised,
        };
        Ok(self.account.clone().charge(guarantee)?)
    }
}
