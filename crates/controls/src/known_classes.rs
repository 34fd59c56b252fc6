//! Classes of one server's tools as rules ask for them: each definition is classified once, off the way of calls.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use callgate_home::Home;
use callgate_policy::{ToolClass, ToolClasses};
use callgate_protocol::digest::{Digest, definition_digest};
use callgate_protocol::json::Raw;
use callgate_redaction::Masker;
use callgate_risk::{KnownServer, RiskClass};
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::catalogue::{self, Catalogue};
use crate::classes::{self, Correction};

/// Of definitions that were classified, so many are remembered.
const MOST_REMEMBERED: usize = 20_000;

/// What is known of one server's tools. Shared by those who learn and those who ask.
#[derive(Debug)]
pub struct KnownClasses {
    home: Home,
    server: String,
    /// By what was installed.
    known: Option<&'static KnownServer>,
    /// With which definitions are kept, and so shown to a person.
    masker: OnceLock<Masker>,
    state: Mutex<ClassState>,
}

#[derive(Debug, Default)]
struct ClassState {
    /// Rules ask for classes; else nothing is learned.
    wanted: bool,
    tools: FxHashMap<String, Definition>,
    told: FxHashMap<(String, Digest), Told>,
    corrections: BTreeMap<String, Correction>,
    /// What a person says of classes could never be read.
    unread: bool,
}

#[derive(Clone, Debug)]
enum Definition {
    /// As it is kept on disk, and not classified yet.
    Kept(String),
    Told(Told),
}

/// A class, and the definition as a person sees it.
#[derive(Clone, Copy, Debug)]
struct Told(RiskClass, Option<Digest>);

impl KnownClasses {
    /// `command`: the words that start the server.
    pub fn new(home: &Home, server: &str, command: &[String]) -> KnownClasses {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        KnownClasses::with(home, server, KnownServer::by_command(&words))
    }

    /// What the server listed last, as it is kept on disk: for whoever judges without it.
    pub fn of_catalogue(home: &Home, catalogue: Catalogue) -> KnownClasses {
        let known = catalogue.installed.as_deref().and_then(KnownServer::by_name);
        let all = KnownClasses::with(home, &catalogue.server, known);
        all.lock().wanted = true;
        let _gravest = all.correct();
        all.remember(catalogue);
        all
    }

    fn with(home: &Home, server: &str, known: Option<&'static KnownServer>) -> KnownClasses {
        KnownClasses {
            home: home.clone(),
            server: server.to_owned(),
            known,
            masker: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// With what the session masks what it keeps.
    pub fn keep_with(&self, masker: Masker) {
        let _once = self.masker.set(masker);
    }

    /// The package that it was installed from, if that is a known one.
    pub fn installed(&self) -> Option<&'static str> {
        self.known.and_then(|known| known.packages.first().or(known.names.first())).map(String::as_str)
    }

    /// Rules ask for classes from now on. Until the server lists its tools, what it listed last counts.
    pub fn begin(&self) {
        if std::mem::replace(&mut self.lock().wanted, true) {
            return;
        }
        let _again_later = self.correct();
        if let Ok(Some(catalogue)) = catalogue::read(&self.home, &self.server) {
            self.remember(catalogue);
        }
    }

    /// Each is classified when somebody asks for it.
    fn remember(&self, catalogue: Catalogue) {
        let kept = catalogue.tools.into_iter().map(|tool| (tool.name, Definition::Kept(tool.definition)));
        self.lock().tools = kept.collect();
    }

    /// Reads what a person says of classes; says whether it is another thing than before. Where it cannot be read, what was read before
    /// goes on; until it was read once, each tool may be what a person called destructive.
    pub fn correct(&self) -> io::Result<bool> {
        let read = classes::read(&self.home);
        let mut state = self.lock();
        let own = match read {
            Ok(mut all) => all.remove(&self.server).unwrap_or_default(),
            Err(error) => {
                state.unread |= state.corrections.is_empty();
                return Err(error);
            }
        };
        let differs = state.corrections != own || state.unread;
        (state.corrections, state.unread) = (own, false);
        Ok(differs)
    }

    /// A whole list, as names with definitions. Of two tools with one name the first counts.
    pub fn learn<'t>(&self, listed: impl IntoIterator<Item = (&'t str, &'t str)>) {
        if !self.lock().wanted {
            return;
        }
        let mut tools = FxHashMap::default();
        for (name, definition) in listed {
            if !tools.contains_key(name)
                && let Some(told) = self.tell(name, definition)
            {
                tools.insert(name.to_owned(), Definition::Told(told));
            }
        }
        self.lock().tools = tools;
    }

