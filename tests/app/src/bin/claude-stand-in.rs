//! A stand-in for Claude Desktop: `claude-stand-in CONFIG NOTES`. Reads its configuration once, starts every server in it and
//! greets it; calls the tool `safe` of each on SIGUSR1; on SIGTERM ends its servers, writes its file back from memory, as the
//! real one does, and goes. A line of NOTES for each start has its process id.

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    stand_in::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod stand_in {
    use std::fs::{self, OpenOptions};
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use anyhow::Context as _;
    use serde_json::{Value, json};
    use signal_hook::consts::{SIGTERM, SIGUSR1};
    use signal_hook::iterator::Signals;

    /// Whatever a test forgets, no process of ours outlives this.
    const LIFETIME: Duration = Duration::from_secs(180);

    pub(crate) fn run() -> anyhow::Result<()> {
        let mut signals = Signals::new([SIGTERM, SIGUSR1])?;
        std::thread::spawn(|| {
            std::thread::sleep(LIFETIME);
            std::process::exit(1);
        });
        let mut args = std::env::args_os().skip(1).map(PathBuf::from);
        let config = args.next().context("the first word is the configuration")?;
        let notes = args.next().context("the second word is where to note the start")?;
        let memory = fs::read(&config)?;
        let mut servers = start_all(&serde_json::from_slice(&memory)?)?;
        writeln!(OpenOptions::new().create(true).append(true).open(notes)?, "{}", std::process::id())?;
        for signal in signals.forever() {
            if signal == SIGTERM {
                break;
            }
            for server in &mut servers {
                server.ask("tools/call", &json!({ "name": "safe", "arguments": {} }))?;
            }
        }
        servers.into_iter().for_each(Server::end);
        Ok(fs::write(&config, memory)?)
    }

    fn start_all(config: &Value) -> anyhow::Result<Vec<Server>> {
        let entries = config.get("mcpServers").and_then(Value::as_object).into_iter().flatten();
        let mut servers = Vec::new();
        for (_, entry) in entries {
            let Some(program) = entry.get("command").and_then(Value::as_str) else { continue };
            let words = entry.get("args").and_then(Value::as_array).into_iter().flatten();
            let child = Command::new(program)
                .args(words.filter_map(Value::as_str))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let mut server = Server { child, asked: 0 };
            let hello = json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "claude-ai", "version": "0.1.0" },
            });
            server.ask("initialize", &hello)?;
            server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
            server.ask("tools/list", &json!({}))?;
            servers.push(server);
        }
        Ok(servers)
    }

    struct Server {
        child: Child,
        asked: u32,
    }

    impl Server {
        fn send(&mut self, message: &Value) -> anyhow::Result<()> {
            Ok(writeln!(self.child.stdin.as_mut().context("no input")?, "{message}")?)
        }

        /// Asks, and waits for the answer to that.
        fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<()> {
            self.asked += 1;
            let id = self.asked;
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
            let output = BufReader::with_capacity(1, self.child.stdout.as_mut().context("no output")?);
            for line in output.lines() {
                let said: Value = serde_json::from_str(&line?)?;
                if said.get("id") == Some(&json!(id)) && said.get("method").is_none() {
                    return Ok(());
                }
            }
            anyhow::bail!("it ended without an answer to {method}")
        }

        /// As the SDK does: the input ends first.
        fn end(mut self) {
            drop(self.child.stdin.take());
            let _ended = self.child.wait();
        }
    }
}
