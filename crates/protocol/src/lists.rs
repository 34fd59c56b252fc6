//! List results: the result of a list request with some of its entries taken out.
//!
//! Cuts at byte ranges: what stays, stays as the server wrote it, with cursors, metadata, numbers and members that no
//! revision knows yet. One piece of code for all lists, so that none of them is a way around the strictness of another.

use std::{borrow::Cow, collections::HashSet, fmt, ops::Range};

use crate::{
    fold,
    json::{Items, Kind, Members, Name, Raw, compact_text, is_safe},
};

/// What a server can list, and a policy can hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    Tools,
    Resources,
    ResourceTemplates,
    Prompts,
}

impl List {
    pub const ALL: [List; 4] = [List::Tools, List::Resources, List::ResourceTemplates, List::Prompts];

    /// The list that this request asks for.
    pub fn requested_by(method: &str) -> Option<List> {
        List::ALL.into_iter().find(|list| list.method() == method)
    }

    pub const fn method(self) -> &'static str {
        match self {
            List::Tools => "tools/list",
            List::Resources => "resources/list",
            List::ResourceTemplates => "resources/templates/list",
            List::Prompts => "prompts/list",
        }
    }

    /// What says that it is to be asked for again.
    pub const fn changed(self) -> &'static str {
        match self {
            List::Tools => "notifications/tools/list_changed",
            List::Resources | List::ResourceTemplates => "notifications/resources/list_changed",
            List::Prompts => "notifications/prompts/list_changed",
        }
    }

    /// The member of the result that holds the entries.
    pub const fn member(self) -> &'static str {
        match self {
            List::Tools => "tools",
            List::Resources => "resources",
            List::ResourceTemplates => "resourceTemplates",
            List::Prompts => "prompts",
        }
    }

    /// The member of an entry by which it is known, and hidden.
    pub const fn key(self) -> &'static str {
        match self {
            List::Tools | List::Prompts => "name",
            List::Resources => "uri",
            List::ResourceTemplates => "uriTemplate",
        }
    }
}

/// In words, for people.
impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            List::Tools => "tools",
            List::Resources => "resources",
            List::ResourceTemplates => "resource templates",
            List::Prompts => "prompts",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filtered {
    /// Nothing had to go: the result may be passed on as it came.
    Unchanged,
    /// The new result, safe to put into a line.
    Rewritten { result: Vec<u8>, removed: usize },
    /// Some reader might see entries elsewhere than we do: the result must not reach the client.
    Unusable(ListFault),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListFault {
    #[error("the result is not an object")]
    NotAnObject,
    #[error("the result has no {0}")]
    Missing(List),
    #[error("the {0} are not an array")]
    NotAnArray(List),
    #[error("a member of the result could be mistaken for \"{}\"", .0.member())]
    LookAlike(List),
}

/// One answer to a list request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<'a> {
    pub filtered: Filtered,
    /// Where the list goes on. `None` at its end, where readers could disagree on where that is, and of an unusable one.
    pub next: Option<Cow<'a, str>>,
}

impl From<ListFault> for Page<'_> {
    fn from(fault: ListFault) -> Self {
        Page { filtered: Filtered::Unusable(fault), next: None }
    }
}

/// As [`page`], for whoever does not want to know where the list goes on.
pub fn filter(list: List, result: Raw<'_>, keep: impl FnMut(&str) -> bool) -> Filtered {
    page(list, result, keep).filtered
}

/// Drops the entries that `keep` refuses by the decoded text of their key, those that are not objects with one plain
/// key, and later entries of a key seen before (a second definition would shadow the first). One look at each byte: a
/// list may be long.
pub fn page(list: List, result: Raw<'_>, mut keep: impl FnMut(&str) -> bool) -> Page<'_> {
    if result.kind() != Kind::Object {
        return ListFault::NotAnObject.into();
    }
    let mut found = None;
    let mut next = Cursor::default();
    let mut top = result.members();
    while let Some(name) = top.next_name() {
        if name.is(list.member()) {
            let start = top.at();
            let Some(mut entries) = top.enter_array() else {
                return ListFault::NotAnArray(list).into();
            };
            let sorted = sort_out(&mut entries, list.key(), &mut keep);
            top.leave_array(&entries);
            found = Some((start..top.at(), sorted));
        } else if fold::resembles(&name.decoded(), &[list.member()]).is_some() {
            return ListFault::LookAlike(list).into();
        } else {
            next.hear(name, top.take_value());
        }
    }
    let filtered = match found {
        None => return ListFault::Missing(list).into(),
        Some((_, Sorted { removed: 0, .. })) => Filtered::Unchanged,
        Some((span, Sorted { kept, removed })) => {
            Filtered::Rewritten { result: splice(result.text(), span, &kept), removed }
        }
    };
    Page { filtered, next: next.plain() }
}

/// Gathers where a list goes on from the members of its result.
#[derive(Default)]
struct Cursor<'a> {
    text: Option<Cow<'a, str>>,
    doubtful: bool,
}

