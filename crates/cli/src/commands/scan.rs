//! `callgate scan`: a recommended policy, for a server from what it listed, or for one that a command starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use callgate_clients::entry::{Local, SpannedText};
use callgate_clients::trial::{CLIENT, Tried, try_out};
use callgate_controls::catalogue;
use callgate_desk::inventory::Purpose;
use callgate_home::{Home, SessionId};

use super::policy::hand_out;
use crate::act::{desk, known_server, told};
use crate::args::ScanArgs;
use crate::screen::{self, harmless, quoted};

/// What a server is called that has no name here.
const NAMELESS: &str = "scanned";

pub(crate) fn run(args: &ScanArgs) -> anyhow::Result<ExitCode> {
    let desk = desk()?;
    let (server, text) = match &args.server {
        Some(server) => {
            known_server(server, Purpose::Look)?;
            (server.as_str(), desk.policy_to_begin(&args.start, server).map_err(told)?)
        }
        None => {
            let known = listed(&args.command)?;
            (
                NAMELESS,
                desk.policy_of_command(&args.start, NAMELESS, &args.command, &known.tools).map_err(told)?,
            )
        }
    };
    hand_out(&text, args.out.as_deref())?;
    let file = args.out.as_deref().map_or("FILE".to_owned(), |out| quoted(&out.to_string_lossy()));
    let name = if server == NAMELESS { "SERVER".to_owned() } else { quoted(server) };
    screen::hint(&format!(
        "see what it changes, and put it in force: callgate policy apply {name} {file} --replace"
    ));
    Ok(ExitCode::SUCCESS)
}

/// What the server of this command lists. It runs behind the gate in a home of its own, which is gone after.
fn listed(command: &[String]) -> anyhow::Result<catalogue::Catalogue> {
    let Some((program, args)) = command.split_first() else { bail!("there is no command to start") };
    let binary = std::env::current_exe().context("this program's own file cannot be found")?;
    let scratch = Scratch::new()?;
    let text = |value: &str| SpannedText { value: value.to_owned(), span: 0..0 };
    let local = Local {
        program: text(program),
        args: args.iter().map(|word| text(word)).collect(),
        env: vec![("CALLGATE_HOME".to_owned(), text(&scratch.path.to_string_lossy()))],
    };
    let tried = Tried { binary: &binary, server: NAMELESS, client: CLIENT, local: &local, folder: None };
    let trial = try_out(tried);
    if let Some(problem) = trial.problem {
        bail!("the server could not be asked for its tools: {}", harmless(&problem));
    }
    let known = catalogue::read(&Home::at(&scratch.path), NAMELESS)?;
    known.context("the server listed no tools")
}

/// A folder of this command's own.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> anyhow::Result<Scratch> {
        let path = std::env::temp_dir().join(format!("callgate-scan-{}", SessionId::random()));
        // Fails if somebody else has made it.
        make(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Scratch { path })
    }
}

#[cfg(unix)]
fn make(path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(path)
}

#[cfg(not(unix))]
fn make(path: &Path) -> std::io::Result<()> {
    fs::create_dir(path)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is the system's to clear: it is in the folder for such things.
        drop(fs::remove_dir_all(&self.path));
    }
}
