//! Stands in for a terminal of a person's own: runs the command after `--` so that nobody who is there started it, waits for its
//! end, and writes how it ended into the file that is named first.

use std::os::unix::process::{ExitStatusExt as _, parent_id};
use std::process::Command;

use anyhow::{Context as _, bail};

fn main() -> anyhow::Result<()> {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let [file, who, rest @ ..] = &words[..] else { bail!("no file") };
    if who == "--" {
        // Who stays is a process whose parent goes at once.
        let mut stays = Command::new(std::env::current_exe()?);
        let own = std::process::id().to_string();
        stays.arg(file).arg(own).args(rest).spawn().context("cannot start anew")?;
        return Ok(());
    }
    let parent = who.to_str().and_then(|parent| parent.parse().ok());
    while Some(parent_id()) == parent {
        std::thread::yield_now();
    }
    let [program, args @ ..] = rest else { bail!("no command") };
    let status = Command::new(program).args(args).status().context("cannot start the command")?;
    std::fs::write(file, status.into_raw().to_string())?;
    Ok(())
}
