//! Calls of the Slurm programs `sbatch` and `squeue`.

use std::path::Path;
use std::process::Command;

use super::failure::{Failure, ResultExt};

/// Submits a script and returns the id of the job.
pub(crate) fn sbatch(options: &[&str], script: &Path) -> Result<String, Failure> {
    let output = Command::new("sbatch").arg("--parsable").args(options).arg(script).output();
    let output =
        output.input_at("cannot start sbatch; run this command on a machine of the cluster")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::input(format!("sbatch failed: {}", message.trim())));
    }
    // In a federation the id is followed by the name of the cluster.
    let printed = String::from_utf8_lossy(&output.stdout);
    Ok(printed.trim().split(';').next().unwrap_or_default().to_string())
}

/// The pending and running tasks of a job, one line each. Slurm removes jobs that have ended, and
/// then reports their ids as invalid.
pub(crate) fn queue(job: &str) -> Result<Vec<String>, Failure> {
    let format = "--format=%i %T %M %R";
    let arguments = ["--noheader", "--array", "--states=all", "--jobs", job, format];
    let output = Command::new("squeue").args(arguments).output();
    let output =
        output.input_at("cannot start squeue; run this command on a machine of the cluster")?;
    let message = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && !message.contains("Invalid job id") {
        let message = format!("squeue failed: {}", message.trim());
        return Err(Failure::Unexpected(anyhow::anyhow!(message)));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let ended = ["COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL"];
    let has_ended = |line: &&str| ended.iter().any(|state| line.contains(state));
    Ok(printed.lines().filter(|line| !has_ended(line)).map(|line| line.trim().into()).collect())
}
