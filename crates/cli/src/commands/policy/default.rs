//! `callgate policy default`: the policy of servers that have none of their own, shown or put back.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use callgate_desk::Desk;
use callgate_desk::view::{Answer, Loosening};
use callgate_store::Origin;
use callgate_store::clock::SystemClock;

use super::prepared_home;
use crate::args::DefaultArgs;
use crate::confirm;
use crate::screen::{self, Screen};

pub(super) fn run(args: &DefaultArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let screen = Screen::new();
    if !args.restore {
        let path = home.default_policy();
        let text = std::fs::read_to_string(&path).with_context(|| {
            format!("{} cannot be read; `callgate policy default --restore` puts it back", path.display())
        })?;
        screen.line(text.trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let desk = Desk::new(home, Arc::new(SystemClock::default()), Origin::Cli);
    let done = match desk.loosen(&Loosening::RestoreDefault)? {
        Answer::Done(done) => done,
        Answer::Ask(question) => {
            confirm::loosening("put back the default policy as Callgate ships it", "restore")?;
            desk.confirm(&question.token)?
        }
    };
    screen.line(&screen::harmless(&format!("{}.", done.words)));
    Ok(ExitCode::SUCCESS)
}
