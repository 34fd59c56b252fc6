//! Lists on their way to the client: what it may see of them, and what it is told while there is no server.
//!
//! A client whose server is stopped goes on to ask what there is: told an error, it would forget its tools and have nothing to
//! call when the server is back. It gets what there was, held against the rules of this moment; that the server does not run,
//! its calls are told.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_policy::{Listing, ToolClass};
use callgate_protocol::answer;
use callgate_protocol::id::IdKey;
use callgate_protocol::input::input_requests;
use callgate_protocol::json::Raw;
use callgate_protocol::lists::{self, Filtered, List, Page, definitions};
use callgate_protocol::message::{Body, Incoming, Outcome as Reply, Side, read};
use callgate_protocol::tools::learn_tools;
use callgate_protocol::unknown::Thing;
use rustc_hash::FxBuildHasher;

use crate::relay::Relay;
use crate::rule_source::Rules;
use crate::tool_cache::{ListStamp, Requester};

/// How much of one list is kept, cursors included, and in how many pages. Of a longer one nothing is.
const MOST_BYTES: usize = 1 << 20;
const MOST_PAGES: usize = 256;

/// The lists that the server gave last, by the places of [`List::ALL`].
#[derive(Debug, Default)]
pub(crate) struct LastLists {
    last: [Mutex<Last>; List::ALL.len()],
    /// How often servers said that something of it is not what it was, or made place for another.
    changes: AtomicU64,
}

#[derive(Debug, Default)]
struct Last {
    /// What the server answered, unfiltered, under the cursors that it was asked with, the first page first; empty when there
    /// is none, or more than fits.
    pages: Vec<(Option<String>, Arc<str>)>,
    /// How many changes there had been when the first page came.
    at: u64,
    /// What was learned of it last, told by its hash.
    given: Option<u64>,
    /// The client asked in vain: it is to ask again when there is a server.
    owed: bool,
}

impl LastLists {
    fn last(&self, list: List) -> MutexGuard<'_, Last> {
        self.last[list as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server answered. A first page begins the list anew; a further one without it is of no use.
    fn keep(&self, list: List, cursor: Option<&str>, result: Raw<'_>, at: u64) {
        let text = result.text();
        let mut last = self.last(list);
        if cursor.is_none() {
            last.at = at;
        }
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

    /// To be read when a list comes.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    /// What was listed until now may not be there any more, or not be all.
    pub(crate) fn outdated(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// What the server has of a thing beside tools, if it has listed all of that since it last changed.
    pub(crate) fn names(&self, thing: Thing) -> Option<Names> {
        let (list, templates) = match thing {
            Thing::Tool => return None,
            Thing::Resource | Thing::Subscription | Thing::Unsubscription => {
                (List::Resources, Some(List::ResourceTemplates))
            }
            Thing::Prompt => (List::Prompts, None),
        };
        let opening = |template: String| template.split('{').next().unwrap_or_default().to_owned();
        let openings = match templates {
            Some(templates) => self.entries(templates)?.into_iter().map(opening).collect(),
            None => Vec::new(),
        };
        Some(Names { all: self.entries(list)?, openings })
    }

    fn entries(&self, list: List) -> Option<Vec<String>> {
        let last = self.last(list);
        let mut names = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..last.pages.len() {
            let known = |known: &Option<String>| match (known.as_deref(), cursor.as_deref()) {
                (Some(known), Some(cursor)) => {
                    Raw::parse(known).ok().and_then(Raw::as_str).as_deref() == Some(cursor)
                }
                (known, cursor) => known == cursor,
            };
            let (_, text) = last.pages.iter().find(|(at, _)| known(at))?;
            let page = lists::page(list, Raw::parse(text).ok()?, |name| {
                names.push(name.to_owned());
                true
            });
            match page {
                Page { filtered: Filtered::Unusable(_), .. } => return None,
                Page { next: None, .. } => return (last.at == self.changes()).then_some(names),
                Page { next: Some(next), .. } => cursor = Some(next.into_owned()),
            }
        }
        None
    }

    /// Every prompt that the server listed, with its definition, if it has listed all and this was not given before.
    pub(crate) fn whole_prompts(&self) -> Option<Vec<(String, String)>> {
        self.entries(List::Prompts)?;
        let mut last = self.last(List::Prompts);
        let mark = FxBuildHasher.hash_one(&last.pages);
        if last.given.replace(mark) == Some(mark) {
            return None;
        }
        let mut all = Vec::new();
        for (_, page) in &last.pages {
            let listed = Raw::parse(page).ok().and_then(|page| definitions(List::Prompts, page).ok());
            let listed = listed.unwrap_or_default().into_iter();
            all.extend(listed.map(|(name, text)| (name.into_owned(), text.text().to_owned())));
        }
        Some(all)
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

/// Names of things that a server has.
#[derive(Debug)]
pub(crate) struct Names {
    all: Vec<String>,
    /// How the names of others begin.
    openings: Vec<String>,
}

impl Names {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.all.iter().any(|known| known == name)
    }

    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.has(name) || self.openings.iter().any(|opening| name.starts_with(opening))
    }
}

/// One answer of the server with a list.
pub(crate) struct ListPage<'c> {
    pub(crate) list: List,
    /// What it was asked for with.
    pub(crate) cursor: Option<String>,
    pub(crate) result: Raw<'c>,
    pub(crate) page: Page<'c>,
    /// When it came.
    pub(crate) at: ListStamp,
    pub(crate) changes: u64,
}

impl Relay {
    /// A list as this client may see it by the rules of this moment.
    pub(crate) fn show<'c>(&self, list: List, result: Raw<'c>) -> Page<'c> {
        let rules = self.rules();
        let client = self.client.name();
        let observing = rules.observing(&client);
        let listed = |listing, name: &str| observing || rules.policy.is_listed(listing, &client, name);
        let kept_back = self.kept_back(list, result, &rules);
        let classes = self.classes_in(list, result, &rules);
        let mut page = lists::page(list, result, |name| match list {
            List::Tools => {
                let hidden = || match classes.get(name) {
                    Some(class) => rules.policy.is_hidden_as(&client, name, *class),
                    None => rules.policy.is_hidden(&client, name),
                };
                (observing || !hidden() || rules.allows_for_a_while(&client, name))
                    && !rules.policy.looks_hidden(&client, name)
                    && !kept_back.contains(name)
            }
            List::Resources => listed(Listing::Resources, name),
            List::ResourceTemplates => listed(Listing::Templates, name),
            List::Prompts => listed(Listing::Prompts, name) && !kept_back.contains(name),
        });
        let filtered = std::mem::replace(&mut page.filtered, Filtered::Unchanged);
        page.filtered = self.strip_list(list, &rules, result, filtered);
        // Ours come after the server's have gone.
        if list == List::Tools { self.with_marks(result, page, &rules, &client) } else { page }
    }

