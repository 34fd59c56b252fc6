//! `callgate pins`: definitions of tools that are accepted, what servers say otherwise, and accepting it.

use std::process::ExitCode;

use anyhow::bail;
use callgate_desk::Desk;
use callgate_desk::view::{
    Answer, DiffKind, GoneView, Loosening, MemberView, PinView, PinnedThing, PinsView, Restriction,
    ShownDefinition, ShownGone,
};
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
        Some(PinsAct::Remove { server, tools }) => remove(&desk, &screen, server, tools),
        Some(PinsAct::LetThrough { server, key }) => {
            let what = Loosening::LetThrough { server: server.clone(), key: key.clone() };
            loosen(&desk, &screen, &what, "through")
        }
        Some(PinsAct::TakeOut { server, key }) => {
            let what = Restriction::TakeOut { server: server.clone(), key: key.clone() };
            screen.line(&harmless(&desk.restrict(&what).map_err(told)?.in_full()));
            Ok(ExitCode::SUCCESS)
        }
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
        let (time, how) = (time(one.seen_ms), screen.paint(screen::WARN, how(one)));
        screen.line(&format!("  {}  {how}, since {time}", shown(screen, one.thing, &one.tool)));
    }
    for GoneView { thing, tool, since_ms } in &view.gone {
        let how = screen.paint(screen::WARN, "no longer listed");
        screen.line(&format!("  {}  {how}, since {}", shown(screen, *thing, tool), time(*since_ms)));
    }
    view.members.iter().for_each(|member| show_member(screen, member));
}

fn show_member(screen: &Screen, member: &MemberView) {
    let place = if member.is_capability { "capability" } else { "_meta key" };
    let how = match member.passes {
        true => screen.paint(screen::WARN, "let through by you"),
        false => "taken out".to_owned(),
    };
    let why = member.what.as_ref().map(|what| format!(": it {}", harmless(what))).unwrap_or_default();
    screen.line(&format!("  {place} {}  {how}{why}", screen.paint(screen::ACCENT, &name(&member.key))));
}

fn time(at_ms: i64) -> String {
    local(at_ms).strftime("%Y-%m-%d %H:%M").to_string()
}

fn how(one: &PinView) -> &'static str {
    match (one.is_new, one.thing) {
        (true, _) => "new",
        (false, PinnedThing::Program) => "another than you accepted",
        (false, PinnedThing::Capability) => "declared otherwise",
        (false, PinnedThing::Tool | PinnedThing::Prompt | PinnedThing::Instructions) => "described otherwise",
    }
}

/// A tool by its name alone, the rest with what it is.
fn shown(screen: &Screen, thing: PinnedThing, tool: &str) -> String {
    let painted = |text: &str| screen.paint(screen::ACCENT, text);
    match thing {
        PinnedThing::Tool => painted(&name(tool)),
        PinnedThing::Prompt => format!("prompt {}", painted(&name(tool))),
        PinnedThing::Capability => format!("capability {}", painted(&name(tool))),
        PinnedThing::Instructions | PinnedThing::Program => painted(tool),
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
    let head = shown(screen, one.thing, &one.tool);
    screen.line(&format!("{head}  {}, since {}", how(one), time(one.seen_ms)));
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
        .map(|one| ShownDefinition { thing: one.thing, tool: one.tool.clone(), digest: one.digest.clone() })
        .collect();
    loosen(desk, screen, &Loosening::AcceptDefinitions { server: server.to_owned(), shown }, "accept")
}

fn remove(desk: &Desk, screen: &Screen, server: &str, tools: &[String]) -> anyhow::Result<ExitCode> {
    let view = desk.pins(Some(server)).map_err(told)?.into_iter().next();
    let gone = view.map(|view| view.gone).unwrap_or_default();
    if let Some(tool) = tools.iter().find(|tool| gone.iter().all(|one| one.tool != **tool)) {
        bail!("{} is listed by {}, or not pinned; nothing was changed", name(tool), name(server));
    }
    let meant = gone.into_iter().filter(|one| tools.is_empty() || tools.contains(&one.tool));
    let gone = meant.map(|one| ShownGone { thing: one.thing, tool: one.tool }).collect();
    loosen(desk, screen, &Loosening::RemoveDefinitions { server: server.to_owned(), gone }, "remove")
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
