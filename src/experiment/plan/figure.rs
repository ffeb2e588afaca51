use super::{PlanError, PlannedArm, PlannedData, PlannedMechanism};
use crate::config::{Experiment, FigureKind};
use crate::figures;

/// Refuses a figure that would have nothing to show. What the file alone tells, such as a figure
/// for several epsilons of an experiment with one, has been refused when it was read.
pub(super) fn check(
    experiment: &Experiment,
    datasets: &[PlannedData],
    mechanisms: &[PlannedMechanism],
) -> Result<(), PlanError> {
    let kind = experiment.figure.kind;
    let has_size = |data: &PlannedData| data.cases.iter().any(|case| case.size.is_some());
    let mut records: Vec<usize> = datasets.iter().map(|data| data.data.len()).collect();
    records.sort_unstable();
    records.dedup();
    let has_trace =
        |mechanism: &PlannedMechanism| mechanism.arms.iter().any(|arm| has_trace(mechanism, arm));
    let claims = experiment.claims.iter().map(|claim| claim.as_ref());
    let why = match kind {
        FigureKind::Sizes if !datasets.iter().any(has_size) => {
            "no queries have a size; [workload] queries = [{ ranges = { count = 1000 } }] have one"
        }
        FigureKind::Records if records.len() < 2 => {
            "all data has the same number of records; sweep = { parameter = \"records\", values = \
             [1000, 10000] } gives several"
        }
        FigureKind::Rounds if !mechanisms.iter().any(|mechanism| mechanism.has_rounds) => {
            "none of the mechanisms works in rounds; aim, mwem, mwem-pgm, pmw and pmw-delta do"
        }
        FigureKind::Traces | FigureKind::Rates if !mechanisms.iter().any(has_trace) => {
            "the arms with a `trace` estimate without iterations; pgm and mw have them"
        }
        FigureKind::Ratios if !figures::shows_ratios(claims) => {
            "no claim compares two arms of a mechanism with a number of the paper: kind = \
             \"ratio\", with `paper` and `against`"
        }
        // The others show whatever trials there are.
        FigureKind::Bars
        | FigureKind::Epsilon
        | FigureKind::Sizes
        | FigureKind::Cases
        | FigureKind::Records
        | FigureKind::Rounds
        | FigureKind::Sweep
        | FigureKind::Scaling
        | FigureKind::Traces
        | FigureKind::Rates
        | FigureKind::Ratios
        | FigureKind::Table => return Ok(()),
    };
    Err(PlanError::NothingToShow { kind: kind.name(), why })
}

/// Whether the arm reports its iterations.
fn has_trace(mechanism: &PlannedMechanism, arm: &PlannedArm) -> bool {
    let is_iterative = match arm.source.name() {
        "pgm" | "mw" => true,
        "own" => mechanism.cost_model.own_iterations > 0.0,
        _ => false,
    };
    is_iterative && arm.estimation.trace.is_some()
}
