//! `callgate pins`: definitions of tools that are accepted, what servers say otherwise, and accepting it.

use std::process::ExitCode;

use anyhow::bail;
use callgate_desk::Desk;
use callgate_desk::view::{Answer, DiffKind, Loosening, PinView, PinsView, ShownDefinition};
use callgate_text::{count, harmless, local, name};

use crate::act::{desk, told};
use crate::args::{PinsAct, PinsArgs};
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn pins(args: &PinsArgs) -> anyhow::Result<ExitCode> {
    let (desk, screen) = (desk()?, Screen::new());
    match &args.act {
        None => list(&desk, &screen, args.server.as_deref(), args.json),
        Some(PinsAct::Diff { server, tool }) => diff(&desk, &screen, server, tool),
        Some(PinsAct::Accept { server, tools }) => accept(&desk, &screen, server, tools),
        Some(PinsAct::Forget { server }) => {
            loosen(&desk, &screen, &Loosening::ForgetDefinitions { server: server.clone() }, "forget")
        }
    }
}

fn list(desk: &Desk, screen: &Screen, server: Option<&str>, json: bool) -> anyhow::Result<ExitCode> {
    let all = desk.pins(server).map_err(told)?;
    for view in &all {
        if json {
            screen.line(&serde_json::to_string(view)?);
        } else {
            show(screen, view);
        }
    }
    if json {
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        screen::hint(
            "Nothing is pinned yet: definitions are when a server lists its tools through Callgate.",
        );
    } else if all.iter().any(|view| !view.waiting.is_empty()) {
        screen::hint(
            "See a change with `callgate pins diff SERVER TOOL`, accept it with `callgate pins accept SERVER TOOL`.",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn show(screen: &Screen, view: &PinsView) {
    let server = screen.paint(screen::BOLD, &name(&view.server));
    if let Some(problem) = &view.problem {
        let words = format!(
            "{}; give it up with: callgate pins forget {}",
            harmless(problem),
            screen::quoted(&view.server)
        );
        return screen.line(&format!("{server}  {}", screen.paint(screen::WARN, &words)));
    }
    let then = match view.pin.as_str() {
        "enforce" => "a changed one is kept back",
        "report" => "a changed one is only told",
        _ => "pins are off",
    };
    let what = match view.open {
        true => "what it lists next is accepted".to_owned(),
        false => format!("definitions of {}, {then}", count(u64::from(view.tools), "tool")),
    };
    screen.line(&format!("{server}  {what}"));
    for one in &view.waiting {
        let time = local(one.seen_ms).strftime("%Y-%m-%d %H:%M").to_string();
        let how = if one.is_new { "new" } else { "described otherwise" };
        screen.line(&format!(
            "  {}  {}, since {time}",
            screen.paint(screen::ACCENT, &name(&one.tool)),
            screen.paint(screen::WARN, how),
        ));
    }
}

fn diff(desk: &Desk, screen: &Screen, server: &str, tool: &str) -> anyhow::Result<ExitCode> {
    let waiting = waiting(desk, server)?;
    let meant: Vec<&PinView> = waiting.iter().filter(|one| one.tool == tool).collect();
    if meant.is_empty() {
        screen::hint(&format!("{} says of {} what you accepted.", name(server), name(tool)));
        return Ok(ExitCode::SUCCESS);
    }
    meant.iter().for_each(|one| show_diff(screen, one));
    Ok(ExitCode::SUCCESS)
}

/// `[-gone-]` and `{+added+}` as well as colours, so that a pipe has them too.
fn show_diff(screen: &Screen, one: &PinView) {
    let time = local(one.seen_ms).strftime("%Y-%m-%d %H:%M").to_string();
    let how = if one.is_new { "new" } else { "described otherwise" };
    screen.line(&format!("{}  {how}, since {time}", screen.paint(screen::ACCENT, &name(&one.tool))));
    if one.diff.is_empty() {
        return screen.line("  The definition is too long to be kept: it is known by its digest alone.");
    }
    let mut line = String::from("  ");
    for part in &one.diff {
        for (at, text) in part.text.split('\n').enumerate() {
            if at > 0 {
                screen.line(&std::mem::replace(&mut line, "  ".to_owned()));
            }
            if text.is_empty() {
                continue;
            }
            let text = harmless(text);
            line.push_str(&match part.kind {
                DiffKind::Same => text,
                DiffKind::Gone => screen.paint(screen::BAD, &format!("[-{text}-]")),
                DiffKind::Added => screen.paint(screen::WARN, &format!("{{+{text}+}}")),
            });
        }
    }
    if !line.trim().is_empty() {
        screen.line(&line);
    }
}

fn accept(desk: &Desk, screen: &Screen, server: &str, tools: &[String]) -> anyhow::Result<ExitCode> {
    let waiting = waiting(desk, server)?;
    if let Some(tool) = tools.iter().find(|tool| waiting.iter().all(|one| one.tool != **tool)) {
        bail!("nothing of {} on {} waits to be accepted; nothing was changed", name(tool), name(server));
    }
    let meant: Vec<&PinView> =
        waiting.iter().filter(|one| tools.is_empty() || tools.contains(&one.tool)).collect();
    // Nobody says yes to what they have not seen.
    meant.iter().for_each(|one| show_diff(screen, one));
    let shown = meant
        .iter()
        .map(|one| ShownDefinition { tool: one.tool.clone(), digest: one.digest.clone() })
        .collect();
    loosen(desk, screen, &Loosening::AcceptDefinitions { server: server.to_owned(), shown }, "accept")
}

fn loosen(desk: &Desk, screen: &Screen, what: &Loosening, word: &str) -> anyhow::Result<ExitCode> {
    match desk.loosen(what).map_err(told)? {
        Answer::Done(done) => screen.line(&harmless(&done.words)),
        Answer::Ask(question) => {
            confirm::questions([&question], word)?;
            let done = desk.confirm(&question.token).map_err(told)?;
            screen.line(&harmless(&done.in_full()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn waiting(desk: &Desk, server: &str) -> anyhow::Result<Vec<PinView>> {
    let view = desk.pins(Some(server)).map_err(told)?.into_iter().next();
    match view {
        Some(PinsView { problem: Some(problem), .. }) => bail!(
            "{}; nothing was changed. Give it up, and have its next list accepted: callgate pins forget {}",
            harmless(&problem),
            screen::quoted(server)
        ),
        view => Ok(view.map(|view| view.waiting).unwrap_or_default()),
    }
}
