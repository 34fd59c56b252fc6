//! Vendor members: what a server says beside the protocol (capabilities under `experimental` and `extensions`, keys of `_meta`
//! with a vendor's prefix), taken out of what its client gets.
//!
//! Clients act on such members without asking anybody, and no rule of a policy speaks of them. Which of them pass is not known
//! here: whoever calls says so, member by member. What stays, stays as the server wrote it; what is not rewritten is not copied.

use std::borrow::Cow;

use crate::fold;
use crate::json::{Kind, Raw, compact_text, is_safe};
use crate::lists::List;

/// Something that a server says beside the protocol, or that a person may have to accept.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    pub place: Place,
    pub key: &'a str,
    pub value: Raw<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A capability: a key of `experimental` or `extensions`, or one that no revision knows and that has a vendor's prefix.
    Capability,
    /// A key of `_meta` that has a vendor's prefix.
    Meta,
    /// The server's words for the model. Its key is its name.
    Instructions,
}

/// What becomes of a member.
enum Fate {
    Stays,
    Goes,
    Becomes(String),
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
const INSTRUCTIONS: &str = "instructions";

/// The answer to `initialize` or `server/discover` with what passes of it; none if all does.
pub fn greeting(result: Raw<'_>, passes: &mut dyn FnMut(Member<'_>) -> bool) -> Option<Vec<u8>> {
    let rewritten = rewrite(result, &mut |key, value| match key {
        "capabilities" => capabilities(value, passes).map_or(Fate::Stays, Fate::Becomes),
        "_meta" => meta(value, passes).map_or(Fate::Stays, Fate::Becomes),
        INSTRUCTIONS if value.is_null() => Fate::Stays,
        INSTRUCTIONS => stays(passes(Member { place: Place::Instructions, key, value })),
        // Some readers take a member under another spelling.
        _ if fold::resembles(key, &["capabilities", "_meta", INSTRUCTIONS]).is_some() => Fate::Goes,
        _ => Fate::Stays,
    });
    rewritten.map(safe)
}

/// Every entry of a list, and the list itself, without the keys of `_meta` that do not pass. Given and got as text, because
/// entries may have been taken out of it before.
pub fn list(list: List, result: &str, passes: &mut dyn FnMut(Member<'_>) -> bool) -> Option<Vec<u8>> {
    if !may_have_meta(result) {
        return None;
    }
    let rewritten = rewrite(Raw::checked(result), &mut |key, value| match key {
        "_meta" => meta(value, passes).map_or(Fate::Stays, Fate::Becomes),
        _ if key == list.member() => entries(value, passes).map_or(Fate::Stays, Fate::Becomes),
        _ => Fate::Stays,
    });
    rewritten.map(safe)
}

/// The value of a `_meta` without the keys that do not pass; none if all do.
pub fn meta(value: Raw<'_>, passes: &mut dyn FnMut(Member<'_>) -> bool) -> Option<String> {
    rewrite(value, &mut |key, value| match is_prefixed(key) {
        true => stays(passes(Member { place: Place::Meta, key, value })),
        false => Fate::Stays,
    })
}

/// Does a method of the server's belong to this capability? `notifications/claude/channel` and whatever comes below it do to
/// `claude/channel`.
pub fn belongs(method: &str, capability: &str) -> bool {
    let own = method.strip_prefix("notifications/").unwrap_or(method);
    let rest = own.strip_prefix(capability).filter(|_| !capability.is_empty());
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)) && !is_of_protocol(method)
}

/// A method or notification of the protocol, or of one of its families: a server cannot declare these away.
pub fn is_of_protocol(method: &str) -> bool {
    let own = method.strip_prefix("notifications/").unwrap_or(method);
    const FAMILIES: [&str; 16] = [
        "cancelled",
        "progress",
        "message",
        "initialized",
        "tools",
        "resources",
        "prompts",
        "roots",
        "tasks",
        "elicitation",
        "sampling",
        "subscriptions",
        "completion",
        "logging",
        "server",
        "ping",
    ];
    FAMILIES.contains(&own.split('/').next().unwrap_or(own))
}

fn capabilities(value: Raw<'_>, passes: &mut dyn FnMut(Member<'_>) -> bool) -> Option<String> {
    rewrite(value, &mut |key, value| match (key, value.kind()) {
        ("experimental" | "extensions", Kind::Object) => {
            let declared = rewrite(value, &mut |key, value| {
                stays(passes(Member { place: Place::Capability, key, value }))
            });
            declared.map_or(Fate::Stays, Fate::Becomes)
        }
        ("experimental" | "extensions", Kind::Null) => Fate::Stays,
        // No revision knows them in another form, and nobody can say what is in it.
        ("experimental" | "extensions", _) => stays(passes(Member { place: Place::Capability, key, value })),
        _ if is_prefixed(key) || fold::resembles(key, &["experimental", "extensions"]).is_some() => {
            stays(passes(Member { place: Place::Capability, key, value }))
        }
        _ => Fate::Stays,
    })
}

