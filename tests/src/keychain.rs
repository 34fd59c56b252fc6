//! A session bus of a test's own, with the real GNOME Keyring on it, without one, or locked.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use tempfile::TempDir;

use crate::processes::eventually;
use crate::session::PATIENCE;

/// A bus that starts nothing by itself.
const NO_SERVICES: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=BUS</listen>
  <auth>EXTERNAL</auth>
  <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
"#;

/// Ends with the test.
#[derive(Debug)]
struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// The real GNOME Keyring on some session bus.
#[derive(Debug)]
pub struct Keyring {
    _process: Owned,
}

impl Keyring {
    /// Just unlocked, and empty; what it writes is below `folder`.
    ///
    /// # Errors
    /// If there is no GNOME Keyring: `cargo xtask test` installs it.
    pub fn on(bus: &str, folder: &Path) -> anyhow::Result<Keyring> {
        fs::create_dir_all(folder)?;
        let mut process = at_home(Command::new("gnome-keyring-daemon"), folder)
            .args(["--foreground", "--unlock", "--components=secrets"])
            .env("DBUS_SESSION_BUS_ADDRESS", bus)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(Owned)
            .context("no gnome-keyring-daemon; `cargo xtask test` installs it")?;
        process.0.stdin.take().context("no stdin")?.write_all(b"a password of the test")?;
        eventually("the keyring is on the bus", PATIENCE, || {
            let answer = ask(
                bus,
                "org.freedesktop.DBus",
                "/org/freedesktop/DBus",
                &["org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets"],
            );
            answer.is_ok_and(|answer| answer.contains("boolean true")).then_some(())
        });
        Ok(Keyring { _process: process })
    }
}

/// Ends with the test; who is on it goes first.
#[derive(Debug)]
pub struct Bus {
    keyring: Option<Keyring>,
    _daemon: Owned,
    folder: TempDir,
}

impl Bus {
    /// Nobody on it, and nobody comes.
    ///
    /// # Errors
    /// If there is no dbus-daemon: `cargo xtask test` installs it.
    pub fn empty() -> anyhow::Result<Bus> {
        let folder = TempDir::with_prefix("callgate-bus-")?;
        let config = folder.path().join("bus.conf");
        let socket = folder.path().join("bus");
        fs::write(&config, NO_SERVICES.replace("BUS", &socket.display().to_string()))?;
        let mut daemon = at_home(Command::new("dbus-daemon"), folder.path())
            .arg(format!("--config-file={}", config.display()))
            .args(["--nofork", "--print-address=1"])
            .stdout(Stdio::piped())
            .spawn()
            .map(Owned)
            .context("no dbus-daemon; `cargo xtask test` installs it")?;
        let stdout = daemon.0.stdout.take().context("no stdout")?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        anyhow::ensure!(socket.exists(), "the bus did not start: {:?}", daemon.0.try_wait());
        Ok(Bus { keyring: None, _daemon: daemon, folder })
    }

    /// With a keyring that was just unlocked, and is empty.
    ///
    /// # Errors
    /// If there is no GNOME Keyring: `cargo xtask test` installs it.
    pub fn with_keyring() -> anyhow::Result<Bus> {
        let mut bus = Bus::empty()?;
        bus.keyring = Some(Keyring::on(&bus.address(), bus.folder())?);
        Ok(bus)
    }

    /// The runtime folder of this session: the bus is `bus` in it, as everywhere.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn address(&self) -> String {
        format!("unix:path={}", self.folder().join("bus").display())
    }

    /// Locks the keyring, as a screen lock or a time-out does.
    ///
    /// # Errors
    /// If the keyring does not do it.
    pub fn lock(&self) -> anyhow::Result<()> {
        let collection = "array:objpath:/org/freedesktop/secrets/collection/login";
        let (service, path) = ("org.freedesktop.secrets", "/org/freedesktop/secrets");
        ask(&self.address(), service, path, &["org.freedesktop.Secret.Service.Lock", collection])?;
        Ok(())
    }

    /// Everything that is said on the bus from now on.
    ///
    /// # Errors
    /// If there is no dbus-monitor.
    pub fn listen(&self) -> anyhow::Result<Listener<'_>> {
        let file = self.folder().join("said");
        let monitor = Command::new("dbus-monitor")
            .args(["--address", &self.address()])
            .stdout(fs::File::create(&file)?)
            .stderr(Stdio::null())
            .spawn()
            .context("no dbus-monitor")?;
        let listener = Listener { bus: self, monitor, file };
        listener.heard();
        Ok(listener)
    }

    /// What the keyring wrote on its disk.
    pub fn files(&self) -> PathBuf {
        self.folder().join("data")
    }
}

fn ask(bus: &str, name: &str, path: &str, words: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("dbus-send")
        .args(["--session", "--print-reply", &format!("--dest={name}"), path])
        .args(words)
        .env("DBUS_SESSION_BUS_ADDRESS", bus)
        .output()
        .context("no dbus-send")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    anyhow::ensure!(output.status.success(), "{said}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Ends with the test.
#[derive(Debug)]
pub struct Listener<'b> {
    bus: &'b Bus,
    monitor: Child,
    file: PathBuf,
}

impl Listener<'_> {
    /// All that was said until now.
    pub fn heard(&self) -> String {
        // A word of our own that comes after everything else. It is said again, because the first may come before the ear.
        let word = format!("listener-{:?}", std::time::Instant::now());
        eventually("the listener hears", PATIENCE, || {
            let said = ["org.freedesktop.DBus.NameHasOwner", &format!("string:{word}")];
            let _answer = ask(&self.bus.address(), "org.freedesktop.DBus", "/org/freedesktop/DBus", &said);
            fs::read_to_string(&self.file).ok().filter(|heard| heard.contains(&word))
        })
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        _ = self.monitor.kill();
        _ = self.monitor.wait();
    }
}

/// Nothing of the person who runs the tests.
fn at_home(mut command: Command, folder: &Path) -> Command {
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("XDG_RUNTIME_DIR", folder)
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("XDG_CONFIG_HOME", folder.join("config"));
    command
}
