//! The app on a desktop of its own, on a home of its own, with sessions beside it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use callgate_tests::gate::{Bench, callgate_binary};
use callgate_tests::json::Json;
use callgate_tests::processes::{children, eventually, is_alive, signal};
use callgate_tests::session::{Session, is_refusal};
use rustix::process::Signal;

use crate::desktop::{Bus, Desktop, Owned};
use crate::driver::{Driver, PATIENCE};
use crate::tray::{Host, Icon};
use crate::{banners, notices};

/// What a test has in its hands. In the order in which it ends.
#[derive(Debug)]
pub struct App {
    pub driver: Driver,
    host: Option<Host>,
    notices: Option<notices::Desk>,
    pub desktop: Desktop,
    pub bench: Bench,
    binary: PathBuf,
}

/// How the desktop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// A bus, and somebody who shows tray icons and notifications.
    Tray,
    /// A bus, but nobody shows anything.
    NoHost,
    NoBus,
}

/// Runs one test on the app; a failed one leaves a picture.
pub fn scene(name: &str, policy: &str, around: Around, play: impl FnOnce(&mut App) -> anyhow::Result<()>) {
    match Bench::new(policy) {
        Ok(bench) => scene_on(name, bench, around, play),
        Err(error) => panic!("{name}: {error:#}"),
    }
}

/// The same on a home that is there already.
pub fn scene_on(name: &str, bench: Bench, around: Around, play: impl FnOnce(&mut App) -> anyhow::Result<()>) {
    let mut app = match App::start_on(bench, around) {
        Ok(app) => app,
        Err(error) => panic!("{name}: {error:#}"),
    };
    if let Err(error) = play(&mut app) {
        let picture = std::env::temp_dir().join(format!("callgate-failed-{name}.png"));
        let taken = app.driver.picture().and_then(|bytes| Ok(std::fs::write(&picture, bytes)?));
        let shown = match taken {
            Ok(()) => format!("picture: {}", picture.display()),
            Err(error) => format!("no picture: {error:#}"),
        };
        let said = std::fs::read_to_string(app.desktop.said()).unwrap_or_default();
        panic!("{name}: {error:#}\n{shown}\nthe app said:\n{said}");
    }
}

impl App {
    /// On a home that is there already.
    pub fn start_on(bench: Bench, around: Around) -> anyhow::Result<App> {
        let bus = if around == Around::NoBus { Bus::None } else { Bus::Private };
        let desktop = Desktop::start(&bench.path("desktop"), bus)?;
        let host = match (around, &desktop.bus) {
            (Around::Tray, Some(bus)) => Some(Host::start(bus)?),
            _ => None,
        };
        let notices = match (around, &desktop.bus) {
            (Around::Tray, Some(bus)) => Some(notices::Desk::start(bus)?),
            _ => None,
        };
        let binary = app_binary()?;
        let driver = Driver::start(&desktop, &binary, &[], |command| at_home(&bench, command))?;
        driver.wait("the page is there", |driver| {
            let ready = driver.script("return document.body.dataset.ready ?? null", &[])?;
            Ok((!ready.is_null()).then_some(()))
        })?;
        Ok(App { driver, host, notices, desktop, bench, binary })
    }

    /// The icon in the tray.
    pub fn icon(&self) -> anyhow::Result<Icon> {
        self.host.as_ref().context("this desktop has no tray")?.icon()
    }

    /// Who shows notifications.
    pub fn notices(&self) -> anyhow::Result<&notices::Desk> {
        self.notices.as_ref().context("this desktop shows no notifications")
    }

    /// The app's process, below its driver.
    pub fn pid(&self) -> anyhow::Result<u32> {
        let below = children(self.driver.process.0.id());
        below.first().copied().context("the app does not run")
    }

    /// As hard as it gets.
    pub fn kill(&self) -> anyhow::Result<()> {
        let pid = self.pid()?;
        signal(pid, Signal::KILL);
        eventually("the app is gone", PATIENCE, || (!is_alive(pid)).then_some(()));
        Ok(())
    }

    /// A session of a client with the fake server, behind the real gate.
    pub fn session(&self) -> anyhow::Result<Session> {
        self.session_with(&[])
    }

    /// The same with options of the fake server.
    pub fn session_with(&self, options: &[&str]) -> anyhow::Result<Session> {
        self.scripted_session("", options)
    }

