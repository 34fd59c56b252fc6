//! Stands in for a person's service manager (`systemd --user`): whoever loses its parent below it becomes its child. Starts
//! the command after `--` so that it has no parent, and stays until its input ends.

use std::io::Read as _;
use std::process::Command;

use anyhow::Context as _;

fn main() -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let words: Vec<_> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    // The shell is gone at once, and what it started comes to us.
    let started =
        Command::new("sh").args(["-c", "\"$@\" </dev/null >/dev/null 2>&1 &", "sh"]).args(words).status();
    started.context("no shell")?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
