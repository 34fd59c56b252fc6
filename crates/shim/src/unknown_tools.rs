//! How this server answers a call of a tool that it does not have, for calls of tools that are hidden: whoever asks must not be
//! able to tell the two apart.
//!
//! The form is the server's own once its answers to two different names had it in common, in this session or in an earlier one
//! of the same version; until then, and after an answer that does not fit, it is that of the SDK which its handshake speaks
//! like. Nothing is sent to find out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_protocol::id::IdKey;
use callgate_protocol::json::Raw;
use callgate_protocol::unknown_tool::{UnknownTool, UnlistedCall};
use callgate_store::Home;
use callgate_store::catalogue::{self, UnknownToolAnswer};
use callgate_store::mask::Masker;

/// Arguments larger than this are not looked for in an answer: then nothing is learned from it.
const MOST_ARGUMENTS: usize = 4096;
/// What a server says of itself is told apart by so much of it.
const MOST_INFO: usize = 1024;
/// A server whose answers have so often not been what the last one suggested has no form. It also bounds how often a session
/// writes.
const MOST_CHANGES: u8 = 4;

#[derive(Debug)]
pub(crate) struct UnknownTools {
    home: Home,
    server: String,
    masker: Masker,
    forms: Mutex<Forms>,
}

#[derive(Debug, Default)]
struct Forms {
    /// As the server's SDK would answer, by its handshake; without one, by its first list.
    usual: Option<UnknownTool>,
    usual_stateless: Option<UnknownTool>,
    /// What the server said of itself.
    info: String,
    /// As the server itself answers, with a handshake and without.
    own: [OwnForm; 2],
    /// How often one of them turned out to be wrong, in the whole session.
    changes: u8,
    /// What earlier sessions saw has been looked up.
    recalled: bool,
}

#[derive(Debug, Default)]
enum OwnForm {
    #[default]
    Unseen,
    /// An answer suggests it, to a call of a tool of this name.
    Suggested(UnknownTool, String),
    /// Another name gave the same.
    Confirmed(UnknownTool),
}

/// What later sessions should know of the answers that passed by.
#[derive(Debug)]
pub(crate) enum Lesson {
    Keep(UnknownToolAnswer),
    Forget(UnknownToolAnswer),
}

/// A call under way of a tool that the server does not list.
#[derive(Debug)]
pub(crate) struct Unlisted {
    name: String,
    args: Option<String>,
    stateless: bool,
}

impl Unlisted {
    /// None where nothing could be learned from the answer.
    pub(crate) fn new(name: &str, args: Option<Raw<'_>>, stateless: bool) -> Option<Box<Unlisted>> {
        let args = args.map(|args| args.text());
        let small = args.is_none_or(|args| args.len() <= MOST_ARGUMENTS);
        small.then(|| Box::new(Unlisted { name: name.to_owned(), args: args.map(str::to_owned), stateless }))
    }
}

impl UnknownTools {
    pub(crate) fn new(home: Home, server: &str, masker: Masker) -> UnknownTools {
        UnknownTools { home, server: server.to_owned(), masker, forms: Mutex::default() }
    }

    fn forms(&self) -> MutexGuard<'_, Forms> {
        self.forms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server answered the handshake.
    pub(crate) fn greeted(&self, line: &[u8], result: Raw<'_>) {
        let usual = UnknownTool::usual(std::str::from_utf8(line).ok());
        let info = result.get("serverInfo").map_or("", |info| info.text());
        let info = info.chars().take(MOST_INFO).collect();
        let mut forms = self.forms();
        *forms = Forms { usual: Some(usual), info, changes: forms.changes, ..Forms::default() };
    }

    /// The server listed its tools, to whom there was no handshake with.
    pub(crate) fn listed(&self, line: &[u8]) {
        let mut forms = self.forms();
        if forms.usual.is_none() && forms.usual_stateless.is_none() {
            forms.usual_stateless = Some(UnknownTool::usual_stateless(std::str::from_utf8(line).ok()));
        }
    }