    /// The same with a server that follows this script.
    pub fn scripted_session(&self, script: &str, options: &[&str]) -> anyhow::Result<Session> {
        let server = self.bench.fake_server(script, options)?;
        let mut command = self.bench.command(callgate_tests::gate::Gate::Callgate, &server)?;
        at_home(&self.bench, &mut command);
        let mut session = Session::start(command)?;
        session.send(
            r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}"#,
        )?;
        session.answer("\"hello\"")?;
        session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        Ok(session)
    }

    /// Calls again and again until it is refused, or until it passes: a click is in force on the next call, but it is not
    /// in the file yet when the driver has clicked. Gives the answer that was waited for.
    pub fn until(&self, session: &mut Session, tool: &str, refused: bool) -> anyhow::Result<Json> {
        let what = if refused { "refused" } else { "let through" };
        let mut tries = 0;
        self.driver.wait(&format!("{tool} is {what}"), |_| {
            tries += 1;
            let answer = session.ask(&format!("\"{tool}-{what}-{tries}\""), tool, "{}")?;
            Ok((is_refusal(&answer) == refused).then_some(answer))
        })
    }

    /// Starts the app once more and waits for that start to end; gives whether it was content, and its words.
    pub fn start_again(&self, args: &[&str]) -> anyhow::Result<(bool, String)> {
        let mut command = Command::new(&self.binary);
        self.desktop.host(&mut command);
        at_home(&self.bench, &mut command);
        let output = command.args(args).stdin(Stdio::null()).output()?;
        Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// Lets so much time pass for every process on this home.
    pub fn pass(&self, time: Duration) -> anyhow::Result<()> {
        let file = clock_file(&self.bench);
        let before: u128 =
            std::fs::read_to_string(&file).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        let draft = self.bench.path("clock.draft");
        std::fs::write(&draft, (before + time.as_millis()).to_string())?;
        Ok(std::fs::rename(draft, file)?)
    }

    /// Answers a question with yes, once that counts.
    pub fn say_yes(&self) -> anyhow::Result<()> {
        self.driver.the("question")?;
        self.driver.wait("the yes counts", |driver| {
            let ready = driver.find("[data-testid=\"question-yes\"][aria-disabled=\"false\"]")?;
            if let Some(yes) = ready.first() {
                driver.click(yes)?;
            }
            Ok(driver.find("[data-testid=\"question\"]")?.is_empty().then_some(()))
        })
    }

    /// Opens the newest call with this decision.
    pub fn open_newest(&self, decision: &str) -> anyhow::Result<()> {
        let css = format!("[data-testid=\"row\"][data-decision=\"{decision}\"]");
        self.driver.wait(&format!("the drawer of a {decision} call"), |driver| {
            let Some(row) = driver.find(&css)?.pop() else { return Ok(None) };
            let id = driver.attribute(&row, "data-call")?;
            if !driver.script("return location.hash", &[])?.as_str().unwrap_or_default().contains(&id) {
                driver.click(&row)?;
            }
            Ok(driver.find("[data-testid=\"drawer\"]")?.into_iter().next())
        })?;
        Ok(())
    }

    /// Waits until the window shows a row of the log for which this holds.
    pub fn row(&self, what: &str, css: &str) -> anyhow::Result<()> {
        let css = format!("[data-testid=\"row\"]{css}");
        self.driver.wait(what, |driver| Ok(driver.find(&css)?.into_iter().next())).map(drop)
    }

    /// Goes to an address of the page as a link would.
    pub fn go(&self, hash: &str) -> anyhow::Result<()> {
        self.driver.script("location.hash = arguments[0]", &[hash.into()]).map(drop)
    }
}

/// The app without a driver, which would keep a person's mouse and keyboard from its page.
#[derive(Debug)]
pub struct Undriven {
    process: Owned,
    pub host: Host,
    pub desktop: Desktop,
    pub bench: Bench,
}

impl Undriven {
    pub fn start(bench: Bench, args: &[&str]) -> anyhow::Result<Undriven> {
        let desktop = Desktop::start(&bench.path("desktop"), Bus::Private)?;
        let host = Host::start(desktop.bus.as_deref().context("a bus")?)?;
        let mut command = Command::new(app_binary()?);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
        let said = std::fs::File::create(desktop.said())?;
        command.stderr(said);
        desktop.host(&mut command);
        at_home(&bench, &mut command);
        Ok(Undriven { process: Owned(command.spawn()?), host, desktop, bench })
    }

    /// Its window, once that is on the screen.
    pub fn window(&self) -> u32 {
        eventually("the window is on the screen", PATIENCE, || self.desktop.window("Callgate").ok().flatten())
    }
}

impl Drop for Undriven {
    fn drop(&mut self) {
        tree(self.process.0.id()).iter().for_each(|pid| signal(*pid, Signal::KILL));
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // The driver would leave the app behind, and the app the processes of its page.
        if let Ok(pid) = self.pid() {
            let below = tree(pid);
            below.iter().for_each(|pid| signal(*pid, Signal::KILL));
        }
    }
}

/// A process and all that descend from it.
pub fn tree(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    found.extend(children(pid).into_iter().flat_map(tree));
    found
}

fn clock_file(bench: &Bench) -> PathBuf {
    bench.path("clock")
}

/// The environment of everything that shares a home.
fn at_home(bench: &Bench, command: &mut Command) {
    let before = std::env::var_os("PATH").unwrap_or_default();
    let programs = std::iter::once(banners::programs(&bench.path(""))).chain(std::env::split_paths(&before));
    command
        .env("PATH", std::env::join_paths(programs).unwrap_or(before.clone()))
        .env("CALLGATE_HOME", bench.home())
        .env("CALLGATE_CLOCK_SHIFT", clock_file(bench))
        .env_remove("CALLGATE_SESSION")
        .env_remove("CALLGATE_FAILPOINT");
}

/// The app under test: `CALLGATE_APP_BIN`, else the one in our target directory, beside the gate.
fn app_binary() -> anyhow::Result<PathBuf> {
    let path = match std::env::var_os("CALLGATE_APP_BIN") {
        Some(path) => path.into(),
        None => callgate_binary()?.with_file_name("callgate-app"),
    };
    anyhow::ensure!(
        Path::new(&path).exists(),
        "{} is missing: `cargo build -p callgate -p callgate-cli -p callgate-app --features callgate/failpoints` first, or name it in \
         CALLGATE_APP_BIN",
        path.display()
    );
    Ok(path)
}
