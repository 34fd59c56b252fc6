//! An entry that we wrote into a file which did not have it, and how the file comes to be as it was.

use callgate_text::hex;
use serde::{Deserialize, Serialize};

use crate::file::hash;
use crate::ledger::LedgerKey;

/// What writing one entry did to its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    #[serde(flatten)]
    pub key: LedgerKey,
    /// A digest of the whole file after it.
    wrote: String,
    /// The bytes that are ours.
    at: usize,
    length: usize,
    /// What stood there. Nothing: there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instead_of: Option<String>,
}

/// A file as it was before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AsItWas {
    Text(String),
    NoFile,
}

impl Placed {
    /// `before`: the text that was there, or none for no file.
    pub(crate) fn new(key: &LedgerKey, before: Option<&str>, after: &str) -> Placed {
        let old = before.unwrap_or_default();
        let (head, tail) = in_common(old, after);
        Placed {
            key: key.clone(),
            wrote: hex(&hash(after.as_bytes())),
            at: head,
            length: after.len() - tail - head,
            instead_of: before.map(|old| old[head..old.len() - tail].to_owned()),
        }
    }

    /// The file before the entry was there, if it is still byte for byte what we wrote.
    pub(crate) fn as_it_was(&self, now: &str) -> Option<AsItWas> {
        if hex(&hash(now.as_bytes())) != self.wrote {
            return None;
        }
        let Some(old) = &self.instead_of else { return Some(AsItWas::NoFile) };
        let (head, tail) = (now.get(..self.at)?, now.get(self.at.checked_add(self.length)?..)?);
        Some(AsItWas::Text(format!("{head}{old}{tail}")))
    }
}

/// How many bytes two texts have in common at their beginnings, and how many of the rest at their ends.
fn in_common(one: &str, other: &str) -> (usize, usize) {
    let same = |(a, b): &(char, char)| a == b;
    let length = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs.take_while(same).map(|(c, _)| c.len_utf8()).sum()
    };
    let head = length(&mut one.chars().zip(other.chars()));
    let tail = length(&mut one[head..].chars().rev().zip(other[head..].chars().rev()));
    (head, tail)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> LedgerKey {
        LedgerKey { client: "cursor".into(), path: "/c.json".into(), project: None, name: "a".into() }
    }

    proptest! {
        #[test]
        fn a_file_that_nobody_touched_is_given_back_whatever_it_was(before in "[aé\\n]{0,12}", after in "[aé\\n]{0,12}") {
            let placed = Placed::new(&key(), Some(&before), &after);
            prop_assert_eq!(placed.as_it_was(&after), Some(AsItWas::Text(before)));
        }
    }

    #[test]
    fn a_file_that_somebody_touched_is_not_and_a_new_one_goes() {
        let placed = Placed::new(&key(), Some("{}"), "{ours}");
        assert_eq!(placed.as_it_was("{ours }"), None);
        assert_eq!(Placed::new(&key(), None, "{ours}").as_it_was("{ours}"), Some(AsItWas::NoFile));
    }
}
