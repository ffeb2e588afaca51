//! `pgmbench completions` and `pgmbench man`.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use super::failure::{Failure, ResultExt};
use super::output::print_data;
use super::output_file::{ForceArgs, OutputFile, StagedFile};

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench completions bash > ~/.local/share/bash-completion/completions/pgmbench\n  \
    pgmbench completions fish > ~/.config/fish/completions/pgmbench.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell to print completions for
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, mut command: Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "pgmbench", &mut script);
        print_data(|output| output.write_all(&script))
    }
}

/// Write manual pages, one per command; pages of an earlier version are replaced
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The folder to write to; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
}

impl ManArgs {
    pub(crate) fn run(self, command: Command) -> Result<(), Failure> {
        let place = || format!("cannot write to {}", self.out.display());
        fs::create_dir_all(&self.out).input_at(place())?;
        let mut command = command.disable_help_subcommand(true);
        command.build();
        let mut pages = Vec::new();
        for man in manuals(&command) {
            let mut page = Vec::new();
            man.render(&mut page).internal_at(place())?;
            let path = self.out.join(man.get_filename());
            let file = OutputFile::check(&path, self.force.or_own(is_manual), &[])?;
            pages.push(file.stage(&page)?);
        }
        pages.into_iter().try_for_each(StagedFile::commit)
    }
}

/// Whether the first bytes are those of a manual page of this program.
fn is_manual(beginning: &str) -> bool {
    beginning.contains("\n.TH pgmbench")
}

/// The manual pages of a command and of its subcommands.
fn manuals(command: &Command) -> Vec<Man> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let mut manuals: Vec<Man> = below.flat_map(manuals).collect();
    manuals.push(Man::new(command.clone()));
    manuals
}
