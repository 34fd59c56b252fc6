//! `block`, `hide`, `cap`, `allow`: one edit of one server's policy file.
//!
//! The file is edited losslessly and replaced atomically; every running gate has it before its next call.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use callgate_policy::edit::{Edit, EditError, Edited, apply};
use callgate_policy::{Policy, Rate, compare};
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::history::{PolicyEdit, record_edit};
use callgate_store::home::{Locked, lock_policies, read_private};
use callgate_store::{Home, Origin, atomic};

use crate::args::{AllowArgs, CapArgs, CapTo, EditArgs, HideArgs};
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn block(args: EditArgs) -> anyhow::Result<ExitCode> {
    let EditArgs { server, tool, reason } = args;
    let undo = command("allow", &server, &tool);
    restrict(&server, &Edit::Block { tool, reason }, &undo, None)
}

pub(crate) fn hide(args: HideArgs) -> anyhow::Result<ExitCode> {
    let HideArgs { server, tool, reason } = args;
    let undo = command("allow", &server, &tool);
    restrict(&server, &Edit::Hide { tool }, &undo, reason.as_deref())
}

pub(crate) fn cap(args: CapArgs) -> anyhow::Result<ExitCode> {
    let CapArgs { server, tool, cap } = args;
    let CapTo::Rate(Rate { max, window }) = cap else {
        let what = format!("take the cap off \"{}\" on server {server}", screen::harmless(&tool));
        let undo = format!("{} RATE", command("cap", &server, &tool));
        return loosen(&server, &Edit::Uncap { tool }, &undo, "uncap", |change| {
            Ok(change.edited.changed.then(|| what.clone()))
        });
    };
    let undo = format!("{} none (takes the cap away)", command("cap", &server, &tool));
    // A cap that is higher than the one before lets more through.
    loosen(&server, &Edit::Cap { tool, max, window }, &undo, "cap", |change| {
        let loosened = change.loosened()?;
        Ok((!loosened.is_empty()).then(|| format!("loosen server {server}: {}", loosened.join("; "))))
    })
}

pub(crate) fn allow(args: AllowArgs) -> anyhow::Result<ExitCode> {
    let AllowArgs { server, tool } = args;
    let undo = command("block", &server, &tool);
    let what = format!("let agents call \"{}\" on server {server}", screen::harmless(&tool));
    loosen(&server, &Edit::Allow { tool }, &undo, "allow", |change| {
        Ok(change.edited.changed.then(|| what.clone()))
    })
}

/// A command line that can be pasted back.
fn command(verb: &str, server: &str, tool: &str) -> String {
    format!("callgate {verb} {} {}", screen::quoted(server), screen::quoted(tool))
}

fn restrict(server: &str, edit: &Edit, undo: &str, note: Option<&str>) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let _held = lock(&home)?;
    Change::plan(&home, server, edit)?.make(undo, note)
}

/// Makes an edit that may loosen; `question` says what, if this one does, and a person types `word` to confirm it.
fn loosen(
    server: &str,
    edit: &Edit,
    undo: &str,
    word: &str,
    question: impl Fn(&Change<'_>) -> anyhow::Result<Option<String>>,
) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let held = lock(&home)?;
    let change = Change::plan(&home, server, edit)?;
    let Some(what) = question(&change)? else { return change.make(undo, None) };
    // Not held while a person thinks: nobody else could restrict anything meanwhile.
    drop(held);
    confirm::loosening(&what, word)?;
    let _held = lock(&home)?;
    let again = Change::plan(&home, server, edit)?;
    if again != change {
        return Err(changed_meanwhile(&home.policy(server)));
    }
    again.make(undo, None)
}

fn prepared_home() -> anyhow::Result<Home> {
    let home = Home::locate()?;
    home.prepare()?;
    Ok(home)
}

/// To be held from the plan to the replacement, or of two edits at once the second undoes the first.
fn lock(home: &Home) -> anyhow::Result<Locked> {
    lock_policies(home).with_context(|| format!("{} cannot be locked", home.policies_dir().display()))
}

/// An edit that was worked out and is not written yet.
#[derive(PartialEq)]
struct Change<'h> {
    home: &'h Home,
    server: String,
    before: String,
    /// The server has no policy of its own yet: the default is copied first.
    first: bool,
    edited: Edited,
}

impl<'h> Change<'h> {
    fn plan(home: &'h Home, server: &str, edit: &Edit) -> anyhow::Result<Change<'h>> {
        if server == "_default" {
            bail!(
                "the default policy is for all servers without one of their own: edit {} by hand",
                home.default_policy().display()
            );
        }
        let own = home.policy(server);
        let first = !own.exists();
        let source = if first { home.default_policy() } else { own };
        let before = read_private(&source).with_context(|| format!("{} cannot be read", source.display()))?;
        let edited = apply(&before, edit).map_err(|error| match error {
            EditError::Broken(report) => {
                let first = format!("{} is broken; `callgate policy check` says all of it", source.display());
                anyhow::Error::new(report).context(first)
            }
            other => other.into(),
        })?;
        Ok(Change { home, server: server.to_owned(), before, first, edited })
    }

    /// What the edit would loosen, in words.
    fn loosened(&self) -> anyhow::Result<Vec<String>> {
        Ok(compare::loosened(&parse(&self.before)?, &parse(&self.edited.text)?))
    }

    fn make(self, undo: &str, note: Option<&str>) -> anyhow::Result<ExitCode> {
        let screen = Screen::new();
        let path = self.home.policy(&self.server);
        if !self.edited.changed {
            screen.line(&format!("Nothing to change: {} says so already.", path.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let policy = parse(&self.edited.text)?;
        let loosened = self.loosened()?;
        self.still_as_read(&path)?;
        // Known to the history first, so that a gate that reads the file next knows where it came from.
        let edit = PolicyEdit {
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
                "         {} now has a policy of its own, begun as a copy of the default",
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

fn changed_meanwhile(path: &Path) -> anyhow::Error {
    anyhow!(
        "{} was changed by somebody else meanwhile; nothing was written. Run the command again.",
        path.display()
    )
}

fn parse(text: &str) -> anyhow::Result<Policy> {
    Ok(Policy::parse(text)?)
}
