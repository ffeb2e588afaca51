//! Work without the interpreter's lock that Ctrl-C ends.
//!
//! The work runs on a thread of a pool. The calling thread waits for it without the lock
//! and looks for signals in between. Work that is interrupted is abandoned: it owns all its data,
//! so that the exception need not wait for it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use private_pgm::numeric::memory::{OutOfMemory, in_panic};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The time between two looks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// A message from the work to the calling thread.
pub(crate) enum Message<Q, T> {
    /// Something that the calling thread is asked on the way.
    Question(Q),
    /// The end: the result, or why there is none.
    Done(Result<T, Unwound>),
}

/// Why work unwound.
pub(crate) enum Unwound {
    OutOfMemory(OutOfMemory),
    /// What a panic said.
    Panic(String),
}

impl From<Unwound> for PyErr {
    fn from(unwound: Unwound) -> Self {
        match unwound {
            Unwound::OutOfMemory(error) => PyMemoryError::new_err(error.to_string()),
            Unwound::Panic(text) => internal_error(&text),
        }
    }
}

/// Runs `work` on the calling thread; where a table does not fit, MemoryError.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(unwound)?
}

fn unwound(panic: Box<dyn Any + Send>) -> Unwound {
    if let Some(error) = in_panic(&*panic) {
        return Unwound::OutOfMemory(error);
    }
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
    Unwound::Panic(text.unwrap_or_default())
}

/// Runs `work` and returns its result; an exception if a signal handler raises one.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let never = |_: ()| Ok(());
    with_questions(py, move |_: Sender<Message<(), T>>| work(), never, || SIGNAL_INTERVAL)
}

/// Runs `work`, whose questions the calling thread answers with the lock held.
///
/// `pause` says how long to wait at most before `pause` is called again.
pub(crate) fn with_questions<Q: Send + 'static, T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Sender<Message<Q, T>>) -> T + Send + 'static,
    mut answer: impl FnMut(Q) -> PyResult<()>,
    mut pause: impl FnMut() -> Duration,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::channel();
    // One thread uses the receiver; the lock says so to the compiler.
    let receiver = Mutex::new(receiver);
    pool()?.spawn(move || {
        let for_work = sender.clone();
        let result = catch_unwind(AssertUnwindSafe(move || work(for_work))).map_err(unwound);
        // The calling thread has gone if it was interrupted.
        let _ = sender.send(Message::Done(result));
    });
    loop {
        let wait = pause().min(SIGNAL_INTERVAL);
        let receive = || receiver.lock().expect("not poisoned").recv_timeout(wait);
        match py.detach(receive) {
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Ok(Message::Question(question)) => {
                py.check_signals()?;
                answer(question)?;
            }
            Ok(Message::Done(Ok(result))) => return Ok(result),
            Ok(Message::Done(Err(unwound))) => return Err(unwound.into()),
            Err(RecvTimeoutError::Disconnected) => return Err(internal_error("no result")),
        }
    }
}

/// The threads of this process. A process that was forked has none of its parent's and gets its
/// own.
fn pool() -> PyResult<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let process = std::process::id();
    let mut current = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = &*current
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let built = ThreadPoolBuilder::new().build();
    let built = Arc::new(built.map_err(|error| PyRuntimeError::new_err(error.to_string()))?);
    // To drop the parent's pool would wait for threads that do not exist here.
    std::mem::forget(current.replace((process, Arc::clone(&built))));
    Ok(built)
}

/// Waits for an answer on a thread of the pool, which does other work of the pool meanwhile. `None`
/// if the calling thread has gone.
pub(crate) fn wait_for<A>(receiver: &Receiver<A>) -> Option<A> {
    loop {
        match receiver.try_recv() {
            Ok(answer) => return Some(answer),
            Err(mpsc::TryRecvError::Disconnected) => return None,
            Err(mpsc::TryRecvError::Empty) => {
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    std::thread::sleep(Duration::from_micros(20));
                }
            }
        }
    }
}

fn internal_error(text: &str) -> PyErr {
    PyRuntimeError::new_err(format!("internal error (please report): {text}"))
}
