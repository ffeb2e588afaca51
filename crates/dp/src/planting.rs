//! Planted privacy bugs: do the defences find them?
//!
//! `sabotage!(right, "name", wrong)` is the expression `right`. With the feature `sabotage`, which
//! exists for tests alone, it is `wrong` while a test has planted the bug of this name. Without the
//! feature `wrong` is not compiled.

/// Whether planted bugs are compiled in. A program that releases data must refuse to run then.
pub const PLANTED_BUGS: bool = cfg!(feature = "sabotage");

/// The first expression. In a build with the feature `sabotage`, which exists for tests alone, it
/// is the second one while a test has planted the bug of this name.
#[cfg(not(feature = "sabotage"))]
#[macro_export]
macro_rules! sabotage {
    ($right:expr, $bug:literal, $wrong:expr $(,)?) => {{ $right }};
}

/// The first expression, or the second one while the bug of this name is planted.
#[cfg(feature = "sabotage")]
#[macro_export]
macro_rules! sabotage {
    ($right:expr, $bug:literal, $wrong:expr $(,)?) => {{
        const BUG: u64 = $crate::planted::id($bug);
        if $crate::planted::is_planted(BUG) { $wrong } else { $right }
    }};
}

/// Which bug is planted.
#[cfg(feature = "sabotage")]
pub mod planted {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// The id of the planted bug. It is the same for all threads, as mechanisms use several.
    static PLANTED: AtomicU64 = AtomicU64::new(NONE);
    static REACHED: AtomicBool = AtomicBool::new(false);
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    const NONE: u64 = 0;

    /// A hash of the name (FNV-1a).
    pub const fn id(name: &str) -> u64 {
        let (bytes, mut hash, mut place) = (name.as_bytes(), 0xcbf2_9ce4_8422_2325u64, 0);
        while place < bytes.len() {
            hash = (hash ^ bytes[place] as u64).wrapping_mul(0x0100_0000_01b3);
            place += 1;
        }
        hash
    }

    /// Whether the bug is planted.
    pub fn is_planted(id: u64) -> bool {
        let planted = PLANTED.load(Relaxed) == id;
        if planted {
            REACHED.store(true, Relaxed);
        }
        planted
    }

    /// The program stays as it was planted until this is dropped. Others who plant wait.
    #[derive(Debug)]
    pub struct Planted(#[allow(dead_code)] MutexGuard<'static, ()>);

    /// Plants a bug, or makes sure that none is planted.
    pub fn plant(bug: Option<&str>) -> Planted {
        let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        REACHED.store(false, Relaxed);
        PLANTED.store(bug.map_or(NONE, id), Relaxed);
        Planted(guard)
    }

    impl Planted {
        /// Whether the code with the bug has been executed.
        pub fn is_reached(&self) -> bool {
            REACHED.load(Relaxed)
        }
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            PLANTED.store(NONE, Relaxed);
        }
    }
}
