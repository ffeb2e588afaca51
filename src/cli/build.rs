use pgmbench::results::manifest::{Build, Commit};

/// What this program was built from. In the binary rather than the library, so that a new commit
/// does not rebuild the library.
pub(crate) fn build() -> Build {
    let (commit, is_clean, rustc) = build_info::build_info!();
    let known = |text: &str| (!text.is_empty()).then(|| text.to_string());
    Build {
        version: env!("CARGO_PKG_VERSION").into(),
        commit: known(commit).map(|id| Commit { id, is_clean }),
        cargo_lock_blake3: known(&blake3::hash(include_bytes!("../../Cargo.lock")).to_hex()),
        rustc: known(rustc),
    }
}
