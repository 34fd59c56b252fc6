//! Ready-made rules for servers with codegen sessions: each is a part of a policy, put into the text as a person would
//! write it there, and saved like any other edit.

use callgate_codegen::Verb;
use callgate_policy::edit::{Edited, merge};
use callgate_policy::{Policy, compare};

use crate::DeskError;
use crate::view::{ReadyRule, ReadyState};

/// What stands in for the folders that a person would choose.
const FOLDER: &str = "~/projects";

struct Ready {
    id: &'static str,
    title: &'static str,
    words: &'static str,
    /// The tool that it is about.
    tool: &'static str,
    /// `{folder}` is the folder, as JSON.
    part: &'static str,
}

const ALL: &[Ready] = &[
    Ready {
        id: "output-inside",
        title: "Tests are written into one folder only",
        words: "A session has to name its outputPath, inside the folder: else a server makes and writes any folder.",
        tool: "start_codegen_session",
        part: r#"{ "tools": { "start_codegen_session": { "require": [
            { "path": "args.options.outputPath", "op": "inside", "value": {folder} } ] } } }"#,
    },
    Ready {
        id: "web-only",
        title: "No local files in the browser",
        words: "Only http and https addresses are opened: with file: a page of text is any file of yours.",
        tool: "playwright_navigate",
        part: r#"{ "tools": { "playwright_navigate": { "require": [
            { "path": "args.url", "op": "regex", "value": "^(?i:https?)://" } ] } } }"#,
    },
    Ready {
        id: "one-open-session",
        title: "One open session at a time",
        words: "A second start is refused while a session is open: actions would be recorded in the wrong one.",
        tool: "start_codegen_session",
        part: r#"{ "codegen": { "one_open_session": true } }"#,
    },
    Ready {
        id: "own-sessions-only",
        title: "Only own sessions are ended or cleared",
        words: "A client ends and clears the sessions that it started, and no others.",
        tool: "end_codegen_session",
        part: r#"{ "codegen": { "own_sessions_only": true } }"#,
    },
    Ready {
        id: "keep-unfinished",
        title: "Recorded actions are not thrown away",
        words: "A session that holds actions is not cleared before it was ended.",
        tool: "clear_codegen_session",
        part: r#"{ "codegen": { "keep_unfinished": true } }"#,
    },
];

/// Those that fit a server with these tools; none for a server without codegen sessions.
pub(super) fn list(text: &str, tools: &[&str]) -> Vec<ReadyRule> {
    let has = |wanted: &str| tools.contains(&wanted);
    if !has(Verb::Start.tool()) {
        return Vec::new();
    }
    let view = |ready: &Ready| {
        Some(ReadyRule {
            id: ready.id.to_owned(),
            title: ready.title.to_owned(),
            words: ready.words.to_owned(),
            folder: ready.takes_folder(),
            state: ready.state(text)?,
        })
    };
    ALL.iter().filter(|ready| has(ready.tool)).filter_map(view).collect()
}

/// The text with this rule in it.
pub(super) fn apply(text: &str, id: &str, folder: Option<&str>) -> Result<Edited, DeskError> {
    let ready = ALL.iter().find(|ready| ready.id == id);
    let ready = ready.ok_or_else(|| DeskError::BadInput(format!("there is no ready-made rule {id:?}")))?;
    let folder = folder.map(str::trim).filter(|folder| !folder.is_empty());
    if ready.takes_folder() && folder.is_none() {
        return Err(DeskError::BadInput("say into which folder tests may be written".to_owned()));
    }
    Ok(merge(text, &ready.part(folder.unwrap_or(FOLDER)))?)
}

impl Ready {
    fn takes_folder(&self) -> bool {
        self.part.contains("{folder}")
    }

    fn part(&self, folder: &str) -> String {
        self.part.replace("{folder}", &serde_json::Value::from(folder).to_string())
    }

    /// `None` if there is nothing that it could be put into.
    fn state(&self, text: &str) -> Option<ReadyState> {
        let before = Policy::parse(text).ok()?;
        let edited = merge(text, &self.part(FOLDER)).ok()?;
        let after = Policy::parse(&edited.text).ok()?;
        Some(if !edited.changed {
            ReadyState::InForce
        } else if self.takes_folder() && mentions(&before, self.tool, "outputPath") {
            // Another folder than ours was chosen.
            ReadyState::InForce
        } else if compare::loosened(&before, &after).is_empty() {
            ReadyState::Offered
        } else {
            // It would list a tool that is refused as long as nobody does.
            ReadyState::NotNeeded
        })
    }
}

fn mentions(policy: &Policy, tool: &str, argument: &str) -> bool {
    let reads = policy.reads("", tool, i64::MIN);
    reads.iter().any(|read| read.words.starts_with("required") && read.words.contains(argument))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    const TOOLS: [&str; 5] = [
        "start_codegen_session",
        "end_codegen_session",
        "clear_codegen_session",
        "get_codegen_session",
        "playwright_navigate",
    ];

    fn states(text: &str) -> Vec<(String, ReadyState)> {
        list(text, &TOOLS).into_iter().map(|ready| (ready.id, ready.state)).collect()
    }

    #[test]
    fn all_are_offered_to_a_server_with_codegen_tools_and_none_to_others() {
        let open = r#"{ "version": "1", "default": "allow" }"#;
        assert!(states(open).iter().all(|(_, state)| *state == ReadyState::Offered));
        assert_eq!(states(open).len(), ALL.len());
        assert!(list(open, &["playwright_navigate"]).is_empty());
        assert!(list("{ broken", &TOOLS).is_empty());
    }

    #[test]
    fn applied_they_are_in_force_and_loosen_nothing() {
        let mut text = "{\n  \"version\": \"1\",\n  // mine\n  \"default\": \"allow\"\n}\n".to_owned();
        for ready in ALL {
            let before = Policy::parse(&text).unwrap();
            text = apply(&text, ready.id, Some("/srv/tests")).unwrap().text;
            assert_eq!(compare::loosened(&before, &Policy::parse(&text).unwrap()), Vec::<String>::new());
            let state = states(&text).into_iter().find(|(id, _)| id == ready.id).unwrap().1;
            assert_eq!(state, ReadyState::InForce, "{}: {text}", ready.id);
        }
        assert!(text.contains("// mine") && text.contains("/srv/tests"), "{text}");
    }

    #[test]
    fn a_tool_that_is_refused_anyway_is_not_listed_by_them() {
        let shut = r#"{ "version": "1", "default": "deny" }"#;
        let states = states(shut);
        assert_eq!(states[0], ("output-inside".to_owned(), ReadyState::NotNeeded));
        assert_eq!(states[1], ("web-only".to_owned(), ReadyState::NotNeeded));
        assert_eq!(states[2].1, ReadyState::Offered, "it lists no tool");
    }

    #[test]
    fn a_folder_is_asked_for_and_cannot_write_rules_of_its_own() {
        let open = r#"{ "version": "1", "default": "allow" }"#;
        assert!(apply(open, "output-inside", Some(" ")).is_err());
        assert!(apply(open, "output-inside", Some("tests")).is_err(), "a folder from the root on");
        let hostile = r#"/x" } ] } }, "hide": ["y"#;
        let text = apply(open, "output-inside", Some(hostile)).unwrap().text;
        assert!(!Policy::parse(&text).unwrap().is_hidden("c", "y"), "{text}");
        assert!(apply(open, "no-such-rule", None).is_err());
    }
}
