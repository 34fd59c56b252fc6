//! What a tool does, as far as its name says. Names are a server's own words: they decide what a draft leaves open or
//! uncapped, which a person reads before it counts, and nothing else.

/// Verbs at the beginning or the end of a name, or after its first word, that give something back.
pub(super) const FREEING: [&str; 13] = [
    "close",
    "end",
    "stop",
    "quit",
    "exit",
    "release",
    "disconnect",
    "detach",
    "unlock",
    "logout",
    "cleanup",
    "dispose",
    "clear",
];
/// What such verbs are about when nothing is lost by it that was to stay: `close_tab`, and not `close_issue`.
const TEMPORARY: [&str; 32] = [
    "browser",
    "buffer",
    "cache",
    "channel",
    "codegen",
    "connection",
    "console",
    "context",
    "coverage",
    "cursor",
    "debugger",
    "dialog",
    "handle",
    "highlight",
    "lease",
    "lock",
    "page",
    "popup",
    "process",
    "profiler",
    "recording",
    "server",
    "session",
    "sessions",
    "socket",
    "stream",
    "tab",
    "terminal",
    "trace",
    "tracing",
    "video",
    "window",
];
/// Verbs that only look.
const READING: [&str; 29] = [
    "get", "list", "read", "search", "find", "show", "describe", "view", "fetch", "lookup", "count", "check",
    "inspect", "status", "info", "retrieve", "browse", "explain", "preview", "diff", "compare", "stat",
    "exists", "whoami", "tail", "query", "snapshot", "validate", "wait",
];
/// Verbs that do something, wherever they stand in a name: `get_or_create`.
const ACTING: [&str; 40] = [
    "add", "append", "apply", "approve", "buy", "cancel", "click", "commit", "copy", "create", "delete",
    "deploy", "drop", "edit", "eval", "evaluate", "exec", "execute", "fill", "insert", "install", "merge",
    "move", "pay", "post", "publish", "push", "put", "remove", "rename", "run", "save", "send", "set",
    "submit", "transfer", "update", "upload", "upsert", "write",
];
/// Arguments that hold a program, and names of tools that run one.
const CODE: [&str; 11] = [
    "code",
    "script",
    "expression",
    "function",
    "javascript",
    "js",
    "python",
    "sql",
    "command",
    "cmd",
    "shell",
];
const RUNNING: [&str; 6] = ["evaluate", "eval", "execute", "exec", "shell", "script"];

/// Does it give back what other tools took? Without such a tool an agent cannot tidy up after itself.
pub(super) fn frees(name: &str) -> bool {
    let words = words(name);
    // `close_tab`, `browser_close`, `playwright_stop_recording`
    let at = [Some(0), Some(1), words.len().checked_sub(1)].into_iter().flatten();
    let is_freeing = |at: &usize| words.get(*at).is_some_and(|word| FREEING.contains(&word.as_str()));
    let Some(at) = at.into_iter().find(is_freeing) else { return false };
    let rest = |word: &&String| **word != words[at];
    // `playwright_close`, `close`: what it is about is the server's own thing.
    let its_own = at + 1 == words.len() && at <= 1 && words[at] != "clear";
    its_own || words.iter().filter(rest).any(|word| TEMPORARY.contains(&word.as_str()))
}

/// Does it only look? A cap on looking keeps an agent from its work and nothing else.
pub(super) fn only_reads(name: &str) -> bool {
    let words = words(name);
    let is_verb = |word: &&String| READING.contains(&word.as_str()) || FREEING.contains(&word.as_str());
    let first = words.iter().find(is_verb);
    first.is_some_and(|verb| READING.contains(&verb.as_str()))
        && !words.iter().any(|word| ACTING.contains(&word.as_str()))
}

/// Which of its arguments holds a program, if it runs one: `Some(None)` if only its name says so.
pub(super) fn runs_code<'a>(
    name: &str,
    mut arguments: impl Iterator<Item = &'a str>,
) -> Option<Option<&'a str>> {
    let held = arguments.find(|argument| {
        let words = words(argument);
        words.last().is_some_and(|word| CODE.contains(&word.as_str()))
    });
    let named = words(name).iter().any(|word| RUNNING.contains(&word.as_str()));
    (named || held.is_some()).then_some(held)
}

/// Does an argument say which one is meant, rather than what is to be done? Tomorrow there will be others.
pub(super) fn names_one_thing(argument: &str) -> bool {
    let words = words(argument);
    words.last().is_some_and(|word| {
        matches!(word.as_str(), "id" | "ids" | "uuid" | "guid" | "cursor" | "ref" | "sessionid")
    })
}

/// `browser_close`, `closeTab` and `close-tab` in their words, small.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars().take(200) {
        let turns = before.is_lowercase() && c.is_uppercase();
        if !c.is_alphanumeric() || turns {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_frees_things_is_known_by_its_verb_and_by_what_it_is_about() {
        for name in [
            "playwright_close",
            "browser_close",
            "close",
            "end_codegen_session",
            "clear_codegen_session",
            "close_browser_session",
            "cleanup_idle_sessions",
            "playwright_stop_video_recording",
            "closeTab",
            "stop-tracing",
            "disconnect",
        ] {
            assert!(frees(name), "{name}");
        }
        for name in [
            "close_issue",
            "close_pull_request",
            "end_subscription",
            "stop_instance",
            "clear_database",
            "database_clear",
            "release_payment",
            "enclose",
            "delete_session",
            "closed_sales_report",
            "clear",
        ] {
            assert!(!frees(name), "{name}");
        }
    }

    #[test]
    fn what_only_looks_has_no_verb_that_acts() {
        for name in [
            "get_codegen_session",
            "list_directory",
            "readFile",
            "asana_search_tasks",
            "get_label",
            "playwright_count_pdf_pages",
            "playwright_wait_url",
            "issues-list",
        ] {
            assert!(only_reads(name), "{name}");
        }
        for name in [
            "get_or_create",
            "delete_list",
            "write_file",
            "navigate",
            "close_issue",
            "update_status",
            "execute_query",
            "clear_codegen_session",
            "reset_count_and_send",
        ] {
            assert!(!only_reads(name), "{name}");
        }
    }

    #[test]
    fn an_id_is_no_choice() {
        for argument in ["sessionId", "id", "session_id", "fileIDs", "nextCursor"] {
            assert!(names_one_thing(argument), "{argument}");
        }
        for argument in ["format", "browser", "idea", "valid"] {
            assert!(!names_one_thing(argument), "{argument}");
        }
    }

    #[test]
    fn code_is_known_by_the_argument_that_holds_it_or_by_the_name() {
        let code = |name: &str, arguments: &[&'static str]| runs_code(name, arguments.iter().copied());
        assert_eq!(code("browser_evaluate", &["element", "function"]), Some(Some("function")));
        assert_eq!(code("playwright_evaluate", &["script"]), Some(Some("script")));
        assert_eq!(code("eval", &[]), Some(None));
        assert_eq!(code("query", &["sql"]), Some(Some("sql")));
        assert_eq!(code("do", &["shellCommand"]), Some(Some("shellCommand")));
        assert_eq!(code("create_order", &["postcode", "encoding"]), None);
    }
}
