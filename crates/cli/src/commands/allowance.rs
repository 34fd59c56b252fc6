//! Loosening for a while, without touching the policy: `allow --for`, `allow --once`, `observe`.
//!
//! Each ends by itself, survives restarts, and shows in `status` while it lasts.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use callgate_policy::{Call, Circumstances, Judgement, Policy, Waived};
use callgate_store::allowance::{self, Allowance, Revoke, What};
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::history::record_event;
use callgate_store::{CallId, Disk, EventKind, Home, Origin};

use crate::args::ObserveArgs;
use crate::change;
use crate::commands::log;
use crate::confirm;
use crate::duration::{local, words};
use crate::screen::{self, Screen};

/// How long `--once` waits for its call unless told otherwise.
const ONCE: Duration = Duration::from_secs(10 * 60);

pub(crate) fn for_a_while(
    home: &Home,
    server: &str,
    tool: Option<&str>,
    lasts: Duration,
) -> anyhow::Result<ExitCode> {
    let Some(tool) = tool else {
        bail!(
            "name the tool to allow, or let everything of {server} through for a while with `callgate observe {} --for {}s`",
            screen::quoted(server),
            lasts.as_secs()
        )
    };
    would_help(home, server, tool)?;
    let what =
        format!("let agents call \"{}\" on server {server} for {}", screen::harmless(tool), words(lasts));
    grant(home, server, What::Tool(tool.to_owned()), lasts, &what, "allow")
}

pub(crate) fn once(home: &Home, call: &str, lasts: Option<Duration>) -> anyhow::Result<ExitCode> {
    let id: CallId = call.parse().with_context(|| format!("{call:?} is no id of a call"))?;
    let row = log::current(home)?.call(&id)?;
    let row = row.with_context(|| format!("there is no call {id} on record"))?;
    if !row.decision.is_refused() {
        bail!("call {id} was let through ({}); there is nothing to allow", row.decision);
    }
    let (Some(tool), Some(digest)) = (row.tool.clone(), row.digest) else {
        bail!(
            "call {id} was refused as {}, which cannot be allowed: the agent has to send it in another form",
            row.decision
        )
    };
    let lasts = lasts.unwrap_or(ONCE);
    let what = format!(
        "let the next call of \"{}\" on server {} with exactly the arguments of {id} pass once, within {}",
        screen::harmless(&tool),
        row.server,
        words(lasts)
    );
    let allowed = What::Call { tool, digest, call: id };
    grant(home, &row.server, allowed, lasts, &what, "once")
}

pub(crate) fn observe(args: &ObserveArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    let server = args.server.as_str();
    let Some(lasts) = args.how_long.lasts else {
        let now = SystemClock::default().now();
        let ended = allowance::revoke(&home, &now, Revoke::Observe { server })
            .context("observing cannot be ended")?;
        let server = screen::harmless(server);
        Screen::new().line(&match ended.is_empty() {
            true => format!("Nothing to end: no time was set in which {server} is only observed."),
            false => format!("The policy of {server} is enforced again from the next call on."),
        });
        return Ok(ExitCode::SUCCESS);
    };
    let what = format!("let through whatever the policy of server {server} refuses, for {}", words(lasts.0));
    grant(&home, server, What::Observe, lasts.0, &what, "observe")
}

fn grant(
    home: &Home,
    server: &str,
    what: What,
    lasts: Duration,
    question: &str,
    word: &str,
) -> anyhow::Result<ExitCode> {
    if lasts > allowance::LONGEST {
        bail!(
            "{} is longer than the {} that something may be allowed for; change the policy instead",
            words(lasts),
            words(allowance::LONGEST)
        );
    }
    confirm::loosening(question, word)?;
    let now = SystemClock::default().now();
    // On record first: what cannot be recorded is not granted.
    record_event(home, now.wall_ms, EventKind::Loosened, Some(server), Some(Origin::Cli), question)
        .context("this cannot be recorded, so it was not allowed")?;
    let granted =
        allowance::grant(home, &now, server, what, lasts).context("the allowance cannot be written")?;
    let screen = Screen::new();
    screen.line(&format!(
        "{}  {}, until {} ({})",
        screen.paint(screen::WARN, &granted.id),
        described(&granted),
        local(granted.ends_ms).strftime("%Y-%m-%d %H:%M:%S"),
        words(lasts)
    ));
    screen.line(&format!("end it now: {}", ending(&granted)));
    Ok(ExitCode::SUCCESS)
}

/// Ends one allowance. That restricts, so nobody is asked.
pub(crate) fn end(home: &Home, id: &str) -> anyhow::Result<ExitCode> {
    let ended = allowance::revoke(home, &SystemClock::default().now(), Revoke::Id(id))
        .context("the allowance cannot be ended")?;
    let Some(one) = ended.first() else {
        bail!("there is no allowance {id:?}; `callgate status` lists those that are open");
    };
    Screen::new().line(&format!("ended    {}", described(one)));
    Ok(ExitCode::SUCCESS)
}

/// The command that ends an allowance before its time.
pub(crate) fn ending(granted: &Allowance) -> String {
    format!("callgate allow --end {}", granted.id)
}

/// What is allowed, in words.
pub(crate) fn described(granted: &Allowance) -> String {
    let server = screen::harmless(&granted.server);
    match &granted.what {
        What::Tool(tool) => format!("\"{}\" on {server} is allowed", screen::harmless(tool)),
        What::Call { tool, call, .. } => {
            format!("one call of \"{}\" on {server} like {call} is allowed", screen::harmless(tool))
        }
        What::Observe => format!("the policy of {server} is only observed"),
    }
}

/// Refuses to promise what would not come: a tool that stays refused whatever is waived.
fn would_help(home: &Home, server: &str, tool: &str) -> anyhow::Result<()> {
    let (path, text) = change::current(home, server)?;
    let policy = Policy::parse(&text)
        .with_context(|| format!("{} is broken; nothing passes until it is mended", path.display()))?;
    let (files, now_ms) = (Disk::new(), SystemClock::default().now().wall_ms);
    let with = |waived| Circumstances { now_ms, files: &files, waived };
    let call = Call::tool("", tool, None);
    if let Judgement::Pass(pass) = policy.judge(&call, &with(Waived::Nothing)) {
        let shown = screen::harmless(tool);
        if pass.limits.is_empty() {
            bail!("\"{shown}\" on server {server} is allowed already; nothing was changed");
        }
        bail!(
            "\"{shown}\" on server {server} is allowed already, within its limits; nothing was changed. To let one refused call \
             through, use --once with its id; to set the whole policy aside for a while, `callgate observe`."
        );
    }
    match policy.judge(&call, &with(Waived::Denials)) {
        Judgement::Refuse(refusal)
            if !refusal.rule.contains("/require/")
                && !refusal.rule.contains("/deny_if/")
                && !refusal.rule.contains("/limits/") =>
        {
            bail!(
                "\"{}\" on server {server} would still be refused by {}: {}",
                screen::harmless(tool),
                refusal.rule,
                refusal.reason
            )
        }
        _ => Ok(()),
    }
}
