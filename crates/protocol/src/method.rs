//! The methods of all MCP revisions, what they can do, and the spellings that could reach them by another name.
//!
//! One table, because a method that is on one list and missing on another is a way around the gate.

use crate::skeleton;

/// What a request can do, as far as its method tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Opens a session or names what there is. Nothing is run, and nothing is read that the params could choose; so a
    /// client can connect and show its lists, also while there is no usable policy.
    Passive,
    /// Acts, discloses or steers.
    Guarded,
    /// No revision knows it, so it may do anything.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Requester {
    Client,
    Server,
    Either,
}

struct KnownMethod {
    name: &'static str,
    class: Class,
    requester: Requester,
}

const fn passive(name: &'static str, requester: Requester) -> KnownMethod {
    KnownMethod { name, class: Class::Passive, requester }
}

const fn guarded(name: &'static str, requester: Requester) -> KnownMethod {
    KnownMethod { name, class: Class::Guarded, requester }
}

/// All of them are requests.
const METHODS: [KnownMethod; 23] = [
    passive("initialize", Requester::Client),
    passive("server/discover", Requester::Client),
    passive("ping", Requester::Either),
    passive("logging/setLevel", Requester::Client),
    passive("tools/list", Requester::Client),
    passive("resources/list", Requester::Client),
    passive("resources/templates/list", Requester::Client),
    passive("prompts/list", Requester::Client),
    passive("tasks/list", Requester::Either),
    passive("roots/list", Requester::Server),
    guarded("tools/call", Requester::Client),
    guarded("resources/read", Requester::Client),
    guarded("resources/subscribe", Requester::Client),
    guarded("resources/unsubscribe", Requester::Client),
    // Not passive: its params name the resources to be watched, as those of resources/subscribe did before it.
    guarded("subscriptions/listen", Requester::Client),
    guarded("prompts/get", Requester::Client),
    guarded("completion/complete", Requester::Client),
    guarded("tasks/cancel", Requester::Either),
    guarded("tasks/get", Requester::Either),
    guarded("tasks/result", Requester::Either),
    guarded("tasks/update", Requester::Either),
    guarded("sampling/createMessage", Requester::Server),
    guarded("elicitation/create", Requester::Server),
];

/// What begins like this is held to its spelling also where no revision knows it yet.
const FAMILIES: [(&str, Requester); 10] = [
    ("tools/", Requester::Client),
    ("resources/", Requester::Client),
    ("prompts/", Requester::Client),
    ("completion/", Requester::Client),
    ("logging/", Requester::Client),
    ("server/", Requester::Client),
    ("subscriptions/", Requester::Client),
    ("tasks/", Requester::Either),
    ("sampling/", Requester::Server),
    ("elicitation/", Requester::Server),
];

/// More letters than any name above has.
const LONGEST: usize = 32;

/// Nothing hangs on how these are spelled: no rule speaks of them, and what they answer is not filtered.
const ANY_SPELLING: [&str; 2] = ["ping", "roots/list"];

/// By the exact name: another spelling of a passive method is unknown.
pub fn class(method: &str) -> Class {
    known(method).map_or(Class::Unknown, |known| known.class)
}

/// Requests that only a client makes. A server that sends one has the direction wrong, or hopes that we have.
pub fn is_for_servers(method: &str) -> bool {
    let requester = known(method).map(|known| known.requester).or_else(|| {
        FAMILIES.iter().find(|(family, _)| method.starts_with(family)).map(|(_, requester)| *requester)
    });
    requester == Some(Requester::Client)
}

fn known(method: &str) -> Option<&'static KnownMethod> {
    METHODS.iter().find(|known| known.name == method)
}

/// Is the method held to its spelling, and does this one keep to it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodStatus {
    Exact,
    Other,
    /// Not a method or family of the table, but a lenient dispatcher might take it there.
    NearMiss(&'static str),
}

pub(crate) fn status(method: &str) -> MethodStatus {
    if exact_only().any(|known| known == method) {
        return MethodStatus::Exact;
    }
    if is_plain_notification(method) {
        return MethodStatus::Other;
    }
    for reading in skeleton::readings(method, LONGEST) {
        if let Some(known) = exact_only().find(|known| is_spelled(known, &reading)) {
            return MethodStatus::NearMiss(known);
        }
    }
    if FAMILIES.iter().any(|(family, _)| method.starts_with(family)) {
        return MethodStatus::Exact;
    }
    let first = skeleton::first_segment(method, LONGEST).unwrap_or_default();
    let imitated = FAMILIES.iter().find(|(family, _)| is_spelled(family, &first));
    imitated.map_or(MethodStatus::Other, |(family, _)| MethodStatus::NearMiss(family))
}

/// Does a name of the table have this skeleton?
fn is_spelled(known: &str, skeleton: &str) -> bool {
    let letters = known.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    letters.eq(skeleton.bytes())
}

/// They come by the thousand, and there is nothing in them to be taken for something else.
fn is_plain_notification(method: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphabetic() || byte == b'/' || byte == b'_';
    method.strip_prefix("notifications/").is_some_and(|rest| rest.bytes().all(is_plain))
}