    /// One tool of a list that a client is about to see: its next call is held against this.
    pub fn meet(&self, name: &str, definition: &str) -> ToolClass {
        // One that cannot be read counts as one of which nothing is known.
        let Some(told) = self.tell(name, definition) else {
            self.lock().tools.remove(name);
            return self.guess(name);
        };
        let mut state = self.lock();
        state.tools.insert(name.to_owned(), Definition::Told(told));
        state.corrected(name, told)
    }

    /// Once for each definition.
    fn tell(&self, name: &str, definition: &str) -> Option<Told> {
        let key = (name.to_owned(), definition_digest(Raw::parse(definition).ok()?));
        if let Some(told) = self.lock().told.get(&key) {
            return Some(*told);
        }
        let kept = self.masker.get().map(|masker| masker.keep_definition(definition));
        let told = self.classify(name, definition, kept.as_deref().unwrap_or(definition))?;
        let mut state = self.lock();
        if state.told.len() >= MOST_REMEMBERED {
            state.told.clear();
        }
        state.told.insert(key, told);
        Some(told)
    }

    fn classify(&self, name: &str, definition: &str, kept: &str) -> Option<Told> {
        let parsed: Value = serde_json::from_str(definition).ok()?;
        let class = classes::assess(&self.server, self.known, name, &parsed).class;
        Some(Told(class, classes::digest(kept)))
    }

    fn lock(&self) -> MutexGuard<'_, ClassState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClassState {
    fn corrected(&self, name: &str, Told(told, definition): Told) -> ToolClass {
        let said = self.corrections.get(name).and_then(|said| said.applies(told, definition));
        let class = classes::in_rules(said.unwrap_or(told));
        if self.unread { class.max(ToolClass::Destructive) } else { class }
    }
}

impl ToolClasses for KnownClasses {
    fn known(&self, tool: &str) -> Option<ToolClass> {
        let kept = {
            let state = self.lock();
            match state.tools.get(tool)? {
                Definition::Told(told) => return Some(state.corrected(tool, *told)),
                Definition::Kept(kept) => kept.clone(),
            }
        };
        let told = self.classify(tool, &kept, &kept)?;
        let mut state = self.lock();
        // A list that came meanwhile knows better.
        if let Some(place @ Definition::Kept(_)) = state.tools.get_mut(tool) {
            *place = Definition::Told(told);
        }
        Some(state.corrected(tool, told))
    }

