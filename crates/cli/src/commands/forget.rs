//! `callgate forget`: removes calls from the history for good.

use std::process::ExitCode;

use callgate_store::Home;
use callgate_store::clock::SystemClock;
use callgate_store::history::{Forget, forget};

use crate::args::ForgetArgs;
use crate::screen::Screen;

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
    screen.line(&format!(
        "Forgotten: {} calls, {} events, {} sessions.",
        gone.calls, gone.events, gone.sessions
    ));
    if !gone.log_emptied {
        screen.line(
            "A program is reading the history right now; traces stay in its log until that program ends.",
        );
    }
    Ok(if gone.calls == 0 && matches!(what, Forget::Call(_)) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
