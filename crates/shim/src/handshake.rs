//! What client and server agreed on when they met, so that it can be agreed on again with a server that was started anew.
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
    /// The client's own params of `initialize`.
    asked: Option<String>,
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
    /// Of the result of `initialize`.
    pub(crate) fn of(result: &str) -> Option<Terms> {
        let result: Value = serde_json::from_str(result).ok()?;
        let version = result.get("protocolVersion")?.clone();
        Some(Terms { version, capabilities: result.get("capabilities").cloned().unwrap_or_default() })
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

/// What is said to a server that was started again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replay {
    pub(crate) asked: String,
    pub(crate) terms: Terms,
}

impl Handshake {
    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client opens; whatever was agreed on before is void.
    pub(crate) fn asked(&self, params: Option<Raw<'_>>) {
        let text = params.map_or("{}", |params| params.text());
        let asked = (text.len() <= MOST_BYTES).then(|| text.to_owned());
        *self.agreed() = Agreed { asked, ..Agreed::default() };
    }

    pub(crate) fn answered(&self, result: Raw<'_>) {
        if result.text().len() <= MOST_BYTES {
            self.agreed().terms = Terms::of(result.text());
        }
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

    /// Has the client opened without having got its answer yet?
    pub(crate) fn is_open(&self) -> bool {
        let agreed = self.agreed();
        agreed.asked.is_some() && agreed.terms.is_none()
    }

    /// None when there is no handshake to be repeated.
    pub(crate) fn replay(&self) -> Option<Replay> {
        let agreed = self.agreed();
        Some(Replay { asked: agreed.asked.clone()?, terms: agreed.terms.clone()? })
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
        let first =
            Terms::of(r#"{"protocolVersion":"a","capabilities":{"x":{},"y":1},"serverInfo":{"v":1}}"#);
        let first = first.unwrap();
        for (other, differs) in [
            (r#"{"serverInfo":{"v":2},"capabilities":{"y":1,"x":{}},"protocolVersion":"a"}"#, None),
            (r#"{"protocolVersion":"b","capabilities":{"x":{},"y":1}}"#, Some("another protocol version")),
            (r#"{"protocolVersion":"a","capabilities":{"x":{}}}"#, Some("other capabilities")),
            (r#"{"protocolVersion":"a"}"#, Some("other capabilities")),
        ] {
            assert_eq!(first.differs(&Terms::of(other).unwrap()), differs, "{other}");
        }
        assert_eq!(Terms::of("{}"), None);
    }

    #[test]
    fn only_a_handshake_with_an_answer_is_repeated() {
        let handshake = Handshake::default();
        assert_eq!(handshake.replay(), None, "a client of a revision without one");
        handshake.asked(raw(r#"{"protocolVersion":"a"}"#));
        assert!(handshake.is_open() && handshake.replay().is_none());
        handshake.answered(raw(r#"{"protocolVersion":"a"}"#).unwrap());
        handshake.initialized();
        assert_eq!(handshake.replay().unwrap().asked, r#"{"protocolVersion":"a"}"#);
        handshake.asked(None);
        assert!(handshake.replay().is_none() && !handshake.is_initialized(), "it begins anew");
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