impl<'a> Cursor<'a> {
    fn hear(&mut self, name: Name<'_>, value: Raw<'a>) {
        if name.is("nextCursor") {
            self.text = value.as_str();
        } else {
            self.doubtful |= fold::resembles(&name.decoded(), &["nextCursor"]).is_some();
        }
    }

    fn plain(self) -> Option<Cow<'a, str>> {
        self.text.filter(|_| !self.doubtful)
    }
}

/// The entries of a list, by the same rules as [`filter`].
pub(crate) fn entries(list: List, result: Raw<'_>) -> Result<Items<'_>, ListFault> {
    if result.kind() != Kind::Object {
        return Err(ListFault::NotAnObject);
    }
    let mut found = Err(ListFault::Missing(list));
    let mut top = result.members();
    while let Some(name) = top.next_name() {
        if name.is(list.member()) {
            found = top.enter_array().ok_or(ListFault::NotAnArray(list));
        } else if fold::resembles(&name.decoded(), &[list.member()]).is_some() {
            return Err(ListFault::LookAlike(list));
        }
        top.take_value();
    }
    found
}

/// Every entry that a client could see, by its key: those that [`page`] keeps when nothing is hidden.
pub fn definitions(list: List, result: Raw<'_>) -> Result<Vec<(Cow<'_, str>, Raw<'_>)>, ListFault> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for entry in entries(list, result)? {
        let key = plain_key(&mut entry.members(), list.key());
        if let Some(key) = key.filter(|key| seen.insert(key.clone())) {
            found.push((key, entry));
        }
    }
    Ok(found)
}

struct Sorted {
    /// Places of the entries that stay, in the text of the result. Neighbours are one span.
    kept: Vec<Range<usize>>,
    removed: usize,
}

fn sort_out(entries: &mut Items<'_>, key: &'static str, keep: &mut impl FnMut(&str) -> bool) -> Sorted {
    let mut seen = HashSet::new();
    let mut sorted = Sorted { kept: Vec::new(), removed: 0 };
    let mut last_stayed = false;
    while entries.seek() {
        let start = entries.at();
        let name = match entries.enter_object() {
            Some(mut members) => {
                let name = plain_key(&mut members, key);
                entries.leave_object(&members);
                name
            }
            None => {
                entries.take_item();
                None
            }
        };
        let stays = name.filter(|name| keep(name)).is_some_and(|name| seen.insert(name));
        match sorted.kept.last_mut() {
            Some(last) if stays && last_stayed => last.end = entries.at(),
            _ if stays => sorted.kept.push(start..entries.at()),
            _ => sorted.removed += 1,
        }
        last_stayed = stays;
    }
    sorted
}

/// What an entry is known by, unless some reader could see another one. Walks the entry to its end in any case.
fn plain_key<'a>(members: &mut Members<'a>, key: &'static str) -> Option<Cow<'a, str>> {
    let mut text = None;
    let mut doubtful = false;
    while let Some(name) = members.next_name() {
        if name.is(key) {
            text = members.take_value().as_str();
        } else {
            doubtful |= fold::resembles(&name.decoded(), &[key]).is_some();
            members.take_value();
        }
    }
    text.filter(|_| !doubtful)
}

