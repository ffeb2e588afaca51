//! Suggestions for misspelt words.

/// The candidate with the smallest Damerau-Levenshtein distance from `word`, ignoring case, if at
/// most a third of the letters differ; the first of several.
///
/// ```
/// use private_pgm::closest::closest;
///
/// assert_eq!(closest("totl", ["domain", "total"]), Some("total"));
/// assert_eq!(closest("height", ["domain", "total"]), None);
/// ```
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    // Allow one mistake in words of fewer than three letters too.
    let max_distance = (word.chars().count() / 3).max(1);
    let distances = candidates.into_iter().map(|candidate| {
        (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), candidate)
    });
    let (distance, candidate) = distances.min_by_key(|&(distance, _)| distance)?;
    (distance <= max_distance).then_some(candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_word_has_the_smallest_edit_distance() {
        let mechanisms = ["mwem", "privbayes", "hdmm", "dualquery"];
        assert_eq!(closest("dual-query", mechanisms), Some("dualquery"));
        assert_eq!(closest("HDMM", mechanisms), Some("hdmm"));
        assert_eq!(closest("hdmn", mechanisms), Some("hdmm"));
        assert_eq!(closest("pribvayes", mechanisms), Some("privbayes"));
        assert_eq!(closest("laplace", mechanisms), None);
        assert_eq!(closest("", mechanisms), None);
        assert_eq!(closest("mwem", []), None);
    }
}
