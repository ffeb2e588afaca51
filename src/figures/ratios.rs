use super::Facts;
use super::chart::{Axis, Bar, Category, Chart, Content, Outcome, Panel};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{Omissions, Tally, shown_of};
use crate::config::{Claim, Metric, Statistic};
use crate::results::{TraceRecord, TrialRecord};

/// The paper's ratios next to ours: a panel per mechanism, a group of two bars per claim.
///
/// Claims that compare two arms of one mechanism and have a number are shown. Our bar is the median
/// over all trials and cases, its whisker reaches from the smallest to the largest ratio.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let shown: Vec<Compared> = facts.claims.iter().filter_map(Compared::of).collect();
    let mut mechanisms = distinct(shown.iter().map(|compared| compared.mechanism));
    mechanisms.sort_by_key(|mechanism| labels::mechanism_rank(mechanism));
    let mut omissions = Omissions::default();
    let panel = |&mechanism: &&str| {
        let of_panel = shown.iter().filter(|compared| compared.mechanism == mechanism);
        let categories = of_panel.map(|compared| compared.group(trials, facts, &mut omissions));
        let content = Content::Bars { label: String::new(), categories: categories.collect() };
        let title = labels::mechanism(mechanism);
        Panel { title, y: Axis::log("times smaller with PGM"), content }
    };
    let panels: Vec<Panel> = mechanisms.iter().map(panel).collect();
    let keys = [("", "the paper"), ("", "ours")].map(|(context, arm)| SeriesKey { context, arm });
    let cases = distinct(trials.iter().map(|trial| (trial.case.as_str(), trial.trial))).len();
    let spread = match cases {
        0 | 1 => String::new(),
        many => format!("median of {many} trials, whiskers from the smallest to the largest"),
    };
    let explanation = labels::standin_note(trials);
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series: labels::series(&keys, |key| key.arm.to_string()),
        columns: panels.len().clamp(1, 2),
        panels,
        shares_y: true,
        notes: [explanation].into_iter().chain(omissions.notes()).flatten().collect(),
        footnote: facts.footnote.clone(),
        ..Chart::default()
    })
}

/// Whether the figure has a group for some of the claims.
pub fn shows_ratios<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> bool {
    claims.into_iter().any(|claim| Compared::of(claim).is_some())
}

/// A claim about the ratio of two arms.
struct Compared<'a> {
    dataset: &'a str,
    mechanism: &'a str,
    arm: &'a str,
    against: &'a str,
    metric: Metric,
    number: f64,
}

impl<'a> Compared<'a> {
    fn of(claim: &'a Claim) -> Option<Self> {
        let ((other, against), metric) = claim.compared()?;
        let number = claim.number()?;
        let (dataset, mechanism) = (claim.dataset()?, claim.mechanism());
        let arm = claim.arms().next()?;
        (other == mechanism).then_some(Self { dataset, mechanism, arm, against, metric, number })
    }

    fn group(&self, trials: &[TrialRecord], facts: &Facts, omissions: &mut Omissions) -> Category {
        let of_arm = |arm: &str| -> Vec<&TrialRecord> {
            let is_here = |trial: &&TrialRecord| {
                trial.dataset == self.dataset
                    && trial.mechanism == self.mechanism
                    && trial.arm == arm
            };
            trials.iter().filter(is_here).collect()
        };
        let (above, below) = (of_arm(self.arm), of_arm(self.against));
        let dataset = labels::dataset(self.dataset);
        for (arm, rows) in [(self.arm, &above), (self.against, &below)] {
            let name = labels::mechanism_with(self.mechanism, arm);
            let tally = Tally::of(rows.iter().copied(), self.metric);
            omissions.add(&format!("{name} on {dataset}"), &tally);
        }
        let ratios = self.metric.paired_ratios(&above, &below);
        let ours = match (
            shown_of(ratios, Statistic::Median),
            Tally::of(above.iter().copied(), self.metric),
        ) {
            (Some(shown), _) => Outcome::Value(shown),
            (None, tally) => tally.failure(facts).map_or(Outcome::Missing, Outcome::Failure),
        };
        let paper =
            shown_of([self.number], Statistic::Median).map_or(Outcome::Missing, Outcome::Value);
        let bar = |(series, outcome)| Bar { series, outcome, unconverged: 0 };
        let bars = [paper, ours].into_iter().enumerate().map(bar).collect();
        Category { label: dataset + labels::star(above.iter().copied()), bars }
    }
}