fn splice(text: &str, list: Range<usize>, kept: &[Range<usize>]) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    out.extend_from_slice(&bytes[..list.start]);
    out.push(b'[');
    for (place, span) in kept.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&bytes[span.clone()]);
    }
    out.push(b']');
    out.extend_from_slice(&bytes[list.end..]);
    if is_safe(&out) {
        return out;
    }
    let mut safe = Vec::new();
    compact_text(&out, &mut safe);
    safe
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn filter(result: &str) -> Filtered {
        super::filter(List::Tools, Raw::parse(result).unwrap(), |name| name != "hidden_one")
    }

    fn rewritten(result: &str) -> String {
        match filter(result) {
            Filtered::Rewritten { result, .. } => String::from_utf8(result).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_list_without_hidden_tools_is_unchanged() {
        for result in [r#"{"tools":[]}"#, r#"{"tools":[{"name":"safe"},{"name":"slow"}],"Nextcursor":1}"#] {
            assert_eq!(filter(result), Filtered::Unchanged, "{result}");
        }
    }

    #[test]
    fn what_stays_stays_as_it_was() {
        // l01 l08 l16 l17 l22 l23 k08
        for (before, after) in [
            (
                r#"{"_meta":{"x":1.0},"tools":[{"name":"safe","n":1e400},{"name":"hidden_one"}],"nextCursor":"a\/b","ttlMs":5.00}"#,
                r#"{"_meta":{"x":1.0},"tools":[{"name":"safe","n":1e400}],"nextCursor":"a\/b","ttlMs":5.00}"#,
            ),
            (
                r#"{"tools":[{"name":"hidden\u005fone"}],"nextCursor":"2"}"#,
                r#"{"tools":[],"nextCursor":"2"}"#,
            ),
            (
                r#"{"tools":[{"name":"hidden_one"},{"name":"safe","inputSchema":{"name":1}}]}"#,
                r#"{"tools":[{"name":"safe","inputSchema":{"name":1}}]}"#,
            ),
            (
                r#"{"tools":[{"name":"safe","v":1},{"name":"slow"},{"name":"safe","v":2}]}"#,
                r#"{"tools":[{"name":"safe","v":1},{"name":"slow"}]}"#,
            ),
            ("{\"tools\":[\r{\"name\":\"safe\u{2028}\"},7]}", r#"{"tools":[{"name":"safe\u2028"}]}"#),
        ] {
            assert_eq!(rewritten(before), after);
        }
    }

    #[test]
    fn entries_with_a_doubtful_name_are_dropped() {
        // l10 l11 l12 l14
        for entry in [
            r#"{"name":"safe","Name":"hidden_one"}"#,
            r#"{"name":"safe","name\u0000":"hidden_one"}"#,
            r#"{"Name":"hidden_one"}"#,
            r#"{"name":["safe"]}"#,
            r#"{"name":"safe\ud800"}"#,
            r#""hidden_one""#,
            r#"[{"name":"safe"}]"#,
            "null",
            "{}",
        ] {
            assert_eq!(rewritten(&format!(r#"{{"tools":[{entry}]}}"#)), r#"{"tools":[]}"#, "{entry}");
        }
    }

    #[test]
    fn a_list_that_readers_may_see_elsewhere_is_unusable() {
        for (result, fault) in [
            // l12 l13
            (r#"{"tools":[],"Tools":[]}"#, ListFault::LookAlike(List::Tools)),
            (r#"{"tools":[],"tools\u0000":[]}"#, ListFault::LookAlike(List::Tools)),
            (r#"{"Tools":[]}"#, ListFault::LookAlike(List::Tools)),
            (r#"{"tools":{"a":{"name":"hidden_one"}}}"#, ListFault::NotAnArray(List::Tools)),
            (r#"{"tools":"x"}"#, ListFault::NotAnArray(List::Tools)),
            (r#"{"other":[]}"#, ListFault::Missing(List::Tools)),
            ("[]", ListFault::NotAnObject),
        ] {
            assert_eq!(filter(result), Filtered::Unusable(fault), "{result}");
        }
    }

    fn filter_any(list: List, entries: &str) -> Filtered {
        let result =
            format!(r#"{{"{}":[{entries}],"nextCursor":"2","_meta":{{}},"ttlMs":5.0}}"#, list.member());
        super::filter(list, Raw::parse(&result).unwrap(), |key| !key.contains("secret"))
    }

    #[test]
    fn every_list_is_filtered_by_its_own_key() {
        for (list, entries, kept) in [
            (
                List::Resources,
                r#"{"uri":"file:///a","name":"secret"},{"uri":"file:///secret"},{"name":"x"},{"uri":"file:///a"}"#,
                r#"{"uri":"file:///a","name":"secret"}"#,
            ),
            (
                List::ResourceTemplates,
                r#"{"name":"n","uriTemplate":"db://{t}"},{"uriTemplate":"db:\/\/\u0073ecret/{t}"},{"uri":"db://x"}"#,
                r#"{"name":"n","uriTemplate":"db://{t}"}"#,
            ),
            (
                List::Prompts,
                r#"{"name":"secret"},{"name":"p","arguments":[{"name":"secret"}]},{"uri":"p"}"#,
                r#"{"name":"p","arguments":[{"name":"secret"}]}"#,
            ),
        ] {
            let Filtered::Rewritten { result, removed } = filter_any(list, entries) else { panic!("{list}") };
            let rest = r#""nextCursor":"2","_meta":{},"ttlMs":5.0"#;
            assert_eq!(
                String::from_utf8(result).unwrap(),
                format!(r#"{{"{}":[{kept}],{rest}}}"#, list.member())
            );
            assert!(removed > 0);
            assert_eq!(filter_any(list, kept), Filtered::Unchanged);
        }
    }

    #[test]
    fn entries_with_a_doubtful_key_are_dropped_from_every_list() {
        for list in List::ALL {
            let key = list.key();
            let capital = format!("{}{}", key[..1].to_uppercase(), &key[1..]);
            for entry in [
                format!(r#"{{"{key}":"a","{capital}":"secret"}}"#),
                format!(r#"{{"{key}":"a","{key}\u0000":"secret"}}"#),
                format!(r#"{{"{key}":"a","\u200b{key}":"secret"}}"#),
                format!(r#"{{"{key}":"a"," {key}":"secret"}}"#),
                format!(r#"{{"{capital}":"a"}}"#),
                format!(r#"{{"{key}":["a"]}}"#),
                format!(r#"{{"{key}":"\udc00"}}"#),
                "{}".to_owned(),
                "[]".to_owned(),
            ] {
                let Filtered::Rewritten { removed, .. } = filter_any(list, &entry) else { panic!("{entry}") };
                assert_eq!(removed, 1, "{entry}");
            }
        }
        let snake = r#"{"uriTemplate":"a","uri_template":"secret"}"#;
        assert!(matches!(filter_any(List::ResourceTemplates, snake), Filtered::Rewritten { removed: 1, .. }));
    }

    #[test]
    fn a_list_under_another_spelling_is_unusable() {
        for (list, member) in [
            (List::Resources, "Resources"),
            (List::ResourceTemplates, "resourcetemplates"),
            (List::ResourceTemplates, "resource_templates"),
            (List::Prompts, "prompts "),
        ] {
            let result = format!(r#"{{"{}":[],"{member}":[{{"uri":"secret"}}]}}"#, list.member());
            let filtered = super::filter(list, Raw::parse(&result).unwrap(), |_| true);
            assert_eq!(filtered, Filtered::Unusable(ListFault::LookAlike(list)), "{result}");
        }
    }

    #[test]
    fn a_doubtful_cursor_ends_the_list() {
        let next = |rest: &str| {
            let result = format!(r#"{{"tools":[{{"name":"a"}}]{rest}}}"#);
            page(List::Tools, Raw::parse(&result).unwrap(), |_| true).next.map(Cow::into_owned)
        };
        for rest in [
            "",
            r#","nextCursor":null"#,
            r#","nextCursor":7"#,
            r#","nextCursor":"\ud800""#,
            r#","nextCursor":"2","next_cursor":"3""#,
            r#","NextCursor":"2""#,
        ] {
            assert_eq!(next(rest), None, "{rest}");
        }
        assert_eq!(next(r#","nextCursor":"""#).unwrap(), "");
        assert_eq!(next(r#","next\u0043ursor":"2""#).unwrap(), "2");
        let unusable = Raw::parse(r#"{"nextCursor":"2"}"#).unwrap();
        assert_eq!(page(List::Tools, unusable, |_| true).next, None);
    }

    #[test]
    fn a_request_says_which_list_it_asks_for() {
        for list in List::ALL {
            assert_eq!(List::requested_by(list.method()), Some(list));
        }
        assert_eq!(List::requested_by("resources/read"), None);
        let faults =
            [ListFault::Missing(List::ResourceTemplates), ListFault::LookAlike(List::ResourceTemplates)];
        assert_eq!(
            faults.map(|fault| fault.to_string()),
            [
                "the result has no resource templates",
                r#"a member of the result could be mistaken for "resourceTemplates""#
            ]
        );
    }
}
