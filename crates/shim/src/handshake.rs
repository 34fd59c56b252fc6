//! Handshake of client and server, kept so that it can be repeated with a server that was started anew.
//!
//! Revisions up to 2025-11-25 open with a handshake; later ones have none, and then there is nothing to repeat.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_protocol::json::Raw;
use serde_json::Value;

/// How many subscriptions are remembered, and how large a handshake may be, to be repeated.
const MOST_SUBSCRIPTIONS: usize = 1_000;
const MOST_BYTES: usize = 256 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Handshake(Mutex<Agreed>);

#[derive(Debug, Default)]
struct Agreed {
    /// There is a handshake, and it was answered.
    opened: bool,
    answered: bool,
    /// The client's own params of `initialize`, if they are not too large to be repeated.
    params: Option<String>,
    terms: Option<Terms>,
    /// The client has said that it is ready.
    initialized: bool,
    /// The params of the last `logging/setLevel`.
    level: Option<String>,
    /// The URIs that the client is subscribed to.
    subscribed: BTreeSet<String>,
}

/// What a server must say again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Terms {
    version: Value,
    capabilities: Value,
}

impl Terms {
    /// Of the result of `initialize`, however large the rest of it is.
    pub(crate) fn from_result(result: &str) -> Option<Terms> {
        let result = Raw::parse(result).ok()?;
        let value = |name| {
            let text = result.get(name).map_or("null", |value: Raw<'_>| value.text());
            serde_json::from_str(text).ok().filter(|_| text.len() <= MOST_BYTES)
        };
        result.get("protocolVersion")?;
        Some(Terms { version: value("protocolVersion")?, capabilities: value("capabilities")? })
    }

    /// What of `other` is not as it was; none if all is.
    pub(crate) fn differs(&self, other: &Terms) -> Option<&'static str> {
        match (self.version == other.version, self.capabilities == other.capabilities) {
            (true, true) => None,
            (false, _) => Some("another protocol version"),
            (true, false) => Some("other capabilities"),
        }
    }
}

/// How a server that was started again is met.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Repeat {
    /// There was no handshake with the one before.
    Nothing,
    This(Replay),
    /// There was one that cannot be had again.
    Impossible,
}

/// What is said to a server that was started again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replay {
    pub(crate) params: String,
    pub(crate) terms: Terms,
}

impl Handshake {
    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client opens; whatever was agreed on before is void.
    pub(crate) fn opened(&self, params: Option<Raw<'_>>) {
        let text = params.map_or("{}", |params| params.text());
        let params = (text.len() <= MOST_BYTES).then(|| text.to_owned());
        *self.agreed() = Agreed { opened: true, params, ..Agreed::default() };
    }

    pub(crate) fn answered(&self, result: Raw<'_>) {
        let mut agreed = self.agreed();
        (agreed.answered, agreed.terms) = (true, Terms::from_result(result.text()));
    }

    pub(crate) fn initialized(&self) {
        self.agreed().initialized = true;
    }

    /// The client asks for something that lasts for as long as the server does.
    pub(crate) fn lasting(&self, method: &str, params: Option<Raw<'_>>) {
        let uri = || params.and_then(|params| params.get("uri")).and_then(Raw::as_str);
        match method {
            "logging/setLevel" => {
                self.agreed().level = params.map(|params| params.text().to_owned());
            }
            "resources/subscribe" => {
                let mut agreed = self.agreed();
                if let Some(uri) = uri().filter(|_| agreed.subscribed.len() < MOST_SUBSCRIPTIONS) {
                    agreed.subscribed.insert(uri.into_owned());
                }
            }
            "resources/unsubscribe" => {
                if let Some(uri) = uri() {
                    self.agreed().subscribed.remove(uri.as_ref());
                }
            }
            _ => {}
        }
    }

    /// May the server have tools? One that says what it has, and no tools among it, has none.
    pub(crate) fn may_have_tools(&self) -> bool {
        let agreed = self.agreed();
        let said = agreed.terms.as_ref().and_then(|terms| terms.capabilities.as_object());
        said.is_none_or(|capabilities| capabilities.contains_key("tools"))
    }

    /// Has the client opened without having got its answer yet?
    pub(crate) fn is_open(&self) -> bool {
        let agreed = self.agreed();
        agreed.opened && !agreed.answered
    }

    pub(crate) fn replay(&self) -> Repeat {
        let agreed = self.agreed();
        match (agreed.opened, agreed.params.clone(), agreed.terms.clone()) {
            (false, ..) => Repeat::Nothing,
            (true, Some(params), Some(terms)) => Repeat::This(Replay { params, terms }),
            (true, ..) => Repeat::Impossible,
        }
    }

    pub(crate) fn is_initialized(&self) -> bool {
        self.agreed().initialized
    }

