use super::font;

/// Breaks a text at its spaces into lines of at most `max_width`; a longer word gets its own line.
pub(super) fn wrapped(text: &str, size: f64, bold: bool, max_width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if font::width(&format!("{line} {word}"), size, bold) <= max_width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_within_the_maximum_width_and_keep_all_words() {
        let text = "infeasible: would need 4×10⁷² GB";
        let lines = wrapped(text, 10.0, false, 70.0);
        assert!(lines.len() > 1);
        assert!(lines.iter().all(|line| font::width(line, 10.0, false) <= 70.0));
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrapped(text, 10.0, false, 1.0).len(), 5);
        assert!(wrapped("  ", 10.0, false, 70.0).is_empty());
    }
}
