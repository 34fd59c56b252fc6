//! One change of one server's policy file: worked out, put on record, written.
//!
//! The file is replaced atomically; every running gate has it before its next call. Nobody is asked here: whoever makes
//! a change that loosens has a person's word for it.

use std::path::{Path, PathBuf};

use callgate_controls::catalogue;
use callgate_history::{History, PolicyChange};
use callgate_home::clock::Clock;
use callgate_home::{DEFAULT_SERVER, Home, Locked, lock_policies, read_private, running};
use callgate_journal::{Noted, Origin, PolicyEdit, catch_up, note_edit};
use callgate_policy::edit::{Edit, EditError, Edited, Tightened, apply_for, apply_knowing, truthful};
use callgate_policy::{Policy, Report, compare};
use callgate_text::{name, quoted};

use crate::DeskError;

/// To be held from reading a policy to having written it, or of two edits at once the second undoes the first.
pub fn lock(home: &Home) -> Result<Locked, DeskError> {
    lock_policies(home).map_err(|error| {
        DeskError::disk(format!("{} cannot be locked", home.policies_dir().display()), error)
    })
}

/// The policy that counts for a server at this moment: its own, else the default. The default policy itself is read by
/// [`DEFAULT_SERVER`].
#[derive(Clone, Debug, PartialEq)]
pub struct CurrentPolicy {
    home: Home,
    server: String,
    /// Where its own is, or would be.
    own: PathBuf,
    source: PathBuf,
    text: String,
}

impl CurrentPolicy {
    pub fn read(home: &Home, server: &str) -> Result<CurrentPolicy, DeskError> {
        let own = if server == DEFAULT_SERVER { home.default_policy() } else { home.policy(server) };
        let source = if own.exists() { own.clone() } else { home.default_policy() };
        let text = read_private(&source)
            .map_err(|error| DeskError::disk(format!("{} cannot be read", source.display()), error))?;
        Ok(CurrentPolicy { home: home.clone(), server: server.to_owned(), own, source, text })
    }

    pub fn source(&self) -> &Path {
        &self.source
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Does the server have a policy of its own?
    pub fn is_own(&self) -> bool {
        self.source == self.own
    }

    pub fn policy(&self) -> Result<Policy, DeskError> {
        self.read_as_here(&self.text)
            .map_err(|report| DeskError::BrokenPolicy { path: self.source.clone(), report })
    }

    /// A text as a policy of this server: with what is known of its tools, for rules that ask.
    fn read_as_here(&self, text: &str) -> Result<Policy, Report> {
        let mut policy = Policy::parse(text)?;
        catalogue::describe(&self.home, &self.server, &mut policy);
        Ok(policy)
    }

    /// Its text with this edit in it.
    pub(crate) fn edited(&self, client: Option<&str>, edit: &Edit) -> Result<Edited, EditError> {
        let policy = self.read_as_here(&self.text).ok();
        let classes = policy.as_ref().and_then(Policy::classes);
        apply_knowing(&self.text, client, edit, classes)
    }

    /// This, changed so by one act of a person, which is about one server.
    pub fn to(self, edited: Edited) -> Result<Change, DeskError> {
        if self.server == DEFAULT_SERVER {
            return Err(DeskError::DefaultPolicy { path: self.source });
        }
        self.rewritten(edited)
    }

    /// This, as a text that a person saw whole; also the default policy. A comment of ours on top that is no longer true goes
    /// with it.
    pub fn rewritten(self, mut edited: Edited) -> Result<Change, DeskError> {
        if edited.changed {
            edited.text = truthful(&edited.text);
        }
        if let Some(Tightened { before, after }) = edited.tightened(&self.text).cloned() {
            return Ok(Change {
                before: self,
                edited,
                was: Some(before),
                version: after,
                loosened: Vec::new(),
            });
        }
        let broken = |report| DeskError::BrokenPolicy { path: self.own.clone(), report };
        let after = self.read_as_here(&edited.text).map_err(broken)?;
        let (was, loosened) = match self.read_as_here(&self.text) {
            Ok(policy) => (Some(policy.version().to_owned()), compare::loosened(&policy, &after)),
            // A broken policy refuses everything: whatever takes its place opens what it does not refuse.
            Err(report) => (None, compare::loosened(&Policy::refuse_all(report.headline()), &after)),
        };
        Ok(Change { before: self, edited, was, version: after.version().to_owned(), loosened })
    }
}

/// Servers that have no policy of their own, of all that run or are on record: what the default policy says counts for them.
pub(crate) fn followers(home: &Home) -> Result<Vec<String>, DeskError> {
    let mut servers = History::open_reader(home)?.servers()?;
    servers.extend(running(home).into_iter().map(|lease| lease.server));
    servers.sort_unstable();
    servers.dedup();
    servers.retain(|server| server != DEFAULT_SERVER && !home.policy(server).exists());
    Ok(servers)
}

/// A change that was worked out and is not written yet. Both texts are compiled and compared when it is made: *the* check of
/// what it loosens, whoever asks for it later.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    before: CurrentPolicy,
    edited: Edited,
    /// The version before; none of a policy that was broken.
    was: Option<String>,
    version: String,
    loosened: Vec<String>,
}

