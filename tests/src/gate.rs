//! What stands between client and server in a test: the real `callgate run`, a bare pipe as the control, or nothing;
//! and the scratch home directory that it works in.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::script::Script;
use crate::session::Session;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    Callgate,
    /// A relay that looks at nothing: what the oracle must catch.
    BarePipe,
    /// The client talks to the server itself.
    Direct,
}

/// The server's name in all tests.
pub const SERVER: &str = "corpus";

/// Default deny; the set-up of the bypass corpus.
pub const DENY_POLICY: &str = r#"{
  "version": "1",
  "default": "deny",
  "hide": ["hidden_one"],
  "tools": {
    "safe": {},
    "slow": { "limits": [ { "counter": "slow", "window": "minute", "max": 2, "scope": "server" } ] },
    "danger": { "action": "deny", "reason": "not from an agent" }
  }
}
"#;

/// Default allow; the same rules for the named tools.
pub const ALLOW_POLICY: &str = r#"{
  "version": "1",
  "default": "allow",
  "hide": ["hidden_one"],
  "tools": {
    "slow": { "limits": [ { "counter": "slow", "window": "minute", "max": 2, "scope": "server" } ] },
    "danger": { "action": "deny", "reason": "not from an agent" }
  }
}
"#;

/// Nothing is refused.
pub const OPEN_POLICY: &str = r#"{ "version": "1", "default": "allow" }"#;

/// A scratch directory with a `CALLGATE_HOME` in it.
#[derive(Debug)]
pub struct Bench {
    dir: TempDir,
    home: &'static str,
}

impl Bench {
    /// A home whose policy for [`SERVER`] is `policy`.
    pub fn new(policy: &str) -> anyhow::Result<Bench> {
        Bench::with_home("home", policy)
    }

    /// The same with a home of this name.
    pub fn with_home(home: &'static str, policy: &str) -> anyhow::Result<Bench> {
        let bench = Bench { dir: TempDir::with_prefix("callgate-test-")?, home };
        std::fs::create_dir_all(bench.home().join("policies"))?;
        bench.write_policy(policy)?;
        private(&bench.home(), 0o700)?;
        private(&bench.home().join("policies"), 0o700)?;
        Ok(bench)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.path(self.home)
    }

    pub fn policy_file(&self) -> PathBuf {
        self.home().join("policies").join(format!("{SERVER}.json"))
    }

    /// Replaces the policy as an editor does: a new file, renamed over the old one.
    pub fn write_policy(&self, text: &str) -> anyhow::Result<()> {
        let draft = self.path("policy.draft");
        std::fs::write(&draft, text)?;
        private(&draft, 0o600)?;
        std::fs::rename(draft, self.policy_file())?;
        Ok(())
    }

    /// What the fake server received so far, byte for byte.
    pub fn server_got(&self) -> Vec<u8> {
        std::fs::read(self.path("received")).unwrap_or_default()
    }

    pub fn server_lines(&self) -> Vec<String> {
        String::from_utf8_lossy(&self.server_got()).lines().map(str::to_owned).collect()
    }

    /// The command line of a fake server with this script, recording what it receives.
    pub fn fake_server(&self, script: &str, options: &[&str]) -> anyhow::Result<Vec<OsString>> {
        // Parsed here so that a wrong script fails in the test that wrote it.
        let _ = Script::parse(script);
        std::fs::write(self.path("script"), script)?;
        let mut words = vec![program("fake-server")?.into_os_string()];
        words.extend(["--record".into(), self.path("received").into()]);
        words.extend(["--script".into(), self.path("script").into()]);
        words.extend(["--pids".into(), self.path("pids").into()]);
        words.extend(options.iter().map(OsString::from));
        Ok(words)
    }

    /// The command that starts `server` behind `gate`.
    pub fn command(&self, gate: Gate, server: &[OsString]) -> anyhow::Result<Command> {
        let mut command = match gate {
            Gate::Callgate => {
                let mut command = self.callgate(["run", "--server", SERVER, "--client", "tester", "--"])?;
                command.arg(&server[0]);
                command
            }
            Gate::BarePipe => {
                let mut command = Command::new(program("bare-pipe")?);
                command.arg(&server[0]);
                command
            }
            Gate::Direct => Command::new(&server[0]),
        };
        command.args(&server[1..]);
        Ok(command)
    }

    /// `callgate ARGS` on this bench's home.
    pub fn callgate<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> anyhow::Result<Command> {
        let mut command = Command::new(callgate_binary()?);
        command
            .args(args)
            .env("CALLGATE_HOME", self.home())
            .env_remove("CALLGATE_FAILPOINT")
            .env_remove("CALLGATE_SESSION");
        Ok(command)
    }

    /// A session with a fake server behind the real gate.
    pub fn session(&self, script: &str, options: &[&str]) -> anyhow::Result<Session> {
        let server = self.fake_server(script, options)?;
        Session::start(self.command(Gate::Callgate, &server)?)
    }
}

#[cfg(unix)]
fn private(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn private(_path: &Path, _mode: u32) -> std::io::Result<()> {
    Ok(())
}

/// The directory that cargo put this package's programs into.
fn built() -> anyhow::Result<PathBuf> {
    let test = std::env::current_exe()?;
    let dir = test.parent().and_then(Path::parent).context("the test program has no target directory")?;
    Ok(dir.to_owned())
}

/// A program of this package.
pub fn program(name: &str) -> anyhow::Result<PathBuf> {
    let path = built()?.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    anyhow::ensure!(
        path.exists(),
        "{} is missing: run the tests through cargo, which builds it",
        path.display()
    );
    Ok(path)
}

/// The program under test: `CALLGATE_BIN`, else the one in our target directory.
pub fn callgate_binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("CALLGATE_BIN") {
        return Ok(path.into());
    }
    let path = built()?.join(format!("callgate{}", std::env::consts::EXE_SUFFIX));
    anyhow::ensure!(
        path.exists(),
        "{} is missing: `cargo build -p callgate -p callgate-cli --features callgate/failpoints` first, or name it in CALLGATE_BIN",
        path.display()
    );
    Ok(path)
}
