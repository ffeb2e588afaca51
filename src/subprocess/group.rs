//! The process groups of running commands.

use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};

/// The leaders of all groups that are running.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn kill_all() {
    running().iter().for_each(|&leader| kill(leader));
}

/// Makes the command the leader of a group of its own.
pub(super) fn lead(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// A command and its descendants, as long as they do not leave the group. Registered until it is
/// dropped.
pub(super) struct Group {
    leader: u32,
}

impl Group {
    pub(super) fn of(child: &Child) -> Self {
        running().push(child.id());
        Self { leader: child.id() }
    }

    /// Limits the address space of the leader, and of the children that it starts from then on.
    pub(super) fn limit_memory(&self, bytes: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Resource, Rlimit, prlimit};
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            match prlimit(pid(self.leader), Resource::As, limit) {
                Ok(_) => {}
                // It has ended already; its status tells more.
                Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let _ = bytes;
        Ok(())
    }

    pub(super) fn kill(&self) {
        kill(self.leader);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        running().retain(|&leader| leader != self.leader);
    }
}

#[cfg(unix)]
fn pid(leader: u32) -> Option<Pid> {
    i32::try_from(leader).ok().and_then(Pid::from_raw)
}

/// An error means that no process of the group is left.
fn kill(leader: u32) {
    #[cfg(unix)]
    if let Some(group) = pid(leader) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = leader;
}