    /// By the name alone, which can only make it graver.
    fn guess(&self, tool: &str) -> ToolClass {
        let told = classes::assess(&self.server, self.known, tool, &Value::Null).class;
        let least = if self.lock().unread { ToolClass::Destructive } else { ToolClass::CAUTIOUS };
        classes::in_rules(told).max(least)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::prepare::testing::home;

    const READS: &str = r#"{"name":"notes","description":"Lists all notes."}"#;
    const DELETES: &str = r#"{"name":"notes","description":"Permanently deletes all notes."}"#;

    #[test]
    fn a_tool_that_is_described_anew_is_classified_anew_and_what_was_said_of_it_is_over() {
        let (_folder, home) = home();
        let all = KnownClasses::new(&home, "s", &[]);
        all.learn([("notes", READS)]);
        assert_eq!(all.known("notes"), None, "nobody asks for it yet");
        all.begin();
        all.learn([("notes", READS)]);
        assert_eq!(all.known("notes"), Some(ToolClass::Read));
        all.learn([("notes", DELETES)]);
        assert_eq!(all.known("notes"), Some(ToolClass::Destructive));
        let said = Correction::of(RiskClass::Write, DELETES);
        classes::set(&home, "s", "notes", Some(&said)).unwrap();
        assert!(all.correct().unwrap());
        assert!(!all.correct().unwrap());
        assert_eq!(all.known("notes"), Some(ToolClass::Write));
        let worse = DELETES.replace("all notes", "all notes and all backups");
        all.learn([("notes", worse.as_str())]);
        assert_eq!(all.known("notes"), Some(ToolClass::Destructive));
    }

    #[test]
    fn what_a_person_said_of_classes_goes_on_while_its_file_cannot_be_read() {
        let (_folder, home) = home();
        let said = Correction::of(RiskClass::Destructive, READS);
        classes::set(&home, "s", "notes", Some(&said)).unwrap();
        let good = std::fs::read(home.classes()).unwrap();
        let (knows, knows_not) = (KnownClasses::new(&home, "s", &[]), KnownClasses::new(&home, "s", &[]));
        knows.begin();
        std::fs::write(home.classes(), "{ broken").unwrap();
        knows_not.begin();
        assert!(knows.correct().is_err());
        for all in [&knows, &knows_not] {
            all.learn([("notes", READS), ("others", READS)]);
            assert_eq!(all.known("notes"), Some(ToolClass::Destructive));
        }
        assert_eq!(knows.known("others"), Some(ToolClass::Read));
        assert_eq!(
            knows_not.known("others"),
            Some(ToolClass::Destructive),
            "any may be one that was corrected"
        );
        assert_eq!(knows_not.guess("get_notes"), ToolClass::Destructive);
        std::fs::write(home.classes(), good).unwrap();
        assert!(knows_not.correct().unwrap());
        assert_eq!(knows_not.known("others"), Some(ToolClass::Read));
    }

    #[test]
    fn a_tool_of_which_nothing_is_known_is_never_less_than_the_cautious_class() {
        let (_folder, home) = home();
        let all = KnownClasses::new(&home, "s", &[]);
        for (name, class) in [
            ("get_notes", ToolClass::Execute),
            ("", ToolClass::Execute),
            ("delete_everything", ToolClass::Destructive),
        ] {
            assert_eq!(all.guess(name), class, "{name}");
        }
        all.begin();
        all.learn([("odd", "[[["), ("odd", READS)]);
        assert_eq!(all.known("odd"), Some(ToolClass::Read), "the first that can be read");
        assert_eq!(all.meet("odd", "[[["), ToolClass::Execute);
        assert_eq!(all.known("odd"), None);
        assert_eq!(all.meet("odd", DELETES), ToolClass::Destructive);
        assert_eq!(all.known("odd"), Some(ToolClass::Destructive), "before the whole list is read");
    }

    #[test]
    fn until_a_server_lists_its_tools_what_it_listed_last_counts() {
        let (_folder, home) = home();
        let masker = Masker::default();
        let listed = [("notes", Raw::parse(DELETES).unwrap())];
        catalogue::write(&home, &masker, "s", 1, listed).unwrap();
        let said = Correction::of(RiskClass::Write, DELETES);
        let all = KnownClasses::new(&home, "s", &[]);
        all.begin();
        assert_eq!(all.known("notes"), Some(ToolClass::Destructive));
        assert_eq!(all.known("other"), None);
        classes::set(&home, "s", "notes", Some(&said)).unwrap();
        assert!(all.correct().unwrap());
        assert_eq!(all.known("notes"), Some(ToolClass::Write));
        let beside = KnownClasses::of_catalogue(&home, catalogue::read(&home, "s").unwrap().unwrap());
        assert_eq!(beside.known("notes"), Some(ToolClass::Write));
    }

    #[test]
    fn a_known_server_is_told_by_what_was_installed() {
        let (_folder, home) = home();
        let command: Vec<String> =
            ["npx", "-y", "@executeautomation/playwright-mcp-server"].map(Into::into).into();
        let all = KnownClasses::new(&home, "s", &command);
        let package = all.installed().unwrap();
        assert!(KnownServer::by_name(package).is_some(), "{package}");
        let bland = r#"{"name":"clear_codegen_session","description":"Codegen."}"#;
        assert_eq!(all.meet("clear_codegen_session", bland), ToolClass::Destructive);
    }
}
