//! `callgate codegen`: what agents let browser servers record, and the way to a test of it.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use callgate_desk::Desk;
use callgate_desk::view::{CodegenAction, CodegenState, CodegenView};
use callgate_home::Home;
use callgate_home::clock::SystemClock;
use callgate_journal::Origin;
use serde_json::{Value, json};

use crate::args::{CodegenArgs, CodegenCommand, CodegenExportArgs, CodegenListArgs, CodegenShowArgs};
use crate::duration::{iso, local};
use crate::screen::{self, Screen};

/// The widest column of tools; the longest name of the published servers fits.
const TOOL: usize = 40;

pub(crate) fn run(args: CodegenArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let desk = Desk::new(home, Arc::new(SystemClock::default()), Origin::Cli);
    match args.command {
        None => list(&desk, &args.list),
        Some(CodegenCommand::List(args)) => list(&desk, &args),
        Some(CodegenCommand::Show(args)) => show(&desk, &args),
        Some(CodegenCommand::Export(args)) => export(&desk, &args),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn list(desk: &Desk, args: &CodegenListArgs) -> anyhow::Result<()> {
    let screen = Screen::new();
    let sessions = desk.codegen(args.server.as_deref())?;
    for session in &sessions {
        screen.line(&if args.json { object(session).to_string() } else { line(&screen, session) });
    }
    if sessions.is_empty() && !args.json {
        let others: BTreeSet<String> =
            desk.codegen(None)?.into_iter().map(|session| session.server).collect();
        let others: Vec<String> = others.iter().map(|server| screen::harmless(server)).collect();
        match (&args.server, &others[..]) {
            (Some(server), [_, ..]) => screen.line(&format!(
                "No codegen session of {} is on record; there are some of {}.",
                screen::harmless(server),
                others.join(", ")
            )),
            _ => screen.line(
                "No codegen session is on record. One appears here when an agent calls start_codegen_session.",
            ),
        }
    }
    Ok(())
}

fn show(desk: &Desk, args: &CodegenShowArgs) -> anyhow::Result<()> {
    let screen = Screen::new();
    let detail = desk.codegen_session(&args.session)?;
    if args.json {
        let mut object = object(&detail.session);
        object["recorded"] = detail.actions.iter().map(action).collect();
        screen.line(&object.to_string());
        return Ok(());
    }
    screen.line(&line(&screen, &detail.session));
    for (what, text) in [("output", &detail.session.output), ("file", &detail.session.file)] {
        if let Some(text) = text {
            screen.line(&format!("    {what}: {}", screen::harmless(text)));
        }
    }
    let width = detail.actions.iter().map(|action| action.tool.chars().count()).max().unwrap_or(0).min(TOOL);
    for (number, action) in detail.actions.iter().enumerate() {
        let failed = if action.failed { screen.paint(screen::WARN, "  (failed)") } else { String::new() };
        screen.line(&format!(
            "{:>4}  {}  {}{failed}",
            number + 1,
            screen::pad(&screen::harmless(&action.tool), width),
            screen::harmless(&action.gist),
        ));
    }
    let more = detail.session.actions.saturating_sub(detail.actions.len() as u64);
    if more > 0 {
        screen.line(&format!("      and {more} more: callgate codegen export {}", detail.session.id));
    }
    Ok(())
}

fn export(desk: &Desk, args: &CodegenExportArgs) -> anyhow::Result<()> {
    let screen = Screen::new();
    let Some(folder) = &args.out else {
        screen.line(desk.codegen_test(&args.session)?.trim_end());
        return Ok(());
    };
    let written = desk.export_codegen(&args.session, folder)?;
    screen.line(&match args.json {
        true => json!({ "path": written.path, "actions": written.calls }).to_string(),
        false => {
            let actions = screen::count(usize::try_from(written.calls).unwrap_or(usize::MAX), "action");
            format!("Wrote {actions} to {}", screen::harmless(&written.path))
        }
    });
    Ok(())
}

fn object(session: &CodegenView) -> Value {
    json!({
        "id": session.id,
        "session": session.session,
        "server": session.server,
        "client": session.client,
        "state": session.state.word(),
        "started": iso(session.started_ms),
        "ended": session.ended_ms.map(iso),
        "output": session.output,
        "file": session.file,
        "actions": session.actions,
        "thrown_away": session.thrown_away,
    })
}

fn action(action: &CodegenAction) -> Value {
    json!({
        "call": action.call,
        "time": iso(action.at_ms),
        "tool": action.tool,
        "gist": action.gist,
        "failed": action.failed,
    })
}

fn line(screen: &Screen, session: &CodegenView) -> String {
    let style = match session.state {
        CodegenState::Open => screen::GOOD,
        CodegenState::Ended => screen::DIM,
        CodegenState::Cleared | CodegenState::Lost if session.thrown_away => screen::WARN,
        CodegenState::Cleared | CodegenState::Lost => screen::DIM,
    };
    let actions = screen::count(usize::try_from(session.actions).unwrap_or(usize::MAX), "action");
    let saved = if session.thrown_away { ", saved here" } else { "" };
    let name = session.session.as_deref().map(screen::harmless).unwrap_or_default();
    let parts = [
        screen.paint(screen::DIM, &local(session.started_ms).strftime("%Y-%m-%d %H:%M").to_string()),
        screen::pad(&session.id, 10),
        screen::pad(&screen::harmless(&session.server), 16),
        screen::pad(&screen::harmless(&session.client), 16),
        screen.paint(style, &screen::pad(session.state.word(), 7)),
        format!("{actions}{saved}"),
        screen.paint(screen::DIM, &screen::clip(&name, 40)),
    ];
    parts.join("  ").trim_end().to_owned()
}
