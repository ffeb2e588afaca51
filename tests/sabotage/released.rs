//! What `synthesize` releases: synthetic records and ledger are the same bytes on any data, given
//! what was drawn.

use dp::{Delta, Epsilon, Neighbours, NoiseSource, SeedPath};
use pgmbench::data::Dataset;
use pgmbench::experiment::{ReleaseMechanism, SynthesisRequest, SyntheticRelease, synthesize_with};
use private_pgm::model::Projectable;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use crate::REFUSED;
use crate::setup::Shape;
use crate::taint::TABLES;

/// Releases of both mechanisms between both kinds of neighbours. An error is a finding.
pub(crate) fn bytes() -> Result<(), String> {
    for mechanism in [ReleaseMechanism::Mst, ReleaseMechanism::Aim] {
        for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
            let request = SynthesisRequest {
                mechanism,
                degree: 2,
                epsilon: Epsilon::new(2.0).unwrap(),
                delta: Delta::new(1e-3).unwrap(),
                neighbours,
                count: None,
                memory_limit: 1 << 28,
            };
            same_bytes(&request).map_err(|what| format!("{}: {what}", mechanism.name()))?;
        }
    }
    Ok(())
}

fn same_bytes(request: &SynthesisRequest) -> Result<(), String> {
    let path = SeedPath::new("sabotage", "release");
    let mut source = NoiseSource::recording(&path);
    let data = Shape::Triangle.data(&TABLES[0]);
    let one = release(&data, request, &mut source)?;
    for table in &TABLES[1..] {
        let mut table = *table;
        // The number of records is private too.
        if request.neighbours == Neighbours::AddRemove {
            table[3] += 7;
        }
        let mut replaying = NoiseSource::replaying(&path, source.events().into());
        let other = release(&Shape::Triangle.data(&table), request, &mut replaying)?;
        for (what, same) in [
            ("the records", records(&one) == records(&other)),
            ("the number of records", one.records.len() == other.records.len()),
            ("the ledger", one.ledger.lines() == other.ledger.lines()),
            ("the randomness", one.randomness == other.randomness),
        ] {
            if !same {
                return Err(format!("{what} depend on the data"));
            }
        }
    }
    Ok(())
}

fn release(
    data: &Dataset,
    request: &SynthesisRequest,
    source: &mut NoiseSource,
) -> Result<SyntheticRelease, String> {
    let rng = &mut ChaCha20Rng::seed_from_u64(1);
    synthesize_with(data, request, source, rng).map_err(|error| format!("{REFUSED}{error}"))
}

fn records(release: &SyntheticRelease) -> Vec<Vec<u32>> {
    let ids = release.records.domain().ids();
    let column = |id| (0..release.records.len()).map(|row| release.records.code(row, id)).collect();
    ids.map(column).collect()
}
