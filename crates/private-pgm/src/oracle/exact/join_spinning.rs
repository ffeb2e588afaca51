//! A fork-join for short, equally long pieces of work that follow each other quickly.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a thread spins for the other one before it sleeps. The halves of a chain of a thousand
/// tables take about a millisecond each and rarely differ by more than this. Our choice.
const SPIN_LIMIT: Duration = Duration::from_micros(200);

/// [`rayon::join`] for two pieces of work of about the same length that are followed by two more,
/// when there is no other work to steal. The thread that finishes first spins instead of sleeping,
/// because a wake-up takes longer than the wait. It spins only for work that has begun, and at
/// most for `SPIN_LIMIT`, so that it cannot deadlock.
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
                spin_until(&second_is_done);
            }
            result
        },
        || {
            second_has_begun.store(true, Ordering::Release);
            let result = second();
            second_is_done.store(true, Ordering::Release);
            spin_until(&first_is_done);
            result
        },
    )
}

/// Spins without yielding the processor: on a busy machine a yielded thread may return late, and
/// the other thread would wait for it.
fn spin_until(done: &AtomicBool) {
    let began = Instant::now();
    while !done.load(Ordering::Acquire) && began.elapsed() < SPIN_LIMIT {
        spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of `from..to` by recursive halves.
    fn sum(from: u64, to: u64) -> u64 {
        if to - from < 4 {
            return (from..to).sum();
        }
        let middle = from.midpoint(to);
        let (low, high) = join_spinning(|| sum(from, middle), || sum(middle, to));
        low + high
    }

    #[test]
    fn nested_joins_complete_with_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| sum(0, 2000)), 1999 * 1000, "{threads} threads");
        }
    }

    #[test]
    fn spinning_ends_at_the_limit() {
        spin_until(&AtomicBool::new(false));
    }
}
