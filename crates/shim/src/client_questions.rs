//! Client questions: what a client can ask its person by itself, in place of Callgate or beside it.
//!
//! Claude Code prompts before each call of a tool whose entry in the list says so, whatever mode it is in. Whether it did is
//! never known here: what passes for it is recorded as asked by the client, and counts only for a tool whose entry went to this
//! client with the mark. The mark is ours and put in on the way out, so no fingerprint knows it.
//!
//! Others show a form, in the middle of a call or between two legs of one. What it is answered with may be no person's answer
//! either, so a form is put only for a call that it shows whole and that can be borne.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_controls::approval::Arguments;
use callgate_home::clock::wall_ms;
use callgate_policy::{AskedIn, Questioned};
use callgate_protocol::form::can_show;
use callgate_protocol::json::Raw;
use callgate_protocol::lists::{Filtered, Page};
use callgate_protocol::tools::with_user_interaction;

use crate::admission::ClientRequest;
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

/// How long the name of a tool may be, and its arguments, to be shown in a form.
const LONGEST_NAME: usize = 128;
const LONGEST_ARGUMENTS: usize = 1_500;
/// And the words of a rule, in characters, which are cut.
const LONGEST_REASON: usize = 300;

/// How a client is asked to put a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Road {
    /// By a request of its own, while the call waits.
    Form,
    /// In the answer to the call, which comes again.
    TwoLegs,
}

/// A question that a client is to put to its person.
#[derive(Clone, Debug)]
pub(crate) struct ClientQuestion {
    pub(crate) road: Road,
    pub(crate) message: String,
}

#[derive(Debug, Default)]
pub(crate) struct ClientQuestions {
    /// It prompts for tools that are marked.
    prompts: AtomicBool,
    /// It shows forms that are put to it as requests (until 2025-11-25).
    shows_forms: AtomicBool,
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
        if method == "initialize" {
            let shows = can_show(params.and_then(|params| params.get("capabilities")));
            self.shows_forms.store(shows, Ordering::Relaxed);
        }
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

    /// The question about this call, if its client is to put it. What can only be shown in part is not asked there, and nothing
    /// that an answer which may be no person's must not decide. May wait for a process.
    pub(crate) fn client_question(
        &self,
        request: &ClientRequest<'_>,
        asked_in: AskedIn,
        (arguments, reason): (Option<&Arguments>, &str),
    ) -> Option<ClientQuestion> {
        let is_meant = match asked_in {
            AskedIn::Client => true,
            AskedIn::Either => !self.approvals.has_decider(),
            AskedIn::Callgate | AskedIn::Both => false,
        };
        let request = &request.request;
        // A call that answers its server has no place for another answer.
        let road = match request.is_stateless() {
            true => (request.shows_forms() && !request.answers_server()).then_some(Road::TwoLegs),
            false => self.questions.shows_forms.load(Ordering::Relaxed).then_some(Road::Form),
        };
        let road = road.filter(|_| is_meant)?;
        let (tool, server) = (&*request.name, self.approvals.server());
        let message = question_words((server, tool), arguments, reason)?;
        let definition = self.tools.definition_text(tool);
        self.approvals.are_bearable(tool, definition).then_some(ClientQuestion { road, message })
    }

    /// Other rules may ask about other tools.
    pub(crate) fn tell_marks_changed(&self) {
        if self.questions.prompts() {
            self.tell_list_changed();
        }
    }
}

/// The question in words; none if what it is about cannot be shown whole.
fn question_words(
    (server, tool): (&str, &str),
    arguments: Option<&Arguments>,
    reason: &str,
) -> Option<String> {
    let shown = match arguments {
        None => "It has no arguments.".to_owned(),
        Some(arguments) if arguments.complete && arguments.masked == 0 => {
            format!("Its arguments: {}", visible(&arguments.text)?)
        }
        Some(_) => return None,
    };
    let reason: String = reason.trim_end_matches('.').chars().take(LONGEST_REASON).collect();
    let tool = visible(tool).filter(|tool| tool.len() <= LONGEST_NAME)?;
    let server: String = server.chars().take(LONGEST_NAME).collect();
    Some(format!("Callgate asks: may \"{tool}\" of {server} be called, this once? ({reason}) {shown}"))
}

/// JSON as it is, with an escape for every character that may be shown otherwise than it is, or not at all. None: it is too long.
fn visible(json: &str) -> Option<String> {
    let is_filler =
        |c| matches!(c, '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}');
    let mut shown = String::new();
    for c in json.chars() {
        match c {
            ' ' | '!'..='~' => shown.push(c),
            // Between values alone: in a text they are escaped already.
            '\n' | '\r' | '\t' => shown.push(' '),
            c if c.is_alphanumeric() && !is_filler(c) => shown.push(c),
            c => {
                let escape = |unit: &u16| format!("\\u{unit:04x}");
                shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(escape));
            }
        }
        if shown.len() > LONGEST_ARGUMENTS {
            return None;
        }
    }
    Some(shown)
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
    fn a_question_shows_all_of_a_call_or_is_not_put() {
        let of = |text: &str, complete| Arguments {
            text: text.to_owned(),
            bytes: text.len() as u64,
            complete,
            masked: 0,
        };
        let words =
            |tool, arguments: Option<&Arguments>| question_words(("files", tool), arguments, "look twice.");
        assert_eq!(
            words("delete", Some(&of("{\"a\":\n\"\u{e4}\u{202e}\u{1f600}\u{200b}\"}", true))).unwrap(),
            r#"Callgate asks: may "delete" of files be called, this once? (look twice) Its arguments: {"a": "ä\u202e\ud83d\ude00\u200b"}"#
        );
        assert!(words("delete", None).unwrap().ends_with("It has no arguments."));
        assert_eq!(words("delete", Some(&of("{}", false))), None, "a part of it");
        let masked = Arguments { masked: 1, ..of("{\"password\":\"[masked, 9 characters]\"}", true) };
        assert_eq!(words("delete", Some(&masked)), None, "something in it cannot be read");
        assert_eq!(words("delete", Some(&of(&"x".repeat(LONGEST_ARGUMENTS + 1), true))), None, "too long");
        let long = "x".repeat(LONGEST_NAME + 1);
        assert_eq!(question_words(("files", &long), None, "look twice."), None, "too long a name");
        assert!(words("de\u{200b}lete\n", None).unwrap().contains(r#""de\u200blete ""#));
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
