//! What stands in a client's file in place of a secret: `keychain://callgate/<id>/<NAME>`.
//!
//! Without `$`, `{`, `}` and `%`, which clients expand: Gemini CLI makes an empty text of `${keyring:x}`. It is the end of the
//! text that it stands in, so what comes before it (`--token=`, `Authorization: Bearer `) needs no marks of its own.

use std::fmt;

use callgate_text::hex;

/// How every reference begins.
pub const SCHEME: &str = "keychain://callgate/";

/// Half of a hash: no two secrets of a person ever have the same.
const ID_BYTES: usize = 8;
/// Longer than any variable; keychains have limits of their own.
const LONGEST_NAME: usize = 128;

/// The name of a secret in the keychain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    id: String,
    name: String,
}

/// It begins like a reference and is none. Passing it on would give the server a text that it takes for its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it names the keychain in a way that Callgate does not write ({SCHEME}ID/NAME, at the end of the text); write the value back in its place"
)]
pub struct BadReference;

/// A text that ends in a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referring<'a> {
    /// What comes before it, and stays.
    pub before: &'a str,
    pub reference: Reference,
}

impl Reference {
    /// A new one. `name` is for people; what would not do in a reference becomes `_`.
    pub fn fresh(name: &str) -> Result<Reference, getrandom::Error> {
        let mut bytes = [0; ID_BYTES];
        getrandom::fill(&mut bytes)?;
        let name: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(LONGEST_NAME).collect();
        let name = if name.is_empty() { "secret".to_owned() } else { name };
        Ok(Reference { id: hex(&bytes), name })
    }

    /// The name of the variable, flag or header that it stood for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name in the keychain.
    pub fn account(&self) -> String {
        format!("{}/{}", self.id, self.name)
    }

    fn parse(text: &str) -> Option<Reference> {
        let (id, name) = text.split_once('/')?;
        let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        let good = id.len() == 2 * ID_BYTES
            && id.chars().all(hexadecimal)
            && (1..=LONGEST_NAME).contains(&name.len())
            && name.chars().all(fits);
        good.then(|| Reference { id: id.to_owned(), name: name.to_owned() })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.id, self.name)
    }
}

/// The reference at the end of a text, if the text speaks of the keychain at all.
pub fn referring(text: &str) -> Option<Result<Referring<'_>, BadReference>> {
    let at = text.find(SCHEME)?;
    let (before, rest) = text.split_at(at);
    let reference = rest.strip_prefix(SCHEME).and_then(Reference::parse);
    Some(reference.map(|reference| Referring { before, reference }).ok_or(BadReference))
}

fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_reference_is_the_end_of_its_text() {
        let good = format!("{SCHEME}0123456789abcdef/GITHUB_TOKEN");
        for (text, before) in [
            (good.clone(), ""),
            (format!("--token={good}"), "--token="),
            (format!("Authorization: Bearer {good}"), "Authorization: Bearer "),
        ] {
            let found = referring(&text).unwrap().unwrap();
            assert_eq!((found.before, found.reference.to_string()), (before, good.clone()));
        }
        for bad in [
            SCHEME.to_owned(),
            format!("{good} "),
            format!("{good}/more"),
            format!("{good}@host"),
            format!("{good}{good}"),
            format!("{SCHEME}0123456789ABCDEF/X"),
            format!("{SCHEME}0123/X"),
            format!("{SCHEME}0123456789abcdef/"),
            format!("{SCHEME}0123456789abcdef/{}", "x".repeat(LONGEST_NAME + 1)),
        ] {
            assert_eq!(referring(&bad), Some(Err(BadReference)), "{bad}");
        }
        for none in ["", "keychain://other/0123456789abcdef/X", "keychain:/callgate/"] {
            assert_eq!(referring(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn a_fresh_reference_is_found_again_behind_any_text(name in any::<String>(), before in any::<String>()) {
            prop_assume!(!before.contains(SCHEME));
            let reference = Reference::fresh(&name).unwrap();
            let text = format!("{before}{reference}");
            let found = referring(&text).unwrap().unwrap();
            prop_assert_eq!(found, Referring { before: &before, reference: reference.clone() });
            let expanded_by_clients = reference.to_string().contains(['$', '{', '}', '%', ' ']);
            prop_assert!(!expanded_by_clients);
        }

        #[test]
        fn no_text_makes_the_search_stumble(text in any::<String>()) {
            let _any = referring(&format!("{SCHEME}{text}"));
        }
    }
}
