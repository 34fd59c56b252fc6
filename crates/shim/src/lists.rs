//! Lists on their way to the client: what it may see of them, and what it is told while there is no server.
//!
//! A client whose server is stopped goes on to ask what there is: told an error, it would forget its tools and have nothing to
//! call when the server is back. It gets what there was, held against the rules of this moment; that the server does not run,
//! its calls are told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_policy::Listing;
use callgate_protocol::answer;
use callgate_protocol::id::IdKey;
use callgate_protocol::input::input_requests;
use callgate_protocol::json::Raw;
use callgate_protocol::lists::{self, Filtered, List, Page};
use callgate_protocol::message::{Body, Incoming, Outcome as Reply, Side, read};

use crate::relay::Relay;
use crate::toolbook::{Asker, Stamp};

/// How much of one list is kept, cursors included, and in how many pages. Of a longer one nothing is.
const MOST_BYTES: usize = 1 << 20;
const MOST_PAGES: usize = 256;

/// The lists that the server gave last, by the places of [`List::ALL`].
#[derive(Debug, Default)]
pub(crate) struct LastLists([Mutex<Last>; List::ALL.len()]);

#[derive(Debug, Default)]
struct Last {
    /// What the server answered, unfiltered, under the cursors that it was asked with, the first page first; empty when there
    /// is none, or more than fits.
    pages: Vec<(Option<String>, Arc<str>)>,
    /// The client asked in vain: it is to ask again when there is a server.
    owed: bool,
}

impl LastLists {
    fn last(&self, list: List) -> MutexGuard<'_, Last> {
        self.0[list as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server answered. A first page begins the list anew; a further one without it is of no use.
    fn keep(&self, list: List, cursor: Option<&str>, result: Raw<'_>) {
        let text = result.text();
        let mut last = self.last(list);
        // The same again, as it mostly is.
        if last.pages.iter().any(|(known, before)| known.as_deref() == cursor && **before == *text) {
            return;
        }
        match cursor {
            None => last.pages.clear(),
            Some(_) if last.pages.is_empty() => return,
            Some(_) => last.pages.retain(|(known, _)| known.as_deref() != cursor),
        }
        let size = |cursor: Option<&str>, text: &str| cursor.map_or(0, str::len) + text.len();
        let bytes: usize = last.pages.iter().map(|(cursor, text)| size(cursor.as_deref(), text)).sum();
        if bytes + size(cursor, text) > MOST_BYTES || last.pages.len() >= MOST_PAGES {
            last.pages = Vec::new();
        } else {
            last.pages.push((cursor.map(str::to_owned), text.into()));
        }
    }

    /// What the server said last to this question.
    fn page(&self, list: List, cursor: Option<&str>) -> Option<Arc<str>> {
        let last = self.last(list);
        last.pages.iter().find(|(known, _)| known.as_deref() == cursor).map(|(_, text)| text.clone())
    }

    /// Is it known what the server said last to this question?
    pub(crate) fn has(&self, list: List, cursor: Option<&str>) -> bool {
        self.page(list, cursor).is_some()
    }

    /// The client was told that there is none.
    pub(crate) fn owe(&self, list: List) {
        self.last(list).owed = true;
    }

    /// What the client is to be told to ask for again, now that there is a server.
    pub(crate) fn take_owed(&self) -> Vec<List> {
        List::ALL.into_iter().filter(|list| std::mem::take(&mut self.last(*list).owed)).collect()
    }
}

/// One answer of the server with a list.
pub(crate) struct Listed<'c> {
    pub(crate) list: List,
    /// What it was asked for with.
    pub(crate) cursor: Option<String>,
    pub(crate) result: Raw<'c>,
    pub(crate) page: Page<'c>,
    /// When it came.
    pub(crate) at: Stamp,
}

impl Relay {
    /// A list as this client may see it by the rules of this moment.
    pub(crate) fn show<'c>(&self, list: List, result: Raw<'c>) -> Page<'c> {
        let rules = self.rules();
        let client = self.client.name();
        let observing = rules.observing(&client);
        let listed = |listing, name: &str| observing || rules.policy.is_listed(listing, &client, name);
        lists::page(list, result, |name| match list {
            List::Tools => {
                let hidden = || rules.policy.is_hidden(&client, name);
                (observing || !hidden() || rules.allows_for_a_while(&client, name))
                    && !rules.policy.looks_hidden(&client, name)
            }
            List::Resources => listed(Listing::Resources, name),
            List::ResourceTemplates => listed(Listing::Templates, name),
            List::Prompts => listed(Listing::Prompts, name),
        })
    }

    /// Takes in what the client has got.
    pub(crate) fn learn(&self, listed: &Listed<'_>) {
        let Listed { list, cursor, result, page, at } = listed;
        let cursor = cursor.as_deref();
        // What asks the client for something is judged when it comes, and is not to come again.
        let asks_nothing = || input_requests(*result).is_ok_and(|requests| requests.is_empty());
        if !matches!(page.filtered, Filtered::Unusable(_)) && asks_nothing() {
            self.lists.keep(*list, cursor, *result);
        }
        if *list == List::Tools {
            self.tools.page(Asker::Client, cursor.is_none(), (*result, page), *at);
        }
    }

    /// The answer to a question for a list while there is no server; none if the server's own is not known.
    pub(crate) fn last_list(&self, list: List, cursor: Option<&str>, id: &IdKey) -> Option<Vec<u8>> {
        let line = answer::result(id, &self.lists.page(list, cursor)?);
        let Incoming::One(message) = read(Side::Server, &line) else { return None };
        let Body::Response { outcome: Reply::Result(result), .. } = message.body else { return None };
        match self.show(list, result).filtered {
            Filtered::Unchanged => Some(message.wire().into_owned()),
            Filtered::Rewritten { result, .. } => Some(message.with_outcome(&result)),
            Filtered::Unusable(_) => None,
        }
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
        let long = format!(r#"{{"tools":["{}"]}}"#, "x".repeat(MOST_BYTES * 2 / 3));
        let (small, cursor) = (r#"{"tools":[]}"#, "x".repeat(MOST_BYTES));
        let lists = LastLists::default();
        let known = |cursor: &str| lists.has(List::Tools, None) || lists.has(List::Tools, Some(cursor));
        keep(&lists, None, &long);
        assert!(known("2"));
        keep(&lists, Some("2"), &long);
        keep(&lists, Some("3"), small);
        assert!(!known("2") && !known("3"), "too many bytes");
        keep(&lists, None, small);
        keep(&lists, Some(&cursor), small);
        assert!(!known(&cursor), "too long a cursor");
        keep(&lists, None, small);
        (1..MOST_PAGES).for_each(|n| keep(&lists, Some(&n.to_string()), small));
        assert!(known("1"));
        keep(&lists, Some("one more"), small);
        assert!(!known("1"), "too many pages");
    }

    #[test]
    fn what_is_owed_is_told_once() {
        let lists = LastLists::default();
        lists.owe(List::Prompts);
        lists.owe(List::Tools);
        lists.owe(List::Tools);
        assert_eq!(lists.take_owed(), [List::Tools, List::Prompts]);
        assert_eq!(lists.take_owed(), []);
    }
}
