//! What the keychain keeps under a reference: the value, and for whom.

use zeroize::Zeroizing;

use crate::{Identity, Secret, Surroundings};

/// One secret as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The start that it is for: nothing else gets it.
    pub start: Identity,
    /// The entry that it was taken from: there it may be written back, whatever the entry starts by now.
    pub place: Identity,
    /// What the entry itself said about which code its start runs.
    pub surroundings: Surroundings,
    pub value: Secret,
    /// The literal that it was part of, as it stood in the file; a restored file has every byte of it.
    pub literal: Secret,
}

const FORMAT: &str = "callgate-2";
/// Of items from before surroundings were remembered: as if the entry had said nothing about them.
const FIRST: &str = "callgate-1";

impl Item {
    /// As one text: a line of facts, then the two texts. Not JSON, which would leave copies in memory on the way.
    pub fn packed(&self) -> Secret {
        let (value, literal) = (self.value.expose(), self.literal.expose());
        let (start, place) = (self.start.text(), self.place.text());
        let facts = format!("{FORMAT} {start} {place} {} {}\n", self.surroundings.text(), value.len());
        // As large as it will be: a text that grows leaves parts of itself behind.
        let mut whole = String::with_capacity(facts.len() + value.len() + literal.len());
        whole.push_str(&facts);
        whole.push_str(value);
        whole.push_str(literal);
        Secret::new(whole)
    }

    /// The other side of [`Item::packed`]; none, if it is not as we write it.
    pub fn unpacked(bytes: &Zeroizing<Vec<u8>>) -> Option<Item> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (facts, texts) = text.split_once('\n')?;
        let facts: Vec<&str> = facts.split(' ').collect();
        let (start, place, surroundings, length) = match facts[..] {
            [FORMAT, start, place, surroundings, length] => {
                (start, place, Surroundings::parse(surroundings)?, length)
            }
            [FIRST, start, place, length] => (start, place, Surroundings::default(), length),
            _ => return None,
        };
        let (value, literal) = texts.split_at_checked(length.parse().ok()?)?;
        Some(Item {
            start: Identity::parse(start)?,
            place: Identity::parse(place)?,
            surroundings,
            value: Secret::new(value.to_owned()),
            literal: Secret::new(literal.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_packed_comes_out_again(value in any::<String>(), literal in any::<String>()) {
            let item = Item {
                start: Identity::of_place(["a".as_ref()]),
                place: Identity::of_place(["b".as_ref()]),
                surroundings: Surroundings::of([("PATH", "/a")]),
                value: Secret::new(value),
                literal: Secret::new(literal),
            };
            let bytes = Zeroizing::new(item.packed().expose().as_bytes().to_vec());
            prop_assert_eq!(Item::unpacked(&bytes), Some(item));
        }

        #[test]
        fn an_item_of_an_older_version_is_read(value in any::<String>()) {
            let id = Identity::of_place([]);
            let text = format!("callgate-1 {0} {0} {1}\n{value}", id.text(), value.len());
            let item = Item::unpacked(&Zeroizing::new(text.into_bytes()));
            let wanted = Item { start: id.clone(), place: id, surroundings: Surroundings::default(),
                value: Secret::new(value), literal: Secret::new(String::new()) };
            prop_assert_eq!(item, Some(wanted));
        }

        #[test]
        fn nothing_else_is_taken_for_one(bytes in any::<Vec<u8>>()) {
            prop_assert_eq!(Item::unpacked(&Zeroizing::new(bytes)), None);
        }
    }
}
