//! Two threads that go on together again and again.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a thread that is done waits for the other one before it goes to sleep. Halves of a chain of
/// a thousand tables take about a millisecond, and are hardly ever further apart than this.
const PATIENCE: Duration = Duration::from_micros(200);

/// [`rayon::join`] for two pieces of work that take about the same time and come in quick succession, when
/// there is no other work for whoever finishes first: it stays awake for the next two, because to sleep
/// and to be woken takes longer than to wait. It does not wait for work that nobody has begun, and never
/// for long, so that nothing can come to a stand.
pub(super) fn join_spinning<R: Send>(
    first: impl FnOnce() -> R + Send,
    second: impl FnOnce() -> R + Send,
) -> (R, R) {
    let [first_is_done, second_has_begun, second_is_done] = [const { AtomicBool::new(false) }; 3];
    rayon::join(
        || {
            let result = first();
            first_is_done.store(true, Ordering::Release);
            if second_has_begun.load(Ordering::Acquire) {
                wait_for(&second_is_done);
            }
            result
        },
        || {
            second_has_begun.store(true, Ordering::Release);
            let result = second();
            second_is_done.store(true, Ordering::Release);
            wait_for(&first_is_done);
            result
        },
    )
}

/// Without giving the processor away: on a busy machine it might take long to get it back, and the other
/// thread waits for that, too.
fn wait_for(done: &AtomicBool) {
    let began = Instant::now();
    while !done.load(Ordering::Acquire) && began.elapsed() < PATIENCE {
        spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of some numbers by halves, each in step with its sibling.
    fn sum(from: u64, to: u64) -> u64 {
        if to - from < 4 {
            return (from..to).sum();
        }
        let middle = from.midpoint(to);
        let (low, high) = join_spinning(|| sum(from, middle), || sum(middle, to));
        low + high
    }

    #[test]
    fn pieces_within_pieces_are_all_done_whatever_the_threads() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| sum(0, 2000)), 1999 * 1000, "{threads} threads");
        }
    }

    #[test]
    fn what_never_happens_is_not_waited_for_for_ever() {
        wait_for(&AtomicBool::new(false));
    }
}