    /// The server answered a call of a tool that it does not list. Gives what later sessions should know, if it is new.
    pub(crate) fn answered(
        &self,
        line: &[u8],
        call: &Unlisted,
        listed: impl Fn(&str) -> bool,
    ) -> Option<Lesson> {
        let line = std::str::from_utf8(line).ok()?;
        let args = call.args.as_deref().map(Raw::parse).transpose().ok()?;
        let mut forms = self.forms();
        self.recall(&mut forms);
        let Forms { own, changes, info, .. } = &mut *forms;
        let own = &mut own[usize::from(call.stateless)];
        let for_later = |form: &UnknownTool| UnknownToolAnswer {
            server_info: info.clone(),
            stateless: call.stateless,
            form: form.as_text().to_owned(),
        };
        let suggested = || UnknownTool::seen(line, &UnlistedCall { name: &call.name, args }, listed);
        match own {
            OwnForm::Confirmed(form) => {
                if form.fits(line, &call.name) != Some(false) {
                    return None;
                }
                let lesson = Lesson::Forget(for_later(form));
                *changes = changes.saturating_add(1);
                *own = OwnForm::Unseen;
                Some(lesson)
            }
            _ if *changes >= MOST_CHANGES => None,
            OwnForm::Unseen => {
                *own = OwnForm::Suggested(suggested()?, call.name.clone());
                None
            }
            OwnForm::Suggested(form, name) => {
                let new = suggested();
                if new.as_ref() == Some(form) && *name != call.name {
                    let lesson = Lesson::Keep(for_later(form));
                    *own = OwnForm::Confirmed(form.clone());
                    return Some(lesson);
                }
                // One whose name is a word of the answer by chance fits and suggests another.
                if form.fits(line, &call.name) == Some(false) {
                    *changes = changes.saturating_add(1);
                    *own = new.map_or(OwnForm::Unseen, |form| OwnForm::Suggested(form, call.name.clone()));
                }
                None
            }
        }
    }

    /// For later sessions: this one knows, whatever the disk says.
    pub(crate) fn keep(&self, lesson: &Lesson) {
        drop(match lesson {
            Lesson::Keep(answer) => {
                catalogue::keep_unknown_tool(&self.home, &self.masker, &self.server, answer)
            }
            Lesson::Forget(answer) => catalogue::forget_unknown_tool(&self.home, &self.server, answer),
        });
    }

    /// The answer to a call of a hidden tool.
    pub(crate) fn answer(&self, id: &IdKey, name: &str, stateless: bool) -> Vec<u8> {
        let mut forms = self.forms();
        self.recall(&mut forms);
        let own = match &forms.own[usize::from(stateless)] {
            OwnForm::Confirmed(form) => Some(form),
            OwnForm::Unseen | OwnForm::Suggested(..) => None,
        };
        let usual = if stateless { forms.usual_stateless.as_ref() } else { forms.usual.as_ref() };
        match own.or(usual) {
            Some(form) => form.answer(id, name),
            None if stateless => UnknownTool::usual_stateless(None).answer(id, name),
            None => UnknownTool::usual(None).answer(id, name),
        }
    }

    /// What earlier sessions saw, once; before anything of this one counts.
    fn recall(&self, forms: &mut Forms) {
        if std::mem::replace(&mut forms.recalled, true) {
            return;
        }
        // A list that cannot be read tells nothing, and a person hears of it elsewhere.
        let Ok(Some(known)) = catalogue::read(&self.home, &self.server) else { return };
        for answer in known.unknown_tools.iter().filter(|answer| answer.server_info == forms.info) {
            if let Some(form) = UnknownTool::from_text(&answer.form) {
                forms.own[usize::from(answer.stateless)] = OwnForm::Confirmed(form);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    const HELLO: &str = r#"{"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#;
    const UNKNOWN: &str = r#"{"result":{"content":[{"type":"text","text":"no_such? never heard of it"}],"isError":true},"jsonrpc":"2.0","id":7}"#;

    fn session(home: &Home, hello: &str) -> UnknownTools {
        let tools = UnknownTools::new(home.clone(), "s", Masker::default());
        let result = Raw::parse(hello).unwrap().get("result").unwrap();
        tools.greeted(hello.as_bytes(), result);
        tools
    }

    fn hidden(tools: &UnknownTools) -> String {
        String::from_utf8(tools.answer(&IdKey::from_lexeme("7").unwrap(), "move_file", false)).unwrap()
    }

    fn prepared() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        home.prepare().unwrap();
        let definition = Raw::parse("{}").unwrap();
        catalogue::write(&home, &Masker::default(), "s", 1, [("get", definition)]).unwrap();
        (folder, home)
    }

    /// The server answers this line to a call of a tool of this name. Says whether later sessions hear of it.
    fn answers(tools: &UnknownTools, name: &str, line: &str) -> bool {
        let call = Unlisted::new(name, None, false).unwrap();
        let lesson = tools.answered(line.as_bytes(), &call, |_| false);
        lesson.iter().for_each(|lesson| tools.keep(lesson));
        lesson.is_some()
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
        assert!(Unlisted::new("no_such", Some(Raw::parse(&args).unwrap()), false).is_none());
    }
}
