//! A finding: a code that stays, how bad it is, a sentence, and what mends it.

use callgate_text::{clip, harmless, quoted};

use crate::view::{Fix, Need};

/// The longest sentence, in characters: parts of it were written by others.
const LONGEST: usize = 600;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub code: Code,
    pub gravity: Gravity,
    pub area: Area,
    /// A client's file, a program, a folder.
    pub about: String,
    /// The client that it concerns, by its id.
    pub client: Option<String>,
    /// The entries of that client that it concerns, by their names in its file.
    pub names: Vec<String>,
    pub server: Option<String>,
    /// A sentence, with a full stop or without.
    pub words: String,
    pub fix: Option<Remedy>,
    /// What a button of the window does about it.
    pub(crate) act: Option<Fix>,
}

/// What a person does about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    pub words: String,
    /// To be pasted into a terminal.
    pub command: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gravity {
    Ok,
    /// Good to know.
    Note,
    /// Something is not as it should be, and the gate works.
    Warning,
    /// A server does not start, runs without its gate, or is refused everything.
    Problem,
}

impl Gravity {
    pub fn word(self) -> &'static str {
        match self {
            Gravity::Ok => "ok",
            Gravity::Note => "note",
            Gravity::Warning => "warning",
            Gravity::Problem => "problem",
        }
    }
}

/// In the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    Home,
    Gate,
    Policies,
    Record,
    Clients,
    Programs,
    Keychain,
}

impl Area {
    pub const ALL: [Area; 7] =
        [Area::Home, Area::Gate, Area::Policies, Area::Record, Area::Clients, Area::Programs, Area::Keychain];

    /// As `--json` has it.
    pub fn word(self) -> &'static str {
        match self {
            Area::Home => "home",
            Area::Gate => "gate",
            Area::Policies => "policies",
            Area::Record => "record",
            Area::Clients => "clients",
            Area::Programs => "programs",
            Area::Keychain => "keychain",
        }
    }

    /// As people read it.
    pub fn title(self) -> &'static str {
        match self {
            Area::Home => "Callgate's folder",
            Area::Gate => "The gate",
            Area::Policies => "Policies",
            Area::Record => "The record",
            Area::Clients => "Clients",
            Area::Programs => "Programs",
            Area::Keychain => "Keychain",
        }
    }
}

/// The codes, each with its word and what it means. They are kept: programs go by them.
macro_rules! codes {
    ($($code:ident $word:literal $meaning:literal,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($code,)+ }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$code,)+];

            pub fn word(self) -> &'static str {
                match self { $(Code::$code => $word,)+ }
            }

            /// For the documentation.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$code => $meaning,)+ }
            }
        }
    };
}

codes! {
    HomeOk "home-ok" "the folder is there and only for you",
    HomeMissing "home-missing" "there is no folder yet",
    HomeUnusable "home-unusable" "it cannot be used: unsafe, of a newer Callgate, or not readable",
    HomeUnwritable "home-unwritable" "what a call needs cannot be written, so every call is refused",
    HomeWritable "home-writable" "others may write something in it, so it is refused",
    HomeReadable "home-readable" "others may read something in it",
    SettingsBroken "settings-broken" "`settings.json` says something that cannot be used, or names a setting that there is not",
    ServersBroken "servers-broken" "`servers.json` cannot be read: servers that you added are not known",
    GateOk "gate-ok" "the program that clients start is there",
    GateMissing "gate-missing" "it is not there",
    GateNotExecutable "gate-not-executable" "it is there and may not be run",
    GateBroken "gate-broken" "it does not say its version",
    GatePartner "gate-partner" "the program beside it, which has every other command, is missing or of another version",
    GateOtherVersion "gate-other-version" "it is of another version than this program",
    PoliciesOk "policies-ok" "every policy can be used",
    PolicyBroken "policy-broken" "a policy cannot be used: sessions that run keep the last good version, new ones refuse every call",
    PolicyUnread "policy-unread" "a session runs on another policy than the file now has",
    PolicyGone "policy-gone" "the policy of a server that runs is gone: what runs keeps it, what starts anew gets the default",
    PolicyMisses "policy-misses" "a rule of a policy can never count, as the server's tools are",
    PolicyStray "policy-stray" "a policy is for no server that anybody here knows",
    PolicyDefaultMissing "policy-default-missing" "the default policy is gone",
    DefinitionChanged "definition-changed" "a server describes tools otherwise than you accepted",
    ProgramChanged "program-changed" "another program runs under a server's name than you accepted",
    PinsBroken "pins-broken" "the file with the accepted definitions of a server's tools cannot be read",
    ApprovalWaits "approval-waits" "a call waits for your decision",
    Paused "paused" "calls are paused by a person",
    PauseBroken "pause-broken" "the pause switch cannot be understood, so everything is paused",
    Observed "observed" "a server is only watched for a while: its rules refuse nothing",
    AllowancesBroken "allowances-broken" "what is allowed for a while cannot be understood",
    RecordOk "record-ok" "history and counters can be used",
    HistoryUnusable "history-unusable" "the history cannot be read",
    CountersUnusable "counters-unusable" "the counters cannot be read",
    CountersLost "counters-lost" "the counters were lost or replaced, so shared limits count as used up",
    SessionLeftovers "session-leftovers" "sessions ended without a word, and their record waits to be filed",
    SpoolUnreadable "spool-unreadable" "the record of such a session cannot be read",
    DatabaseSetAside "database-set-aside" "a damaged database was put out of the way",
    DiskLow "disk-low" "the disk is almost full",
    ClientsNone "clients-none" "no AI client has a file here",
    ClientUnreadable "client-unreadable" "a client's file cannot be read or understood",
    ClientShadowed "client-shadowed" "a client reads another file in its stead",
    ClientStale "client-stale" "a client runs since before its file was edited",
    ClientWiped "client-wiped" "a client lost all its servers",
    ClientLeftover "client-leftover" "a file that was about to replace a client's file was left behind",
    EntryProtected "entry-protected" "entries are behind the gate",
    EntryOpen "entry-open" "entries are not protected",
    EntryLeftOpen "entry-left-open" "entries are not protected, by a person's will",
    EntryNotCoverable "entry-not-coverable" "no gate can stand in front of these",
    EntryLostGate "entry-lost-gate" "an entry was behind the gate and is not any more",
    EntryGateCameBack "entry-gate-came-back" "an entry is behind the gate again that a person took it away from",
    EntryTampered "entry-tampered" "an entry has its gate, which is not as it was protected",
    EntryMovedGate "entry-moved-gate" "an entry names a gate that is not this home's",
    EntryEdited "entry-edited" "an entry behind the gate starts something else than it did",
    EntryRemoved "entry-removed" "an entry that was behind the gate is gone",
    LaunchRisky "launch-risky" "a server's command runs more, or reaches further, than its entry seems to say",
    LaunchLoose "launch-loose" "a server's command names no version, or a source of its own",
    LedgerBroken "ledger-broken" "`ledger.json` cannot be read: what lost its gate is not noticed",
    QueueBroken "queue-broken" "`queue.json` cannot be read",
    QueueWaits "queue-waits" "changes wait until a client has quit",
    ChangeRefused "change-refused" "what waited for a client to quit, or a lost gate, could not be written",
    ProgramOk "program-ok" "a server's program is found",
    ProgramMissing "program-missing" "it is not found",
    ProgramOnlyHere "program-only-here" "it is found by this terminal and not by the gate",
    ProgramUnclear "program-unclear" "only the client knows which program it is",
    NodeMissing "node-missing" "the program needs Node.js, which is not found",
    NodeOld "node-old" "the Node.js that is found is too old",
    NodeSilent "node-silent" "the Node.js that is found does not say its version",
    KeychainOk "keychain-ok" "it can be used",
    KeychainAbsent "keychain-absent" "none can be reached",
    KeychainLocked "keychain-locked" "it is locked, or was never set up",
    KeychainSilent "keychain-silent" "it does not answer, or fails",
    ReferenceBad "reference-bad" "it names the keychain in a way that Callgate does not write",
    ReferenceForeign "reference-foreign" "what it leads to was stored for another server or another command",
    ReferenceMissing "reference-missing" "the keychain has nothing usable under it",
    ReferenceUngated "reference-ungated" "its entry is not behind the gate, so the server gets the reference itself",
}

