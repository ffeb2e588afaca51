//! What every draw was handed and what came out, for tests of the defences.
//!
//! A source of randomness keeps a transcript. A later run can *replay* it: its draws return what
//! the transcript says. Everything that the two runs publish, and every parameter of their draws,
//! must then be the same whatever their data are, because it may depend on the data only through
//! what was drawn. What the draws were handed shows the sensitivities.

use super::noise::Noisy;
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
    pub(super) replayed: Vec<Event>,
}

impl Transcript {
    /// The event at this place of the replayed transcript.
    fn before(&self) -> Option<&Event> {
        self.replayed.get(self.events.len())
    }

    /// Records noise, and returns the noisy answers of the replayed transcript if it has some here.
    pub(super) fn noise(&mut self, handed: Handed, drawn: Noisy) -> Noisy {
        let values = match self.before() {
            Some(Event::Noise { noisy, .. }) if noisy.len() == drawn.values.len() => noisy.clone(),
            _ => drawn.values.clone(),
        };
        self.events.push(Event::Noise { handed, noisy: values.clone() });
        Noisy { values, ..drawn }
    }

    /// The same for selections.
    pub(super) fn selection(&mut self, handed: Handed, drawn: Vec<usize>) -> Vec<usize> {
        let chosen = match self.before() {
            Some(Event::Selection { chosen, .. })
                if chosen.iter().all(|&place| place < handed.values.len()) =>
            {
                chosen.clone()
            }
            _ => drawn,
        };
        self.events.push(Event::Selection { handed, chosen: chosen.clone() });
        chosen
    }

    /// The same for the seed of public choices.
    pub(super) fn public_choices(&mut self, drawn: [u8; 32]) -> [u8; 32] {
        let seed = match self.before() {
            Some(Event::PublicChoices { seed }) => *seed,
            _ => drawn,
        };
        self.events.push(Event::PublicChoices { seed });
        seed
    }
}