    /// What the tools of this page can do by their definitions there, where rules ask for it.
    fn classes_in(&self, list: List, result: Raw<'_>, rules: &Rules) -> HashMap<String, ToolClass> {
        if list != List::Tools || !rules.policy.asks_for_classes() {
            return HashMap::new();
        }
        let tools = learn_tools(result).unwrap_or_default().into_iter();
        let class = |name: &str, definition: &str| self.classes.meet(name, definition);
        tools.map(|tool| (tool.name.to_string(), class(&tool.name, tool.definition.text()))).collect()
    }

    /// Takes in what the client has got.
    pub(crate) fn learn(&self, listed: &ListPage<'_>) {
        let ListPage { list, cursor, result, page, at, changes } = listed;
        let cursor = cursor.as_deref();
        // What asks the client for something is judged when it comes, and is not to come again.
        let asks_nothing = || input_requests(*result).is_ok_and(|requests| requests.is_empty());
        if !matches!(page.filtered, Filtered::Unusable(_)) && asks_nothing() {
            self.lists.keep(*list, cursor, *result, *changes);
        }
        if *list == List::Prompts {
            self.learn_prompts();
        }
        if *list == List::Tools {
            self.tools.page(Requester::Client, cursor.is_none(), (*result, page), *at);
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
        lists.keep(List::Tools, cursor, Raw::parse(text).unwrap(), lists.changes());
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
    fn what_a_server_has_is_known_only_from_a_whole_list_that_is_not_outdated() {
        let lists = LastLists::default();
        let keep = |list, cursor, text: &str| {
            lists.keep(list, cursor, Raw::parse(text).unwrap(), lists.changes());
        };
        let has = |thing, name: &str| lists.names(thing).map(|names| names.may_have(name));
        keep(List::Prompts, None, r#"{"prompts":[{"name":"a"}],"nextCursor":"2"}"#);
        assert_eq!(has(Thing::Prompt, "a"), None, "there is another page");
        keep(List::Prompts, Some("\"\\u0032\""), r#"{"prompts":[{"name":"b"}]}"#);
        assert_eq!(
            ["a", "b", "c"].map(|name| has(Thing::Prompt, name)),
            [Some(true), Some(true), Some(false)]
        );
        keep(List::Resources, None, r#"{"resources":[{"uri":"s://a"}]}"#);
        assert_eq!(has(Thing::Resource, "s://b"), None, "there may be templates");
        keep(List::ResourceTemplates, None, r#"{"resourceTemplates":[{"uriTemplate":"t://x/{y}"}]}"#);
        let known = ["s://a", "s://b", "t://x/1"].map(|name| has(Thing::Resource, name));
        assert_eq!(known, [Some(true), Some(false), Some(true)]);
        let before = lists.changes();
        lists.outdated();
        let prompts = Raw::parse(r#"{"prompts":[]}"#).unwrap();
        lists.keep(List::Prompts, None, prompts, before);
        assert_eq!((has(Thing::Prompt, "c"), has(Thing::Resource, "s://b")), (None, None));
        lists.keep(List::Prompts, None, prompts, lists.changes());
        assert_eq!(has(Thing::Prompt, "a"), Some(false));
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
