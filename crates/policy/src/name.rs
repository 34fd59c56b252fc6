//! Names of tools as callers write them: which are usable at all, which are patterns, which look alike.

use std::borrow::Cow;

use callgate_protocol::fold::fold;

/// No server has longer names; some readers truncate them.
pub(crate) const LONGEST: usize = 1024;

/// Why no server should ever be asked for a tool of this name.
pub(crate) fn unusable(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("the tool's name is empty");
    }
    if name.len() > LONGEST {
        return Some("the tool's name is too long");
    }
    // Plain ASCII names, that is nearly all, are settled by one pass over the bytes.
    if name.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return None;
    }
    name.chars()
        .any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffd}'))
        .then_some("the tool's name holds control characters")
}

/// The form under which a careless reader may take two names for one.
pub(crate) fn folded(name: &str) -> Cow<'_, str> {
    fold(name)
}

/// What a client is known by: clients name themselves, and people do not see how many blanks are in a name.
pub(crate) fn client_key(client: &str) -> Cow<'_, str> {
    let folded = fold(client);
    match folded.contains(char::is_whitespace) {
        true => Cow::Owned(folded.chars().filter(|c| !c.is_whitespace()).collect()),
        false => folded,
    }
}

/// Are these two names of one client, to whoever reads them?
pub fn same_client(one: &str, other: &str) -> bool {
    client_key(one) == client_key(other)
}

pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::{same_client, unusable};

    #[test]
    fn clients_are_the_same_as_people_read_them() {
        for name in [
            "tester",
            "Tester",
            "tes ter",
            " t e s t e r ",
            "tes\u{a0}ter",
            "tes\u{200b}ter",
            "ｔｅｓｔｅｒ",
            "TES\tTER",
        ] {
            assert!(same_client(name, "tester"), "{name:?}");
        }
        for name in ["tester2", "tes-ter", ""] {
            assert!(!same_client(name, "tester"), "{name:?}");
        }
    }

    #[test]
    fn names_that_readers_may_cut_or_split_are_unusable() {
        for name in ["", "safe\0danger", "a\rb", "a\u{85}b", "a\u{2028}b", "a\u{fffd}", &"x".repeat(1025)] {
            assert!(unusable(name).is_some(), "{name:?}");
        }
        for name in ["safe", "__proto__", "ns/tool.v2-x", "größe", &"x".repeat(1024)] {
            assert!(unusable(name).is_none(), "{name:?}");
        }
    }
}
