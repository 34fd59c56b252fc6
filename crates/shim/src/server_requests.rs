//! What the server asks of the client, and under which id the client knows it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use callgate_journal::CallRef;
use callgate_protocol::id::IdKey;

use crate::pending::{Generation, MAX_PENDING};
use crate::relay::OWN_IDS;

/// A request of the server's.
#[derive(Debug)]
pub(crate) struct ServerRequest {
    /// Its row, unless it is one of those that are not recorded.
    pub(crate) call: Option<CallRef>,
    pub(crate) since: Instant,
    /// The id that the server gave it.
    pub(crate) own: IdKey,
}

/// Requests of the server that wait for the client (sampling, elicitation, roots, ping).
///
/// The client knows the requests of the first server by the server's own ids. A later server counts from the start again,
/// and an answer to the one before may still come, so its requests get names that no other ever had.
#[derive(Debug, Default)]
pub(crate) struct ServerRequests(Mutex<Asks>);

#[derive(Debug, Default)]
struct Asks {
    /// By the id that the client sees.
    open: HashMap<IdKey, ServerRequest>,
    /// The server's id → what the client sees, where they differ.
    renamed: HashMap<IdKey, IdKey>,
    /// How many were ever renamed.
    names: u64,
    /// The server that may ask.
    generation: Generation,
}

impl ServerRequests {
    fn asks(&self) -> MutexGuard<'_, Asks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// May a request with this id be let through now?
    pub(crate) fn has_room(&self, own: &IdKey) -> bool {
        let asks = self.asks();
        asks.open.len() < MAX_PENDING && !asks.open.contains_key(own) && !asks.renamed.contains_key(own)
    }

    /// To be done before the client can see it. The id that the client is to see, where it is another. A server that has
    /// made place for another asks nothing any more: its answer would get to the wrong one.
    pub(crate) fn enter(
        &self,
        ask: ServerRequest,
        generation: Generation,
    ) -> Result<Option<IdKey>, ServerRequest> {
        let mut asks = self.asks();
        if asks.generation != generation {
            return Err(ask);
        }
        let shown = (generation > 0).then(|| {
            asks.names += 1;
            IdKey::from_lexeme(&format!("\"{OWN_IDS}{generation}-{}\"", asks.names))
        });
        let shown = shown.flatten();
        if let Some(shown) = &shown {
            asks.renamed.insert(ask.own.clone(), shown.clone());
        }
        let key = shown.clone().unwrap_or_else(|| ask.own.clone());
        asks.open.insert(key, ask);
        Ok(shown)
    }

    /// The client's answer: what was asked under the id that it saw and not answered yet.
    pub(crate) fn answer(&self, shown: &IdKey) -> Option<ServerRequest> {
        let mut asks = self.asks();
        let ask = asks.open.remove(shown)?;
        asks.renamed.remove(&ask.own);
        Some(ask)
    }

    /// The server takes back what it asked: that, and the id that the client saw.
    pub(crate) fn take_back(&self, own: &IdKey) -> Option<(ServerRequest, IdKey)> {
        let mut asks = self.asks();
        let shown = asks.renamed.remove(own).unwrap_or_else(|| own.clone());
        asks.open.remove(&shown).map(|ask| (ask, shown))
    }

    /// The server is gone, and this is the next: everything that it asked and that was not answered, by the id that the
    /// client saw.
    pub(crate) fn sever(&self, next: Generation) -> Vec<(IdKey, ServerRequest)> {
        let mut asks = self.asks();
        asks.generation = next;
        asks.renamed.clear();
        let mut left: Vec<_> = asks.open.drain().collect();
        left.sort_by_key(|(_, ask)| ask.since);
        left
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::pending::{Pending, PendingRequest, RequestKind};

    fn key(lexeme: &str) -> IdKey {
        IdKey::from_lexeme(lexeme).unwrap()
    }

    fn ask(own: &str) -> ServerRequest {
        ServerRequest { call: None, since: Instant::now(), own: key(own) }
    }

    #[test]
    fn both_directions_count_for_themselves() {
        let (pending, asks) = (Pending::default(), ServerRequests::default());
        pending.enter(key("1"), PendingRequest::new(RequestKind::Other), 0).unwrap();
        assert!(asks.has_room(&key("1")));
        assert_eq!(asks.enter(ask("1"), 0).unwrap(), None);
        assert!(!asks.has_room(&key("1")));
        assert!(asks.answer(&key("1")).is_some() && asks.answer(&key("1")).is_none());
        assert!(pending.answer(&key("1"), 0).is_some());
    }

    #[test]
    fn what_a_later_server_asks_is_never_taken_for_what_an_earlier_one_asked() {
        let asks = ServerRequests::default();
        asks.enter(ask("1"), 0).unwrap();
        let left: Vec<String> = asks.sever(1).iter().map(|(shown, _)| shown.to_string()).collect();
        assert_eq!(left, ["1"]);
        assert!(asks.enter(ask("1"), 0).is_err(), "the first server asks nothing any more");
        let shown = asks.enter(ask("1"), 1).unwrap().unwrap();
        assert_eq!(shown.to_string(), r#""callgate/1-1""#);
        assert!(!asks.has_room(&key("1")));
        assert!(asks.answer(&key("1")).is_none(), "a late answer to the first server");
        assert_eq!(asks.answer(&shown).map(|ask| ask.own), Some(key("1")));
        assert!(asks.has_room(&key("1")));
        let again = asks.enter(ask("1"), 1).unwrap().unwrap();
        assert_ne!(again, shown);
        assert_eq!(asks.take_back(&key("1")).map(|(_, shown)| shown), Some(again));
        assert!(asks.take_back(&key("1")).is_none());
    }
}
