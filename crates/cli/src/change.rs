//! One change of one server's policy file: worked out, confirmed where it loosens, put on record, written.
//!
//! The file is replaced atomically; every running gate has it before its next call.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use callgate_policy::edit::{EditError, Edited};
use callgate_policy::{Policy, compare};
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::history::{PolicyEdit, record_edit};
use callgate_store::home::{Locked, lock_policies, read_private};
use callgate_store::{Home, Origin, atomic, catch_up};

use crate::confirm;
use crate::screen::{self, Screen};

/// What makes the new text out of the present one.
pub(crate) type Edit<'e> = &'e dyn Fn(&str) -> anyhow::Result<Edited>;

/// Makes a change that only restricts.
pub(crate) fn restrict(
    home: &Home,
    server: &str,
    edit: Edit<'_>,
    undo: &str,
    note: Option<&str>,
) -> anyhow::Result<ExitCode> {
    let _held = lock(home)?;
    Change::plan(home, server, edit)?.make(undo, note)
}

/// Makes a change that may loosen; `question` says what, if this one does, and a person types `word` to confirm it.
pub(crate) fn loosen(
    home: &Home,
    server: &str,
    edit: Edit<'_>,
    undo: &str,
    word: &str,
    question: impl Fn(&Change<'_>) -> anyhow::Result<Option<String>>,
) -> anyhow::Result<ExitCode> {
    let held = lock(home)?;
    let change = Change::plan(home, server, edit)?;
    let Some(what) = question(&change)? else { return change.make(undo, None) };
    // Not held while a person thinks: nobody else could restrict anything meanwhile.
    drop(held);
    confirm::loosening(&what, word)?;
    let _held = lock(home)?;
    let again = Change::plan(home, server, edit)?;
    if again != change {
        return Err(changed_meanwhile(&home.policy(server)));
    }
    again.make(undo, None)
}

/// To be held from the plan to the replacement, or of two edits at once the second undoes the first.
fn lock(home: &Home) -> anyhow::Result<Locked> {
    lock_policies(home).with_context(|| format!("{} cannot be locked", home.policies_dir().display()))
}

/// A change that was worked out and is not written yet.
#[derive(PartialEq)]
pub(crate) struct Change<'h> {
    home: &'h Home,
    server: String,
    pub(crate) before: String,
    /// The server has no policy of its own yet: the default is copied first.
    first: bool,
    pub(crate) edited: Edited,
}

impl<'h> Change<'h> {
    pub(crate) fn plan(home: &'h Home, server: &str, edit: Edit<'_>) -> anyhow::Result<Change<'h>> {
        if server == "_default" {
            bail!(
                "the default policy is for all servers without one of their own: edit {} by hand",
                home.default_policy().display()
            );
        }
        let (source, before) = current(home, server)?;
        let first = source != home.policy(server);
        let edited = edit(&before).map_err(|error| match error.downcast() {
            Ok(EditError::Broken(report)) => {
                let first = format!("{} is broken; `callgate policy check` says all of it", source.display());
                anyhow::Error::new(report).context(first)
            }
            Ok(other) => other.into(),
            Err(other) => other,
        })?;
        Ok(Change { home, server: server.to_owned(), before, first, edited })
    }

    /// What the change would loosen, in words.
    pub(crate) fn loosened(&self) -> anyhow::Result<Vec<String>> {
        // A broken policy refuses everything: whatever takes its place opens what it does not refuse.
        let before =
            Policy::parse(&self.before).unwrap_or_else(|report| Policy::refuse_all(report.headline()));
        Ok(compare::loosened(&before, &Policy::parse(&self.edited.text)?))
    }

    pub(crate) fn make(self, undo: &str, note: Option<&str>) -> anyhow::Result<ExitCode> {
        let screen = Screen::new();
        let path = self.home.policy(&self.server);
        if !self.edited.changed {
            screen.line(&format!("Nothing to change: {} says so already.", path.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let policy = Policy::parse(&self.edited.text)?;
        let loosened = self.loosened()?;
        self.still_as_read(&path)?;
        // What running sessions have seen of the file is told before what we have.
        let _behind = catch_up(self.home, &SystemClock::default());
        // Known to the history first, so that a gate that reads the file next knows where it came from.
        let before = Policy::parse(&self.before).ok();
        let edit = PolicyEdit {
            before: before.as_ref().map(|policy| (policy.version(), self.before.as_str())),
            version: policy.version(),
            server: &self.server,
            text: &self.edited.text,
            origin: Origin::Cli,
            summary: &self.summary(note),
            loosened: &loosened,
        };
        record_edit(self.home, SystemClock::default().now().wall_ms, &edit)
            .context("the change cannot be recorded, so it was not made")?;
        atomic::replace(&path, self.edited.text.as_bytes())
            .with_context(|| format!("{} cannot be written", path.display()))?;
        for line in &self.edited.summary {
            screen.line(&format!("{}  {}", screen.paint(screen::GOOD, "changed"), screen::harmless(line)));
        }
        if self.first {
            screen.line(&format!(
                "         {} now has a policy of its own; it had the default one before",
                self.server
            ));
        }
        screen.line(&format!("in       {}", path.display()));
        screen.line(&format!("undo     {undo}"));
        Ok(ExitCode::SUCCESS)
    }

    /// What changed, in one line for the history.
    fn summary(&self, note: Option<&str>) -> String {
        let mut summary = self.edited.summary.join("; ");
        if let Some(note) = note {
            summary.push_str(&format!(" ({note})"));
        }
        summary
    }

    /// Commands wait for each other; an editor does not know of the lock and may have saved the file since.
    fn still_as_read(&self, path: &Path) -> anyhow::Result<()> {
        let now = if self.first { None } else { read_private(path).ok() };
        let as_read = if self.first { !path.exists() } else { now.as_deref() == Some(self.before.as_str()) };
        if as_read { Ok(()) } else { Err(changed_meanwhile(path)) }
    }
}

/// The policy file that counts for a server, and its text: its own, else the default.
pub(crate) fn current(home: &Home, server: &str) -> anyhow::Result<(std::path::PathBuf, String)> {
    let own = home.policy(server);
    let source = if own.exists() { own } else { home.default_policy() };
    let text = read_private(&source).with_context(|| format!("{} cannot be read", source.display()))?;
    Ok((source, text))
}

fn changed_meanwhile(path: &Path) -> anyhow::Error {
    anyhow!(
        "{} was changed by somebody else meanwhile; nothing was written. Run the command again.",
        path.display()
    )
}