fn entries(value: Raw<'_>, passes: &mut dyn FnMut(Member<'_>) -> bool) -> Option<String> {
    let mut out: Option<String> = None;
    let mut done = 0;
    let text = value.text();
    for entry in value.items() {
        let without = rewrite(entry, &mut |key, value| match key {
            "_meta" => meta(value, passes).map_or(Fate::Stays, Fate::Becomes),
            _ => Fate::Stays,
        });
        let Some(without) = without else { continue };
        let (out, at) = (out.get_or_insert_default(), offset(text, entry.text()));
        out.push_str(&text[done..at]);
        out.push_str(&without);
        done = at + entry.text().len();
    }
    let mut out = out?;
    out.push_str(&text[done..]);
    Some(out)
}

fn is_prefixed(key: &str) -> bool {
    key.contains('/')
}

fn stays(passes: bool) -> Fate {
    if passes { Fate::Stays } else { Fate::Goes }
}

/// A look that costs next to nothing. An escape may spell the name, too.
fn may_have_meta(text: &str) -> bool {
    let has = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    has("_meta\"") || has("\\u00")
}

/// An object with what becomes of its members, by their decoded names; none if nothing becomes of them.
fn rewrite<'a>(object: Raw<'a>, fate: &mut dyn FnMut(&str, Raw<'a>) -> Fate) -> Option<String> {
    if object.kind() != Kind::Object {
        return None;
    }
    let text = object.text();
    let mut members = object.members();
    // Members as they are to be written, from the first that differs on; before it all that is kept is the text itself.
    let mut out: Option<String> = None;
    let mut from = members.at();
    let mut any = false;
    while let Some(name) = members.next_name() {
        let at_value = members.at();
        let value = members.take_value();
        let separated = from;
        from = members.at();
        let name: Cow<'a, str> = name.decoded();
        let fate = fate(&name, value);
        if out.is_none() {
            if matches!(fate, Fate::Stays) {
                any = true;
                continue;
            }
            out = Some(text[..separated].to_owned());
        }
        let Some(out) = &mut out else { continue };
        let head = text[separated..at_value].trim_start_matches([' ', '\t', '\n', '\r', ',']);
        let written = match &fate {
            Fate::Goes => continue,
            Fate::Stays => value.text(),
            Fate::Becomes(other) => other,
        };
        if any {
            out.push(',');
        }
        out.push_str(head);
        out.push_str(written);
        any = true;
    }
    let mut out = out?;
    out.push_str(text[from..].trim_start_matches(BLANKS));
    Some(out)
}

fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr().addr() - whole.as_ptr().addr()
}

