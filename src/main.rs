//! The command line.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    if dp::PLANTED_BUGS {
        eprintln!(
            "error: this program contains planted privacy bugs, which exist for tests alone; build \
             it without the feature \"sabotage\""
        );
        return ExitCode::FAILURE;
    }
    cli::main()
}
