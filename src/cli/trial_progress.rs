use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use pgmbench::experiment::{Observer, Plan, Trial};
use pgmbench::results::{Status, TrialRecord};

use super::output::{note, printable};

const TICK_INTERVAL: Duration = Duration::from_millis(120);
/// Iterations between two updates of a bar.
const UPDATE_INTERVAL: usize = 50;

/// A line per finished arm. On a terminal also progress bars below the lines: one for all arms, and
/// one per running trial.
pub(crate) struct TrialProgress {
    bars: Option<Bars>,
}

struct Bars {
    /// Its length is the predicted milliseconds of all arms: progress by cost, not by number.
    all: ProgressBar,
    /// Predicted milliseconds, by the key of the arm.
    costs: BTreeMap<String, u64>,
    ended: AtomicUsize,
    many: MultiProgress,
    running: Mutex<BTreeMap<usize, Running>>,
}

struct Running {
    bar: ProgressBar,
    name: String,
}

impl TrialProgress {
    pub(crate) fn new(plan: &Plan, rows: &[TrialRecord]) -> Self {
        if !stderr().is_terminal() {
            return Self { bars: None };
        }
        let ended = rows.iter().filter(|row| row.status != Status::Failed);
        let known: BTreeSet<&String> = ended.map(|row| &row.key).collect();
        let predicted = plan.costs();
        let mut costs = BTreeMap::new();
        for trial in &plan.trials {
            let shared = predicted.release(trial) / trial.rows.len().max(1) as f64;
            for row in trial.rows.iter().filter(|row| !known.contains(&row.key)) {
                let seconds = shared + predicted.row(trial, row);
                costs.insert(row.key.clone(), (1e3 * seconds).ceil() as u64);
            }
        }
        let many = MultiProgress::new();
        let all = many.add(ProgressBar::new(costs.values().sum()));
        let style = "{bar:30} {msg}, {elapsed} elapsed, about {eta} left";
        all.set_style(ProgressStyle::with_template(style).expect("a valid template"));
        all.set_message(format!("0 of {} arms", costs.len()));
        all.enable_steady_tick(TICK_INTERVAL);
        let running = Mutex::default();
        Self { bars: Some(Bars { all, costs, ended: AtomicUsize::new(0), many, running }) }
    }
}

impl Bars {
    fn count(&self, record: &TrialRecord) {
        let ended = self.ended.fetch_add(1, Ordering::Relaxed) + 1;
        self.all.set_message(format!("{ended} of {} arms", self.costs.len()));
        self.all.inc(self.costs.get(&record.key).copied().unwrap_or_default());
    }

    fn with(&self, trial: &Trial, act: impl FnOnce(&Running)) {
        let running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(running) = running.get(&trial.index) {
            act(running);
        }
    }
}

impl Observer for TrialProgress {
    fn begins(&self, trial: &Trial, name: &str) {
        let Some(bars) = &self.bars else { return };
        let bar = bars.many.add(ProgressBar::new_spinner());
        let style = ProgressStyle::with_template("{spinner} {msg} {prefix}");
        bar.set_style(style.expect("a valid template"));
        bar.set_message(format!("{}: measuring", printable(name)));
        bar.enable_steady_tick(TICK_INTERVAL);
        let running = Running { bar, name: printable(name).into() };
        let mut all = bars.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.insert(trial.index, running);
    }

    fn estimates(&self, trial: &Trial, arm: &str) {
        let Some(bars) = &self.bars else { return };
        bars.with(trial, |running| {
            running.bar.set_prefix("");
            running.bar.set_message(format!("{}: {}", running.name, printable(arm)));
        });
    }

    fn iterates(&self, trial: &Trial, iteration: usize) {
        let Some(bars) = self.bars.as_ref().filter(|_| iteration.is_multiple_of(UPDATE_INTERVAL))
        else {
            return;
        };
        bars.with(trial, |running| running.bar.set_prefix(format!("iteration {iteration}")));
    }

    fn ended(&self, record: &TrialRecord) {
        let outcome = match record.workload_error {
            Some(error) if record.is_unconverged() => format!("error {error:.4}, not converged"),
            Some(error) if record.status == Status::Done => format!("error {error:.4}"),
            _ => format!("{}: {}", record.status, record.message),
        };
        let seconds = record.estimate_seconds.map_or(String::new(), |s| format!(", {s:.2} s"));
        let line = format!(
            "{} {} epsilon {} trial {} {}: {outcome}{seconds}",
            record.dataset,
            record.mechanism,
            record.epsilon,
            record.trial + 1,
            record.arm
        );
        match &self.bars {
            Some(bars) => {
                bars.count(record);
                // A closed stderr does not stop the run.
                let _ = bars.many.println(printable(&line));
            }
            None => note(line),
        }
    }

    fn ends(&self, trial: &Trial) {
        let Some(bars) = &self.bars else { return };
        let mut all = bars.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(running) = all.remove(&trial.index) {
            running.bar.finish_and_clear();
        }
    }
}

impl Drop for TrialProgress {
    fn drop(&mut self) {
        if let Some(bars) = &self.bars {
            bars.all.finish_and_clear();
        }
    }
}
