//! Answers for unknown names: how this server answers for tools, resources and prompts that it does not have, for those that are hidden: whoever asks
//! must not be able to tell the two apart.
//!
//! The form is the server's own once its answers to two different names had it in common, in this session or in an earlier one
//! of the same version; until then, and after an answer that does not fit, it is that of the SDK which its handshake speaks
//! like. Nothing is sent to find out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_controls::catalogue::{self, UnknownAnswer};
use callgate_home::Home;
use callgate_protocol::id::IdKey;
use callgate_protocol::json::Raw;
use callgate_protocol::unknown::{Sdk, Thing, UnknownForm, UnlistedCall};
use callgate_redaction::Masker;

/// Arguments larger than this are not looked for in an answer: then nothing is learned from it.
const MOST_ARGUMENTS: usize = 4096;
/// What a server says of itself is told apart by so much of it.
const MOST_INFO: usize = 1024;
/// A server whose answers have so often not been what the last one suggested has no form. It also bounds how often a session
/// writes.
const MOST_CHANGES: u8 = 4;

#[derive(Debug)]
pub(crate) struct UnknownAnswers {
    kept: Arc<Kept>,
    forms: Mutex<Forms>,
}

/// Where what was learned is kept for later sessions.
#[derive(Debug)]
struct Kept {
    home: Home,
    server: String,
    masker: Masker,
}

#[derive(Debug, Default)]
struct Forms {
    /// By the server's handshake; without one, by its first list.
    sdk: Option<Sdk>,
    stateless_sdk: Option<Sdk>,
    /// What the server said of itself.
    info: String,
    /// As the server itself answers, with a handshake and without, for each thing.
    own: [[Own; Thing::ALL.len()]; 2],
    /// It took one for some resource, with a handshake or without.
    subscribes: [bool; 2],
    /// What earlier sessions saw has been looked up.
    recalled: bool,
}

#[derive(Debug, Default)]
struct Own {
    form: OwnForm,
    /// How often one turned out to be wrong, in the whole session.
    changes: u8,
}

#[derive(Debug, Default)]
enum OwnForm {
    #[default]
    Unseen,
    /// An answer suggests it, for this name.
    Suggested(UnknownForm, String),
    /// Another name gave the same.
    Confirmed(UnknownForm),
}

/// What later sessions should know of the answers that passed by.
#[derive(Debug)]
pub(crate) enum Lesson {
    Keep(UnknownAnswer),
    Forget(UnknownAnswer),
}

/// A request under way for something that the server does not list.
#[derive(Debug)]
pub(crate) struct UnlistedRequest {
    pub(crate) thing: Thing,
    pub(crate) name: String,
    args: Option<String>,
    stateless: bool,
}

impl UnlistedRequest {
    /// None where nothing could be learned from the answer.
    pub(crate) fn new(
        thing: Thing,
        name: &str,
        args: Option<Raw<'_>>,
        stateless: bool,
    ) -> Option<Box<UnlistedRequest>> {
        let args = args.map(|args| args.text());
        let small = args.is_none_or(|args| args.len() <= MOST_ARGUMENTS);
        let (name, args) = (name.to_owned(), args.map(str::to_owned));
        small.then(|| Box::new(UnlistedRequest { thing, name, args, stateless }))
    }
}

impl UnknownAnswers {
    pub(crate) fn new(home: Home, server: &str, masker: Masker) -> UnknownAnswers {
        let kept = Arc::new(Kept { home, server: server.to_owned(), masker });
        UnknownAnswers { kept, forms: Mutex::default() }
    }

    fn forms(&self) -> MutexGuard<'_, Forms> {
        self.forms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server answered the handshake.
    pub(crate) fn greeted(&self, line: &[u8], result: Raw<'_>) {
        let sdk = Sdk::of_handshake(std::str::from_utf8(line).unwrap_or_default());
        let info = result.get("serverInfo").map_or("", |info| info.text());
        let info = info.chars().take(MOST_INFO).collect();
        let mut forms = self.forms();
        let own = std::mem::take(&mut forms.own)
            .map(|of| of.map(|Own { changes, .. }| Own { changes, ..Own::default() }));
        *forms = Forms { sdk: Some(sdk), info, own, ..Forms::default() };
    }

    /// The server listed something, to whom there was no handshake with.
    pub(crate) fn listed(&self, line: &[u8]) {
        let mut forms = self.forms();
        if forms.sdk.is_none() && forms.stateless_sdk.is_none() {
            forms.stateless_sdk = Some(Sdk::stateless(std::str::from_utf8(line).ok()));
        }
    }

