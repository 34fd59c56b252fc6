//! The result of a tools/list with some of its tools taken out.
//!
//! Cuts at byte ranges: what stays, stays as the server wrote it, with cursors, metadata, numbers and members that no
//! revision knows yet.

use std::{borrow::Cow, collections::HashSet, ops::Range};

use crate::{
    fold,
    json::{Items, Kind, Members, Raw, compact_text, is_safe},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filtered {
    /// Nothing had to go: the result may be passed on as it came.
    Unchanged,
    /// The new result, safe to put into a line.
    Rewritten { result: Vec<u8>, removed: usize },
    /// Some reader might see tools elsewhere than we do: the result must not reach the client.
    Unusable(ListFault),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListFault {
    #[error("the result is not an object")]
    NotAnObject,
    #[error("the result has no tools")]
    NoTools,
    #[error("the tools are not an array")]
    ToolsKind,
    #[error("a member of the result could be mistaken for \"tools\"")]
    LookAlike,
}

/// Drops the entries that `keep` refuses by decoded name, those that are not objects with one plain name, and later
/// entries of a name seen before (a second definition would shadow the first).
pub fn filter_list(result: Raw<'_>, mut keep: impl FnMut(&str) -> bool) -> Filtered {
    if result.kind() != Kind::Object {
        return Filtered::Unusable(ListFault::NotAnObject);
    }
    let mut list = None;
    let mut top = result.members();
    while let Some(name) = top.next_name() {
        if name.is("tools") {
            let start = top.at();
            let Some(mut entries) = top.enter_array() else {
                return Filtered::Unusable(ListFault::ToolsKind);
            };
            let sorted = sort_out(&mut entries, &mut keep);
            top.leave_array(&entries);
            list = Some((start..top.at(), sorted));
        } else if fold::resembles(&name.decoded(), &["tools"]).is_some() {
            return Filtered::Unusable(ListFault::LookAlike);
        } else {
            top.take_value();
        }
    }
    match list {
        None => Filtered::Unusable(ListFault::NoTools),
        Some((_, Sorted { removed: 0, .. })) => Filtered::Unchanged,
        Some((span, Sorted { kept, removed })) => {
            Filtered::Rewritten { result: splice(result.text(), span, &kept), removed }
        }
    }
}

struct Sorted {
    /// Places of the entries that stay, in the text of the result. Neighbours are one span.
    kept: Vec<Range<usize>>,
    removed: usize,
}

fn sort_out(entries: &mut Items<'_>, keep: &mut impl FnMut(&str) -> bool) -> Sorted {
    let mut seen = HashSet::new();
    let mut sorted = Sorted { kept: Vec::new(), removed: 0 };
    let mut last_stayed = false;
    while entries.seek() {
        let start = entries.at();
        let name = match entries.enter_object() {
            Some(mut members) => {
                let name = plain_name(&mut members);
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

/// The name of a tool entry, unless some reader could see another one. Walks the entry to its end in any case.
fn plain_name<'a>(members: &mut Members<'a>) -> Option<Cow<'a, str>> {
    let mut name = None;
    let mut doubtful = false;
    while let Some(key) = members.next_name() {
        if key.is("name") {
            name = members.take_value().as_str();
        } else {
            doubtful |= fold::resembles(&key.decoded(), &["name"]).is_some();
            members.take_value();
        }
    }
    name.filter(|_| !doubtful)
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
        filter_list(Raw::parse(result).unwrap(), |name| name != "hidden_one")
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
            (r#"{"tools":[],"Tools":[]}"#, ListFault::LookAlike),
            (r#"{"tools":[],"tools\u0000":[]}"#, ListFault::LookAlike),
            (r#"{"Tools":[]}"#, ListFault::LookAlike),
            (r#"{"tools":{"a":{"name":"hidden_one"}}}"#, ListFault::ToolsKind),
            (r#"{"tools":"x"}"#, ListFault::ToolsKind),
            (r#"{"other":[]}"#, ListFault::NoTools),
            ("[]", ListFault::NotAnObject),
        ] {
            assert_eq!(filter(result), Filtered::Unusable(fault), "{result}");
        }
    }
}
