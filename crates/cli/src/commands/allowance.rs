//! Loosening for a while, without touching the policy: `allow --for`, `allow --once`, `observe`.
//!
//! Each ends by itself, survives restarts, and shows in `status` while it lasts.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use callgate_desk::DeskError;
use callgate_desk::allowing::{self, NoHelp, ONCE, Repeatable};
use callgate_desk::change::Present;
use callgate_store::Home;
use callgate_store::allowance::{self, Allowance, Revoke, What};
use callgate_store::clock::{Clock, SystemClock};

use crate::args::ObserveArgs;
use crate::change;
use crate::commands::log;
use crate::confirm;
use crate::duration::{local, words};
use crate::screen::{self, Screen};

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
    grant(home, (server, None), What::Tool(tool.to_owned()), lasts, &what, "allow")
}

pub(crate) fn once(home: &Home, call: &str, lasts: Option<Duration>) -> anyhow::Result<ExitCode> {
    let call = Repeatable::find(&log::current(home)?, call)?;
    let lasts = lasts.unwrap_or(ONCE);
    let what = format!(
        "let the next call of \"{}\" on server {}{} with exactly the arguments of {} pass once, within {}",
        screen::harmless(&call.tool),
        call.server,
        call.client.as_deref().map_or_else(String::new, |client| format!(" by {}", screen::harmless(client))),
        call.id,
        words(lasts)
    );
    grant(home, (&call.server, call.client.as_deref()), call.what(), lasts, &what, "once")
}

pub(crate) fn observe(args: &ObserveArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    let server = args.server.as_str();
    let Some(lasts) = args.how_long.lasts else {
        let now = SystemClock::default().now();
        let ended = allowance::revoke(&home, &now, Revoke::Observe { server, client: None })
            .context("observing cannot be ended")?;
        let server = screen::harmless(server);
        Screen::new().line(&match ended.is_empty() {
            true => format!("Nothing to end: no time was set in which {server} is only observed."),
            false => format!("The policy of {server} is enforced again from the next call on."),
        });
        return Ok(ExitCode::SUCCESS);
    };
    let what = format!("let through whatever the policy of server {server} refuses, for {}", words(lasts.0));
    grant(&home, (server, None), What::Observe, lasts.0, &what, "observe")
}

fn grant(
    home: &Home,
    whose: (&str, Option<&str>),
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
    let clock = SystemClock::default();
    let granted = allowing::grant(&change::maker(home, &clock), whose, what, lasts, question)?;
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
    let ended = allowing::end(home, &SystemClock::default().now(), id)?;
    let Some(one) = &ended else {
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
    screen::harmless(&allowing::described(granted))
}

/// Refuses to promise what would not come: a tool that stays refused whatever is waived.
fn would_help(home: &Home, server: &str, tool: &str) -> anyhow::Result<()> {
    let present = Present::read(home, server)?;
    let now_ms = SystemClock::default().now().wall_ms;
    let shown = screen::harmless(tool);
    let no_help = allowing::would_help(&present, None, tool, now_ms).map_err(|error| match error {
        DeskError::BrokenPolicy { path, report } => anyhow::Error::new(report)
            .context(format!("{} is broken; nothing passes until it is mended", path.display())),
        other => other.into(),
    })?;
    match no_help {
        None => Ok(()),
        Some(NoHelp::AllowedAlready { limited: false }) => {
            bail!("\"{shown}\" on server {server} is allowed already; nothing was changed")
        }
        Some(NoHelp::AllowedAlready { limited: true }) => bail!(
            "\"{shown}\" on server {server} is allowed already, within its limits; nothing was changed. To let one refused call \
             through, use --once with its id; to set the whole policy aside for a while, `callgate observe`."
        ),
        Some(NoHelp::StillRefused { rule, reason }) => {
            bail!("\"{shown}\" on server {server} would still be refused by {rule}: {reason}")
        }
    }
}