impl Finding {
    /// Everything in it is made harmless: parts of it were written by others.
    pub(crate) fn new(area: Area, code: Code, gravity: Gravity, about: &str, words: &str) -> Finding {
        let words = clip(&harmless(words), LONGEST);
        let (about, client, names, server) = (harmless(about), None, Vec::new(), None);
        Finding { code, gravity, area, about, client, names, server, words, fix: None, act: None }
    }

    pub(crate) fn on_entries(mut self, client: &str, names: Vec<String>) -> Finding {
        (self.client, self.names) = (Some(client.to_owned()), names);
        self
    }

    pub(crate) fn on_server(mut self, server: Option<&str>) -> Finding {
        self.server = server.map(str::to_owned);
        self
    }

    /// Mended by doing this.
    pub(crate) fn by(mut self, words: &str) -> Finding {
        self.fix = Some(Remedy { words: harmless(words), command: None });
        self
    }

    /// Mended by this command, of words that are quoted here.
    pub(crate) fn command(mut self, words: &str, command: &[&str]) -> Finding {
        self.fix = Some(Remedy { words: harmless(words), command: Some(pasted(command)) });
        self
    }

    /// Mended in the window by this.
    pub(crate) fn act(mut self, act: Fix) -> Finding {
        self.act = Some(act);
        self
    }

    /// Much of it is an error's own words, with a full stop or without.
    pub fn sentence(&self) -> String {
        let stop = if self.words.ends_with(['.', '?']) { "" } else { "." };
        format!("{}{stop}", self.words)
    }

    /// As the tray and the window tell it. What no button of theirs mends says in words how it is mended.
    pub(crate) fn need(&self) -> Need {
        let words = match (&self.act, &self.fix) {
            (None, Some(Remedy { words, command: Some(command) })) => {
                format!("{} {words}: {command}", self.sentence())
            }
            (None, Some(Remedy { words, command: None })) => format!("{} {words}", self.sentence()),
            _ => self.words.clone(),
        };
        let (fix, server) = (self.act.clone(), self.server.clone());
        Need { words: clip(&words, LONGEST), fix, server, serious: self.gravity == Gravity::Problem }
    }
}

/// A command line as a shell takes it.
fn pasted(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::entries::{PROTECT, on_entries};
    use super::*;

    #[test]
    fn a_hostile_name_stays_one_word_of_the_command() {
        let names = ["--all".to_owned(), "a'; rm -rf ~ #\n".to_owned(), "\u{202e}x".to_owned()];
        let finding = Finding::new(Area::Clients, Code::EntryOpen, Gravity::Warning, "x", "x")
            .command("x", &on_entries(PROTECT, "cursor", &names));
        let command = finding.fix.and_then(|fix| fix.command).unwrap_or_default();
        assert_eq!(command, r"callgate clients protect cursor -- --all 'a'\''; rm -rf ~ #\n' '\u{202e}x'");
    }

    #[test]
    fn every_code_has_a_word_of_its_own() {
        let mut words: Vec<_> = Code::ALL.iter().map(|code| code.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
    }
}
