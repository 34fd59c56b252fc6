//! `block`, `hide`, `cap`, `allow`, `observe`, `pause`, `resume`: each is one act of the desk.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::Context;
use callgate_desk::allowing::EVERY_TOOL;
use callgate_desk::inventory::Purpose;
use callgate_desk::view::{Loosening, Restriction};
use callgate_home::{Home, Stand, lease};
use callgate_policy::Rate;

use crate::act::{self, TypedAct};
use crate::args::{
    AllowArgs, AskArgs, BlockArgs, CapArgs, CapTo, HideArgs, ObserveArgs, PauseArgs, ResumeArgs,
};
use crate::duration::Span;
use crate::screen::{self, Screen};

pub(crate) fn block(args: &BlockArgs) -> anyhow::Result<ExitCode> {
    let BlockArgs { server, tool, reason, whom } = args;
    let options = why(reason.as_deref());
    let tool = one_or_some(tool.as_deref());
    let act = TypedAct { verb: "block", server, tool, tail: &[], options: &options, whom };
    act.restrict(|target| Restriction::Block { target, reason: reason.clone() })
}

pub(crate) fn ask(args: &AskArgs) -> anyhow::Result<ExitCode> {
    let AskArgs { server, tool, reason, whom } = args;
    let options = why(reason.as_deref());
    let act = TypedAct { verb: "ask", server, tool: Some(tool), tail: &[], options: &options, whom };
    act.restrict(|target| Restriction::Ask { target, reason: reason.clone() })
}

pub(crate) fn hide(args: &HideArgs) -> anyhow::Result<ExitCode> {
    let HideArgs { server, tool, reason, whom } = args;
    let options = why(reason.as_deref());
    let act = TypedAct { verb: "hide", server, tool: Some(tool), tail: &[], options: &options, whom };
    act.restrict(|target| Restriction::Hide { target, note: reason.clone() })
}

pub(crate) fn cap(args: &CapArgs) -> anyhow::Result<ExitCode> {
    let (tool, cap) = args.tool_and_cap()?;
    let rate = match cap {
        CapTo::Rate(rate) => rate.to_string(),
        CapTo::None => "none".to_owned(),
    };
    let (server, tail, whom) = (args.server.as_str(), [rate.as_str()], &args.whom);
    let tool = one_or_some(tool.as_deref());
    let act = TypedAct { verb: "cap", server, tool, tail: &tail, options: &[], whom };
    match cap {
        CapTo::None => act.loosen("uncap", |target| Loosening::Uncap { target }),
        // Asks only if it is higher than the one before.
        CapTo::Rate(Rate { max, window }) => {
            act.cap(|target| Loosening::Cap { target, max: max.get(), window: window.to_string() })
        }
    }
}

pub(crate) fn allow(args: &AllowArgs) -> anyhow::Result<ExitCode> {
    let AllowArgs { server, tool, lasts, once, end, whom } = args;
    let seconds = lasts.map(seconds).transpose()?;
    if let Some(id) = end {
        return act::end(&Restriction::EndAllowance { id: id.clone() });
    }
    if let Some(call) = once {
        return act::ask(&Loosening::AllowNext { call: call.clone(), seconds }, "once");
    }
    let server = server.as_deref().context("name the server")?;
    let time = seconds.map(|seconds| format!("{seconds}s"));
    let options: Vec<_> = time.iter().map(|time| ("--for", Some(time.as_str()))).collect();
    let only = one_or_some(tool.as_deref());
    let act = TypedAct { verb: "allow", server, tool: only, tail: &[], options: &options, whom };
    match seconds {
        None => act.loosen("allow", |target| Loosening::Allow { target }),
        Some(seconds) => act.loosen("allow", |target| Loosening::AllowFor {
            server: target.server,
            tool: target.tool.unwrap_or_else(|| EVERY_TOOL.to_owned()),
            client: target.client,
            seconds,
        }),
    }
}

pub(crate) fn observe(args: &ObserveArgs) -> anyhow::Result<ExitCode> {
    let ObserveArgs { server, how_long, whom } = args;
    let act = |options| TypedAct { verb: "observe", server, tool: None, tail: &[], options, whom };
    let Some(lasts) = how_long.lasts else {
        let act = act(&[("--off", None)]);
        return act.restrict_known(Purpose::Loosen, |target| Restriction::Enforce {
            server: target.server,
            client: target.client,
        });
    };
    let seconds = seconds(lasts)?;
    let time = format!("{seconds}s");
    act(&[("--for", Some(&time))]).loosen("observe", |target| Loosening::Observe {
        server: target.server,
        client: target.client,
        seconds,
    })
}

pub(crate) fn pause(args: &PauseArgs) -> anyhow::Result<ExitCode> {
    let PauseArgs { server, reason, whom } = args;
    let Some(server) = server else {
        let client = act::client(whom, Purpose::Restrict)?;
        return act::end(&Restriction::Pause { server: None, client, reason: reason.clone() });
    };
    let options = why(reason.as_deref());
    let act = TypedAct { verb: "pause", server, tool: None, tail: &[], options: &options, whom };
    act.restrict(|target| Restriction::Pause {
        server: Some(target.server),
        client: target.client,
        reason: reason.clone(),
    })
}

pub(crate) fn resume(args: &ResumeArgs) -> anyhow::Result<ExitCode> {
    let ResumeArgs { server, whom } = args;
    let done = match server {
        None => {
            let client = act::client(whom, Purpose::Loosen)?;
            act::ask(&Loosening::Resume { server: None, client }, "resume")
        }
        Some(server) => {
            let act = TypedAct { verb: "resume", server, tool: None, tail: &[], options: &[], whom };
            act.loosen("resume", |target| Loosening::Resume {
                server: Some(target.server),
                client: target.client,
            })
        }
    }?;
    tell_stopped(server.as_deref())?;
    Ok(done)
}

/// What was stopped together with the pause does not come back with its end.
fn tell_stopped(server: Option<&str>) -> anyhow::Result<()> {
    let stopped: BTreeSet<String> = lease::running(&Home::locate()?)
        .into_iter()
        .filter(|lease| lease.stand == Stand::Stopped && server.is_none_or(|server| lease.server == server))
        .map(|lease| lease.server)
        .collect();
    let screen = Screen::new();
    for server in stopped {
        let words = format!(
            "{} is still stopped: callgate start {}",
            screen::harmless(&server),
            screen::quoted(&server)
        );
        screen.line(&screen.paint(screen::WARN, &words));
    }
    Ok(())
}

/// The option of a reason, if there is one.
fn why(reason: Option<&str>) -> Vec<(&'static str, Option<&str>)> {
    reason.map(|reason| ("--reason", Some(reason))).into_iter().collect()
}

/// The pattern of every tool is the whole server.
fn one_or_some(tool: Option<&str>) -> Option<&str> {
    tool.filter(|tool| *tool != EVERY_TOOL)
}

fn seconds(span: Span) -> anyhow::Result<u32> {
    u32::try_from(span.0.as_secs()).ok().context("something can be allowed for at most 7 days")
}
