//! The methods that deserve policy, and the spellings that could reach them by another name.

use crate::fold;

/// Methods of all MCP revisions that act, disclose or steer. All of them are requests.
const GUARDED: [&str; 21] = [
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "prompts/get",
    "prompts/list",
    "completion/complete",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "sampling/createMessage",
    "elicitation/create",
    "logging/setLevel",
    "initialize",
    "server/discover",
    "subscriptions/listen",
];

/// What begins like this is guarded also where no revision knows it yet.
const FAMILIES: [&str; 10] = [
    "tools/",
    "resources/",
    "prompts/",
    "completion/",
    "tasks/",
    "sampling/",
    "elicitation/",
    "logging/",
    "server/",
    "subscriptions/",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Guarded,
    Other,
    /// Not the guarded method or family, but a lenient dispatcher might take it there.
    NearMiss(&'static str),
}

pub(crate) fn standing(method: &str) -> Standing {
    if GUARDED.contains(&method) {
        return Standing::Guarded;
    }
    // A dispatcher that ends names at NUL sees only what stands before it.
    if let Some(start) = fold::before_nul(method)
        && let Some(known) = GUARDED.iter().find(|known| known.eq_ignore_ascii_case(&fold::head(start)))
    {
        return Standing::NearMiss(known);
    }
    let folded = fold::head(method);
    if let Some(known) = GUARDED.iter().find(|known| known.eq_ignore_ascii_case(&folded)) {
        return Standing::NearMiss(known);
    }
    match FAMILIES.iter().find(|family| folded.starts_with(**family)) {
        Some(family) if method.starts_with(family) => Standing::Guarded,
        Some(family) => Standing::NearMiss(family),
        None => Standing::Other,
    }
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
        for method in GUARDED.iter().chain(&["tools/something_new", "tasks/x"]) {
            assert_eq!(standing(method), Standing::Guarded, "{method}");
        }
        for method in ["ping", "roots/list", "notifications/cancelled", "x/Y", "acme/Tools/call", "", "größe"]
        {
            assert_eq!(standing(method), Standing::Other, "{method}");
        }
    }
}
