//! Colours that people with colour vision deficiencies can tell apart, on screen and in print
//! (Okabe and Ito 2008, without yellow, whose contrast with white is too low).

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// `1 - share` of this colour plus `share` of another.
    pub(super) fn mixed(self, other: Colour, share: f64) -> Self {
        let mix = |a: u8, b: u8| (f64::from(a) * (1.0 - share) + f64::from(b) * share) as u8;
        Self(std::array::from_fn(|i| mix(self.0[i], other.0[i])))
    }
}

const BLACK: Colour = Colour([0x00, 0x00, 0x00]);
const GREY: Colour = Colour([0x8E, 0x94, 0x9B]);
const BLUE: Colour = Colour([0x00, 0x72, 0xB2]);
const ORANGE: Colour = Colour([0xE6, 0x9F, 0x00]);
const GREEN: Colour = Colour([0x00, 0x9E, 0x73]);
const VERMILION: Colour = Colour([0xD5, 0x5E, 0x00]);
const PURPLE: Colour = Colour([0xCC, 0x79, 0xA7]);
const VIOLET: Colour = Colour([0x7A, 0x4F, 0x9E]);

/// The colour of a theoretical bound in a chart whose series have these colours: grey, or black if
/// grey is taken. No estimator is black.
pub(super) fn bound(taken: impl IntoIterator<Item = Colour>) -> Colour {
    match taken.into_iter().any(|colour| colour == GREY) {
        true => BLACK,
        false => GREY,
    }
}

/// The same estimator has the same colour in every figure.
const KNOWN: &[(&str, Colour)] = &[
    ("own", GREY),
    ("pgm", BLUE),
    ("pgm-l2", BLUE),
    ("l2", BLUE),
    ("lls", ORANGE),
    ("mw", GREEN),
    ("lsmr", VERMILION),
    ("admm-l1", VIOLET),
    ("pgm-l1", PURPLE),
    ("l1", PURPLE),
];

/// For other estimators, repeated if there are more.
const OTHERS: &[Colour] = &[
    Colour([0x56, 0xB4, 0xE9]),
    VIOLET,
    Colour([0x8C, 0x6D, 0x31]),
    Colour([0x2F, 0x2F, 0x2F]),
    PURPLE,
    GREEN,
    VERMILION,
    ORANGE,
    BLUE,
];

/// The colours of these estimators, in the same order: fixed for a known one, the next free colour
/// for any other and for a known one whose colour is taken.
pub(super) fn colours(arms: &[&str]) -> Vec<Colour> {
    let mut taken: Vec<Colour> = Vec::new();
    let mut fixed = |arm: &&str| {
        let known = KNOWN.iter().find(|(name, _)| name.eq_ignore_ascii_case(arm))?.1;
        if taken.contains(&known) {
            return None;
        }
        taken.push(known);
        Some(known)
    };
    let fixed: Vec<Option<Colour>> = arms.iter().map(&mut fixed).collect();
    let free: Vec<Colour> =
        OTHERS.iter().copied().filter(|colour| !taken.contains(colour)).collect();
    let mut next = free.iter().cycle();
    let colour = |fixed: Option<Colour>| fixed.or_else(|| next.next().copied()).unwrap_or(GREY);
    fixed.into_iter().map(colour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimators_with_the_same_known_colour_get_different_ones() {
        let arms = ["pgm", "pgm-l2", "l1", "new", "L2", "pgm-l1"];
        let given = colours(&arms);
        assert_eq!((given[0], given[2]), (BLUE, PURPLE), "the first has its fixed colour");
        for (i, colour) in given.iter().enumerate() {
            assert!(!given[..i].contains(colour), "{}", arms[i]);
        }
    }

    #[test]
    fn a_bound_has_the_colour_of_no_estimator() {
        assert_eq!(bound(colours(&["pgm", "new"])), GREY);
        assert_eq!(bound(colours(&["own", "pgm"])), BLACK);
        let all = KNOWN.iter().map(|(_, colour)| colour).chain(OTHERS);
        assert!(all.into_iter().all(|&colour| colour != BLACK));
    }
}
