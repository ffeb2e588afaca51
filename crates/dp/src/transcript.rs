//! What every draw was handed and what came out, for audits and for tests of the defences.
//!
//! A source made by [`NoiseSource::recording`] keeps a transcript. A later run can *replay* it
//! ([`NoiseSource::replaying`]): its draws return what the transcript says. Everything that the two
//! runs publish, and every parameter of their draws, must then be the same whatever their data are,
//! because it may depend on the data only through what was drawn. What the draws were handed shows
//! the sensitivities, and how likely the same output is on other data ([`privacy_loss`]).
//!
//! # A release has no transcript
//!
//! A transcript holds true answers next to their noise. Only the two constructors above make one,
//! and both are seeded: their noise is not private to begin with, and their ledgers say so
//! ([`Provenance::Seeded`](super::Provenance::Seeded)). The source of a release,
//! [`NoiseSource::from_operating_system`], has no transcript and no way to get one, and nothing can
//! tell its draws what to return. Recording changes no draw of a seeded source (a test).
//!
//! [`NoiseSource::recording`]: super::NoiseSource::recording
//! [`NoiseSource::replaying`]: super::NoiseSource::replaying
//! [`NoiseSource::from_operating_system`]: super::NoiseSource::from_operating_system

mod privacy_loss;

pub use privacy_loss::{divergence, privacy_loss};

use std::sync::Arc;

use super::{Draw, Guarantee};

/// A use of a source of randomness.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Noise was added to answers.
    Noise {
        /// Its parameters.
        handed: Handed,
        /// The noisy answers.
        noisy: Vec<f64>,
    },
    /// Candidates were selected.
    Selection {
        /// Its parameters.
        handed: Handed,
        /// Their positions.
        chosen: Vec<usize>,
    },
    /// A generator for public choices.
    PublicChoices {
        /// Its seed.
        seed: [u8; 32],
    },
}

/// What a mechanism handed to a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Handed {
    /// As the ledger should list it.
    pub draw: Draw,
    /// The guarantee of the share.
    pub granted: Guarantee,
    /// The exact answers or scores.
    pub values: Vec<f64>,
}

impl Event {
    /// What was handed, for draws.
    pub fn handed(&self) -> Option<&Handed> {
        match self {
            Event::Noise { handed, .. } | Event::Selection { handed, .. } => Some(handed),
            Event::PublicChoices { .. } => None,
        }
    }
}

/// The events so far, and those that are replayed.
#[derive(Default)]
pub(super) struct Transcript {
    pub(super) events: Vec<Event>,
    pub(super) replayed: Option<Arc<[Event]>>,
}

impl Transcript {
    /// The event at this place of the replayed transcript.
    fn replayed(&self) -> Option<&Event> {
        self.replayed.as_ref()?.get(self.events.len())
    }

    /// The noisy answers that a draw has to return, if the replayed transcript has as many here.
    pub(super) fn noisy(&self, answers: usize) -> Option<Vec<f64>> {
        match self.replayed()? {
            Event::Noise { noisy, .. } if noisy.len() == answers => Some(noisy.clone()),
            _ => None,
        }
    }

    /// The same for selections.
    pub(super) fn chosen(&self, candidates: usize, count: usize) -> Option<Vec<usize>> {
        match self.replayed()? {
            Event::Selection { chosen, .. }
                if chosen.len() == count && chosen.iter().all(|&place| place < candidates) =>
            {
                Some(chosen.clone())
            }
            _ => None,
        }
    }

    /// The same for the seed of public choices.
    pub(super) fn seed(&self) -> Option<[u8; 32]> {
        match self.replayed()? {
            Event::PublicChoices { seed } => Some(*seed),
            _ => None,
        }
    }
}
