//! `callgate forget`: removes calls from the history for good, for a person at a terminal who was told what goes.

use std::process::ExitCode;

use callgate_desk::Forget;

use crate::act::desk;
use crate::args::ForgetArgs;
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &ForgetArgs) -> anyhow::Result<ExitCode> {
    let what = match (&args.call, &args.server, args.before) {
        (Some(call), ..) => Forget::Call(call.parse()?),
        (None, Some(server), _) => Forget::Server(server.clone()),
        (None, None, Some(before)) => Forget::Before(before.0),
        (None, None, None) => Forget::Demo,
    };
    // Before the record is even looked at: whoever may not forget learns nothing by asking.
    confirm::not_below_a_client("forget what is on record")?;
    let desk = desk()?;
    let asked = desk.ask_to_forget(what, &screen::terminal())?;
    let mut words = screen::harmless(&asked.words);
    for line in &asked.loosened {
        words.push_str(&format!("\n  {}", screen::harmless(line)));
    }
    confirm::forgetting(&words, "forget")?;
    Screen::new().line(&desk.confirm(&asked.token)?.words);
    Ok(ExitCode::SUCCESS)
}
