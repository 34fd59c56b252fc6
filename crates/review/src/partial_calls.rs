//! Calls of which not everything was kept: when their arguments still tell what a policy would say, and when not.

use std::borrow::Cow;

use callgate_history::{Lack, Replayed, ReplayedArguments};
use callgate_policy::Policy;
use callgate_policy::file::Path;
use callgate_protocol::json::{Raw, write_string};

/// How the record marks what it left out.
const MASKED: &str = "[masked, ";

/// Is there anything in this text that the record hides?
pub(crate) fn is_masked(text: &str) -> bool {
    text.contains(MASKED)
}

/// The arguments that a recorded call is judged with, and whether they are as they were.
pub(crate) struct Known<'r> {
    pub(crate) text: Option<Cow<'r, str>>,
    pub(crate) lack: Option<Lack>,
}

impl<'r> Known<'r> {
    pub(crate) fn of(call: &Replayed<'r>) -> Known<'r> {
        match call.args {
            ReplayedArguments::Unread | ReplayedArguments::Absent => Known { text: None, lack: None },
            ReplayedArguments::Whole(text) => Known { text: Some(Cow::Borrowed(text)), lack: None },
            ReplayedArguments::Lacking { kept, lack: Lack::Masked } => {
                Known { text: Some(Cow::Borrowed(kept)), lack: Some(Lack::Masked) }
            }
            // What a request is about is on record by itself.
            ReplayedArguments::Lacking { lack, .. } => match subject(call) {
                Some(params) => Known { text: Some(Cow::Owned(params)), lack: None },
                None => Known { text: None, lack: Some(lack) },
            },
        }
    }
}

/// The part of a request's params that rules read, put together again from the record.
fn subject(call: &Replayed<'_>) -> Option<String> {
    let member = match call.method {
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "prompts/get" => "name",
        _ => return None,
    };
    if call.tool.is_empty() || is_masked(call.tool) {
        return None;
    }
    let mut params = format!("{{\"{member}\":").into_bytes();
    write_string(&mut params, call.tool);
    params.push(b'}');
    String::from_utf8(params).ok()
}

/// The rule that decides by what is missing, if there may be one. `refused_by`: the rule that refuses it as it was kept.
pub(crate) fn decides<'p>(
    policy: &'p Policy,
    call: &Replayed<'_>,
    args: Option<Raw<'_>>,
    lack: Lack,
    refused_by: Option<&str>,
) -> Option<&'p str> {
    if call.method != "tools/call" {
        let unnamed = call.tool.is_empty() || is_masked(call.tool);
        return match call.method {
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                unnamed.then_some("/resources")
            }
            "prompts/get" => unnamed.then_some("/prompts"),
            "subscriptions/listen" => Some("/resources"),
            "completion/complete" => Some("/completion"),
            "sampling/createMessage" => Some("/sampling"),
            "elicitation/create" => Some("/elicitation"),
            _ => None,
        };
    }
    let reads = policy.reads(call.client, call.tool, call.at_ms);
    // Refused whatever the arguments are: by what comes before them (hidden, denied, not listed), or by what comes after.
    if refused_by.is_some_and(|rule| !reads.iter().any(|read| read.pointer == rule)) {
        return None;
    }
    let is_missing = |path: &Path| match (lack, args) {
        (Lack::Masked, Some(args)) => resolve(args, path).is_some_and(|value| is_masked(value.text())),
        _ => true,
    };
    let blind = reads.into_iter().find(|read| read.paths.iter().any(|path| is_missing(path)));
    blind.map(|read| read.pointer)
}

fn resolve<'a>(args: Raw<'a>, path: &Path) -> Option<Raw<'a>> {
    path.steps.iter().try_fold(args, |value, step| match step.index {
        Some(index) if value.text().starts_with('[') => value.items().nth(index),
        _ => value.get(&step.name),
    })
}
