//! The page of claims.

use std::path::Path;

use super::super::{Experiment, find, reproduction};
use super::{manifest, rows};
use crate::config::{Claim, Source};
use crate::experiment::Analysis;
use crate::results::claims::{Verdict, write_claims};
use crate::results::manifest::OriginFacts;
use crate::results::store::Recorded;

#[derive(serde::Deserialize)]
struct File {
    claim: Vec<Claim>,
}

/// The page of an experiment with these claims, about kept results without rows.
fn page_of(claims: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = manifest("One | two");
    let text = format!("{}\n{claims}", super::CONFIG.replace("TITLE", "One | two"));
    let source = Source { path: "mine.toml".into(), text };
    manifest.experiment.claims = source.parse().unwrap().claims;
    manifest.experiment.document = Some("A paper".into());
    manifest.datasets[0].workload_origin =
        Some(OriginFacts { published: false, note: "drawn by us".into() });
    manifest.write(folder.path()).unwrap();
    let recorded = Recorded { rows: rows(&manifest), ..Recorded::default() };
    let analysis = Analysis::of(manifest, recorded);
    write_claims(&folder.path().join("claims.csv"), &analysis.findings).unwrap();
    reproduction(&[Experiment::read(folder.path()).unwrap()])
}

#[test]
fn the_page_of_the_kept_results_is_what_they_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = reproduction(&find(&root.join("results/reference")).unwrap());
    let kept = std::fs::read_to_string(root.join("docs/reproduction.md")).unwrap();
    let hint = "make it again with: pgmbench report --results results/reference --markdown \
                docs/reproduction.md";
    assert!(page == kept, "docs/reproduction.md is not the page of results/reference; {hint}");
}

#[test]
fn what_differs_is_explained_and_only_printed_statements_are_counted() {
    let claim = |keys: &str| {
        format!(
            "[[claim]]\nsays = 'so'\nkind = 'ratio'\ndataset = 'adult'\nmechanism = 'hdmm'\n\
             arm = 'lls'\nagainst = 'pgm'\n{keys}\n"
        )
    };
    let page = page_of(
        &[
            claim("paper = 30\nplace = 'Figure 9'\nwhy_different = 'Theirs is | larger.'"),
            claim("paper = 3.1\nwhy_different = 'Not shown.'"),
            claim("paper = 99\nrole = 'invariant'"),
        ]
        .concat(),
    );
    let headline = "Of 3 statements printed in the papers, 2 hold, 1 differ, and these results \
                    cannot tell about 0.";
    assert!(page.starts_with("# Reproduction\n") && page.contains(headline), "{page}");
    assert!(page.contains("## A paper\n") && page.contains("### `mine`: One | two"), "{page}");
    let row = "| 2 | so | Figure 9 | 30 | 3.000 | 3.000 to 3.000, 93.8 % | **differs** | original \
               | ours |";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("Theirs is | larger.") && !page.contains("Not shown."), "{page}");
    assert!(page.contains("| 4 | so (invariant) |"), "{page}");
    assert!(page.contains("No explanation is recorded."), "{page}");
    assert!(page.contains("- Workload of Adult: drawn by us.\n"), "{page}");
}

#[test]
fn claims_with_new_keys_are_read_as_they_were_written() {
    let text = "[[claim]]\nsays = 'so'\nkind = 'data'\ndataset = 'adult'\nfact = 'records'\n\
                paper = 48842\ntolerance = 1\nplace = 'Table 1'\nwhy_different = 'No.'\n";
    let claim = toml::from_str::<File>(text).unwrap().claim.remove(0);
    let stored = serde_json::to_string(&claim).unwrap();
    assert_eq!(serde_json::from_str::<Claim>(&stored).unwrap(), claim);
    assert_eq!(claim.sides().count(), 0);
    let datasets = manifest("t").datasets;
    let finding = |number: &str| {
        let text = text.replace("48842", number);
        toml::from_str::<File>(&text).unwrap().claim[0].check_data(&datasets).unwrap()
    };
    let records = datasets[0].records.to_string();
    assert_eq!(finding(&records).verdict, Verdict::Holds);
    assert_eq!(finding("48842").verdict, Verdict::Differs);
    assert_eq!(finding("48842").why, format!("{records} is not exactly 48842"));
}
