//! Does the .deb keep its promises? It is installed, started, upgraded under a running session, and removed.
//!
//! Of the machine it changes only what the package brings, and takes that away again; the home is a scratch folder.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::bundle::{self, Build};
use crate::display::Display;
use crate::packages::apt_get;
use crate::shell::{command, run, said, works};
use crate::steps::NotHere;

const PACKAGE: &str = "callgate";
const GATE: &str = "/usr/bin/callgate";
const PARTNER: &str = "/usr/bin/callgate-cli";
const APP: &str = "/usr/bin/callgate-app";
/// Newer than whatever this is.
const NEXT: &str = "99.0.0";
/// What the package says before it goes while clients still need the gate.
const WARNING: &str = "AI clients still start their servers through its gate";
/// For anything that the app or a session does; a debug build on a busy machine takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Packs the programs and takes the package through its life.
pub(crate) fn check(program: impl Fn(&str) -> PathBuf) -> Result<()> {
    may_be_tried()?;
    bundle::set_up()?;
    bundle::stage(Build::Debug, program)?;
    let scratch = Scratch::new()?;
    let first = scratch.keep(&pack(None)?)?;
    // The next version's gate must differ, or nobody could tell whether it was taken over.
    let staged = bundle::folder().join("debug/callgate");
    fs::OpenOptions::new().append(true).open(&staged)?.write_all(b"\nnext\n")?;
    let next = pack(Some(NEXT))?;

    // Nobody has anything behind the gate yet: there is nothing to be warned of.
    let unused = Installed::install(&first)?.remove()?;
    ensure!(!unused.contains(WARNING), "the removal warns although no client is protected");

    let display = Display::start("1280x800")?;
    let installed = Installed::install(&first)?;
    let app = App::start(&display, &scratch)?;
    app.is_ready(&display, &scratch).context("the installed app does not start")?;
    let mut session = Session::start(&scratch)?;
    session.call().context("a call through the installed gate fails")?;

    scratch.protect_a_client()?;
    let upgrade = apt(&["install", "--yes", "--quiet", "--no-install-recommends", &next.to_string_lossy()])?;
    ensure!(!upgrade.contains(WARNING), "the upgrade warns as if it were a removal");
    session.call().context("the upgrade broke a running session")?;
    drop(app);
    let app = App::start(&display, &scratch)?;
    app.is_ready(&display, &scratch).context("the upgraded app does not start with its own gate")?;
    session.call().context("the new gate's arrival broke a running session")?;
    drop(app);

    let removal = installed.remove()?;
    let user = scratch.user();
    for words in [WARNING, "~/.callgate/bin/callgate uninstall", &user.to_string_lossy()] {
        ensure!(removal.contains(words), "the removal does not say {words:?} while a client is protected");
    }
    for left in [GATE, PARTNER, APP, "/usr/share/applications/Callgate.desktop"] {
        ensure!(!Path::new(left).exists(), "{left} is still there after the removal");
    }
    session.call().context("the removal broke a running session")?;
    ensure!(
        works(scratch.gate(), &["version"]),
        "the removal took the gate that clients start, or its partner"
    );
    ensure!(scratch.home().join("policies/_default.json").is_file(), "the removal took the policies");
    println!(
        "installed, started, upgraded under a running session, removed with a warning; home and session lived on"
    );
    Ok(())
}

fn may_be_tried() -> Result<()> {
    let why = if !cfg!(target_os = "linux") || !works("apt-get", &["--version"]) {
        "a .deb can be installed only on Debian and its kin"
    } else if !works("sh", &["-c", "test \"$(id -u)\" = 0"]) {
        "installing a package needs root"
    } else if works("dpkg-query", &["--status", PACKAGE]) {
        "Callgate is installed on this machine, and the test would replace and remove it"
    } else {
        return Ok(());
    };
    bail!(NotHere(why.into()))
}

fn pack(version: Option<&str>) -> Result<PathBuf> {
    bundle::pack(Build::Debug, &["deb"], version)?.pop().context("no package was made")
}

/// What it said.
fn apt(words: &[&str]) -> Result<String> {
    said(apt_get(&[], words))
}

