//! Where randomness comes from: a named seed in experiments, the operating system in releases.

use std::fmt;

use rand::SeedableRng;
use rand::rngs::{SysError, SysRng};
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

/// The coordinates of a stream of random numbers, such as experiment, dataset, mechanism, trial
/// and stage, from which its seed is hashed. Streams with different coordinates are independent
/// for all purposes, and a trial's noise does not depend on what ran before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeedPath {
    parts: Vec<(String, String)>,
}

impl SeedPath {
    /// The path of one part: a label ("experiment") and its value ("figure-2").
    pub fn new(label: impl Into<String>, value: impl fmt::Display) -> Self {
        Self { parts: Vec::new() }.with(label, value)
    }

    /// The path with one more part.
    #[must_use]
    pub fn with(mut self, label: impl Into<String>, value: impl fmt::Display) -> Self {
        self.parts.push((label.into(), value.to_string()));
        self
    }

    /// The seed: BLAKE3 in its key-derivation mode over the parts, each string preceded by its
    /// length, so that different paths never give the same bytes to hash.
    pub fn seed(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("pgmbench 2026 seeds of random streams");
        for text in self.parts.iter().flat_map(|(label, value)| [label, value]) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

impl fmt::Display for SeedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (label, value)) in self.parts.iter().enumerate() {
            write!(f, "{}{label}={value}", if i == 0 { "" } else { "/" })?;
        }
        Ok(())
    }
}

/// What is known about a source of randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// The seed can be computed by anyone: repeatable, and *not private*. Whoever knows the path
    /// can subtract the noise.
    Seeded,
    /// Seeded once from the operating system: private, and not repeatable.
    OperatingSystem,
}

/// The generator behind all noise: ChaCha with 20 rounds, a cryptographic one, so that outputs
/// reveal nothing about each other.
///
/// It has no public way to draw. Noise comes from the methods of [`Share`](super::Share), which
/// take the source as an argument and a share as payment.
pub struct NoiseSource {
    generator: ChaCha20Rng,
    provenance: Provenance,
}

impl NoiseSource {
    /// For experiments: the same path gives the same noise on every machine.
    pub fn seeded(path: &SeedPath) -> Self {
        let generator = ChaCha20Rng::from_seed(path.seed());
        Self { generator, provenance: Provenance::Seeded }
    }

    /// For releases. Fails when the operating system has no randomness to give.
    pub fn from_operating_system() -> Result<Self, SysError> {
        let generator = ChaCha20Rng::try_from_rng(&mut SysRng)?;
        Ok(Self { generator, provenance: Provenance::OperatingSystem })
    }

    /// Which of the two it is.
    pub fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// A generator for choices that do not depend on the records, or only on what has been paid for:
    /// which records to synthesise, how to break ties. Its outputs say nothing about the noise.
    pub fn public_choices(&mut self) -> ChaCha20Rng {
        ChaCha20Rng::from_rng(&mut self.generator)
    }

    pub(super) fn generator(&mut self) -> &mut ChaCha20Rng {
        &mut self.generator
    }
}

/// Shows where the randomness comes from, never the generator's state.
impl fmt::Debug for NoiseSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoiseSource").field("provenance", &self.provenance).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn paths_that_read_alike_have_different_seeds() {
        let seeds = [
            SeedPath::new("a", "bc").seed(),
            SeedPath::new("ab", "c").seed(),
            SeedPath::new("a", "b").with("c", "").seed(),
            SeedPath::new("a", "b").with("", "c").seed(),
            SeedPath::new("a", "").with("b", "c").seed(),
            SeedPath::new("a", "b/c=").seed(),
            SeedPath::new("a", "b").with("c", "").with("", "").seed(),
        ];
        for (i, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..i].contains(seed), "path {i}");
        }
    }

    #[test]
    fn the_same_path_gives_the_same_stream_on_every_machine() {
        let path = SeedPath::new("experiment", "figure-2").with("trial", 3);
        assert_eq!(path.to_string(), "experiment=figure-2/trial=3");
        let mut source = NoiseSource::seeded(&path);
        assert_eq!(source.provenance(), Provenance::Seeded);
        let first = source.generator().next_u64();
        assert_eq!(NoiseSource::seeded(&path).generator().next_u64(), first);
        assert_ne!(NoiseSource::seeded(&path.with("stage", 1)).generator().next_u64(), first);
    }

    #[test]
    fn the_operating_system_never_repeats_itself() {
        let mut one = NoiseSource::from_operating_system().unwrap();
        let mut two = NoiseSource::from_operating_system().unwrap();
        assert_eq!(one.provenance(), Provenance::OperatingSystem);
        assert_ne!(one.generator().next_u64(), two.generator().next_u64());
        assert_eq!(format!("{one:?}"), "NoiseSource { provenance: OperatingSystem, .. }");
    }
}
