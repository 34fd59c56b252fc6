//! What the keychain keeps under a reference: the value, and for whom.

use zeroize::Zeroizing;

use crate::{Identity, Secret};

/// One secret as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The start that it is for: nothing else gets it.
    pub start: Identity,
    /// The entry that it was taken from: there it may be written back, whatever the entry starts by now.
    pub place: Identity,
    pub value: Secret,
    /// The literal that it was part of, as it stood in the file; a restored file has every byte of it.
    pub literal: Secret,
}

const FORMAT: &str = "callgate-1";

impl Item {
    /// As one text: a line of facts, then the two texts. Not JSON, which would leave copies in memory on the way.
    pub(crate) fn packed(&self) -> Secret {
        let (value, literal) = (self.value.expose(), self.literal.expose());
        let facts = format!("{FORMAT} {} {} {}\n", self.start.text(), self.place.text(), value.len());
        // As large as it will be: a text that grows leaves parts of itself behind.
        let mut whole = String::with_capacity(facts.len() + value.len() + literal.len());
        whole.push_str(&facts);
        whole.push_str(value);
        whole.push_str(literal);
        Secret::new(whole)
    }

    pub(crate) fn unpacked(bytes: &Zeroizing<Vec<u8>>) -> Option<Item> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (facts, texts) = text.split_once('\n')?;
        let facts: Vec<&str> = facts.split(' ').collect();
        let [FORMAT, start, place, length] = facts[..] else { return None };
        let (value, literal) = texts.split_at_checked(length.parse().ok()?)?;
        Some(Item {
            start: Identity::parse(start)?,
            place: Identity::parse(place)?,
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
                value: Secret::new(value),
                literal: Secret::new(literal),
            };
            let bytes = Zeroizing::new(item.packed().expose().as_bytes().to_vec());
            prop_assert_eq!(Item::unpacked(&bytes), Some(item));
        }

        #[test]
        fn nothing_else_is_taken_for_one(bytes in any::<Vec<u8>>()) {
            prop_assert_eq!(Item::unpacked(&Zeroizing::new(bytes)), None);
        }
    }
}
