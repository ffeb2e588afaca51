//! Colours that stay apart for eyes that do not see all of them, and in print (Okabe and Ito 2008,
//! without the yellow, which is lost on white).

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// This colour with a share of another one in it.
    pub(super) fn mixed(self, other: Colour, share: f64) -> Self {
        let mix = |a: u8, b: u8| (f64::from(a) * (1.0 - share) + f64::from(b) * share) as u8;
        Self(std::array::from_fn(|i| mix(self.0[i], other.0[i])))
    }
}

const GREY: Colour = Colour([0x8E, 0x94, 0x9B]);
const BLUE: Colour = Colour([0x00, 0x72, 0xB2]);
const ORANGE: Colour = Colour([0xE6, 0x9F, 0x00]);
const GREEN: Colour = Colour([0x00, 0x9E, 0x73]);
const VERMILION: Colour = Colour([0xD5, 0x5E, 0x00]);
const PURPLE: Colour = Colour([0xCC, 0x79, 0xA7]);

/// For what is not measured: a limit that no line may cross.
pub(super) const BOUND: Colour = GREY;

/// The same estimator has the same colour in every figure.
const KNOWN: &[(&str, Colour)] = &[
    ("own", GREY),
    ("pgm", BLUE),
    ("pgm-l2", BLUE),
    ("l2", BLUE),
    ("lls", ORANGE),
    ("mw", GREEN),
    ("lsmr", VERMILION),
    ("pgm-l1", PURPLE),
    ("l1", PURPLE),
];

/// For estimators that are not known here, and beyond these around again.
const OTHERS: &[Colour] = &[
    Colour([0x56, 0xB4, 0xE9]),
    Colour([0x7A, 0x4F, 0x9E]),
    Colour([0x8C, 0x6D, 0x31]),
    Colour([0x2F, 0x2F, 0x2F]),
    PURPLE,
    GREEN,
    VERMILION,
    ORANGE,
    BLUE,
];

/// The colours of these estimators, in the same order: fixed for known ones, the next free colour
/// for each of the others.
pub(super) fn colours(arms: &[&str]) -> Vec<Colour> {
    let known = |arm: &str| {
        KNOWN.iter().find(|(name, _)| name.eq_ignore_ascii_case(arm)).map(|&(_, colour)| colour)
    };
    let used: Vec<Colour> = arms.iter().filter_map(|arm| known(arm)).collect();
    let free: Vec<Colour> =
        OTHERS.iter().copied().filter(|colour| !used.contains(colour)).collect();
    let mut next = free.iter().cycle();
    let mut colour = |arm: &&str| known(arm).or_else(|| next.next().copied()).unwrap_or(GREY);
    arms.iter().map(&mut colour).collect()
}
