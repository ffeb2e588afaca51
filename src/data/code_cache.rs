//! The codes of texts that were encoded before.

use super::schema::Encoded;

/// The codes of short texts of one attribute.
///
/// Most attributes have few different texts, and a code depends on the text alone. A lookup takes a
/// few nanoseconds; decoding, trimming and searching the list of values take ten times as long.
pub(super) struct CodeCache {
    /// By hash, the last text with it. The key 0 stands for none.
    entries: Vec<(u64, Encoded)>,
}

/// Our choice: 4 kB per attribute.
const BITS: u32 = 8;
/// Texts of up to this many bytes.
const LONGEST: usize = 7;

impl CodeCache {
    pub(super) fn new() -> Self {
        Self { entries: vec![(0, Encoded { code: None, outside: false }); 1 << BITS] }
    }

    /// The code of a text; `encode` computes it if it is not known.
    pub(super) fn get_or<E>(
        &mut self,
        text: &[u8],
        encode: impl FnOnce() -> Result<Encoded, E>,
    ) -> Result<Encoded, E> {
        if text.len() > LONGEST {
            return encode();
        }
        // The length tells texts from those that end in zeros, and from none.
        let length = text.len() as u64 + 1;
        let key = text.iter().fold(length, |key, &byte| key << 8 | u64::from(byte));
        // Fibonacci hashing.
        let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS);
        let entry = &mut self.entries[place as usize];
        if entry.0 != key {
            *entry = (key, encode()?);
        }
        Ok(entry.1)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    /// A code that depends on every byte and on the length.
    fn encode(text: &[u8]) -> Encoded {
        let code = text.iter().fold(text.len() as u32, |code, &byte| {
            code.wrapping_mul(31).wrapping_add(u32::from(byte))
        });
        Encoded { code: (!code.is_multiple_of(7)).then_some(code), outside: code.is_multiple_of(3) }
    }

    proptest! {
        #[test]
        fn codes_are_those_of_the_text(
            texts in prop::collection::vec(
                prop::collection::vec(prop_oneof![Just(0u8), Just(b'1'), any::<u8>()], 0..10),
                0..600,
            ),
        ) {
            let mut cache = CodeCache::new();
            for text in texts.iter().chain(&texts) {
                let found = cache.get_or::<Infallible>(text, || Ok(encode(text)));
                prop_assert_eq!(found, Ok(encode(text)));
            }
        }
    }

    #[test]
    fn a_text_is_encoded_once_and_errors_are_not_kept() {
        let mut cache = CodeCache::new();
        assert_eq!(cache.get_or(b"39", || Err("no number")), Err("no number"));
        let code = Encoded { code: Some(39), outside: false };
        assert_eq!(cache.get_or::<&str>(b"39", || Ok(code)), Ok(code));
        assert_eq!(cache.get_or(b"39", || Err("encoded twice")), Ok(code));
    }
}
