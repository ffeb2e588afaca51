//! Quoting for shells.

/// A line that a POSIX shell splits into these words.
pub(crate) fn line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| quoted(word.as_ref())).collect();
    quoted.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[cfg(unix)]
    #[test]
    fn a_shell_splits_a_line_into_the_same_words() {
        let words = ["a", "", "two words", "it's", "$HOME `date` \"x\" \\", "a\nb", "é", "*"];
        let script = format!("for word in {}; do printf '%s\\0' \"$word\"; done", line(words));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let read = String::from_utf8(output.stdout).unwrap();
        assert_eq!(read.split_terminator('\0').collect::<Vec<_>>(), words);
    }

    #[test]
    fn plain_words_stay_plain() {
        assert_eq!(
            line(["pgmbench", "run", "configs/fig1.toml"]),
            "pgmbench run configs/fig1.toml"
        );
    }
}
