use std::ops::Range;

use private_pgm::domain::{AttributeId, Domain};

use super::formula::Formula;
use super::tokens::{Token, tokens};
use super::values::{attribute, compared, value};
use super::{ConditionError, Found};

/// Brackets in brackets, at most: a limit on the depth of recursion.
const MOST_NESTED: usize = 50;

/// Reads a text by the grammar
///
/// ```text
/// condition   = conjunction { "or" conjunction }
/// conjunction = term { "and" term }
/// term        = "(" condition ")" | comparison
/// comparison  = name operator value | name "in" "(" value { "," value } ")"
/// ```
pub(super) struct Parser<'a> {
    domain: &'a Domain,
    tokens: Vec<(Token, Range<usize>)>,
    /// The next token.
    next: usize,
    /// The length of the text.
    end: usize,
    nested: usize,
    /// The first comparison that no value satisfies.
    pub(super) never: Option<(AttributeId, Range<usize>)>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &str, domain: &'a Domain) -> Found<Self> {
        let tokens = tokens(text)?;
        Ok(Self { domain, tokens, next: 0, end: text.len(), nested: 0, never: None })
    }

    pub(super) fn whole(&mut self) -> Found<Formula> {
        let formula = self.condition()?;
        match self.peek() {
            None => Ok(formula),
            Some(Token::Sign(")")) => {
                Err(self.wrong("this bracket closes none that is open".into()))
            }
            Some(_) => Err(self.unexpected(
                "'and', 'or' or the end of the condition",
                "; names and values with spaces are in quotes",
            )),
        }
    }

    fn condition(&mut self) -> Found<Formula> {
        let mut parts = vec![self.conjunction()?];
        while self.takes(|token| token.is_word("or")) {
            parts.push(self.conjunction()?);
        }
        Ok(Formula::Any(parts))
    }

    fn conjunction(&mut self) -> Found<Formula> {
        let mut parts = vec![self.term()?];
        while self.takes(|token| token.is_word("and")) {
            parts.push(self.term()?);
        }
        Ok(Formula::All(parts))
    }

    fn term(&mut self) -> Found<Formula> {
        let opening = self.place();
        if !self.takes(|token| *token == Token::Sign("(")) {
            return self.comparison();
        }
        self.nested += 1;
        if self.nested > MOST_NESTED {
            let problem = format!("expected at most {MOST_NESTED} brackets in brackets");
            return Err(ConditionError { at: opening, problem });
        }
        let inner = self.condition()?;
        self.nested -= 1;
        match self.peek() {
            Some(Token::Sign(")")) => {
                self.next += 1;
                Ok(inner)
            }
            None => {
                let problem = "this bracket is not closed".into();
                Err(ConditionError { at: opening, problem })
            }
            Some(_) => Err(self.unexpected("'and', 'or' or )", "")),
        }
    }

    fn comparison(&mut self) -> Found<Formula> {
        let start = self.place().start;
        if self.peek().is_some_and(|token| token.is_word("not")) {
            return Err(self.wrong(
                "'not' is not supported; write town != Bath, or list all other values as in town \
                 in (Ely, Wells)"
                    .into(),
            ));
        }
        let (name, at) = self.text("a comparison such as age >= 50")?;
        let id = attribute(self.domain, &name).map_err(|problem| {
            let is_cut = matches!(self.peek(), Some(Token::Word(word)) if word != "in");
            let hint = if is_cut { "; names with spaces are in quotes" } else { "" };
            problem_at(&at, problem + hint)
        })?;
        let operators = "=, !=, <, <=, >, >= or 'in'";
        let values = match self.peek() {
            Some(token) if token.is_word("in") => {
                self.next += 1;
                self.listed(id)?
            }
            Some(Token::Sign(sign @ ("=" | "==" | "!=" | "<" | "<=" | ">" | ">="))) => {
                let sign = *sign;
                self.next += 1;
                let (text, at) = self.text("a value")?;
                let whole = start..at.end;
                self.chosen(id, sign, &text).map_err(|(is_whole, problem)| {
                    problem_at(if is_whole { &whole } else { &at }, problem)
                })?
            }
            _ => return Err(self.unexpected(operators, "")),
        };
        if values.is_empty() && self.never.is_none() {
            self.never = Some((id, start..self.tokens[self.next - 1].1.end));
        }
        Ok(Formula::Among((id, values)))
    }

    /// The values that a comparison selects. An error says whether it is about the comparison or
    /// about its value alone.
    fn chosen(
        &self,
        id: AttributeId,
        sign: &str,
        text: &str,
    ) -> Result<Vec<usize>, (bool, String)> {
        let one = || value(self.domain, id, text).map_err(|problem| (false, problem));
        match sign {
            "=" | "==" => Ok(vec![one()?]),
            "!=" => {
                let excluded = one()?;
                Ok((0..self.domain.size(id)).filter(|&value| value != excluded).collect())
            }
            _ => compared(self.domain, id, sign, text).map_err(|problem| (true, problem)),
        }
    }

    /// The values in a list in brackets.
    fn listed(&mut self, id: AttributeId) -> Found<Vec<usize>> {
        if !self.takes(|token| *token == Token::Sign("(")) {
            return Err(self.unexpected("a list such as (Bath, Ely)", ""));
        }
        let mut values = Vec::new();
        loop {
            let (text, at) = self.text("a value")?;
            values.push(value(self.domain, id, &text).map_err(|problem| problem_at(&at, problem))?);
            if self.takes(|token| *token == Token::Sign(")")) {
                break;
            }
            if !self.takes(|token| *token == Token::Sign(",")) {
                return Err(self.unexpected("a comma or )", "; values with spaces are in quotes"));
            }
        }
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }

    /// The next token as a name or a value.
    fn text(&mut self, expected: &str) -> Found<(String, Range<usize>)> {
        match self.peek() {
            Some(token @ (Token::Word(text) | Token::Quoted(text))) if !token.is_keyword() => {
                let found = (text.clone(), self.place());
                self.next += 1;
                Ok(found)
            }
            Some(token) if token.is_keyword() => {
                Err(self.unexpected(expected, "; a name or value like that is in quotes"))
            }
            _ => Err(self.unexpected(expected, "")),
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    /// Skips the next token if it is the one that is looked for.
    fn takes(&mut self, is_wanted: impl Fn(&Token) -> bool) -> bool {
        let found = self.peek().is_some_and(is_wanted);
        self.next += usize::from(found);
        found
    }

    /// Of the next token; at the end, behind the text.
    fn place(&self) -> Range<usize> {
        self.tokens.get(self.next).map_or(self.end..self.end, |(_, place)| place.clone())
    }

    fn wrong(&self, problem: String) -> ConditionError {
        ConditionError { at: self.place(), problem }
    }

    fn unexpected(&self, expected: &str, hint: &str) -> ConditionError {
        let found = match self.peek() {
            Some(token) => format!("{:?}", token.shown()),
            None => "the end".into(),
        };
        self.wrong(format!("expected {expected}, found {found}{hint}"))
    }
}

fn problem_at(at: &Range<usize>, problem: String) -> ConditionError {
    ConditionError { at: at.clone(), problem }
}
