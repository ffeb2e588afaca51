//! The commit and the compiler that a binary is built from, as a macro.
//!
//! A build script would do the same for a whole package, and every commit would then rebuild the
//! library next to the binary. A macro is expanded in the crate that uses it, and only that crate
//! is compiled again.

use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro::TokenStream;

/// `(commit, is_clean, rustc)`: `(&str, bool, &str)`. An empty text means "unknown", for example
/// without git or outside of the package's own repository.
#[proc_macro]
pub fn build_info(_: TokenStream) -> TokenStream {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // A folder in a clone, a file in a worktree. Repositories of enclosing
    // folders do not count.
    let is_repository = package.join(".git").exists();
    let git = |arguments: &[&str]| {
        is_repository.then(|| output("git", arguments, &package)).flatten().unwrap_or_default()
    };
    let commit = git(&["rev-parse", "HEAD"]);
    let is_clean = !commit.is_empty() && git(&["status", "--porcelain", "-uno"]).is_empty();
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".into());
    let rustc = output(&rustc, &["--version"], &package).unwrap_or_default();
    // `include_bytes!` of a file makes Cargo rebuild when it changes. A commit, a
    // checkout and a reset all append to this log.
    let log = package.join(git(&["rev-parse", "--git-path", "logs/HEAD"]));
    let tracked = match log.is_file() {
        true => format!("const _: &[u8] = include_bytes!({log:?});"),
        false => String::new(),
    };
    let expression = format!("{{ {tracked} ({commit:?}, {is_clean}, {rustc:?}) }}");
    expression.parse().expect("the text of an expression")
}

fn output(program: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}
