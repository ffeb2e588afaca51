//! Sources of randomness: a named seed for experiments, the operating system for releases.

use std::fmt;
use std::sync::Arc;

use rand::rngs::{SysError, SysRng};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use super::transcript::{Event, Transcript};

/// The coordinates of a stream of random numbers, such as experiment, dataset, mechanism, trial
/// and stage. Its seed is a hash of them. Streams with different coordinates are computationally
/// independent, and the noise of a trial does not depend on earlier trials.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeedPath {
    parts: Vec<(String, String)>,
}

impl SeedPath {
    /// The path of one part: a label ("experiment") and its value ("figure-2").
    pub fn new(label: impl Into<String>, value: impl fmt::Display) -> Self {
        Self { parts: Vec::new() }.with(label, value)
    }

    /// Appends a part.
    #[must_use]
    pub fn with(mut self, label: impl Into<String>, value: impl fmt::Display) -> Self {
        self.parts.push((label.into(), value.to_string()));
        self
    }

    /// The seed: BLAKE3 in key-derivation mode over the parts. Each string is preceded by its
    /// length, so that different paths hash different bytes.
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

/// Where the seed of a source of randomness came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// From a [`SeedPath`]: repeatable, and *not private*. Anyone who knows the path can subtract
    /// the noise.
    Seeded,
    /// From the operating system: private, and not repeatable.
    OperatingSystem,
}

/// The generator of all noise: ChaCha20, a cryptographic generator, so that outputs reveal nothing
/// about each other.
///
/// It has no public sampling methods. Noise comes from the methods of [`Share`](super::Share),
/// which take the source as an argument.
pub struct NoiseSource {
    generator: ChaCha20Rng,
    provenance: Provenance,
    /// `None` in every source of a release: see [`transcript`](super::transcript).
    transcript: Option<Box<Transcript>>,
}

impl NoiseSource {
    /// For experiments: the same path gives the same noise on every machine.
    pub fn seeded(path: &SeedPath) -> Self {
        let seed = sabotage!(path.seed(), "seed-ignores-the-path", SeedPath::new("", "").seed());
        Self::new(ChaCha20Rng::from_seed(seed), Provenance::Seeded)
    }

    /// For releases: a seed from the operating system. Fails if the operating system provides no
    /// randomness.
    pub fn from_operating_system() -> Result<Self, SysError> {
        let generator = sabotage!(
            ChaCha20Rng::try_from_rng(&mut SysRng)?,
            "operating-system-not-asked",
            ChaCha20Rng::from_seed([0; 32]),
        );
        Ok(Self::new(generator, Provenance::OperatingSystem))
    }

    fn new(generator: ChaCha20Rng, provenance: Provenance) -> Self {
        Self { generator, provenance, transcript: None }
    }

    /// Draws as [`NoiseSource::seeded`] does, and keeps a transcript, which holds what was handed
    /// to every draw: true answers. For audits and tests; not private, like every seeded source.
    pub fn recording(path: &SeedPath) -> Self {
        Self { transcript: Some(Box::default()), ..Self::seeded(path) }
    }

    /// Draws return what a transcript says, as far as it goes, whatever they are handed, and then
    /// as those of [`NoiseSource::recording`]. For audits and tests.
    pub fn replaying(path: &SeedPath, replayed: Arc<[Event]>) -> Self {
        let transcript = Transcript { events: Vec::new(), replayed: Some(replayed) };
        Self { transcript: Some(Box::new(transcript)), ..Self::seeded(path) }
    }

    /// The transcript so far. Empty without one.
    pub fn events(&self) -> &[Event] {
        self.transcript.as_ref().map_or(&[], |transcript| &transcript.events)
    }

    /// The transcript. Empty without one.
    pub fn into_events(self) -> Vec<Event> {
        self.transcript.map_or(Vec::new(), |transcript| transcript.events)
    }

    /// Where the seed came from.
    pub fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// A new generator for choices that are independent of the records given what has been
    /// released: synthetic records, ties. Its outputs reveal nothing about the noise.
    pub fn public_choices(&mut self) -> ChaCha20Rng {
        let choices = ChaCha20Rng::from_rng(&mut self.generator);
        let Some(transcript) = &mut self.transcript else {
            return choices;
        };
        let seed = transcript.seed().unwrap_or(choices.get_seed());
        transcript.events.push(Event::PublicChoices { seed });
        ChaCha20Rng::from_seed(seed)
    }

    /// A seed for code that draws noise itself: an integer below 2^53, which every language reads
    /// exactly from JSON. What it draws is not verified ([`Share::claim`](super::Share::claim)).
    pub fn foreign_seed(&mut self) -> u64 {
        self.generator.next_u64() >> 11
    }

    /// What a draw has to return instead of a sample.
    pub(super) fn replayed<T>(&self, of: impl FnOnce(&Transcript) -> Option<T>) -> Option<T> {
        self.transcript.as_deref().and_then(of)
    }

    /// Adds a draw to the transcript, if there is one.
    pub(super) fn note(&mut self, event: impl FnOnce() -> Event) {
        if let Some(transcript) = &mut self.transcript {
            transcript.events.push(event());
        }
    }

    pub(super) fn generator(&mut self) -> &mut ChaCha20Rng {
        sabotage!(&mut self.generator, "generator-restarts", {
            self.generator.set_word_pos(0);
            &mut self.generator
        })
    }
}

/// Shows the provenance, never the generator's state.
impl fmt::Debug for NoiseSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoiseSource").field("provenance", &self.provenance).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn two_seeds_from_the_operating_system_differ() {
        let mut one = NoiseSource::from_operating_system().unwrap();
        let mut two = NoiseSource::from_operating_system().unwrap();
        assert_eq!(one.provenance(), Provenance::OperatingSystem);
        assert_ne!(one.generator().next_u64(), two.generator().next_u64());
        assert_eq!(format!("{one:?}"), "NoiseSource { provenance: OperatingSystem, .. }");
    }
}
