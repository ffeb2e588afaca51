//! Problem files: those with a known optimum, and those in the documentation.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use private_pgm::domain::{AttributeId, Clique};
use private_pgm::factor::{CliqueLayout, Factor, Marginals};
use private_pgm::loss::{LinearLoss, Loss, Norm};
use private_pgm::problem::Problem;
use serde_json::Value;

#[test]
fn the_loss_at_the_known_optimum_is_the_known_loss() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files = ["g02_chain", "g05_disconnected", "g08_repeated_unequal_noise", "g10_prefix"];
    for name in files {
        let path = folder.join(format!("{name}.json"));
        let problem = Problem::read(File::open(&path).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let text = std::fs::read_to_string(&path).unwrap();
        let optimum = serde_json::from_str::<Value>(&text).unwrap()["optimum"].clone();

        // The keys of the optimum's marginals are attribute names in the order of the file.
        let known: Vec<Factor> = optimum["marginals"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(names, values)| {
                let listed: Vec<AttributeId> =
                    names.split(',').map(|name| problem.domain.id(name).unwrap()).collect();
                let values: Vec<f64> =
                    values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
                Factor::from_listed(&problem.domain, &listed, &values)
            })
            .collect();
        let cliques: Vec<Clique> = known.iter().map(|factor| factor.clique().clone()).collect();
        let layout = CliqueLayout::new(problem.domain.clone(), cliques);
        let mut marginals = Marginals::zeros(&layout);
        for (index, factor) in known.iter().enumerate() {
            marginals.table_mut(index).copy_from_slice(factor.values());
            assert!((factor.total() - problem.total).abs() < 1e-6 * problem.total, "{name}");
        }
        let mut loss =
            LinearLoss::new(Arc::clone(&layout), problem.measurements, Norm::L2).unwrap();
        let (found, expected) = (loss.value(&marginals), optimum["l2_loss"].as_f64().unwrap());
        assert!((found - expected).abs() <= 1e-6 * expected, "{name}: {found}, not {expected}");
    }
}

#[test]
fn the_problems_in_the_documentation_are_valid() {
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let example = Problem::read(File::open(documents.join("example.json")).unwrap()).unwrap();
    assert_eq!((example.measurements.len(), example.total), (4, 1000.0));

    // The first block of JSON of the page on formats.
    let page = std::fs::read_to_string(documents.join("formats.md")).unwrap();
    let block = page.lines().skip_while(|line| *line != "```json").skip(1);
    let block = block.take_while(|line| *line != "```");
    let problem = Problem::from_json(&block.collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!((problem.measurements.len(), problem.zeros.len()), (2, 1));
}
