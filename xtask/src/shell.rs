//! Starting other programs: seen by the person, and with errors that say what was tried.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::project;

/// A command in the project's folder.
pub(crate) fn command(program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(project::root());
    command
}

/// The cargo that started us, so that one toolchain does everything.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    command(cargo, arguments)
}

/// Runs to the end; failing is an error.
pub(crate) fn run(mut command: Command) -> Result<()> {
    say(&command);
    let status = command.status().with_context(|| format!("cannot start {}", shown(&command)))?;
    if !status.success() {
        bail!("{} failed ({status})", shown(&command));
    }
    Ok(())
}

/// The same; what it said is shown when it has ended, and returned.
pub(crate) fn said(mut command: Command) -> Result<String> {
    say(&command);
    let output = command.output().with_context(|| format!("cannot start {}", shown(&command)))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{}", text.trim_end());
    if !output.status.success() {
        bail!("{} failed ({})", shown(&command), output.status);
    }
    Ok(text)
}

/// True when the program is there and succeeds; whatever it says is left out.
pub(crate) fn works(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    let mut probe = command(program, arguments);
    probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

pub(crate) fn say(command: &Command) {
    println!("$ {}", shown(command));
}

fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy();
    let arguments = command.get_args().map(OsStr::to_string_lossy);
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}
