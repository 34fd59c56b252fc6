//! `callgate approvals`, `approve`, `deny`: calls that wait for a person's decision.

use std::collections::HashSet;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use callgate_controls::approval::Decider;
use callgate_controls::decider::Presence;
use callgate_desk::Desk;
use callgate_desk::view::{ApprovalState, ApprovalVerdict, ApprovalView, DecidedView, GrantView};
use callgate_home::clock::wall_ms;
use callgate_text::{harmless, local, name, size, span};
use callgate_wiring::client_name;

use crate::act::{desk, told};
use crate::args::{ApprovalsArgs, ApproveArgs, DenyArgs};
use crate::confirm;
use crate::screen::{self, Screen};

/// How soon a new question shows.
const LOOK: Duration = Duration::from_millis(250);
/// How much of long arguments is shown in a terminal before the rest is counted.
const SHOWN: usize = 4_000;

pub(crate) fn list(args: &ApprovalsArgs) -> anyhow::Result<ExitCode> {
    let (desk, screen) = (desk()?, Screen::new());
    if let Some(id) = &args.revoke {
        screen.line(&desk.revoke_grant(id).map_err(told)?.words);
        return Ok(ExitCode::SUCCESS);
    }
    if args.follow {
        return follow(&desk, &screen, args.json);
    }
    let view = desk.approvals().map_err(told)?;
    let ended = view.ended.iter().filter(|_| args.all);
    for approval in view.open.iter().chain(ended) {
        show(&screen, approval, args.json)?;
    }
    if args.json {
        return Ok(ExitCode::SUCCESS);
    }
    view.grants.iter().for_each(|grant| screen.line(&granted(&screen, grant)));
    if view.open.is_empty() && view.grants.is_empty() {
        screen::hint("Nothing waits for a decision. A tool is asked about after `callgate ask SERVER TOOL`.");
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what comes until somebody ends it. Somebody looks, so calls are held.
fn follow(desk: &Desk, screen: &Screen, json: bool) -> anyhow::Result<ExitCode> {
    let _presence = Presence::announce(desk.home())?;
    let mut shown = HashSet::new();
    loop {
        let open = desk.approvals().map_err(told)?.open;
        for approval in open.iter().filter(|one| !shown.contains(&one.id)) {
            show(screen, approval, json)?;
        }
        shown = open.into_iter().map(|one| one.id).collect();
        thread::sleep(LOOK);
    }
}

pub(crate) fn approve(args: &ApproveArgs) -> anyhow::Result<ExitCode> {
    let verdict = match args {
        ApproveArgs { burst: true, .. } => ApprovalVerdict::Burst { tools: Vec::new() },
        ApproveArgs { until_restart: true, .. } => ApprovalVerdict::UntilRestart,
        ApproveArgs { always: true, .. } => ApprovalVerdict::Always,
        ApproveArgs { .. } => ApprovalVerdict::Once,
    };
    let (desk, screen) = (desk()?, Screen::new());
    let view = desk.approvals().map_err(told)?;
    if let Some(approval) = view.open.iter().find(|one| one.id == args.id) {
        show(&screen, approval, false)?;
    }
    confirm::loosening(&format!("let the call {} through", harmless(&args.id)), "approve")?;
    tell(&screen, &desk.decide(&args.id, &verdict, Decider::Cli).map_err(told)?);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn deny(args: &DenyArgs) -> anyhow::Result<ExitCode> {
    let (desk, screen) = (desk()?, Screen::new());
    let verdict = ApprovalVerdict::Deny { reason: args.reason.clone(), block: args.block };
    tell(&screen, &desk.decide(&args.id, &verdict, Decider::Cli).map_err(told)?);
    Ok(ExitCode::SUCCESS)
}

fn tell(screen: &Screen, decided: &DecidedView) {
    screen.line(&decided.done.words);
    if let Some(tell) = &decided.tell {
        screen.line(&format!("Tell the agent: {}", harmless(tell)));
    }
}

fn show(screen: &Screen, approval: &ApprovalView, json: bool) -> anyhow::Result<()> {
    if json {
        screen.line(&serde_json::to_string(approval)?);
        return Ok(());
    }
    let time = local(approval.opened_ms).strftime("%H:%M:%S").to_string();
    let (tool, server) = (name(&approval.tool), name(&approval.server));
    screen.line(&format!(
        "{}  {}  {} of {}, for {}  {}",
        screen.paint(screen::BOLD, &approval.id),
        screen.paint(screen::DIM, &time),
        screen.paint(screen::ACCENT, &tool),
        server,
        client_name(&approval.client),
        screen.paint(screen::WARN, &state(approval)),
    ));
    screen.line(&format!("  {} ({})", harmless(&approval.reason), harmless(&approval.rule)));
    if let Some(difference) = &approval.difference {
        screen.line(&format!("  Asked about again: {}", harmless(difference)));
    }
    if let Some(arguments) = &approval.arguments {
        let shown = &arguments[..arguments.floor_char_boundary(SHOWN)];
        screen.line(&format!("  {}", harmless(shown)));
        if shown.len() < arguments.len() || !approval.complete {
            let rest = approval.arguments_bytes - shown.len() as u64;
            screen.line(&format!("  … {} more", size(rest)));
        }
    }
    Ok(())
}

fn state(approval: &ApprovalView) -> String {
    let left = |until: i64| span(Duration::from_millis(u64::try_from(until - wall_ms()).unwrap_or(0)));
    let equal = if approval.asked > 1 { format!(", asked {} times", approval.asked) } else { String::new() };
    let by = approval.decided_by.as_deref().unwrap_or_default();
    let stands = match approval.state {
        ApprovalState::Open => match approval.held_until_ms {
            Some(until) => format!("its client waits for {} more", left(until)),
            None => "its client has stopped waiting".to_owned(),
        },
        ApprovalState::Approved => format!("approved {by}"),
        ApprovalState::Denied => format!("denied {by}"),
        ApprovalState::Missed => "missed".to_owned(),
        ApprovalState::Withdrawn => "given up by its client".to_owned(),
    };
    format!("{stands}{equal}")
}

fn granted(screen: &Screen, grant: &GrantView) -> String {
    let tools: Vec<String> = grant.tools.iter().map(|tool| name(tool)).collect();
    format!(
        "{}  {} of {} passes for {} {}; end it: callgate approvals --revoke {}",
        screen.paint(screen::BOLD, &grant.id),
        tools.join(", "),
        name(&grant.server),
        client_name(&grant.client),
        grant.words,
        grant.id
    )
}
