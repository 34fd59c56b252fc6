//! `callgate forget`: removes calls from the history for good.

use std::process::ExitCode;

use callgate_store::Home;
use callgate_store::clock::SystemClock;
use callgate_store::history::{Forget, forget};

use crate::args::ForgetArgs;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &ForgetArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    let what = match (&args.call, &args.server, args.before) {
        (Some(call), ..) => Forget::Call(call.parse()?),
        (None, Some(server), _) => Forget::Server(server),
        (None, None, Some(before)) => Forget::Before(before.0),
        (None, None, None) => Forget::Demo,
    };
    let gone = forget(&home, what, &SystemClock::default())?;
    let screen = Screen::new();
    if gone.calls + gone.events + gone.sessions == 0 {
        screen.line("Nothing was forgotten: nothing in the history matches.");
        return Ok(ExitCode::FAILURE);
    }
    let numbers = [(gone.calls, "call"), (gone.events, "event"), (gone.sessions, "session")];
    let [calls, events, sessions] = numbers.map(|(number, what)| screen::count(number, what));
    screen.line(&format!("Forgotten: {calls}, {events}, {sessions}."));
    if !gone.log_emptied {
        screen.line(
            "A program is reading the history right now; traces stay in its log until that program ends.",
        );
    }
    Ok(ExitCode::SUCCESS)
}
