//! The one filter over the record: what a person can narrow it down by, in the window, in `callgate watch` and with the words of
//! every command that looks at calls.

use callgate_controls::approval::RULE;
use callgate_home::{CallId, StoreError};
use callgate_journal::{self as journal, Outcome};
use rusqlite::Row;
use rusqlite::types::Value;
use serde::{Deserialize, Serialize};

use super::History;
use super::search::{SearchedText, Words};
use super::wire::Decision;

/// Characters of a text that are looked for.
const LONGEST: usize = 500;

/// Which entries. What is `None` or empty does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase", default)]
pub struct CallFilter {
    /// Words in the tool's name, arguments, result or reason; or a call's id.
    pub text: Option<String>,
    /// Any text in the same places, as it is written, case aside; for the command line. No index helps with it.
    #[serde(skip)]
    pub grep: Option<String>,
    pub server: Option<String>,
    pub client: Option<String>,
    pub tool: Option<String>,
    pub decisions: Vec<Decision>,
    /// Only calls that got to their server and ended with an error, or without an answer.
    pub failed: bool,
    /// Only calls that a person was asked about and decided.
    pub by_person: bool,
    pub session: Option<String>,
    /// From this time on, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Before this time.
    pub until_ms: Option<i64>,
    pub only: Option<Only>,
    /// Each call as a line of its own; for what is inside of one that stands for several.
    pub unfolded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Only {
    Calls,
    Changes,
    Events,
}

/// A filter as rows are held against it: what is empty left out, its text cut into words or known as a call's id.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    pub(crate) filter: CallFilter,
    pub(crate) words: Option<Words>,
    /// Only this call.
    pub(crate) rev: Option<i64>,
}

impl Matcher {
    pub(crate) fn new(history: &History, filter: &CallFilter) -> Result<Matcher, StoreError> {
        let named = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let text = filter.text.as_deref().map(str::trim_start).unwrap_or_default();
        // Somebody may paste a whole file.
        let text = text.char_indices().nth(LONGEST).map_or(text, |(end, _)| &text[..end]);
        // A text that looks like an id and is none is a text.
        let rev = match text.parse::<CallId>() {
            Ok(id) => history.rev_of(&id)?,
            Err(_) => None,
        };
        let filter = CallFilter {
            grep: named(&filter.grep),
            server: named(&filter.server),
            client: named(&filter.client),
            tool: named(&filter.tool),
            session: named(&filter.session),
            ..filter.clone()
        };
        Ok(Matcher { words: if rev.is_some() { None } else { Words::of(text) }, filter, rev })
    }

    /// May entries of this kind match?
    pub(crate) fn has(&self, kind: Only) -> bool {
        let CallFilter { client, tool, session, grep, decisions, failed, by_person, only, .. } = &self.filter;
        let of_calls = self.rev.is_some()
            || *failed
            || *by_person
            || !decisions.is_empty()
            || [client, tool, grep].iter().any(|text| text.is_some());
        only.is_none_or(|only| only == kind)
            && match kind {
                Only::Calls => true,
                Only::Changes => !of_calls && session.is_none(),
                Only::Events => !of_calls,
            }
    }

    /// Does every call match?
    pub(crate) fn is_all(&self) -> bool {
        !self.is_by_time() && !self.asks_for_more() && self.rev.is_none() && self.has(Only::Calls)
    }

    pub(crate) fn is_by_time(&self) -> bool {
        self.filter.since_ms.is_some() || self.filter.until_ms.is_some()
    }

    /// Does anything matter besides the time?
    pub(crate) fn asks_for_more(&self) -> bool {
        let CallFilter { server, client, tool, session, grep, decisions, failed, by_person, .. } =
            &self.filter;
        let texts = [server, client, tool, session, grep];
        self.words.is_some()
            || *failed
            || *by_person
            || !decisions.is_empty()
            || texts.iter().any(|text| text.is_some())
    }

    pub(crate) fn decisions(&self) -> impl Iterator<Item = &'static str> {
        self.filter.decisions.iter().map(|decision| journal::Decision::from(*decision).word())
    }

    /// Everything but the words, as SQL over [`super::rows::CALL_TABLES`], beginning with `AND`.
    pub(crate) fn conditions(&self) -> (String, Vec<Value>) {
        let filter = &self.filter;
        let mut sql = String::from(if self.has(Only::Calls) { "" } else { " AND 0" });
        let mut values: Vec<Value> = Vec::new();
        let mut add = |condition: &str, value: Option<Value>| {
            if let Some(value) = value {
                sql.push_str(" AND ");
                sql.push_str(condition);
                values.push(value);
            }
        };
        let text = |text: &Option<String>| text.clone().map(Value::from);
        add("s.server = ?", text(&filter.server));
        add("x.client = ?", text(&filter.client));
        add("x.tool = ?", text(&filter.tool));
        add("s.name = ?", text(&filter.session));
        let escaped = |text: &String| text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        add(
            "(coalesce(x.tool, '') || char(10) || coalesce(c.reason, '') || char(10) || \
             coalesce(c.args, '') || char(10) || coalesce(c.result, '')) LIKE ? ESCAPE '\\'",
            filter.grep.as_ref().map(|text| format!("%{}%", escaped(text)).into()),
        );
        add("c.rev = ?", self.rev.map(Value::from));
        add("c.at_ms >= ?", filter.since_ms.map(Value::from));
        add("c.at_ms < ?", filter.until_ms.map(Value::from));
        if !filter.decisions.is_empty() {
            let marks = vec!["?"; filter.decisions.len()].join(", ");
            sql.push_str(&format!(" AND x.decision IN ({marks})"));
            values.extend(self.decisions().map(|word| Value::from(word.to_owned())));
        }
        if filter.failed {
            sql.push_str(&format!(" AND c.outcome IN ({})", Outcome::failed_in_sql()));
        }
        if filter.by_person {
            sql.push_str(&format!(" AND x.rule LIKE '{RULE}%'"));
        }
        (sql, values)
    }

    /// The texts that words are looked for in, of a row that has them from this column on; nothing if none are asked for.
    pub(crate) fn text_columns(&self) -> &'static str {
        if self.words.is_some() { TEXT_COLUMNS } else { "NULL, NULL, NULL, NULL" }
    }

    /// Are the words in the texts of this row, which begin at this column?
    pub(crate) fn has_words(&self, row: &Row<'_>, first: usize) -> rusqlite::Result<bool> {
        let Some(words) = &self.words else { return Ok(true) };
        Ok(words.are_in(&texts(row, first)?))
    }
}

/// What is searched, in the order of [`texts`].
pub(crate) const TEXT_COLUMNS: &str = "x.tool, c.reason, c.args, c.result";

pub(crate) fn texts<'r>(row: &'r Row<'_>, first: usize) -> rusqlite::Result<[SearchedText<'r>; 4]> {
    let text = |column: usize| {
        Ok::<_, rusqlite::Error>(row.get_ref(first + column)?.as_str_or_null()?.unwrap_or_default())
    };
    Ok([
        SearchedText::Plain(text(0)?),
        SearchedText::Plain(text(1)?),
        SearchedText::Json(text(2)?),
        SearchedText::Json(text(3)?),
    ])
}
