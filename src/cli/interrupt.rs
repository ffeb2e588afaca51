//! Ctrl-C (SIGINT), and SIGTERM, which schedulers send to end a job.

use std::process;
use std::thread;

use pgmbench::subprocess;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::failure::{Failure, ResultExt};

/// The exit code of a command that was interrupted: 128 + SIGINT, the convention of shells. The
/// same for both signals, so that scripts have one code to check.
pub(crate) const INTERRUPTED: u8 = 130;

/// At the first signal, runs `finish`, ends the commands of the user and then the process. At
/// the second, ends it at once, even if
/// `finish` is still running.
///
/// SIGHUP is not handled: a run that was started with `nohup` has to survive it.
pub(crate) fn on_interrupt(finish: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).internal_at("cannot listen for Ctrl-C")?;
    let listen = move || {
        let mut finish = Some(finish);
        for _ in signals.forever() {
            match finish.take() {
                Some(finish) => drop(thread::spawn(|| {
                    finish();
                    subprocess::end_all();
                    process::exit(INTERRUPTED.into());
                })),
                None => low_level::exit(INTERRUPTED.into()),
            }
        }
    };
    thread::Builder::new()
        .name("signals".into())
        .spawn(listen)
        .map(drop)
        .internal_at("cannot listen for Ctrl-C")
}
