//! Whose counter it is, as one text. Two counters never share a key, whatever hostile names they have; a key can be
//! read back, so that a person can be shown what is counted.

use std::borrow::Cow;

use callgate_policy::{Limit, Scope};

use crate::CounterKind;

/// Ends a name inside a key. A NUL of the name's own is doubled, so this is found nowhere else.
const END: &str = "\0\u{1}";

/// The counter that a call of this client to this server uses. `session` matters for limits of that scope only.
pub fn key(limit: &Limit, client: &str, server: &str, session: &str) -> String {
    let (scope, counter) = (limit.scope, &limit.counter);
    let kind = match CounterKind::of(limit) {
        // The first kind there was has no mark of its own.
        CounterKind::Calls => "",
        CounterKind::Concurrent => "concurrent\0",
        CounterKind::Total => "total\0",
        CounterKind::Sum => "sum\0",
    };
    let (client, server) = (plain(client), plain(server));
    match scope {
        Scope::Session => format!("{kind}{scope}\0{}{END}{counter}", plain(session)),
        Scope::Grant => format!("{kind}{scope}\0{client}{END}{server}{END}{counter}"),
        Scope::Client => format!("{kind}{scope}\0{client}{END}{counter}"),
        Scope::Server => format!("{kind}{scope}\0{server}{END}{counter}"),
        Scope::All => format!("{kind}{scope}\0{counter}"),
    }
}

fn plain(name: &str) -> Cow<'_, str> {
    if name.contains('\0') { name.replace('\0', "\0\0").into() } else { name.into() }
}

/// What a key of a shared counter says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CounterName {
    pub(crate) kind: CounterKind,
    pub(crate) scope: Scope,
    pub(crate) client: Option<String>,
    pub(crate) server: Option<String>,
    pub(crate) counter: String,
}

/// Reads a key back; `None` for text that is no key of a shared counter.
pub(crate) fn read(key: &str) -> Option<CounterName> {
    let (word, rest) = key.split_once('\0')?;
    let (kind, word, rest) = match word {
        "concurrent" | "total" | "sum" => {
            let (scope, rest) = rest.split_once('\0')?;
            (word.parse().ok()?, scope, rest)
        }
        _ => (CounterKind::Calls, word, rest),
    };
    let mut rest = rest;
    let mut name = || {
        let (name, after) = first_name(rest)?;
        rest = after;
        Some(name)
    };
    let (scope, client, server) = match word {
        "grant" => (Scope::Grant, Some(name()?), Some(name()?)),
        "client" => (Scope::Client, Some(name()?), None),
        "server" => (Scope::Server, None, Some(name()?)),
        "all" => (Scope::All, None, None),
        _ => return None,
    };
    Some(CounterName { kind, scope, client, server, counter: rest.to_owned() })
}

fn first_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((_, c)) = chars.next() {
        if c != '\0' {
            name.push(c);
            continue;
        }
        match chars.next()? {
            (_, '\0') => name.push('\0'),
            (at, '\u{1}') => return Some((name, &text[at + 1..])),
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use callgate_policy::Kind;
    use proptest::prelude::*;

    use super::*;

    fn limit(kind: Kind, scope: Scope, counter: &str) -> Limit {
        Limit {
            pointer: String::new(),
            counter: counter.to_owned(),
            kind,
            max: NonZeroU32::MIN,
            scope,
            on_deny: None,
            until_ms: None,
        }
    }

    fn kinds() -> impl Strategy<Value = Kind> {
        prop_oneof![Just(Kind::Calls(Duration::from_secs(1))), Just(Kind::Concurrent), Just(Kind::Total)]
    }

    fn scopes() -> impl Strategy<Value = Scope> {
        prop_oneof![Just(Scope::Grant), Just(Scope::Client), Just(Scope::Server), Just(Scope::All)]
    }

    proptest! {
        #[test]
        fn a_key_reads_back_as_what_it_names(
            kind in kinds(), scope in scopes(),
            names in proptest::array::uniform3("[a\\x00\\x01]{0,6}"),
        ) {
            let [client, server, counter] = names;
            let limit = limit(kind, scope, &counter);
            let named = read(&key(&limit, &client, &server, "")).ok_or(TestCaseError::fail("no key"))?;
            prop_assert_eq!(
                (named.kind, named.scope, named.counter.as_str()),
                (CounterKind::of(&limit), scope, counter.as_str())
            );
            prop_assert_eq!(named.client, matches!(scope, Scope::Grant | Scope::Client).then_some(client));
            prop_assert_eq!(named.server, matches!(scope, Scope::Grant | Scope::Server).then_some(server));
        }

        #[test]
        fn text_that_is_no_key_is_read_without_harm(text in "[a-z\\x00\\x01]{0,20}") {
            let _named = read(&text);
        }
    }
}