    /// The server answered for something that it does not list. Gives what later sessions should know, if it is new.
    pub(crate) fn answered(
        &self,
        line: &[u8],
        call: &UnlistedRequest,
        listed: impl Fn(&str) -> bool,
    ) -> Option<Lesson> {
        let line = std::str::from_utf8(line).ok()?;
        let args = call.args.as_deref().map(Raw::parse).transpose().ok()?;
        let mut forms = self.forms();
        self.recall(&mut forms);
        let Forms { own, info, .. } = &mut *forms;
        let UnlistedRequest { thing, name, stateless, .. } = call;
        let Own { form: own, changes } = &mut own[usize::from(*stateless)][*thing as usize];
        let for_later = |form: &UnknownForm| UnknownAnswer {
            thing: *thing,
            server_info: info.clone(),
            stateless: *stateless,
            form: form.as_text().to_owned(),
        };
        let suggested = || UnknownForm::seen(line, &UnlistedCall { thing: *thing, name, args }, listed);
        match own {
            OwnForm::Confirmed(form) => {
                if form.fits(line, *thing, name) != Some(false) {
                    return None;
                }
                let lesson = Lesson::Forget(for_later(form));
                *changes = changes.saturating_add(1);
                *own = OwnForm::Unseen;
                Some(lesson)
            }
            _ if *changes >= MOST_CHANGES => None,
            OwnForm::Unseen => {
                *own = OwnForm::Suggested(suggested()?, name.clone());
                None
            }
            OwnForm::Suggested(form, first) => {
                let new = suggested();
                if new.as_ref() == Some(form) && first != name {
                    let lesson = Lesson::Keep(for_later(form));
                    *own = OwnForm::Confirmed(form.clone());
                    return Some(lesson);
                }
                // One whose name is a word of the answer by chance fits and suggests another.
                if form.fits(line, *thing, name) == Some(false) {
                    *changes = changes.saturating_add(1);
                    *own = new.map_or(OwnForm::Unseen, |form| OwnForm::Suggested(form, name.clone()));
                }
                None
            }
        }
    }

    /// Did the server take a subscription, for a resource that it lists or not?
    pub(crate) fn subscribed(&self, line: &[u8], call: &UnlistedRequest) -> bool {
        let taken = call.thing.is_accepted_by(std::str::from_utf8(line).unwrap_or_default());
        if taken {
            self.forms().subscribes[usize::from(call.stateless)] = true;
        }
        taken
    }

    /// Keeps it for later sessions, when it is run: this one knows, whatever the disk says.
    pub(crate) fn keeping(&self, lesson: Lesson) -> impl FnOnce() + Send + use<> {
        let kept = self.kept.clone();
        move || {
            drop(match &lesson {
                Lesson::Keep(answer) => {
                    catalogue::keep_unknown(&kept.home, &kept.masker, &kept.server, answer)
                }
                Lesson::Forget(answer) => catalogue::forget_unknown(&kept.home, &kept.server, answer),
            });
        }
    }

    /// The answer to a request for something that is hidden.
    pub(crate) fn answer(&self, thing: Thing, id: &IdKey, name: &str, stateless: bool) -> Vec<u8> {
        let mut forms = self.forms();
        self.recall(&mut forms);
        if let OwnForm::Confirmed(form) = &forms.own[usize::from(stateless)][thing as usize].form {
            return form.answer(thing, id, name);
        }
        forms.sdk(stateless).unknown(thing).answer(thing, id, name)
    }

    /// The answer to a request that asks for the arguments of something hidden.
    pub(crate) fn completion(&self, thing: Thing, id: &IdKey, name: &str, stateless: bool) -> Vec<u8> {
        self.forms().sdk(stateless).unknown_completion(thing).answer(thing, id, name)
    }

    /// What earlier sessions saw, once; before anything of this one counts.
    fn recall(&self, forms: &mut Forms) {
        if std::mem::replace(&mut forms.recalled, true) {
            return;
        }
        // A list that cannot be read tells nothing, and a person hears of it elsewhere.
        let Ok(Some(known)) = catalogue::read(&self.kept.home, &self.kept.server) else { return };
        for answer in known.unknown.iter().filter(|answer| answer.server_info == forms.info) {
            if let Some(form) = UnknownForm::from_text(&answer.form) {
                let own = &mut forms.own[usize::from(answer.stateless)][answer.thing as usize];
                own.form = OwnForm::Confirmed(form);
            }
        }
    }
}

