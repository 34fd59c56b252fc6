//! How this server answers a call of a tool that it does not have, for calls of tools that are hidden: whoever asks must not be
//! able to tell the two apart.
//!
//! The form is the server's own once such an answer has passed by, in this session or in an earlier one of the same version;
//! until then it is that of the SDK which its handshake speaks like. Nothing is sent to find out.

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
    /// As the server itself answered, with a handshake and without.
    seen: [Option<UnknownTool>; 2],
    /// What earlier sessions saw has been looked up.
    recalled: bool,
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
        *self.forms() = Forms { usual: Some(usual), info, ..Forms::default() };
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
    ) -> Option<UnknownToolAnswer> {
        let line = std::str::from_utf8(line).ok()?;
        let args = call.args.as_deref().map(Raw::parse).transpose().ok()?;
        let form = UnknownTool::seen(line, &UnlistedCall { name: &call.name, args }, listed)?;
        let info = {
            let mut forms = self.forms();
            let seen = &mut forms.seen[usize::from(call.stateless)];
            if seen.as_ref() == Some(&form) {
                return None;
            }
            *seen = Some(form.clone());
            forms.info.clone()
        };
        let (stateless, form) = (call.stateless, form.as_text().to_owned());
        Some(UnknownToolAnswer { server_info: info, stateless, form })
    }

    /// For later sessions: this one knows, whatever the disk says.
    pub(crate) fn keep(&self, answer: &UnknownToolAnswer) {
        drop(catalogue::keep_unknown_tool(&self.home, &self.masker, &self.server, answer));
    }

    /// The answer to a call of a hidden tool.
    pub(crate) fn answer(&self, id: &IdKey, name: &str, stateless: bool) -> Vec<u8> {
        let mut forms = self.forms();
        if !std::mem::replace(&mut forms.recalled, true) {
            self.recall(&mut forms);
        }
        let seen = forms.seen[usize::from(stateless)].as_ref();
        let usual = if stateless { forms.usual_stateless.as_ref() } else { forms.usual.as_ref() };
        match seen.or(usual) {
            Some(form) => form.answer(id, name),
            None if stateless => UnknownTool::usual_stateless(None).answer(id, name),
            None => UnknownTool::usual(None).answer(id, name),
        }
    }

    fn recall(&self, forms: &mut Forms) {
        // A list that cannot be read tells nothing, and a person hears of it elsewhere.
        let Ok(Some(known)) = catalogue::read(&self.home, &self.server) else { return };
        for answer in known.unknown_tools.iter().filter(|answer| answer.server_info == forms.info) {
            let seen = &mut forms.seen[usize::from(answer.stateless)];
            if seen.is_none() {
                *seen = UnknownTool::from_text(&answer.form);
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

    #[test]
    fn what_one_session_saw_the_next_one_knows_unless_the_server_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        home.prepare().unwrap();
        let definition = Raw::parse("{}").unwrap();
        catalogue::write(&home, &Masker::default(), "s", 1, [("get", definition)]).unwrap();
        let first = session(&home, HELLO);
        assert!(hidden(&first).contains("MCP error -32602: Tool move_file not found"), "{}", hidden(&first));
        let call = Unlisted::new("no_such", None, false).unwrap();
        let learned = first.answered(UNKNOWN.as_bytes(), &call, |_| false).unwrap();
        first.keep(&learned);
        let expected = UNKNOWN.replace("no_such", "move_file");
        assert_eq!(hidden(&first), expected);
        assert_eq!(hidden(&session(&home, HELLO)), expected, "a later session");
        let newer = session(&home, &HELLO.replace(r#""version":"1""#, r#""version":"2""#));
        assert!(hidden(&newer).contains("MCP error"), "{}", hidden(&newer));
    }

    #[test]
    fn a_large_call_teaches_nothing() {
        let args = format!("\"{}\"", "x".repeat(MOST_ARGUMENTS));
        assert!(Unlisted::new("no_such", Some(Raw::parse(&args).unwrap()), false).is_none());
    }
}
