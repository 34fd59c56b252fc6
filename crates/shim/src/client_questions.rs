//! Client questions: what a client can ask its person by itself, in place of Callgate or beside it.
//!
//! Claude Code prompts before each call of a tool whose entry in the list says so, whatever mode it is in. Whether it did is
//! never known here: what passes for it is recorded as asked by the client, and counts only for a tool whose entry went to this
//! client with the mark. The mark is ours and put in on the way out, so no fingerprint knows it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_home::clock::wall_ms;
use callgate_policy::{AskedIn, Questioned};
use callgate_protocol::json::Raw;
use callgate_protocol::lists::{Filtered, Page};
use callgate_protocol::tools::with_user_interaction;

use crate::relay::Relay;
use crate::rule_source::Rules;

/// How the record names what lets such a call through.
pub(crate) const RULE: &str = "(asked by the client)";
/// And what it says of it.
pub(crate) const WORDS: &str = "asked by the client, maybe not by a person";

/// Who prompts for marked tools: the client's own name, and since which version (its change log; seen with 2.1.325).
const PROMPTING: (&str, [u32; 3]) = ("claude-code", [2, 1, 199]);

/// Of more tools nothing is remembered, and they are asked about here.
const MOST_MARKED: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct ClientQuestions {
    /// It prompts for tools that are marked.
    prompts: AtomicBool,
    /// Tools whose entry, as the client got it last, has the mark.
    marked: Mutex<HashSet<String>>,
}

impl ClientQuestions {
    fn marked(&self) -> MutexGuard<'_, HashSet<String>> {
        self.marked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what a client says of itself, where it does so: in its handshake, or with its question for a list.
    pub(crate) fn learn(&self, method: &str, params: Option<Raw<'_>>) {
        let info = match method {
            "initialize" => params.and_then(|params| params.get("clientInfo")),
            "tools/list" => params
                .and_then(|params| params.get("_meta"))
                .and_then(|meta| meta.get("io.modelcontextprotocol/clientInfo")),
            _ => return,
        };
        match info {
            Some(info) => self.prompts.store(prompts(info), Ordering::Relaxed),
            None if method == "initialize" => self.prompts.store(false, Ordering::Relaxed),
            // It has said who it is.
            None => {}
        }
    }

    fn prompts(&self) -> bool {
        self.prompts.load(Ordering::Relaxed)
    }

    fn is_marked(&self, tool: &str) -> bool {
        self.prompts() && self.marked().contains(tool)
    }

    fn mark(&self, tool: &str, wanted: bool) {
        let mut marked = self.marked();
        if !wanted || marked.len() >= MOST_MARKED {
            marked.remove(tool);
        } else {
            marked.insert(tool.to_owned());
        }
    }
}

fn prompts(info: Raw<'_>) -> bool {
    let said = |name| info.get(name).and_then(Raw::as_str).unwrap_or_default();
    let (name, since) = PROMPTING;
    said("name") == name && version(&said("version")).is_some_and(|version| version >= since)
}

/// `2.1.325`, and whatever stands after that.
fn version(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.splitn(3, '.');
    let mut next = || {
        let part = parts.next()?;
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..digits].parse().ok()
    };
    Some([next()?, next()?, next()?])
}

