//! What a filter asks for, as the history takes it.

use callgate_history::{History, Which, Words};
use callgate_home::CallId;

use crate::DeskError;
use crate::view::{LogFilter, Only};

/// Characters of a text that are looked for.
const LONGEST: usize = 500;

/// A filter, ready to be used.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) which: Which,
    pub(super) calls: bool,
    pub(super) changes: bool,
    pub(super) events: bool,
    pub(super) unfolded: bool,
}

impl Asked {
    pub(super) fn of(filter: &LogFilter, history: &History) -> Result<Asked, DeskError> {
        let text = filter.text.as_deref().map(str::trim_start).filter(|text| !text.is_empty());
        // Somebody may paste a whole file.
        let text = text.map(|text| text.char_indices().nth(LONGEST).map_or(text, |(end, _)| &text[..end]));
        let id: Option<CallId> = text.and_then(|text| text.parse().ok());
        // A text that looks like an id and is none is a text.
        let id = match id {
            Some(id) => history.rev_of(&id)?.map(|_| id),
            None => None,
        };
        let words = text.filter(|_| id.is_none()).and_then(Words::of);
        let named = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let which = Which {
            words,
            grep: named(&filter.grep),
            server: named(&filter.server),
            client: named(&filter.client),
            tool: named(&filter.tool),
            decisions: filter.decisions.iter().map(|decision| (*decision).into()).collect(),
            failed: filter.failed,
            session: named(&filter.session),
            since_ms: filter.since_ms,
            until_ms: filter.until_ms,
            id,
            after_rev: None,
        };
        let only = |what: Only| filter.only.is_none_or(|only| only == what);
        Ok(Asked {
            calls: only(Only::Calls),
            changes: only(Only::Changes) && id.is_none(),
            events: only(Only::Events) && id.is_none(),
            which,
            unfolded: filter.unfolded,
        })
    }
}
