//! `callgate policy …`: one file a group of commands.

mod apply;
mod check;
mod default;
mod exchange;
mod explain;
mod simulate;
mod suggest;
mod versions;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use callgate_home::Home;
use callgate_policy::SCHEMA;

use crate::args::{PolicyArgs, PolicyCommand};
use crate::screen::{self, Screen};

pub(crate) fn run(args: PolicyArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        PolicyCommand::Check(args) => check::check(&args),
        PolicyCommand::Test(args) => check::test(&args),
        PolicyCommand::Explain(args) => explain::run(&args),
        PolicyCommand::Simulate(args) => simulate::run(&args),
        PolicyCommand::Suggest(args) => suggest::run(&args),
        PolicyCommand::Apply(args) => apply::run(&args),
        PolicyCommand::History(args) => versions::history(&args),
        PolicyCommand::Diff(args) => versions::diff(&args),
        PolicyCommand::Revert(args) => versions::revert(&args),
        PolicyCommand::Import(args) => exchange::import(&args),
        PolicyCommand::Default(args) => default::run(&args),
        PolicyCommand::Schema => {
            Screen::new().line(SCHEMA.trim_end());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn prepared_home() -> anyhow::Result<Home> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    Ok(home)
}

/// A file of the person's own; "-" is standard input.
fn read(path: &Path) -> anyhow::Result<String> {
    if path == Path::new("-") {
        return std::io::read_to_string(std::io::stdin()).context("standard input cannot be read");
    }
    std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

/// Prints a text, or writes it to a file that is not there yet.
pub(super) fn hand_out(text: &str, out: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = out else {
        Screen::new().line(text.trim_end());
        return Ok(());
    };
    if Home::locate()?.holds(path) {
        bail!(
            "{} is in Callgate's own folder: write it elsewhere, and put it in force with `callgate policy apply`, which shows \
             what it changes",
            path.display()
        );
    }
    let mut file = match std::fs::File::create_new(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!("{} is there already and was left as it is; name another file", path.display())
        }
        Err(error) => return Err(error).with_context(|| format!("{} cannot be made", path.display())),
    };
    std::io::Write::write_all(&mut file, text.as_bytes())
        .with_context(|| format!("{} cannot be written", path.display()))?;
    screen::hint(&format!("written to {}", path.display()));
    Ok(())
}
