use std::ops::Range;

use super::ConditionError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, a value or a keyword.
    Word(String),
    /// A name or a value in quotes.
    Quoted(String),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
}

const SIGNS: [&str; 10] = ["!=", "<=", ">=", "==", "=", "<", ">", "(", ")", ","];

impl Token {
    pub(super) fn is_word(&self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// Joins comparisons, unless it is in quotes.
    pub(super) fn is_keyword(&self) -> bool {
        ["and", "or", "not"].iter().any(|keyword| self.is_word(keyword))
    }

    pub(super) fn shown(&self) -> &str {
        match self {
            Self::Word(text) | Self::Quoted(text) => text,
            Self::Sign(sign) => sign,
        }
    }
}

/// The tokens with their places, in bytes.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, ConditionError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let start = text.len() - rest.len();
        let (token, length) = if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign))
        {
            (Token::Sign(sign), sign.len())
        } else if matches!(first, '"' | '\'' | '`') {
            let end = rest[1..].find(first).ok_or_else(|| ConditionError {
                at: start..start + 1,
                problem: "this quotation mark is not closed".into(),
            })?;
            (Token::Quoted(rest[1..=end].into()), end + 2)
        } else {
            let ends = |c: char| c.is_whitespace() || "=<>!(),\"'`".contains(c);
            let end = rest.find(ends).unwrap_or(rest.len()).max(first.len_utf8());
            (Token::Word(rest[..end].into()), end)
        };
        tokens.push((token, start..start + length));
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}
