//! Trying a server through the gate, without its client: does it start, and what would a client see?

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::entry::Local;

/// Who a server that is tried is started by, on record. Rules are those for the client whose entry it is.
pub const CLIENT: &str = "callgate-test";

/// A first start of a package may have to download it.
const PATIENCE: Duration = Duration::from_secs(60);
/// The session ends in order when its input does.
const ENDING: Duration = Duration::from_secs(10);
/// Pages of tools: a server that never comes to an end is not followed for ever.
const PAGES: u32 = 50;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// What the server calls itself.
    pub says: Option<String>,
    /// Tools that a client would see.
    pub tools: Option<u32>,
    pub problem: Option<String>,
}

/// A server as one client's file starts it.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    /// Our program.
    pub binary: &'a Path,
    /// Its name at the gate.
    pub server: &'a str,
    pub client: &'a str,
    pub local: &'a Local,
    /// The folder of the project that it is for: its client starts it there.
    pub folder: Option<&'a Path>,
}

/// Starts the server behind the gate, greets it and asks for its tools.
pub fn try_out(tried: Tried<'_>) -> Trial {
    let mut command = Command::new(tried.binary);
    command.args(["run", "--server", tried.server, "--client", tried.client, "--started-by", CLIENT, "--"]);
    command.args(tried.local.words());
    command.envs(tried.local.env.iter().map(|(name, text)| (name, &text.value)));
    if let Some(folder) = tried.folder {
        command.current_dir(folder);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let there = tried.folder.map(|folder| format!(" in {}", folder.display())).unwrap_or_default();
            let problem = format!("{} cannot be started{there}: {error}", tried.binary.display());
            return Trial { problem: Some(problem), ..Trial::default() };
        }
    };
    let mut trial = Trial::default();
    if let Some(mut talk) = Talk::begin(&mut child)
        && let Err(problem) = talk.ask_all(&mut trial)
    {
        trial.problem = Some(problem);
    }
    end(child);
    trial
}

/// A conversation with the gate.
struct Talk {
    stdin: ChildStdin,
    lines: Receiver<String>,
    deadline: Instant,
}

impl Talk {
    fn begin(child: &mut Child) -> Option<Talk> {
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        let (sender, lines) = sync_channel(64);
        // Ends with the process, or with nobody listening any more.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Some(Talk { stdin, lines, deadline: Instant::now() + PATIENCE })
    }

    fn ask_all(&mut self, trial: &mut Trial) -> Result<(), String> {
        let greeting = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": CLIENT, "version": env!("CARGO_PKG_VERSION") },
        });
        let hello = self.ask(1, "initialize", &greeting)?;
        let said = |name: &str| hello.pointer(&format!("/serverInfo/{name}")).and_then(Value::as_str);
        let words: Vec<_> = [said("name"), said("version")].into_iter().flatten().collect();
        trial.says = Some(words.join(" ")).filter(|words| !words.is_empty());
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        if hello.pointer("/capabilities/tools").is_none() {
            trial.tools = Some(0);
            return Ok(());
        }
        let (mut tools, mut cursor) = (0, Value::Null);
        for page in 0..PAGES {
            let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
            let mut listed = self.ask(2 + page, "tools/list", &params)?;
            tools += listed.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
            cursor = listed.get_mut("nextCursor").map(Value::take).unwrap_or_default();
            if cursor.is_null() {
                break;
            }
        }
        trial.tools = u32::try_from(tools).ok();
        Ok(())
    }

    fn ask(&mut self, id: u32, method: &str, params: &Value) -> Result<Value, String> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let late = || format!("no answer to {method} in {} s", PATIENCE.as_secs());
            // One that talks without end would otherwise be listened to without end.
            if left.is_zero() {
                return Err(late());
            }
            let line = self.lines.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Timeout => late(),
                RecvTimeoutError::Disconnected => format!("it ended before it answered {method}"),
            })?;
            // What is not for us (a notification, a question of the server) is left unanswered.
            let Ok(mut answer) = serde_json::from_str::<Value>(&line) else { continue };
            if answer.get("id") != Some(&json!(id)) || answer.get("method").is_some() {
                continue;
            }
            if let Some(error) = answer.get("error") {
                let words = error.get("message").and_then(Value::as_str).unwrap_or("an error without words");
                return Err(words.to_owned());
            }
            return Ok(answer.get_mut("result").map(Value::take).unwrap_or_default());
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        writeln!(self.stdin, "{message}").map_err(|error| format!("the gate does not listen: {error}"))
    }
}

/// Its input has ended, and so will it.
fn end(mut child: Child) {
    let deadline = Instant::now() + ENDING;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    let _gone = child.kill();
    let _reaped = child.wait();
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::entry::SpannedText;

    /// A gate that is a script: what matters here is what is made of its answers.
    fn answers(script: &str) -> Trial {
        answers_in(script, None)
    }

    fn answers_in(script: &str, at: Option<&Path>) -> Trial {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("callgate");
        std::fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
        let text = |value: &str| SpannedText { value: value.to_owned(), span: 0..0 };
        let local = Local {
            program: text("npx"),
            args: vec![text("-y")],
            env: vec![("TOKEN".to_owned(), text("t0"))],
        };
        // Another test may be between fork and exec with our script open for writing.
        let mut tries = 0;
        loop {
            let trial = try_out(Tried {
                binary: &binary,
                server: "play",
                client: "cursor",
                local: &local,
                folder: at,
            });
            let busy = trial.problem.as_ref().is_some_and(|problem| problem.contains("busy"));
            if !busy || tries == 100 {
                return trial;
            }
            tries += 1;
        }
    }

    #[test]
    fn a_server_says_who_it_is_and_all_pages_of_its_tools_are_counted() {
        let trial = answers(
            r#"[ "$*" = "run --server play --client cursor --started-by callgate-test -- npx -y" ] && [ "$TOKEN" = t0 ] || exit 1
read hello
echo '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"play","version":"1.2"},"capabilities":{"tools":{}}}}'
read initialized
read list
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{},{}],"nextCursor":"x"}}'
read list
case "$list" in *'"cursor":"x"'*) echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{}]}}';; esac
cat >/dev/null"#,
        );
        assert_eq!(
            trial,
            Trial { says: Some("play 1.2".into()), tools: Some(3), problem: None },
            "{trial:?}"
        );
    }

    #[test]
    fn a_server_of_a_project_is_tried_in_its_folder() {
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("notes.js"), "").unwrap();
        let script = r#"read hello; [ -e notes.js ] && echo '{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}'; cat >/dev/null"#;
        assert_eq!(answers_in(script, Some(project.path())).problem, None);
        let gone = answers_in(script, Some(Path::new("/gone"))).problem.unwrap();
        assert!(gone.contains("cannot be started in /gone"), "{gone}");
    }

    #[test]
    fn what_goes_wrong_is_told_in_the_words_of_the_gate() {
        let refused = answers(
            r#"read hello; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"npx was not found"}}'; cat >/dev/null"#,
        );
        assert_eq!(refused.problem.as_deref(), Some("npx was not found"));
        assert_eq!(answers("read hello").problem.as_deref(), Some("it ended before it answered initialize"));
    }
}