impl Forms {
    fn sdk(&self, stateless: bool) -> Sdk {
        let sdk = if stateless { &self.stateless_sdk } else { &self.sdk };
        let usual = || if stateless { Sdk::stateless(None) } else { Sdk::default() };
        let sdk = sdk.clone().unwrap_or_else(usual);
        if self.subscribes[usize::from(stateless)] { sdk.that_subscribes() } else { sdk }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    const HELLO: &str = r#"{"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#;
    const UNKNOWN: &str = r#"{"result":{"content":[{"type":"text","text":"no_such? never heard of it"}],"isError":true},"jsonrpc":"2.0","id":7}"#;

    fn session(home: &Home, hello: &str) -> UnknownAnswers {
        let tools = UnknownAnswers::new(home.clone(), "s", Masker::default());
        let result = Raw::parse(hello).unwrap().get("result").unwrap();
        tools.greeted(hello.as_bytes(), result);
        tools
    }

    fn hidden(tools: &UnknownAnswers) -> String {
        String::from_utf8(tools.answer(Thing::Tool, &IdKey::from_lexeme("7").unwrap(), "move_file", false))
            .unwrap()
    }

    fn prepared() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        let definition = Raw::parse("{}").unwrap();
        catalogue::write(&home, &Masker::default(), "s", 1, [("get", definition)]).unwrap();
        (folder, home)
    }

    /// The server answers this line to a call of a tool of this name. Says whether later sessions hear of it.
    fn answers(tools: &UnknownAnswers, name: &str, line: &str) -> bool {
        answers_for(tools, Thing::Tool, name, line)
    }

    fn answers_for(tools: &UnknownAnswers, thing: Thing, name: &str, line: &str) -> bool {
        let call = UnlistedRequest::new(thing, name, None, false).unwrap();
        let lesson = tools.answered(line.as_bytes(), &call, |_| false);
        lesson.map(|lesson| tools.keeping(lesson)()).is_some()
    }

    fn error(message: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":-32602,"message":"{message}"}}}}"#)
    }

    const USUAL: &str = "MCP error -32602: Tool move_file not found";

