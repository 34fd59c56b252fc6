//! `block`, `hide`, `cap`, `allow`: one edit of one server's policy file.
//!
//! The file is edited losslessly and replaced atomically; every running gate has it before its next call.

use std::process::ExitCode;

use anyhow::{Context, bail};
use callgate_policy::edit::{Edit, Edited, apply};
use callgate_policy::{Policy, Rate, compare};
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::history::{PolicyEdit, record_edit};
use callgate_store::home::read_private;
use callgate_store::{Home, Origin, atomic};

use crate::args::{AllowArgs, CapArgs, CapTo, EditArgs, HideArgs};
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn block(args: EditArgs) -> anyhow::Result<ExitCode> {
    let EditArgs { server, tool, reason } = args;
    let undo = format!("callgate allow {server} {tool}");
    restrict(&server, &Edit::Block { tool, reason }, &undo, None)
}

pub(crate) fn hide(args: HideArgs) -> anyhow::Result<ExitCode> {
    let HideArgs { server, tool, reason } = args;
    let undo = format!("callgate allow {server} {tool}");
    restrict(&server, &Edit::Hide { tool }, &undo, reason.as_deref())
}

pub(crate) fn cap(args: CapArgs) -> anyhow::Result<ExitCode> {
    let CapArgs { server, tool, cap } = args;
    let undo = format!("callgate cap {server} {tool} none");
    let CapTo::Rate(Rate { max, window }) = cap else {
        let change = Change::plan(&server, &Edit::Uncap { tool: tool.clone() })?;
        if change.edited.changed {
            let what = format!("\"{}\" on server {server} is no longer capped", screen::harmless(&tool));
            confirm::loosening(&what, "uncap")?;
        }
        return change.make("set the cap again: callgate cap SERVER TOOL RATE", None);
    };
    let change = Change::plan(&server, &Edit::Recap { tool, max, window })?;
    // A cap that is higher than the one before lets more through.
    if let Some(loosened) = change.loosened()?.first() {
        confirm::loosening(&format!("on server {server}, {loosened}"), "cap")?;
    }
    change.make(&undo, None)
}

pub(crate) fn allow(args: AllowArgs) -> anyhow::Result<ExitCode> {
    let AllowArgs { server, tool } = args;
    let undo = format!("callgate block {server} {tool}");
    let change = Change::plan(&server, &Edit::Allow { tool: tool.clone() })?;
    if change.edited.changed {
        confirm::loosening(
            &format!("agents may call \"{}\" on server {server}", screen::harmless(&tool)),
            "allow",
        )?;
    }
    change.make(&undo, None)
}

fn restrict(server: &str, edit: &Edit, undo: &str, note: Option<&str>) -> anyhow::Result<ExitCode> {
    Change::plan(server, edit)?.make(undo, note)
}

/// An edit that was worked out and is not written yet.
struct Change {
    home: Home,
    server: String,
    before: String,
    /// The server has no policy of its own yet: the default is copied first.
    first: bool,
    edited: Edited,
}

impl Change {
    fn plan(server: &str, edit: &Edit) -> anyhow::Result<Change> {
        let home = Home::locate()?;
        home.prepare()?;
        let own = home.policy(server);
        let first = !own.exists();
        let source = if first { home.default_policy() } else { own };
        let before = read_private(&source).with_context(|| format!("{} cannot be read", source.display()))?;
        let edited = apply(&before, edit).with_context(|| {
            format!("{} cannot be edited; `callgate policy check` says more", source.display())
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
        // Known to the history first, so that a gate that reads the file next knows where it came from.
        let edit = PolicyEdit {
            version: policy.version(),
            server: &self.server,
            text: &self.edited.text,
            origin: Origin::Cli,
            summary: &self.summary(note),
            loosened: &loosened,
        };
        record_edit(&self.home, SystemClock::default().now().wall_ms, &edit)
            .context("the change cannot be recorded, so it was not made")?;
        self.still_as_read(&path)?;
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

    /// Somebody may have saved the file while a person was asked.
    fn still_as_read(&self, path: &std::path::Path) -> anyhow::Result<()> {
        let now = if self.first { None } else { read_private(path).ok() };
        let as_read = if self.first { !path.exists() } else { now.as_deref() == Some(self.before.as_str()) };
        if !as_read {
            bail!(
                "{} was changed by somebody else meanwhile; nothing was written. Run the command again.",
                path.display()
            );
        }
        Ok(())
    }
}

fn parse(text: &str) -> anyhow::Result<Policy> {
    Ok(Policy::parse(text)?)
}
