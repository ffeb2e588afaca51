//! The table of the planted bugs, docs/sabotage.md.

use crate::bugs::GROUPS;

pub(crate) const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/sabotage.md");

const INTRODUCTION: &str = "\
# Planted privacy bugs

Do the defences find mistakes? `cargo test --release --features sabotage --test sabotage` compiles
the bugs of this page into the program, plants one at a time, and requires that the defence in its
row finds it, and that every defence passes the program without them. With this feature the program
itself refuses to run. The test writes this page from its list (`tests/sabotage/bugs.rs`).

- *Calibration*: what was drawn, as it left the sampler and as published minus true answers, has the
  scale, shape and tails that the ledger states, and no two draws depend on each other. Enough
  releases to find a factor of 1.05.
- *Ledger*: it lists every draw, and the costs, computed again from the formulas, keep the claim.
- *Sensitivity search*: a release is recorded on every small table and replayed on its neighbours,
  so that all draws return the same. What is handed to a draw changes by at most its sensitivity.
- *Taint*: replayed on other tables, a release publishes the same bytes, and its draws have the same
  parameters, because both depend on the data only through what was drawn.
- *Audit*: `pgmbench audit`. *Unit checks*: theorems and budgets against formulas written again.
";

pub(crate) fn text() -> String {
    let mut text = INTRODUCTION.to_string();
    for (title, bugs) in GROUPS {
        text +=
            &format!("\n## {title}\n\n| bug | what is wrong | found by |\n| --- | --- | --- |\n");
        for bug in *bugs {
            text += &format!("| `{}` | {} | {} |\n", bug.name, bug.what, bug.defence.title());
        }
    }
    text
}
