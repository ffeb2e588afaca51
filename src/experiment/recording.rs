use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::{Observer, Options, Plan, RunError, Tally, run};
use crate::results::Shard;
use crate::results::manifest::{Build, Manifest, Run};
use crate::results::store::Store;

/// Which trials a run covers, and whether it keeps earlier results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Portion {
    /// All trials without a result.
    Whole,
    /// All trials; deletes earlier results.
    Fresh,
    /// One of several parts, written to separate files.
    Shard(Shard),
}

impl Portion {
    fn shard(self) -> Option<Shard> {
        match self {
            Portion::Shard(shard) => Some(shard),
            Portion::Whole | Portion::Fresh => None,
        }
    }
}

/// A run of an experiment into a folder of results.
pub struct Recording<'a> {
    plan: &'a Plan,
    portion: Portion,
    store: Arc<Store>,
    began: Instant,
}

impl<'a> Recording<'a> {
    /// Opens `results/NAME`. Refuses while another run writes there.
    pub fn open(plan: &'a Plan, results: &Path, portion: Portion) -> Result<Self, RunError> {
        let folder: PathBuf = results.join(plan.experiment.name.as_ref());
        let store = match portion {
            Portion::Fresh => Store::open_fresh(&folder),
            _ => Store::open_part(&folder, portion.shard()),
        }?;
        Ok(Self { plan, portion, store: Arc::new(store), began: Instant::now() })
    }

    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    pub fn folder(&self) -> &Path {
        self.store.folder()
    }

    /// Runs the arms without a row. Writes the manifest before the first row, and again at the end
    /// with the duration of the run.
    pub fn run(
        self,
        options: &Options,
        build: Build,
        command_line: Vec<String>,
        observer: &dyn Observer,
    ) -> Result<Tally, RunError> {
        let mut manifest = self.plan.manifest(self.earlier_runs()?);
        let mut this = Run::start(build, options.threads, command_line);
        this.memory_limit = Some(options.memory_limit);
        manifest.runs.push(this.clone());
        manifest.write_part(self.folder(), self.portion.shard())?;
        let tally = run(self.plan, &self.store, options, observer)?;
        this.finish(self.began.elapsed());
        manifest.runs.pop();
        manifest.runs.push(this);
        manifest.write_part(self.folder(), self.portion.shard())?;
        Ok(tally)
    }

    /// The runs that produced the results kept in the folder.
    fn earlier_runs(&self) -> Result<Vec<Run>, RunError> {
        if self.portion == Portion::Fresh {
            Manifest::remove_shards(self.folder())?;
            return Ok(Vec::new());
        }
        let earlier = Manifest::read_part(self.folder(), self.portion.shard());
        Ok(earlier.map_or(Vec::new(), |manifest| manifest.runs))
    }
}