fn safe(text: String) -> Vec<u8> {
    if is_safe(text.as_bytes()) {
        return text.into_bytes();
    }
    let mut out = Vec::new();
    compact_text(text.as_bytes(), &mut out);
    out
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::parse(text).unwrap()
    }

    /// What is left of a greeting when nothing passes, and what was asked about.
    fn greeted(result: &str) -> (Option<String>, Vec<String>) {
        let mut asked = Vec::new();
        let left = greeting(raw(result), &mut |member| {
            asked.push(member.key.to_owned());
            false
        });
        (left.map(|text| String::from_utf8(text).unwrap()), asked)
    }

    #[test]
    fn what_a_server_declares_beside_the_protocol_is_taken_out_and_the_rest_stays_as_it_was() {
        for (before, after) in [
            (
                r#"{"capabilities":{"tools":{"listChanged":1e0},"experimental":{"claude/channel":{},"claude/channel/permission":{}}},"n":1.50}"#,
                r#"{"capabilities":{"tools":{"listChanged":1e0},"experimental":{}},"n":1.50}"#,
            ),
            (
                r#"{ "capabilities" : { "extensions" : { "a/b" : 1 } , "new":{} } , "later" : 1E400 }"#,
                r#"{"capabilities" : {"extensions" : {},"new":{}},"later" : 1E400}"#,
            ),
            (
                r#"{"capabilities":{"\u0065xperimental":{"x":{}},"logging":{}}}"#,
                r#"{"capabilities":{"\u0065xperimental":{},"logging":{}}}"#,
            ),
            (r#"{"capabilities":{"claude/channel":{},"logging":{}}}"#, r#"{"capabilities":{"logging":{}}}"#),
            (r#"{"capabilities":{"Experimental":{"x":1}}}"#, r#"{"capabilities":{}}"#),
            (r#"{"capabilities":{"experimental":["x"],"a":1}}"#, r#"{"capabilities":{"a":1}}"#),
            (r#"{"Capabilities":{"experimental":{"x":1}},"a":1}"#, r#"{"a":1}"#),
            (r#"{"a":1,"instructions":"Do it.","b":2}"#, r#"{"a":1,"b":2}"#),
            (r#"{"a":1,"Instructions":"Do it."}"#, r#"{"a":1}"#),
            (r#"{"_meta":{"v/x":{"y":[1]},"plain":1.0}}"#, r#"{"_meta":{"plain":1.0}}"#),
        ] {
            let (left, asked) = greeted(before);
            assert_eq!(left.as_deref(), Some(after), "{before}");
            assert!(asked.len() <= 2, "{asked:?}");
            Raw::parse(after).unwrap();
        }
    }

    #[test]
    fn a_greeting_of_the_protocol_alone_is_not_touched() {
        for result in [
            r#"{"protocolVersion":"x","capabilities":{"experimental":{},"tools":{},"tasks":{"list":{}}},"serverInfo":{"name":"a/b"}}"#,
            r#"{"capabilities":{"experimental":null,"extensions":null},"instructions":null,"_meta":{"k":1}}"#,
            r#"{"capabilities":7,"_meta":null}"#,
            "[]",
        ] {
            assert_eq!(greeted(result), (None, vec![]), "{result}");
        }
    }

    #[test]
    fn what_passes_is_left_where_it_is() {
        let result = r#"{"capabilities":{"experimental":{"a":{},"b":{},"c":{}}},"instructions":"x"}"#;
        let only = |kept: &[&str]| {
            greeting(raw(result), &mut |member| kept.contains(&member.key))
                .map(|text| String::from_utf8(text).unwrap())
        };
        assert_eq!(only(&["a", "b", "c", "instructions"]), None);
        let without = r#"{"capabilities":{"experimental":{"a":{},"c":{}}},"instructions":"x"}"#;
        assert_eq!(only(&["a", "c", "instructions"]).as_deref(), Some(without));
    }

    #[test]
    fn entries_of_a_list_lose_vendor_keys_and_nothing_else() {
        let of = |text: &str| {
            list(List::Tools, text, &mut |member| member.key == "ok/it")
                .map(|text| String::from_utf8(text).unwrap())
        };
        let before = r#"{"tools":[{"name":"a","_meta":{"x/y":1,"k":1e5,"ok/it":2}}, {"name":"b","n":1.0},{"_meta":{"v/w":{}},"name":"c"}],"_meta":{"z/z":0},"ttlMs":5.00}"#;
        let after = r#"{"tools":[{"name":"a","_meta":{"k":1e5,"ok/it":2}}, {"name":"b","n":1.0},{"_meta":{},"name":"c"}],"_meta":{},"ttlMs":5.00}"#;
        assert_eq!(of(before).as_deref(), Some(after));
        assert_eq!(of(after), None);
        let escaped = r#"{"tools":[{"name":"a","\u005fmeta":{"x\/y":1}}]}"#;
        assert_eq!(of(escaped).as_deref(), Some(r#"{"tools":[{"name":"a","\u005fmeta":{}}]}"#));
        let schema = r#"{"tools":[{"name":"a","inputSchema":{"_meta":{"x/y":1}}}]}"#;
        assert_eq!(of(schema), None, "only the entry's own");
    }

    #[test]
    fn a_method_belongs_to_the_capability_whose_name_it_has() {
        for (method, capability, is) in [
            ("notifications/claude/channel", "claude/channel", true),
            ("notifications/claude/channel/permission", "claude/channel", true),
            ("claude/channel/permission_request", "claude/channel/permission", true),
            ("notifications/claude/channels", "claude/channel", false),
            ("notifications/message", "message", false),
            ("notifications/tools/list_changed", "tools", false),
            ("notifications/x", "", false),
            ("mcpl/push", "mcpl", true),
        ] {
            assert_eq!(belongs(method, capability), is, "{method} {capability}");
        }
    }

    proptest! {
        #[test]
        fn what_is_left_is_an_object_without_what_went(keys in proptest::collection::btree_set("[a-c/]{1,3}", 0..6), blank in "[ \t]{0,2}") {
            let members: Vec<String> =
                keys.iter().map(|key| format!("{blank}\"{key}\"{blank}:{blank}1.0{blank}")).collect();
            let text = format!("{{{}}}", members.join(","));
            let left = meta(raw(&text), &mut |_| false);
            prop_assert_eq!(left.is_none(), keys.iter().all(|key| !key.contains('/')));
            if let Some(left) = left {
                let names: Vec<String> = raw(&left).members().map(|(name, _)| name.into_owned()).collect();
                let plain: Vec<String> = keys.into_iter().filter(|key| !key.contains('/')).collect();
                prop_assert_eq!(names, plain);
            }
        }
    }
}