    #[test]
    fn what_one_session_saw_the_next_one_knows_unless_the_server_is_another() {
        let (_folder, home) = prepared();
        let first = session(&home, HELLO);
        assert!(hidden(&first).contains(USUAL), "{}", hidden(&first));
        for _ in 0..2 {
            assert!(!answers(&first, "no_such", UNKNOWN));
            assert!(hidden(&first).contains(USUAL), "one name is not enough: {}", hidden(&first));
        }
        assert!(hidden(&session(&home, HELLO)).contains(USUAL), "nor in a later session");
        assert!(answers(&first, "other", &UNKNOWN.replace("no_such", "other")));
        let expected = UNKNOWN.replace("no_such", "move_file");
        assert_eq!(hidden(&first), expected);
        assert_eq!(hidden(&session(&home, HELLO)), expected, "a later session");
        let newer = session(&home, &HELLO.replace(r#""version":"1""#, r#""version":"2""#));
        assert!(hidden(&newer).contains(USUAL), "{}", hidden(&newer));
    }

    #[test]
    fn a_server_that_does_not_repeat_the_name_is_learned_too() {
        let (_folder, home) = prepared();
        let tools = session(&home, HELLO);
        answers(&tools, "secret", &error("No such tool"));
        answers(&tools, "other", &error("No such tool"));
        assert_eq!(hidden(&tools), error("No such tool"));
        assert_eq!(hidden(&session(&home, HELLO)), error("No such tool"), "a later session");
    }

    #[test]
    fn a_hidden_resource_and_a_hidden_prompt_read_as_absent_ones_of_this_server_do() {
        let (_folder, home) = prepared();
        let first = session(&home, HELLO);
        let hidden = |session: &UnknownAnswers, thing| {
            let said = session.answer(thing, &IdKey::from_lexeme("7").unwrap(), "s://secret", false);
            String::from_utf8(said).unwrap()
        };
        for (thing, usual) in [(Thing::Resource, "Resource"), (Thing::Prompt, "Prompt")] {
            let usual = error(&format!("MCP error -32602: {usual} s://secret not found"));
            assert_eq!(hidden(&first, thing), usual, "as its SDK has it");
        }
        assert!(!answers_for(&first, Thing::Resource, "s://one", &error("Gone: s://one")));
        assert!(answers_for(&first, Thing::Resource, "s://two", &error("Gone: s://two")));
        for session in [&first, &session(&home, HELLO)] {
            assert_eq!(hidden(session, Thing::Resource), error("Gone: s://secret"));
            assert!(
                hidden(session, Thing::Prompt).contains("Prompt s://secret not found"),
                "of resources alone"
            );
        }
    }

    #[test]
    fn subscribing_to_a_hidden_resource_reads_as_subscribing_to_an_absent_one_does() {
        let (_folder, home) = prepared();
        let said = |session: &UnknownAnswers, thing| {
            let said = session.answer(thing, &IdKey::from_lexeme("7").unwrap(), "s://secret", false);
            String::from_utf8(said).unwrap()
        };
        let accepted = r#"{"result":{},"jsonrpc":"2.0","id":7}"#;
        let no_method = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}"#;
        // It says nothing of subscriptions, then takes one.
        let session = session(&home, HELLO);
        let both = [Thing::Subscription, Thing::Unsubscription];
        assert_eq!(both.map(|thing| said(&session, thing)), [no_method, no_method]);
        let listed = UnlistedRequest::new(Thing::Subscription, "s://listed", None, false).unwrap();
        assert!(!session.subscribed(no_method.as_bytes(), &listed));
        assert!(session.subscribed(accepted.as_bytes(), &listed));
        assert_eq!(both.map(|thing| said(&session, thing)), [accepted, accepted]);
        // Its own words, of this method alone.
        for (name, is_new) in [("s://one", false), ("s://two", true)] {
            assert_eq!(
                answers_for(&session, Thing::Subscription, name, &error(&format!("No {name}"))),
                is_new
            );
        }
        assert_eq!(both.map(|thing| said(&session, thing)), [error("No s://secret").as_str(), accepted]);
        assert!(said(&session, Thing::Resource).contains("Resource s://secret not found"));
    }

    #[test]
    fn resources_that_fail_in_many_ways_do_not_keep_tools_from_being_learned() {
        let (_folder, home) = prepared();
        let tools = session(&home, HELLO);
        for n in 0..20 {
            answers_for(&tools, Thing::Resource, &format!("s://name{n}"), &error(&format!("Busy {n}")));
        }
        answers(&tools, "first", &error("No such tool"));
        assert!(answers(&tools, "second", &error("No such tool")));
    }

    #[test]
    fn an_agent_that_calls_words_of_the_answer_does_not_change_how_hidden_tools_read() {
        let (_folder, home) = prepared();
        let tools = session(&home, HELLO);
        for name in ["tool", "message", "such", "No", "error", "tool", "such"] {
            assert!(!answers(&tools, name, &error("No such tool")), "{name}");
            assert!(hidden(&tools).contains(USUAL), "{name}: {}", hidden(&tools));
        }
        let tools = session(&home, HELLO);
        for name in ["first", "tool", "second", "tool", "message", "such"] {
            answers(&tools, name, &error("No such tool"));
        }
        assert_eq!(hidden(&tools), error("No such tool"));
        assert_eq!(hidden(&session(&home, HELLO)), error("No such tool"), "a later session");
    }

    #[test]
    fn a_form_that_another_answer_contradicts_counts_no_more_and_is_not_kept() {
        let (_folder, home) = prepared();
        let tools = session(&home, HELLO);
        answers(&tools, "first", &error("Busy"));
        answers(&tools, "second", &error("Busy"));
        assert_eq!(hidden(&tools), error("Busy"));
        let later = session(&home, HELLO);
        assert!(answers(&later, "third", &error("Unknown: third")));
        assert!(hidden(&later).contains(USUAL), "{}", hidden(&later));
        assert!(hidden(&session(&home, HELLO)).contains(USUAL), "nor in a later session");
    }

    #[test]
    fn a_server_that_words_its_answer_anew_each_time_is_not_written_down_again_and_again() {
        let (_folder, home) = prepared();
        let tools = session(&home, HELLO);
        let written = (0..100).filter(|n| {
            let text = error(&format!("Busy {}", n / 2));
            answers(&tools, &format!("name_{}", ["first", "second"][n % 2]), &text)
        });
        assert!(written.count() <= 2 * usize::from(MOST_CHANGES));
        assert!(hidden(&tools).contains(USUAL), "{}", hidden(&tools));
        answers(&tools, "first", &error("No such tool"));
        answers(&tools, "second", &error("No such tool"));
        assert!(hidden(&tools).contains(USUAL), "nothing more is learned: {}", hidden(&tools));
    }

    #[test]
    fn a_large_call_teaches_nothing() {
        let args = format!("\"{}\"", "x".repeat(MOST_ARGUMENTS));
        assert!(
            UnlistedRequest::new(Thing::Tool, "no_such", Some(Raw::parse(&args).unwrap()), false).is_none()
        );
    }
}
