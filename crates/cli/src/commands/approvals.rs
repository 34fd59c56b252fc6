//! `callgate approvals`, `approve`, `deny`: calls that wait for a person's decision.

use std::collections::HashSet;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use callgate_controls::approval::Decider;
use callgate_controls::decider::Presence;
use callgate_desk::Desk;
use callgate_desk::view::{
    ApprovalState, ApprovalVerdict, ApprovalView, ClassBadge, ComparisonView, DecidedView, GrantView,
    Loosening,
};
use callgate_home::clock::wall_ms;
use callgate_policy::Rate;
use callgate_text::{clip, harmless, local, name, size, span};
use callgate_wiring::client_name;

use crate::act::{TypedAct, desk, told};
use crate::args::{ApprovalsArgs, ApproveArgs, CapTo, DenyArgs, WhomArgs};
use crate::confirm;
use crate::screen::{self, Screen};

/// How soon a new question shows.
const LOOK: Duration = Duration::from_millis(250);
/// What has to be typed for a yes.
pub(super) const WORD: &str = "approve";
/// How much of long arguments is shown in a terminal before the rest is counted.
const SHOWN: usize = 4_000;

pub(crate) fn list(args: &ApprovalsArgs) -> anyhow::Result<ExitCode> {
    let (desk, screen) = (desk()?, Screen::new());
    if let Some(id) = &args.revoke {
        screen.line(&desk.revoke_grant(id).map_err(told)?.words);
        return Ok(ExitCode::SUCCESS);
    }
    let how = if args.json { Shown::Json } else { Shown::Short };
    if args.follow {
        return follow(&desk, &screen, how);
    }
    let view = desk.approvals().map_err(told)?;
    let ended = view.ended.iter().filter(|_| args.all);
    for approval in view.open.iter().chain(ended) {
        show(&screen, approval, how)?;
    }
    if args.json {
        return Ok(ExitCode::SUCCESS);
    }
    if !view.open.is_empty() {
        screen::hint("Decide with `callgate approve ID` or `callgate deny ID --reason WHY`.");
    }
    view.grants.iter().for_each(|grant| screen.line(&granted(&screen, grant)));
    if view.open.is_empty() && view.grants.is_empty() {
        screen::hint("Nothing waits for a decision. A tool is asked about after `callgate ask SERVER TOOL`.");
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what comes until somebody ends it. Somebody looks, so calls are held.
fn follow(desk: &Desk, screen: &Screen, how: Shown) -> anyhow::Result<ExitCode> {
    let _presence = Presence::announce(desk.home())?;
    let mut shown = HashSet::new();
    loop {
        let open = desk.approvals().map_err(told)?.open;
        for approval in open.iter().filter(|one| !shown.contains(&one.id)) {
            show(screen, approval, how)?;
        }
        shown = open.into_iter().map(|one| one.id).collect();
        thread::sleep(LOOK);
    }
}

pub(crate) fn approve(args: &ApproveArgs) -> anyhow::Result<ExitCode> {
    let verdict = match args {
        ApproveArgs { burst: true, tools, .. } => ApprovalVerdict::Burst { tools: tools.clone() },
        ApproveArgs { conversation: true, .. } => ApprovalVerdict::Conversation,
        ApproveArgs { until_restart: true, .. } => ApprovalVerdict::UntilRestart,
        ApproveArgs { .. } => ApprovalVerdict::Once,
    };
    let (desk, screen) = (desk()?, Screen::new());
    // Nobody types a word for what cannot be decided.
    let approval = desk.open_approval(&args.id).map_err(told)?;
    show(&screen, &approval, Shown::Whole)?;
    confirm::loosening(&through(&approval.id), WORD)?;
    screen.line(&decide(&desk, &approval.id, &verdict)?);
    if args.always {
        let (server, tool) = (approval.server.as_str(), Some(approval.tool.as_str()));
        let whom = WhomArgs::default();
        let act = TypedAct { verb: "allow", server, tool, tail: &[], options: &[], whom: &whom };
        return match args.cap {
            Some(CapTo::Rate(Rate { max, window })) => act.loosen("allow", |target| Loosening::AllowCapped {
                target,
                max: max.get(),
                window: window.to_string(),
            }),
            Some(CapTo::None) | None => act.loosen("allow", |target| Loosening::Allow { target }),
        };
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn deny(args: &DenyArgs) -> anyhow::Result<ExitCode> {
    let (desk, screen) = (desk()?, Screen::new());
    let verdict = ApprovalVerdict::Deny { reason: args.reason.clone(), block: args.block };
    screen.line(&decide(&desk, &args.id, &verdict)?);
    Ok(ExitCode::SUCCESS)
}

fn through(id: &str) -> String {
    format!("let the call {id} through")
}

/// Decides, and says what came of it: the one road of the commands and of `watch`. Whoever calls this for a yes has seen the
/// call whole and had the word typed; what runs below a session, or was started by a client, has no say all the same.
pub(super) fn decide(desk: &Desk, id: &str, verdict: &ApprovalVerdict) -> anyhow::Result<String> {
    if !matches!(verdict, ApprovalVerdict::Deny { .. }) {
        confirm::not_below_a_client(&through(id))?;
    }
    let DecidedView { done, tell } = desk.decide(id, verdict, Decider::Cli).map_err(told)?;
    Ok(match tell {
        Some(tell) => format!("{}\nTell the agent: {}", done.words, harmless(&tell)),
        None => done.words,
    })
}

/// How much of a question is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Json,
    /// With the beginning of long arguments.
    Short,
    Whole,
}

fn show(screen: &Screen, approval: &ApprovalView, how: Shown) -> anyhow::Result<()> {
    if how == Shown::Json {
        screen.line(&serde_json::to_string(approval)?);
        return Ok(());
    }
    lines(screen, approval, how).iter().for_each(|line| screen.line(line));
    Ok(())
}

/// A question for people.
pub(super) fn lines(screen: &Screen, approval: &ApprovalView, how: Shown) -> Vec<String> {
    let time = local(approval.opened_ms).strftime("%H:%M:%S").to_string();
    let (tool, server) = (name(&approval.tool), name(&approval.server));
    let mut lines = vec![format!(
        "{}  {}  {} of {}, for {}  {}",
        screen.paint(screen::BOLD, &approval.id),
        screen.paint(screen::DIM, &time),
        screen.paint(screen::ACCENT, &tool),
        server,
        client_name(&approval.client),
        screen.paint(screen::WARN, &state(approval)),
    )];
    let class = approval.class.map_or_else(|| "class unknown".to_owned(), ClassBadge::words);
    lines.push(format!("  {class}. {} ({})", harmless(&approval.reason), harmless(&approval.rule)));
    let difference = approval.difference.iter();
    lines.extend(difference.map(|why| format!("  Asked about again: {}", harmless(why))));
    if let Some(arguments) = &approval.arguments {
        let most = if how == Shown::Whole { arguments.len() } else { SHOWN };
        let shown = &arguments[..arguments.floor_char_boundary(most)];
        lines.push(format!("  {}", harmless(shown)));
        if shown.len() < arguments.len() || !approval.complete {
            let rest = approval.arguments_bytes.saturating_sub(shown.len() as u64);
            lines.push(format!("  … {} more; `callgate approve` shows all of it first", size(rest)));
        }
    }
    lines.extend(approval.compared.iter().map(|compared| format!("  {}", differs(compared))));
    lines.extend(hidden(approval).map(|words| format!("  {}", screen.paint(screen::WARN, &words))));
    lines
}

/// Where it is other than the call that was approved last: the first few places.
fn differs(compared: &ComparisonView) -> String {
    const NAMED: usize = 8;
    let named = |places: &[String]| {
        let first: Vec<String> = places
            .iter()
            .filter(|place| !place.is_empty())
            .take(NAMED)
            .map(|place| clip(&harmless(place), 80))
            .collect();
        let more = if places.len() > NAMED { " …" } else { "" };
        if first.is_empty() { String::new() } else { format!("{}{more}", first.join(" ")) }
    };
    let parts = [("changed", named(&compared.changed)), ("not there any more", named(&compared.gone))];
    let told = parts.iter().filter(|(_, places)| !places.is_empty());
    let told = told.map(|(what, places)| format!(" {what}: {places}"));
    format!("{}{}", compared.words, told.collect::<Vec<_>>().join(";"))
}

/// What nobody who decides can read.
fn hidden(approval: &ApprovalView) -> Option<String> {
    match approval.masked {
        0 => None,
        1 => Some("1 value is hidden by masking: a yes is for what you cannot read".to_owned()),
        many => Some(format!("{many} values are hidden by masking: a yes is for what you cannot read")),
    }
}

fn state(approval: &ApprovalView) -> String {
    let left = |until: i64| span(Duration::from_millis(u64::try_from(until - wall_ms()).unwrap_or(0)));
    let equal = if approval.asked > 1 { format!(", asked {} times", approval.asked) } else { String::new() };
    let by = approval.decided_by.as_deref().unwrap_or_default();
    let stands = match approval.state {
        ApprovalState::Open => match approval.held_until_ms {
            Some(until) => format!("its client waits for {} more", left(until)),
            None => "its client does not wait".to_owned(),
        },
        ApprovalState::Approved => format!("approved {by}"),
        ApprovalState::Denied => format!("denied {by}"),
        ApprovalState::Missed => "missed".to_owned(),
        ApprovalState::Withdrawn => "given up by its client".to_owned(),
    };
    format!("{stands}{equal}")
}

pub(super) fn granted(screen: &Screen, grant: &GrantView) -> String {
    format!(
        "{}  {} of {} passes for {} {}; end it: callgate approvals --revoke {}",
        screen.paint(screen::BOLD, &grant.id),
        std::iter::once(&grant.tool).chain(&grant.also).map(|tool| name(tool)).collect::<Vec<_>>().join(", "),
        name(&grant.server),
        client_name(&grant.client),
        grant.words,
        grant.id
    )
}
