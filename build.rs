//! Notes what the program was built from, for the manifests of experiments. Without git or a
//! repository the commit is simply not known.

use std::path::Path;
use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| output("git", arguments);
    // Only where the repository is this package's own.
    let own = Path::new(".git").exists();
    let commit = own.then(|| git(&["rev-parse", "HEAD"])).flatten().unwrap_or_default();
    let changes = own.then(|| git(&["status", "--porcelain", "--untracked-files=no"])).flatten();
    let clean = changes.map_or(String::new(), |changes| changes.is_empty().to_string());
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    println!("cargo:rustc-env=PGMBENCH_COMMIT={commit}");
    println!("cargo:rustc-env=PGMBENCH_CLEAN={clean}");
    let version = output(&compiler, &["--version"]).unwrap_or_default();
    println!("cargo:rustc-env=PGMBENCH_RUSTC={version}");
    for path in [".git/HEAD", ".git/logs/HEAD", "Cargo.toml", "Cargo.lock", "src", "build.rs"] {
        if Path::new(path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}
