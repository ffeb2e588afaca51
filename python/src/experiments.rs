use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::Sender;
use std::time::Duration;

use pgmbench::config::{ConfigError, Overrides, Source};
use pgmbench::data::Registry;
use pgmbench::experiment::{
    Analysis, Filter, Observer, Options, Plan, Portion, Recording, Tally, Trial,
};
use pgmbench::results::manifest::Build;
use pgmbench::results::{Status, TrialRecord};
use pyo3::prelude::*;

use crate::error::value_error;
use crate::interruptible::{Message, with_questions};

/// An event of a run: what happened, the name of a trial or the outcome of an arm, and a number of
/// arms.
type Event = (&'static str, String, usize);

/// The arguments of a run, in data that it owns.
struct Task {
    file: PathBuf,
    results: PathBuf,
    overrides: Overrides,
    filter: Filter,
    jobs: Option<usize>,
    timing: bool,
    fresh: bool,
}

/// The folder of the results, and the numbers of arms by outcome.
type Outcome = (PathBuf, Tally);

/// Sends the events of a run to the calling thread.
struct Reporter(Mutex<Sender<Message<Event, Result<Outcome, String>>>>);

impl Reporter {
    fn send(&self, event: Event) {
        let sender = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // The calling thread has gone if it was interrupted.
        let _ = sender.send(Message::Question(event));
    }
}

impl Observer for Reporter {
    fn begins(&self, _trial: &Trial, name: &str) {
        self.send(("trial", name.to_string(), 0));
    }

    fn ended(&self, record: &TrialRecord) {
        let outcome = match record.status {
            Status::Done => "done",
            Status::Infeasible => "infeasible",
            Status::Timeout => "timeout",
            Status::NotApplicable => "not applicable",
            Status::Failed => "failed",
        };
        self.send(("arm", outcome.to_string(), 1));
    }
}

impl Task {
    fn run(self, reporter: &Reporter) -> Result<Outcome, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let source = source(&self.file).map_err(|error| text(&error))?;
        let plan = Plan::new(source, &self.overrides, &Registry::default(), &self.filter)
            .map_err(|error| text(&error))?;
        let portion = if self.fresh { Portion::Fresh } else { Portion::Whole };
        let recording =
            Recording::open(&plan, &self.results, portion).map_err(|error| text(&error))?;
        let folder = recording.folder().to_path_buf();
        let known: std::collections::BTreeSet<String> = recording
            .store()
            .rows()
            .into_iter()
            .filter(|row| row.status != Status::Failed)
            .map(|row| row.key)
            .collect();
        let rows = plan.trials.iter().flat_map(|trial| &trial.rows);
        let pending = rows.filter(|row| !known.contains(row.key.as_str())).count();
        reporter.send(("start", folder.display().to_string(), pending));
        let defaults = Options::default();
        let options =
            Options { jobs: self.jobs.unwrap_or(defaults.jobs), timing: self.timing, ..defaults };
        let tally = recording
            .run(&options, Build::of_library(), Vec::new(), reporter)
            .map_err(|error| text(&error))?;
        Analysis::write_in(&folder).map_err(|error| text(&error))?;
        Ok((folder, tally))
    }
}

/// The file; or, if there is none, the experiment of the program whose name it is.
fn source(file: &Path) -> Result<Source, ConfigError> {
    let read = Source::read(file);
    let is_name = file.components().count() == 1;
    match (&read, file.file_stem()) {
        (Err(ConfigError::Missing { .. }), Some(stem)) if is_name => {
            Source::shipped(&stem.to_string_lossy()).map_or(read, Ok)
        }
        _ => read,
    }
}

/// Runs the arms of an experiment that have no result yet, and writes summary, claims and figure.
/// Returns the folder and the numbers of arms that were done, infeasible, out of time, not
/// applicable, failed and there already.
///
/// A run that is interrupted goes on in the background: the caller ends the process.
#[pyfunction]
#[pyo3(signature = (
    file, results, *, quick, trials, iterations, only, jobs, timing, fresh, observer
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
pub(crate) fn run_experiment(
    py: Python<'_>,
    file: PathBuf,
    results: PathBuf,
    quick: bool,
    trials: Option<usize>,
    iterations: Option<usize>,
    only: (Vec<String>, Vec<String>, Vec<String>, Vec<f64>),
    jobs: Option<usize>,
    timing: bool,
    fresh: bool,
    observer: Bound<'_, PyAny>,
) -> PyResult<(PathBuf, [usize; 6])> {
    let (datasets, mechanisms, arms, epsilons) = only;
    let task = Task {
        file,
        results,
        overrides: Overrides { quick, trials, iterations },
        filter: Filter { datasets, mechanisms, arms, epsilons },
        jobs,
        timing,
        fresh,
    };
    let work = move |sender: Sender<_>| task.run(&Reporter(Mutex::new(sender)));
    let tell = |event: Event| observer.call1(event).map(drop);
    let outcome = with_questions(py, work, tell, || Duration::MAX)?;
    let (folder, tally) = outcome.map_err(value_error)?;
    let Tally { reused, done, infeasible, timeout, not_applicable, failed } = tally;
    Ok((folder, [done, infeasible, timeout, not_applicable, failed, reused]))
}

/// Writes summary, claims and figure of the results in a folder again.
#[pyfunction]
pub(crate) fn analyse_results(folder: PathBuf) -> PyResult<()> {
    Analysis::write_in(Path::new(&folder)).map(drop).map_err(value_error)
}
