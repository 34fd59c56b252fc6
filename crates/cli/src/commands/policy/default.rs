//! `callgate policy default`: the policy of servers that have none of their own, shown or put back.

use std::process::ExitCode;

use anyhow::Context;
use callgate_desk::view::Loosening;

use super::prepared_home;
use crate::act;
use crate::args::DefaultArgs;
use crate::screen::Screen;

pub(super) fn run(args: &DefaultArgs) -> anyhow::Result<ExitCode> {
    if args.restore {
        return act::ask(&Loosening::RestoreDefault, "restore");
    }
    let path = prepared_home()?.default_policy();
    let text = std::fs::read_to_string(&path).with_context(|| {
        format!("{} cannot be read; `callgate policy default --restore` puts it back", path.display())
    })?;
    Screen::new().line(text.trim_end());
    Ok(ExitCode::SUCCESS)
}