    /// Requests that bring back what the client had asked for, as method and params.
    pub(crate) fn restoring(&self) -> Vec<(&'static str, String)> {
        let agreed = self.agreed();
        let level = agreed.level.iter().map(|params| ("logging/setLevel", params.clone()));
        let subscribed = agreed
            .subscribed
            .iter()
            .map(|uri| ("resources/subscribe", format!("{{\"uri\":{}}}", Value::from(uri.as_str()))));
        level.chain(subscribed).collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn raw(text: &str) -> Option<Raw<'_>> {
        Some(Raw::parse(text).unwrap())
    }

    #[test]
    fn the_terms_are_the_version_and_the_capabilities_whatever_else_is_said() {
        let first = Terms::from_result(
            r#"{"protocolVersion":"a","capabilities":{"x":{},"y":1},"serverInfo":{"v":1}}"#,
        );
        let first = first.unwrap();
        for (other, differs) in [
            (r#"{"serverInfo":{"v":2},"capabilities":{"y":1,"x":{}},"protocolVersion":"a"}"#, None),
            (r#"{"protocolVersion":"b","capabilities":{"x":{},"y":1}}"#, Some("another protocol version")),
            (r#"{"protocolVersion":"a","capabilities":{"x":{}}}"#, Some("other capabilities")),
            (r#"{"protocolVersion":"a"}"#, Some("other capabilities")),
        ] {
            assert_eq!(first.differs(&Terms::from_result(other).unwrap()), differs, "{other}");
        }
        assert_eq!(Terms::from_result("{}"), None);
    }

    #[test]
    fn only_a_server_that_says_what_it_has_is_known_to_have_no_tools() {
        let handshake = Handshake::default();
        assert!(handshake.may_have_tools(), "nothing was said");
        for (capabilities, may) in [("null", true), ("{}", false), (r#"{"tools":{}}"#, true)] {
            let text = format!(r#"{{"protocolVersion":"a","capabilities":{capabilities}}}"#);
            handshake.answered(raw(&text).unwrap());
            assert_eq!(handshake.may_have_tools(), may, "{capabilities}");
        }
    }

    #[test]
    fn only_a_handshake_with_an_answer_is_repeated() {
        let handshake = Handshake::default();
        assert_eq!(handshake.replay(), Repeat::Nothing, "a client of a revision without one");
        handshake.opened(raw(r#"{"protocolVersion":"a"}"#));
        assert!(handshake.is_open() && handshake.replay() == Repeat::Impossible);
        handshake.answered(raw(r#"{"protocolVersion":"a"}"#).unwrap());
        handshake.initialized();
        let Repeat::This(replay) = handshake.replay() else { panic!("it can be repeated") };
        assert_eq!(replay.params, r#"{"protocolVersion":"a"}"#);
        handshake.opened(None);
        assert!(handshake.is_open() && !handshake.is_initialized(), "it begins anew");
    }

    #[test]
    fn a_handshake_that_is_too_large_is_not_taken_for_none() {
        let large = "x".repeat(MOST_BYTES);
        let handshake = Handshake::default();
        handshake.opened(raw(&format!(r#"{{"protocolVersion":"a","more":"{large}"}}"#)));
        handshake.answered(raw(r#"{"protocolVersion":"a"}"#).unwrap());
        assert!(!handshake.is_open());
        assert_eq!(handshake.replay(), Repeat::Impossible);
        // Of the answer only the terms count.
        handshake.opened(raw("{}"));
        handshake.answered(raw(&format!(r#"{{"protocolVersion":"a","instructions":"{large}"}}"#)).unwrap());
        assert!(matches!(handshake.replay(), Repeat::This(_)));
        handshake.opened(raw("{}"));
        handshake.answered(raw("{}").unwrap());
        assert!(!handshake.is_open(), "it was answered, with whatever");
    }

    #[test]
    fn what_lasts_is_restored_and_what_was_taken_back_is_not() {
        let handshake = Handshake::default();
        handshake.lasting("logging/setLevel", raw(r#"{"level":"info"}"#));
        handshake.lasting("logging/setLevel", raw(r#"{"level":"debug"}"#));
        for uri in ["b", "a"] {
            handshake.lasting("resources/subscribe", raw(&format!(r#"{{"uri":"x:{uri}"}}"#)));
        }
        handshake.lasting("resources/unsubscribe", raw(r#"{"uri":"x:b"}"#));
        handshake.lasting("resources/read", raw(r#"{"uri":"x:c"}"#));
        let restoring = handshake.restoring();
        let said: Vec<(&str, &str)> =
            restoring.iter().map(|(method, params)| (*method, params.as_str())).collect();
        assert_eq!(
            said,
            [("logging/setLevel", r#"{"level":"debug"}"#), ("resources/subscribe", r#"{"uri":"x:a"}"#)]
        );
    }
}
