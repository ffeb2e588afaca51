use std::fmt;

/// A number of things: `1 trial`, `2 trials`. For nouns whose plural ends in `s`.
pub(crate) struct Count<'a, N>(pub(crate) N, pub(crate) &'a str);

impl<N: fmt::Display + From<u8> + PartialEq> fmt::Display for Count<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, noun) = self;
        let ending = if *number == N::from(1) { "" } else { "s" };
        f.pad(&format!("{number} {noun}{ending}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular_and_a_width_pads_the_whole() {
        let texts = [0_usize, 1, 2].map(|number| Count(number, "trial").to_string());
        assert_eq!(texts, ["0 trials", "1 trial", "2 trials"]);
        assert_eq!(format!("{:>9}", Count(1_u16, "trial")), "  1 trial");
    }
}
