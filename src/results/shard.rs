use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// One of several parts of an experiment that run independently: `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    of: usize,
    index: usize,
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("expected a shard such as 2/4, from 1/4 to 4/4")]
pub struct NotAShard;

impl Shard {
    /// Shard `index`, counted from 1, of `of`.
    pub fn new(index: usize, of: usize) -> Result<Self, NotAShard> {
        match (1..=of).contains(&index) {
            true => Ok(Self { of, index }),
            false => Err(NotAShard),
        }
    }

    /// The index, counted from 0.
    pub fn place(self) -> usize {
        self.index - 1
    }

    pub fn of(self) -> usize {
        self.of
    }

    /// The name of this shard's counterpart of the file `whole`: `trials.2-of-4.csv`,
    /// `.2-of-4.lock`.
    pub(super) fn file_name(self, whole: &str) -> String {
        let (stem, extension) = whole.rsplit_once('.').unwrap_or((whole, ""));
        format!("{stem}.{}-of-{}.{extension}", self.index, self.of)
    }

    /// The shard whose counterpart of `whole` has this name.
    pub(super) fn of_file(name: &str, whole: &str) -> Option<Self> {
        let (stem, extension) = whole.rsplit_once('.')?;
        let middle = name.strip_prefix(stem)?.strip_prefix('.')?;
        let middle = middle.strip_suffix(extension)?.strip_suffix('.')?;
        let (index, of) = middle.split_once("-of-")?;
        let shard = Self::new(index.parse().ok()?, of.parse().ok()?).ok()?;
        // Names are canonical: 02-of-4 is not one of ours.
        (shard.file_name(whole) == name).then_some(shard)
    }
}

impl FromStr for Shard {
    type Err = NotAShard;

    fn from_str(text: &str) -> Result<Self, NotAShard> {
        let (index, of) = text.split_once('/').ok_or(NotAShard)?;
        let number = |text: &str| text.trim().parse().map_err(|_| NotAShard);
        Self::new(number(index)?, number(of)?)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_as_they_are_written() {
        let shard: Shard = "2/4".parse().unwrap();
        assert_eq!((shard.place(), shard.of(), shard.to_string().as_str()), (1, 4, "2/4"));
        for wrong in ["", "2", "0/4", "5/4", "1/0", "a/b", "-1/2", "1/2/3"] {
            assert_eq!(wrong.parse::<Shard>(), Err(NotAShard), "{wrong}");
        }
    }

    #[test]
    fn a_shard_knows_its_files_and_no_others() {
        let shard = Shard::new(2, 14).unwrap();
        assert_eq!(shard.file_name("trials.csv"), "trials.2-of-14.csv");
        assert_eq!(shard.file_name(".lock"), ".2-of-14.lock");
        assert_eq!(Shard::of_file("trials.2-of-14.csv", "trials.csv"), Some(shard));
        for other in
            ["trials.csv", "trials.02-of-14.csv", "traces.2-of-14.csv", "trials.3-of-2.csv"]
        {
            assert_eq!(Shard::of_file(other, "trials.csv"), None, "{other}");
        }
    }
}
