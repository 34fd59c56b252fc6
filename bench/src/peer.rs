//! What is compared: the ways from the client to the server, and the place on disk that a round uses.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::message::Template;
use crate::policy::{self, Counter};
use crate::process::Tree;
use crate::session::Session;

/// A way to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    Direct,
    Relay,
    /// `callgate run` with the realistic policy and full recording.
    Callgate,
    /// The same with a limit on the called tool that all sessions share.
    CallgateShared,
}

impl Peer {
    pub fn name(self) -> &'static str {
        match self {
            Peer::Direct => "direct",
            Peer::Relay => "relay",
            Peer::Callgate => "callgate",
            Peer::CallgateShared => "callgate, shared limit",
        }
    }
}

/// The programs under measure.
#[derive(Clone, Debug)]
pub struct Programs {
    pub server: PathBuf,
    pub relay: PathBuf,
    /// Absent while only the yardsticks themselves are checked.
    pub callgate: Option<PathBuf>,
}

impl Programs {
    /// The echo server and the relay lie beside the driver.
    pub fn beside_this_one(callgate: Option<PathBuf>) -> Result<Programs> {
        let here = std::env::current_exe()?;
        let folder = here.parent().context("the driver lies in no folder")?;
        let found = |name: &str| -> Result<PathBuf> {
            let path = folder.join(name);
            path.canonicalize().with_context(|| {
                format!(
                    "{} is missing: build the whole bench with `cargo build --release -p callgate-bench`",
                    path.display()
                )
            })
        };
        let callgate = callgate
            .map(|path| path.canonicalize().with_context(|| format!("no callgate at {}", path.display())))
            .transpose()?;
        Ok(Programs {
            server: found("callgate-bench-server")?,
            relay: found("callgate-bench-relay")?,
            callgate,
        })
    }
}

/// A fresh `CALLGATE_HOME` and the programs: all that a measure needs.
#[derive(Debug)]
pub struct Workspace {
    pub programs: Programs,
    folder: PathBuf,
}

impl Workspace {
    /// Makes the folder anew and, where Callgate takes part, a home with the policies in it.
    pub fn new(programs: &Programs, folder: &Path) -> Result<Workspace> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let place = Workspace { programs: programs.clone(), folder: folder.to_owned() };
        if place.programs.callgate.is_some() {
            place.prepare_home()?;
        }
        Ok(place)
    }

    /// The home is Callgate's to make: a first session does it, and the policies come after.
    fn prepare_home(&self) -> Result<()> {
        let mut session = self.gate("first", 1)?;
        session.initialize()?;
        session.end()?;
        self.write_policy("bench", &policy::realistic(Counter::Session))?;
        self.write_policy("bench-unpinned", &policy::unpinned())?;
        self.write_policy("bench-shared", &policy::realistic(Counter::Shared))
    }

    pub fn write_policy(&self, server: &str, text: &str) -> Result<()> {
        let path = self.policy(server);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    pub fn policy(&self, server: &str) -> PathBuf {
        self.home().join("policies").join(format!("{server}.json"))
    }

    pub fn home(&self) -> PathBuf {
        self.folder.join(".callgate")
    }

    /// What the started programs said on stderr.
    pub fn stderr(&self) -> PathBuf {
        self.folder.join("stderr.log")
    }

    /// Starts a session with a server of that many tools. Nothing is sent yet.
    pub fn start(&self, peer: Peer, tools: usize) -> Result<Session> {
        match peer {
            Peer::Direct => {
                Session::start(self.with_server(Command::new(&self.programs.server), tools, false)?)
            }
            Peer::Relay => {
                Session::start(self.with_server(Command::new(&self.programs.relay), tools, true)?)
            }
            Peer::Callgate => self.gate("bench", tools),
            Peer::CallgateShared => self.gate("bench-shared", tools),
        }
    }

    /// A session that has shaken hands.
    pub fn open(&self, peer: Peer) -> Result<Session> {
        let mut session = self.start(peer, policy::TOOLS)?;
        session.initialize().with_context(|| format!("{}: no answer to initialize", peer.name()))?;
        session.call(&mut Template::list_tools())?;
        Ok(session)
    }

    /// `callgate run` in front of the echo server, under this server name.
    pub fn gate(&self, name: &str, tools: usize) -> Result<Session> {
        let mut command = self.callgate()?;
        command.args(["run", "--server", name, "--client", "bench", "--"]);
        Session::start(self.with_server(command, tools, true)?)
    }

    /// A `callgate` command on this place's home.
    pub fn callgate(&self) -> Result<Command> {
        let program = self.programs.callgate.as_ref().context("no callgate to measure")?;
        let mut command = Command::new(program);
        command.env("CALLGATE_HOME", self.home());
        Ok(command)
    }

    /// Runs a `callgate` command that must succeed; gives its stdout.
    pub fn run_callgate(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let done = self.callgate()?.args(arguments).stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "callgate {} failed: {said}", arguments.join(" "));
        Ok(done.stdout)
    }

    /// The processes of a session's proxy, without the server.
    pub fn tree(&self, session: &Session) -> Result<Tree> {
        Tree::of(session.pid(), &self.programs.server)
    }

    fn with_server(&self, mut command: Command, tools: usize, wrapped: bool) -> Result<Command> {
        if wrapped {
            command.arg(&self.programs.server);
        }
        command.arg(tools.to_string());
        let log = File::options().create(true).append(true).open(self.stderr())?;
        command.stderr(log);
        Ok(command)
    }
}