/// A user's folder with a home in it, both gone afterwards. It lies where those of users lie: whoever removes the package is told
/// of what is protected there.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch> {
        let folder = Path::new("/home").join(format!("callgate-packaged-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Scratch(folder))
    }

    fn user(&self) -> PathBuf {
        self.0.clone()
    }

    fn home(&self) -> PathBuf {
        self.0.join(".callgate")
    }

    /// Cursor, with one server behind the gate.
    fn protect_a_client(&self) -> Result<()> {
        let file = self.user().join(".cursor/mcp.json");
        fs::create_dir_all(self.user().join(".cursor"))?;
        fs::write(&file, r#"{"mcpServers":{"packaged":{"command":"/bin/cat"}}}"#)?;
        let mut protect = command(self.gate(), &["clients", "protect", "cursor"]);
        protect.env("HOME", self.user()).env("CALLGATE_HOME", self.home());
        run(protect)
    }

    /// Where clients find the gate, whatever becomes of the package.
    fn gate(&self) -> PathBuf {
        self.home().join("bin/callgate")
    }

    fn keep(&self, package: &Path) -> Result<PathBuf> {
        let kept = self.0.join("first.deb");
        fs::copy(package, &kept)?;
        Ok(kept)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The package on this machine, which does not outlive the test.
#[derive(Debug)]
struct Installed(bool);

impl Installed {
    fn install(package: &Path) -> Result<Installed> {
        let installed = Installed(true);
        apt(&["install", "--yes", "--quiet", "--no-install-recommends", &package.to_string_lossy()])?;
        Ok(installed)
    }

    /// Says what the removal said.
    fn remove(mut self) -> Result<String> {
        self.0 = false;
        apt(&["remove", "--yes", "--quiet", PACKAGE])
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        if self.0 {
            drop(apt(&["remove", "--yes", "--quiet", PACKAGE]));
        }
    }
}

#[derive(Debug)]
struct App(Child);

impl App {
    fn start(display: &Display, scratch: &Scratch) -> Result<App> {
        let mut app = command(APP, &[]);
        display.show(&mut app);
        app.env("CALLGATE_HOME", scratch.home()).env("HOME", scratch.user());
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] {
            app.env_remove(name);
        }
        let child = app.stdin(Stdio::null()).spawn().with_context(|| format!("cannot start {APP}"))?;
        Ok(App(child))
    }

    /// Its window is there, and the gate that it brought is where clients look for it.
    fn is_ready(&self, display: &Display, scratch: &Scratch) -> Result<()> {
        let gate = fs::read(GATE).with_context(|| format!("cannot read {GATE}"))?;
        wait_for("the gate in the home to be the package's", || {
            fs::read(scratch.gate()).is_ok_and(|kept| kept == gate)
        })?;
        wait_for("the window", || display.has_window("Callgate"))
    }
}

impl Drop for App {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A client that calls a tool of the demonstration's server through the gate in the home.
#[derive(Debug)]
struct Session {
    child: Child,
    to: ChildStdin,
    from: Receiver<String>,
    next: u32,
}

impl Session {
    fn start(scratch: &Scratch) -> Result<Session> {
        let gate = scratch.gate();
        let server = gate.to_string_lossy();
        let mut shim = command(&gate, &["run", "--server", "packaged", "--", &server, "demo-server"]);
        shim.env("CALLGATE_HOME", scratch.home()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shim.spawn().context("the gate does not start")?;
        let to = child.stdin.take().context("the gate has no stdin")?;
        let out = child.stdout.take().context("the gate has no stdout")?;
        let (lines, from) = mpsc::channel();
        thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|l| lines.send(l))
        });
        let mut session = Session { child, to, from, next: 0 };
        session.ask("initialize", r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"packaged","version":"1"}}"#)?;
        Ok(session)
    }

    fn call(&mut self) -> Result<()> {
        let answer = self.ask("tools/call", r#"{"name":"get_codegen_session","arguments":{}}"#)?;
        ensure!(answer.contains("demo-1"), "the answer is not the server's: {answer}");
        Ok(())
    }

    fn ask(&mut self, method: &str, params: &str) -> Result<String> {
        self.next += 1;
        let id = self.next;
        writeln!(self.to, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)?;
        loop {
            let line = self.from.recv_timeout(PATIENCE).with_context(|| format!("no answer to {method}"))?;
            if line.contains(&format!(r#""id":{id},"#)) || line.contains(&format!(r#""id":{id}}}"#)) {
                return Ok(line);
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) -> Result<()> {
    let start = Instant::now();
    while !is_so() {
        ensure!(start.elapsed() < PATIENCE, "waited {} s for {what}", PATIENCE.as_secs());
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