/// By whom, and when.
#[derive(Clone, Copy, Debug)]
pub struct EditContext<'a> {
    pub home: &'a Home,
    pub clock: &'a dyn Clock,
    pub origin: Origin,
}

impl Change {
    pub fn server(&self) -> &str {
        &self.before.server
    }

    /// The file that is written.
    pub fn path(&self) -> &Path {
        &self.before.own
    }

    pub fn before(&self) -> &CurrentPolicy {
        &self.before
    }

    pub fn edited(&self) -> &Edited {
        &self.edited
    }

    /// The server has no policy of its own yet: it gets one by this.
    pub fn is_first(&self) -> bool {
        !self.before.is_own()
    }

    /// What the change would loosen, in words.
    pub fn loosened(&self) -> &[String] {
        &self.loosened
    }

    /// This and one more act of the same person, as one change.
    pub(crate) fn then(self, client: Option<&str>, edit: &Edit) -> Result<Change, DeskError> {
        let next = apply_for(&self.edited.text, client, edit)?;
        let Change { before, edited, .. } = self;
        before.to(edited.followed_by(next))
    }

    /// Makes it, and returns the version that is in force now. `note`: what the record says of it besides.
    pub fn commit(
        &self,
        held: &Locked,
        context: &EditContext<'_>,
        note: Option<&str>,
    ) -> Result<String, DeskError> {
        if self.edited.changed {
            self.still_as_read(context.home)?;
            let noted = self.note(context, &self.summary(note))?;
            if let Err(error) = context.home.put_in_force(&self.before.own, self.edited.text.as_bytes()) {
                noted.take_back();
                let what = format!("{} cannot be written", self.before.own.display());
                return Err(DeskError::disk(what, error));
            }
            // In force from here on; a busy history gets to know it later.
            noted.book();
        }
        let _until_now = held;
        Ok(self.version.clone())
    }

    /// Puts it on record before it is made, so that a gate that reads the file next knows where it came from.
    fn note(&self, context: &EditContext<'_>, summary: &str) -> Result<Noted, DeskError> {
        let is_default = self.before.server == DEFAULT_SERVER;
        let followers = if is_default { followers(context.home)? } else { Vec::new() };
        let edit = PolicyEdit {
            before: self.was.as_deref().map(|version| (version, self.before.text.as_str())),
            version: &self.version,
            server: &self.before.server,
            followers: &followers,
            text: &self.edited.text,
            origin: context.origin,
            summary,
            loosened: &self.loosened,
        };
        note_edit(context.home, context.clock.now().wall_ms, &edit).map_err(DeskError::Unrecorded)
    }

    /// What changed, in one line for the history.
    fn summary(&self, note: Option<&str>) -> String {
        let mut summary = self.edited.summary.join("; ");
        if let Some(note) = note {
            summary.push_str(&format!(" ({note})"));
        }
        summary
    }

    /// Those who edit by Callgate wait for each other; an editor does not know of the lock and may have saved the file
    /// since.
    pub(crate) fn still_as_read(&self, home: &Home) -> Result<(), DeskError> {
        let now = CurrentPolicy::read(home, &self.before.server).ok();
        match now.as_ref() == Some(&self.before) {
            true => Ok(()),
            false => Err(DeskError::ChangedMeanwhile { path: self.before.own.clone() }),
        }
    }
}

/// The command that takes back the change that made this version just now, also when others come after it.
pub fn revert_command(context: &EditContext<'_>, server: &str, version: &str) -> String {
    let _behind = catch_up(context.home, context.clock);
    let changes = History::open_reader(context.home).and_then(|history| history.timeline(server));
    let last = changes.ok().and_then(|all| all.iter().rposition(|change| change.version == version));
    // A version may be made more than once; a number is of one change.
    let which = last.map_or_else(|| version.to_owned(), |place| format!("'#{}'", place + 1));
    format!("callgate policy revert {} {which}", quoted(server))
}

/// The texts before and after a change on record.
pub fn texts_of(
    history: &History,
    server: &str,
    change: &PolicyChange,
) -> Result<(String, String), DeskError> {
    let Some(previous) = &change.previous else {
        return Err(DeskError::BadInput(format!(
            "version {} is the first that is known of {}: there is nothing before it",
            change.version,
            name(server)
        )));
    };
    Ok((kept_text(history, server, previous)?, kept_text(history, server, &change.version)?))
}

/// The text of one version, if it is still kept.
pub(crate) fn kept_text(history: &History, server: &str, version: &str) -> Result<String, DeskError> {
    let found = history.policy_text(version, server)?;
    found
        .map(|found| found.text)
        .ok_or_else(|| DeskError::NotFound(format!("the text of version {version} is no longer kept")))
}