fn exact_only() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|known| known.name).filter(|name| !ANY_SPELLING.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_a_guarded_method_are_near_misses() {
        for method in [
            "TOOLS/CALL",
            "Tools/call",
            "tools/call ",
            " tools/call",
            "tools/call\0",
            "tools/call\0/x",
            "TOOLS/call\0\0x",
            "tools/call\n",
            "ｔｏｏｌｓ/call",
            "tools／call",
            "tools//call",
            "tools\\call",
            "tools\u{2215}call",
            "tool\u{17f}/call",
            "tools/cal\u{200b}l",
            "\u{feff}tools/call",
            "sampling/createmessage",
            "logging/setlevel",
            "Initialize",
            "Tools/something_new",
            "/tools/something_new",
            "tools%2fsomething_new",
            "t\u{43e}ols/something_new",
        ] {
            assert!(matches!(status(method), MethodStatus::NearMiss(_)), "{method:?}");
        }
    }

    /// Whatever a dispatcher might do to a name before it looks it up, or a person might overlook.
    #[test]
    fn near_misses_of_every_method_are_refused() {
        for method in exact_only() {
            let (first, rest) = method.split_once('/').unwrap_or(("", method));
            let joined =
                |by: &str| if first.is_empty() { rest.to_owned() } else { format!("{first}{by}{rest}") };
            let mut spellings = vec![
                method.to_uppercase(),
                method[..1].to_uppercase() + &method[1..],
                format!("{method}/"),
                format!("/{method}"),
                format!("./{method}"),
                format!("//{method}//"),
                format!("x/../{method}"),
                format!("{method}/x/.."),
                format!(" {method}"),
                format!("{method} "),
                format!("{method}\t"),
                format!("{method}\r\n"),
                format!("{method}\0"),
                format!("{method}\0x"),
                format!("{method} x"),
                format!("{method}?x=1"),
                format!("{method}#x"),
                format!("{method};v=2"),
                format!("{method}."),
                format!("\u{feff}{method}"),
                format!("\u{202e}{method}\u{202c}"),
                format!("\"{method}\""),
                method.replace('e', "\u{435}").replace('o', "\u{43e}").replace('l', "\u{4cf}"),
                method.replace('i', "\u{456}").replace('a', "\u{430}").replace('o', "\u{3bf}"),
                method.replace('l', "1").replace('o', "0").replace('i', "\u{131}"),
                method
                    .replace('e', "e\u{301}")
                    .replace('o', "\u{f6}")
                    .replace('i', "\u{ed}")
                    .replace('a', "\u{e1}"),
                method.chars().map(|c| format!("%{:02x}", u32::from(c))).collect(),
                method.chars().map(|c| format!("%25{:02X}", u32::from(c))).collect(),
                method.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect(),
                method.chars().flat_map(|c| [c, '\u{200b}']).collect(),
                method.chars().map(|c| char::from_u32(u32::from(c) + 0xfee0).unwrap_or(c)).collect(),
            ];
            if !first.is_empty() {
                let between = [
                    "", " ", "/ ", " /", "//", "\\", "\u{2044}", "\u{2215}", "\u{ff0f}", "\u{29f8}", "%2F",
                    "%252f",
                ];
                spellings.extend(between.map(joined));
                spellings
                    .extend([".", "_", "-", ":", "::", "|", "/./", "/x/../", "\n", "\u{a0}"].map(joined));
            }
            for spelling in spellings {
                if spelling != method {
                    let found = status(&spelling);
                    assert_eq!(found, MethodStatus::NearMiss(method), "{spelling:?}");
                }
            }
        }
    }

    #[test]
    fn exact_and_unrelated_methods_are_not() {
        for method in exact_only().chain(["tools/something_new", "tasks/x"]) {
            assert_eq!(status(method), MethodStatus::Exact, "{method}");
        }
        for method in [
            "ping",
            "roots/list",
            "notifications/cancelled",
            "notifications/tools/list_changed",
            "notifications/message%20",
            "x/Y",
            "acme/Tools/call",
            "acme.tools.call",
            "tool/call",
            "vendor/100%",
            "textDocument/didOpen",
            "$/cancelRequest",
            "rpc.discover",
            "initialized",
            "",
            "größe",
        ] {
            assert_eq!(status(method), MethodStatus::Other, "{method}");
        }
    }

    #[test]
    fn only_exact_names_of_harmless_methods_are_harmless() {
        for method in ["initialize", "ping", "tools/list", "resources/templates/list", "roots/list"] {
            assert_eq!(class(method), Class::Passive, "{method}");
        }
        for method in ["tools/call", "resources/read", "completion/complete", "subscriptions/listen"] {
            assert_eq!(class(method), Class::Guarded, "{method}");
        }
        for method in ["acme/run", "Ping", "tools/list ", "tools/something_new", "logging/x", ""] {
            assert_eq!(class(method), Class::Unknown, "{method}");
        }
    }

    #[test]
    fn a_server_cannot_ask_what_only_clients_ask() {
        for method in ["initialize", "tools/call", "tools/something_new", "subscriptions/listen", "server/x"]
        {
            assert!(is_for_servers(method), "{method}");
        }
        for method in
            ["ping", "roots/list", "sampling/createMessage", "elicitation/x", "tasks/get", "acme/run"]
        {
            assert!(!is_for_servers(method), "{method}");
        }
    }
}
