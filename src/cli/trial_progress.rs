use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use pgmbench::experiment::{Observer, Plan, Trial};
use pgmbench::results::{Status, TrialRecord};

/// How often bars are drawn.
const TURN: Duration = Duration::from_millis(120);
/// Iterations between two looks at a bar.
const LOOK_EVERY: usize = 50;

/// Bars for a terminal, one for all arms and one for each running trial; plain lines elsewhere.
pub(crate) struct TrialProgress {
    bars: Option<Bars>,
}

struct Bars {
    all: ProgressBar,
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
        let known: std::collections::BTreeSet<&String> = ended.map(|row| &row.key).collect();
        let keys = plan.trials.iter().flat_map(|trial| &trial.rows);
        let left = keys.filter(|row| !known.contains(&row.key)).count();
        let many = MultiProgress::new();
        let all = many.add(ProgressBar::new(left as u64));
        let style = "{bar:30} {pos} of {len} arms, {elapsed} so far, about {eta} left";
        all.set_style(ProgressStyle::with_template(style).expect("the template is right"));
        all.enable_steady_tick(TURN);
        Self { bars: Some(Bars { all, many, running: Mutex::default() }) }
    }
}

impl Bars {
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
        bar.set_message(format!("{name}: measuring"));
        bar.enable_steady_tick(TURN);
        let running = Running { bar, name: name.into() };
        let mut all = bars.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.insert(trial.index, running);
    }

    fn estimates(&self, trial: &Trial, arm: &str) {
        let Some(bars) = &self.bars else { return };
        bars.with(trial, |running| running.bar.set_message(format!("{}: {arm}", running.name)));
    }

    fn iterates(&self, trial: &Trial, iteration: usize) {
        let Some(bars) = self.bars.as_ref().filter(|_| iteration.is_multiple_of(LOOK_EVERY)) else {
            return;
        };
        bars.with(trial, |running| running.bar.set_prefix(format!("iteration {iteration}")));
    }

    fn ended(&self, record: &TrialRecord) {
        if let Some(bars) = &self.bars {
            return bars.all.inc(1);
        }
        let outcome = match record.workload_error {
            Some(error) if record.status == Status::Done => format!("error {error:.4}"),
            _ => format!("{}: {}", record.status, record.message),
        };
        let seconds = record.estimate_seconds.map_or(String::new(), |s| format!(", {s:.2} s"));
        // Nobody may be listening.
        let _ = writeln!(
            stderr(),
            "{} {} epsilon {} trial {} {}: {outcome}{seconds}",
            record.dataset,
            record.mechanism,
            record.epsilon,
            record.trial + 1,
            record.arm
        );
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
