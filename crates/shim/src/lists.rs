//! Lists on their way to the client: what it may see of them, and what it is told while there is no server.
//!
//! A client whose server is stopped goes on to ask what there is: told an error, it would forget its tools and have nothing to
//! call when the server is back. It gets what there was, held against the rules of this moment; that the server does not run,
//! its calls are told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_policy::Listing;
use callgate_protocol::answer;
use callgate_protocol::id::IdKey;
use callgate_protocol::json::Raw;
use callgate_protocol::lists::{Filtered, List, filter};
use callgate_protocol::message::{Body, Incoming, Message, Outcome as Reply, Side, read};

use crate::relay::Relay;
use crate::wording;

/// How much of one list is kept. Longer ones are not, and are told as missing while the server is.
const MOST_BYTES: usize = 1 << 20;

/// The lists that the server gave last, by the places of [`List::ALL`].
#[derive(Debug, Default)]
pub(crate) struct LastLists([Mutex<Pages>; List::ALL.len()]);

/// What the server answered, unfiltered, under the cursors that it was asked with.
#[derive(Debug, Default)]
struct Pages {
    pages: Vec<(Option<String>, Arc<str>)>,
    bytes: usize,
    /// More than fits: nothing is kept until the list begins anew.
    given_up: bool,
}

impl LastLists {
    fn pages(&self, list: List) -> MutexGuard<'_, Pages> {
        self.0[list as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server answered. A first page begins the list anew.
    pub(crate) fn keep(&self, list: List, cursor: Option<&str>, result: Raw<'_>) {
        let text = result.text();
        let mut kept = self.pages(list);
        if cursor.is_none() {
            *kept = Pages::default();
        }
        kept.pages.retain(|(known, _)| known.as_deref() != cursor);
        kept.bytes = kept.pages.iter().map(|(_, text)| text.len()).sum::<usize>() + text.len();
        kept.given_up |= kept.bytes > MOST_BYTES;
        if kept.given_up {
            kept.pages = Vec::new();
        } else {
            kept.pages.push((cursor.map(str::to_owned), text.into()));
        }
    }

    /// What the server said last to this question.
    pub(crate) fn page(&self, list: List, cursor: Option<&str>) -> Option<Arc<str>> {
        let kept = self.pages(list);
        kept.pages.iter().find(|(known, _)| known.as_deref() == cursor).map(|(_, text)| text.clone())
    }
}

impl Relay {
    /// An answer with a list, as this client may see it by the rules of this moment; none where that is as it came.
    pub(crate) fn show(
        &self,
        list: List,
        id: &IdKey,
        message: &Message<'_>,
        result: Raw<'_>,
    ) -> Option<Vec<u8>> {
        let rules = self.rules();
        let client = self.client.name();
        let observing = rules.observing(&client);
        let listed = |listing, name: &str| observing || rules.policy.is_listed(listing, &client, name);
        let filtered = filter(list, result, |name| match list {
            List::Tools => {
                observing || !rules.policy.is_hidden(&client, name) || rules.allows_for_a_while(&client, name)
            }
            List::Resources => listed(Listing::Resources, name),
            List::ResourceTemplates => listed(Listing::Templates, name),
            List::Prompts => listed(Listing::Prompts, name),
        });
        match filtered {
            Filtered::Unchanged => None,
            Filtered::Rewritten { result, .. } => Some(message.with_outcome(&result)),
            Filtered::Unusable(reason) => {
                let text = format!("Callgate: the server's list cannot be used: {reason}");
                Some(answer::error(Some(id), wording::INTERNAL, &text))
            }
        }
    }

    /// The answer to a question for a list while there is no server; none if the server never answered it.
    pub(crate) fn show_last(&self, list: List, cursor: Option<&str>, id: &IdKey) -> Option<Vec<u8>> {
        let line = answer::result(id, &self.lists.page(list, cursor)?);
        let Incoming::One(message) = read(Side::Server, &line) else { return None };
        let Body::Response { outcome: Reply::Result(result), .. } = message.body else { return None };
        Some(self.show(list, id, &message, result).unwrap_or_else(|| message.wire().into_owned()))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn keep(lists: &LastLists, cursor: Option<&str>, text: &str) {
        lists.keep(List::Tools, cursor, Raw::parse(text).unwrap());
    }

    #[test]
    fn each_page_is_found_under_its_cursor_until_the_list_begins_anew() {
        let lists = LastLists::default();
        let page = |cursor| lists.page(List::Tools, cursor).map(|text| text.to_string());
        assert_eq!(page(None), None);
        keep(&lists, None, r#"{"tools":[],"nextCursor":"2"}"#);
        keep(&lists, Some("2"), r#"{"tools":[1]}"#);
        keep(&lists, Some("2"), r#"{"tools":[2]}"#);
        assert_eq!(page(None).as_deref(), Some(r#"{"tools":[],"nextCursor":"2"}"#));
        assert_eq!(page(Some("2")).as_deref(), Some(r#"{"tools":[2]}"#));
        assert_eq!(lists.page(List::Prompts, None), None, "another list");
        keep(&lists, None, r#"{"tools":[3]}"#);
        assert_eq!((page(None).as_deref(), page(Some("2"))), (Some(r#"{"tools":[3]}"#), None));
    }

    #[test]
    fn a_list_that_is_too_long_is_not_kept_in_part() {
        let lists = LastLists::default();
        let long = format!(r#"{{"tools":["{}"]}}"#, "x".repeat(MOST_BYTES * 2 / 3));
        keep(&lists, None, &long);
        assert!(lists.page(List::Tools, None).is_some());
        keep(&lists, Some("2"), &long);
        keep(&lists, Some("3"), "{}");
        for cursor in [None, Some("2"), Some("3")] {
            assert_eq!(lists.page(List::Tools, cursor), None, "{cursor:?}");
        }
        keep(&lists, None, "{}");
        assert!(lists.page(List::Tools, None).is_some(), "it began anew");
    }
}
