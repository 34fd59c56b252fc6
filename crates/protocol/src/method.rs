//! The methods of all MCP revisions, what they can do, and the spellings that could reach them by another name.
//!
//! One table, because a method that is on one list and missing on another is a way around the gate.

use crate::fold;

/// What a request can do, as far as its method tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Opens a session or names what there is. Nothing is run, and nothing is read that the params could choose; so a
    /// client can connect and show its lists, also while there is no usable policy.
    Harmless,
    /// Acts, discloses or steers.
    Guarded,
    /// No revision knows it, so it may do anything.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Asker {
    Client,
    Server,
    Either,
}

struct Known {
    name: &'static str,
    class: Class,
    asker: Asker,
}

const fn harmless(name: &'static str, asker: Asker) -> Known {
    Known { name, class: Class::Harmless, asker }
}

const fn guarded(name: &'static str, asker: Asker) -> Known {
    Known { name, class: Class::Guarded, asker }
}

/// All of them are requests.
const METHODS: [Known; 23] = [
    harmless("initialize", Asker::Client),
    harmless("server/discover", Asker::Client),
    harmless("ping", Asker::Either),
    harmless("logging/setLevel", Asker::Client),
    harmless("tools/list", Asker::Client),
    harmless("resources/list", Asker::Client),
    harmless("resources/templates/list", Asker::Client),
    harmless("prompts/list", Asker::Client),
    harmless("tasks/list", Asker::Either),
    harmless("roots/list", Asker::Server),
    guarded("tools/call", Asker::Client),
    guarded("resources/read", Asker::Client),
    guarded("resources/subscribe", Asker::Client),
    guarded("resources/unsubscribe", Asker::Client),
    // Not harmless: its params name the resources to be watched, as those of resources/subscribe did before it.
    guarded("subscriptions/listen", Asker::Client),
    guarded("prompts/get", Asker::Client),
    guarded("completion/complete", Asker::Client),
    guarded("tasks/cancel", Asker::Either),
    guarded("tasks/get", Asker::Either),
    guarded("tasks/result", Asker::Either),
    guarded("tasks/update", Asker::Either),
    guarded("sampling/createMessage", Asker::Server),
    guarded("elicitation/create", Asker::Server),
];

/// What begins like this is held to its spelling also where no revision knows it yet.
const FAMILIES: [(&str, Asker); 10] = [
    ("tools/", Asker::Client),
    ("resources/", Asker::Client),
    ("prompts/", Asker::Client),
    ("completion/", Asker::Client),
    ("logging/", Asker::Client),
    ("server/", Asker::Client),
    ("subscriptions/", Asker::Client),
    ("tasks/", Asker::Either),
    ("sampling/", Asker::Server),
    ("elicitation/", Asker::Server),
];

/// Nothing hangs on how these are spelled: no rule speaks of them, and what they answer is not filtered.
const ANY_SPELLING: [&str; 2] = ["ping", "roots/list"];

/// By the exact name: another spelling of a harmless method is unknown.
pub fn class(method: &str) -> Class {
    known(method).map_or(Class::Unknown, |known| known.class)
}

/// Requests that only a client makes. A server that sends one has the direction wrong, or hopes that we have.
pub fn is_for_servers(method: &str) -> bool {
    let asker = known(method)
        .map(|known| known.asker)
        .or_else(|| FAMILIES.iter().find(|(family, _)| method.starts_with(family)).map(|(_, asker)| *asker));
    asker == Some(Asker::Client)
}

fn known(method: &str) -> Option<&'static Known> {
    METHODS.iter().find(|known| known.name == method)
}

/// Is the method held to its spelling, and does this one keep to it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Exact,
    Other,
    /// Not a method or family of the table, but a lenient dispatcher might take it there.
    NearMiss(&'static str),
}

pub(crate) fn standing(method: &str) -> Standing {
    if exact_only().any(|known| known == method) {
        return Standing::Exact;
    }
    // A dispatcher that ends names at NUL sees only what stands before it.
    if let Some(start) = fold::before_nul(method)
        && let Some(known) = exact_only().find(|known| known.eq_ignore_ascii_case(&fold::head(start)))
    {
        return Standing::NearMiss(known);
    }
    let folded = fold::head(method);
    if let Some(known) = exact_only().find(|known| known.eq_ignore_ascii_case(&folded)) {
        return Standing::NearMiss(known);
    }
    match FAMILIES.iter().find(|(family, _)| folded.starts_with(family)) {
        Some((family, _)) if method.starts_with(family) => Standing::Exact,
        Some((family, _)) => Standing::NearMiss(family),
        None => Standing::Other,
    }
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
        ] {
            assert!(matches!(standing(method), Standing::NearMiss(_)), "{method:?}");
        }
    }

    #[test]
    fn exact_and_unrelated_methods_are_not() {
        for method in exact_only().chain(["tools/something_new", "tasks/x"]) {
            assert_eq!(standing(method), Standing::Exact, "{method}");
        }
        for method in ["ping", "roots/list", "notifications/cancelled", "x/Y", "acme/Tools/call", "", "größe"]
        {
            assert_eq!(standing(method), Standing::Other, "{method}");
        }
    }

    #[test]
    fn only_exact_names_of_harmless_methods_are_harmless() {
        for method in ["initialize", "ping", "tools/list", "resources/templates/list", "roots/list"] {
            assert_eq!(class(method), Class::Harmless, "{method}");
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