impl Relay {
    /// The list as this client is to have it: with a mark where it is to ask by itself.
    pub(crate) fn with_marks<'c>(
        &self,
        result: Raw<'c>,
        page: Page<'c>,
        rules: &Rules,
        client: &str,
    ) -> Page<'c> {
        if !self.questions.prompts() {
            return page;
        }
        let is_any_wanted = rules.policy.speaks_of_asking() && !rules.observing(client);
        if !is_any_wanted {
            self.questions.marked().clear();
            return page;
        }
        let (shown, removed) = match &page.filtered {
            Filtered::Unchanged => (Cow::Borrowed(result.text()), 0),
            Filtered::Rewritten { result, removed } => (String::from_utf8_lossy(result), *removed),
            Filtered::Unusable(_) => return page,
        };
        let has_decider = self.approvals.has_decider();
        let Ok(shown) = Raw::parse(&shown) else { return page };
        let marked = with_user_interaction(shown, |tool| {
            let wanted = self.is_mark_wanted(rules, client, tool, has_decider);
            self.questions.mark(tool, wanted);
            wanted
        });
        match marked {
            Ok(Some(result)) => Page { filtered: Filtered::Rewritten { result, removed }, ..page },
            Ok(None) | Err(_) => page,
        }
    }

    /// Is the client to ask about each call of this tool?
    fn is_mark_wanted(&self, rules: &Rules, client: &str, tool: &str, has_decider: bool) -> bool {
        let Some(Questioned { always, asked_in }) = rules.policy.questioned(client, tool, wall_ms()) else {
            return false;
        };
        if rules.observing(client) || rules.allows_for_a_while(client, tool) {
            return false;
        }
        match asked_in {
            AskedIn::Client | AskedIn::Both => true,
            // Unasked for, nobody is prompted for calls that no rule asks about.
            AskedIn::Either => always && !has_decider,
            AskedIn::Callgate => false,
        }
    }

    /// Did the client ask about a call of this tool, as far as that can be told, and does that count?
    pub(crate) fn is_asked_by_client(&self, rules: &Rules, client: &str, tool: &str) -> bool {
        if !self.questions.prompts() {
            return false;
        }
        let has_decider = self.approvals.has_decider();
        let marked = self.questions.is_marked(tool);
        if self.is_mark_wanted(rules, client, tool, has_decider) != marked {
            // Somebody came who can decide, or nobody is there any more: its next call is asked about in the right place.
            self.tell_list_changed();
        }
        let counts = match rules.policy.ask_settings(client, tool, wall_ms()).asked_in.unwrap_or_default() {
            AskedIn::Client => true,
            AskedIn::Either => !has_decider,
            AskedIn::Callgate | AskedIn::Both => false,
        };
        counts && marked
    }

    /// Other rules may ask about other tools.
    pub(crate) fn tell_marks_changed(&self) {
        if self.questions.prompts() {
            self.tell_list_changed();
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn only_a_client_that_is_known_to_prompt_counts_as_one() {
        for (info, prompts) in [
            (r#"{"name":"claude-code","version":"2.1.199"}"#, true),
            (r#"{"name":"claude-code","version":"2.1.325 (beta)"}"#, true),
            (r#"{"name":"claude-code","version":"2.2.0-dev"}"#, true),
            (r#"{"name":"claude-code","version":"10.0.0"}"#, true),
            (r#"{"name":"claude-code","version":"2.1.198"}"#, false),
            (r#"{"name":"claude-code","version":"2.1"}"#, false),
            (r#"{"name":"claude-code","version":"new"}"#, false),
            (r#"{"name":"claude-code"}"#, false),
            (r#"{"name":"claude-code","version":[2,1,325]}"#, false),
            (r#"{"name":"claude-code ","version":"2.1.325"}"#, false),
            (r#"{"name":"Claude Code","version":"2.1.325"}"#, false),
            (r#"{"name":"codex-mcp-client","version":"2.1.325"}"#, false),
        ] {
            let questions = ClientQuestions::default();
            let opened = format!(r#"{{"clientInfo":{info}}}"#);
            questions.learn("initialize", Some(Raw::parse(&opened).unwrap()));
            assert_eq!(questions.prompts(), prompts, "{info}");
            let stateless = format!(r#"{{"_meta":{{"io.modelcontextprotocol/clientInfo":{info}}}}}"#);
            let questions = ClientQuestions::default();
            questions.learn("tools/list", Some(Raw::parse(&stateless).unwrap()));
            assert_eq!(questions.prompts(), prompts, "{info}");
            questions.learn("tools/list", None);
            assert_eq!(questions.prompts(), prompts, "{info}: it has said so");
            questions.learn("initialize", None);
            assert!(!questions.prompts(), "another handshake");
        }
    }

    #[test]
    fn what_a_client_has_of_a_tool_is_what_it_got_last() {
        let questions = ClientQuestions::default();
        questions.prompts.store(true, Ordering::Relaxed);
        questions.mark("a", true);
        assert!(questions.is_marked("a") && !questions.is_marked("b"));
        questions.mark("a", false);
        assert!(!questions.is_marked("a"));
        questions.mark("a", true);
        questions.prompts.store(false, Ordering::Relaxed);
        assert!(!questions.is_marked("a"), "another client has the same list");
    }
}
