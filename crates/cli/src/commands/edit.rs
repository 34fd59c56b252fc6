//! `block`, `hide`, `cap`, `allow`: one edit of one server's policy file.

use std::process::ExitCode;

use anyhow::Context;
use callgate_desk::allowing;
use callgate_policy::Rate;
use callgate_policy::edit::{Edit, apply};
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::{History, Home, catalogue, running};

use crate::args::{AllowArgs, BlockArgs, CapArgs, CapTo, HideArgs};
use crate::change;
use crate::commands::allowance as loosening;
use crate::screen::{self, Screen};

pub(crate) fn block(args: BlockArgs) -> anyhow::Result<ExitCode> {
    let BlockArgs { server, tool, reason } = args;
    let home = prepared_home()?;
    end_allowances(&home, &server, tool.as_deref())?;
    strangers(&home, &server, tool.as_deref());
    let undo = command("allow", &server, tool.as_deref());
    let edit = match tool {
        Some(tool) => Edit::Block { tool, reason },
        None => Edit::BlockServer { reason },
    };
    change::restrict(&home, &server, &|text| Ok(apply(text, &edit)?), &undo, None)
}

pub(crate) fn hide(args: HideArgs) -> anyhow::Result<ExitCode> {
    let HideArgs { server, tool, reason } = args;
    let home = prepared_home()?;
    end_allowances(&home, &server, Some(&tool))?;
    strangers(&home, &server, Some(&tool));
    let undo = command("allow", &server, Some(&tool));
    let edit = Edit::Hide { tool };
    change::restrict(&home, &server, &|text| Ok(apply(text, &edit)?), &undo, reason.as_deref())
}

pub(crate) fn cap(args: CapArgs) -> anyhow::Result<ExitCode> {
    let CapArgs { server, tool, cap } = args;
    let home = prepared_home()?;
    strangers(&home, &server, Some(&tool));
    let cap_again = command("cap", &server, Some(&tool));
    let CapTo::Rate(Rate { max, window }) = cap else {
        let what = format!("take the cap off \"{}\" on server {server}", screen::harmless(&tool));
        let edit = Edit::Uncap { tool };
        let undo = format!("{cap_again} RATE");
        return change::loosen(&home, &server, &|text| Ok(apply(text, &edit)?), &undo, "uncap", |change| {
            Ok(change.edited().changed.then(|| what.clone()))
        });
    };
    let undo = format!("{cap_again} none (takes the cap away)");
    let edit = Edit::Cap { tool, max, window };
    // A cap that is higher than the one before lets more through.
    change::loosen(&home, &server, &|text| Ok(apply(text, &edit)?), &undo, "cap", |change| {
        let loosened = change.loosened()?;
        Ok((!loosened.is_empty()).then(|| format!("loosen server {server}: {}", loosened.join("; "))))
    })
}

pub(crate) fn allow(args: AllowArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let AllowArgs { server, tool, lasts, once, end } = args;
    if let Some(id) = end {
        return loosening::end(&home, &id);
    }
    let lasts = lasts.map(|span| span.0);
    if let Some(call) = once {
        return loosening::once(&home, &call, lasts);
    }
    let server = server.context("name the server")?;
    if let Some(lasts) = lasts {
        return loosening::for_a_while(&home, &server, tool.as_deref(), lasts);
    }
    let undo = command("block", &server, tool.as_deref());
    let (what, edit) = match tool {
        Some(tool) => (
            format!("let agents call \"{}\" on server {server}", screen::harmless(&tool)),
            Edit::Allow { tool },
        ),
        None => (format!("take back the block of the whole server {server}"), Edit::AllowServer),
    };
    change::loosen(&home, &server, &|text| Ok(apply(text, &edit)?), &undo, "allow", |change| {
        Ok(change.edited().changed.then(|| what.clone()))
    })
}

/// Says so when a name was never seen. It may be right all the same: rules can be written before the first session.
pub(crate) fn strangers(home: &Home, server: &str, tool: Option<&str>) {
    // As the history is: bringing it up to date would make whoever blocks something wait for all who write.
    let mut known = History::open_reader(home).and_then(|history| history.servers()).unwrap_or_default();
    known.extend(running(home).into_iter().map(|lease| lease.server));
    known.sort_unstable();
    known.dedup();
    if !known.iter().any(|one| one == server) {
        let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
        screen::hint(&format!("note: no session of a server {server:?} is on record (known: {known})"));
        return;
    }
    if let (Some(tool), Ok(Some(listed))) = (tool, catalogue::read(home, server))
        && !listed.tools.iter().any(|one| one.name == tool)
    {
        let count = screen::count(listed.tools.len(), "tool");
        screen::hint(&format!("note: {tool:?} is not among the {count} that {server} listed last"));
    }
}

/// Whoever blocks means it now: what was allowed for a while is over.
fn end_allowances(home: &Home, server: &str, tool: Option<&str>) -> anyhow::Result<()> {
    for one in allowing::end_for_block(home, &SystemClock::default().now(), (server, None), tool)? {
        Screen::new().line(&format!("ended    {}", loosening::described(&one)));
    }
    Ok(())
}

/// A command line that can be pasted back.
fn command(verb: &str, server: &str, tool: Option<&str>) -> String {
    let tool = tool.map(|tool| format!(" {}", screen::quoted(tool))).unwrap_or_default();
    format!("callgate {verb} {}{tool}", screen::quoted(server))
}

fn prepared_home() -> anyhow::Result<Home> {
    let home = Home::locate()?;
    home.prepare()?;
    Ok(home)
}
