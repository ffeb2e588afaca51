//! Ctrl-C, and the signal with which schedulers end a job.

use std::process;
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::failure::{Failure, ResultExt};

/// The exit code of a command that was interrupted: 128 and the number of Ctrl-C's signal, as
/// shells have it. The same for both signals, so that scripts have one thing to look for.
pub(crate) const INTERRUPTED: u8 = 130;

/// At the first signal, says `farewell` and ends the process; at the second, ends it at once,
/// wherever the farewell is.
///
/// SIGHUP stays as it is: who starts a run with `nohup` means it to go on.
pub(crate) fn on_interrupt(farewell: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).internal_at("cannot listen for Ctrl-C")?;
    let listen = move || {
        let mut farewell = Some(farewell);
        for _ in signals.forever() {
            match farewell.take() {
                Some(farewell) => drop(thread::spawn(|| {
                    farewell();
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
