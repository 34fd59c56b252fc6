//! `callgate demo`: a scripted agent calls a small server through the real gate, and a person watches.
//!
//! Nothing is acted: the gate is `callgate run` as a client would start it, the rows are in the real history,
//! marked as a demonstration.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use callgate_history::{CallFilter, DEMO_SERVER};
use callgate_home::{Home, atomic};
use serde_json::{Value, json};

use crate::act::desk;
use crate::args::DemoArgs;
use crate::commands::log;
use crate::confirm;
use crate::screen::{self, Screen};

const SERVER: &str = DEMO_SERVER;
/// Between two calls that somebody watches, and in a loop that runs away. Ten seconds in all.
const STEP: Duration = Duration::from_millis(700);
const RUNAWAY: Duration = Duration::from_millis(70);
const POLICY: &str = include_str!("demo-policy.json");

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let screen = Screen::new();
    if args.remove {
        confirm::not_below_a_session("take the demonstration off the record")?;
        let gone = desk()?.forget_demo(&screen::terminal())?;
        let path = home.policy(SERVER);
        let policy = if path.exists() {
            std::fs::remove_file(&path).with_context(|| format!("{} cannot be removed", path.display()))?;
            " and its policy"
        } else {
            ""
        };
        screen.line(&format!("Removed the demonstration{policy}. {}", gone.words));
        return Ok(ExitCode::SUCCESS);
    }
    if !home.policy(SERVER).exists() {
        let path = home.policy(SERVER);
        atomic::replace(&path, POLICY.as_bytes())
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let mut agent = Agent::start(args.live)?;
    Script { screen: &screen, agent: &mut agent }.play()?;
    agent.leave()?;
    show_history(&home, &screen)?;
    Ok(ExitCode::SUCCESS)
}

/// The scripted client, talking to the gate over its stdio.
struct Agent {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
    /// Waits a moment before each call, for people who watch.
    live: bool,
}

impl Agent {
    fn start(live: bool) -> anyhow::Result<Agent> {
        let callgate = std::env::current_exe().context("this program's own file cannot be found")?;
        let mut child = Command::new(&callgate)
            .args(["run", "--server", SERVER, "--client", "demo-agent", "--demo", "--"])
            .arg(&callgate)
            .arg("demo-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started", callgate.display()))?;
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().context("the gate has no output")?);
        let mut agent = Agent { child, to, from, next: 0, live };
        let client = json!({"name": "demo-agent", "version": "1"});
        agent.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        )?;
        agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(agent)
    }

    fn write(&mut self, message: &Value) -> anyhow::Result<()> {
        let to = self.to.as_mut().context("the gate was left already")?;
        writeln!(to, "{message}").context("the gate does not read")
    }

    /// Sends a request and waits for its answer.
    fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.next += 1;
        let id = self.next;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.from.read_line(&mut line).context("the gate's answer cannot be read")? == 0 {
                bail!("the gate ended before it answered");
            }
            let message: Value = serde_json::from_str(&line).context("the gate's answer is not JSON")?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value, pause: Duration) -> anyhow::Result<Value> {
        if self.live {
            std::thread::sleep(pause);
        }
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Closes the session as a client does, and waits until everything is on record.
    fn leave(mut self) -> anyhow::Result<()> {
        drop(self.to.take());
        self.child.wait().context("the gate cannot be waited for")?;
        Ok(())
    }
}

/// What happens, in order.
struct Script<'a> {
    screen: &'a Screen,
    agent: &'a mut Agent,
}

impl Script<'_> {
    fn play(&mut self) -> anyhow::Result<()> {
        let screen = self.screen;
        screen.line("");
        screen.line(&screen.paint(screen::BOLD, "Callgate: a gate in front of every tool call"));
        screen.line(&screen.paint(
            screen::DIM,
            "A scripted agent calls a small code-generation server. Each call passes the real gate.",
        ));

        self.title("1  The agent asks which tools there are");
        self.list_tools()?;

        self.title("2  Ordinary work passes");
        self.call("start_codegen_session", &json!({"options": {"testNamePrefix": "checkout"}}))?;
        self.call("playwright_navigate", &json!({"url": "https://shop.example/login"}))?;
        self.call("playwright_fill", &json!({"selector": "#password", "value": "correct horse"}))?;

        self.title("3  A denied tool, and a denied argument, each with its reason");
        self.call("playwright_evaluate", &json!({"script": "document.cookie"}))?;
        self.call("playwright_navigate", &json!({"url": "file:///etc/passwd"}))?;

        self.title("4  A runaway loop is capped at 5 calls a minute");
        self.runaway("playwright_click", &json!({"selector": "text=Next"}), 40)?;

        self.title("5  A hidden tool answers like one that does not exist");
        self.call("clear_codegen_session", &json!({"sessionId": "demo-1"}))?;

        self.title("6  And the session ends as it should");
        self.call("get_codegen_session", &json!({"sessionId": "demo-1"}))?;
        self.call("end_codegen_session", &json!({"sessionId": "demo-1"}))?;
        Ok(())
    }

    fn title(&self, text: &str) {
        self.screen.line("");
        self.screen.line(&self.screen.paint(screen::ACCENT, text));
    }

    fn list_tools(&mut self) -> anyhow::Result<()> {
        let answer = self.agent.ask("tools/list", &json!({}))?;
        let names: Vec<&str> = answer["result"]["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let text = format!(
            "   The server has 8 tools, the agent sees {}: clear_codegen_session is hidden.",
            names.len()
        );
        self.screen.line(&text);
        Ok(())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<()> {
        let answer = self.agent.call(tool, arguments, STEP)?;
        self.show(tool, &arguments.to_string(), &verdict(&answer));
        Ok(())
    }

    fn runaway(&mut self, tool: &str, arguments: &Value, times: usize) -> anyhow::Result<()> {
        let mut passed = 0;
        let mut refused = Vec::new();
        for _ in 0..times {
            match verdict(&self.agent.call(tool, arguments, RUNAWAY)?) {
                DemoAnswer::Passed(_) => passed += 1,
                DemoAnswer::Refused(reason) => refused.push(reason),
            }
        }
        let call = arguments.to_string();
        self.show(tool, &call, &DemoAnswer::Passed(format!("{passed} calls")));
        if let Some(reason) = refused.last() {
            self.show(tool, &call, &DemoAnswer::Refused(format!("{} calls. {reason}", refused.len())));
        }
        Ok(())
    }

    fn show(&self, tool: &str, arguments: &str, seen: &DemoAnswer) {
        // What is left beside the mark and the tool: two thirds of it for the arguments.
        let room = Screen::columns().saturating_sub(11 + 23);
        let (args, said) = ((room.min(90) * 2 / 3).min(48), room.min(90) / 3);
        let call = format!("{} {}", screen::pad(tool, 22), screen::pad(&screen::clip(arguments, args), args));
        match seen {
            DemoAnswer::Passed(text) => {
                let mark = self.screen.paint(screen::GOOD, "passed ");
                self.screen.line(&format!(
                    "   {mark} {call} {}",
                    self.screen.paint(screen::DIM, &screen::clip(text, said.saturating_sub(1)))
                ));
            }
            DemoAnswer::Refused(reason) => {
                let mark = self.screen.paint(screen::BAD, "refused");
                self.screen.line(&format!("   {mark} {call}"));
                self.screen.line(&format!("           {}", self.screen.paint(screen::BAD, reason)));
            }
        }
    }
}

/// What the agent got.
enum DemoAnswer {
    Passed(String),
    Refused(String),
}

fn verdict(answer: &Value) -> DemoAnswer {
    let text = |value: &Value| screen::harmless(value.as_str().unwrap_or_default());
    if let Some(error) = answer.get("error") {
        return DemoAnswer::Refused(text(&error["message"]));
    }
    let result = &answer["result"];
    let said = text(&result["content"][0]["text"]);
    if result["isError"] == true { DemoAnswer::Refused(said) } else { DemoAnswer::Passed(said) }
}

fn show_history(home: &Home, screen: &Screen) -> anyhow::Result<()> {
    screen.line("");
    screen.line(&screen.paint(
        screen::ACCENT,
        "The history of it, as `callgate log` keeps it (secrets masked before they are stored)",
    ));
    let history = log::current(home)?;
    let session = history.sessions(1)?.pop().context("the demonstration left no session in the history")?;
    let filter = CallFilter {
        server: Some(SERVER.to_owned()),
        since_ms: Some(session.started_ms),
        ..CallFilter::default()
    };
    log::Table::new(screen).print(&log::newest(&desk()?, &history, &filter, 100)?);
    screen.line("");
    screen.line("Look closer: callgate show CALL      Remove these rows: callgate demo --remove");
    screen.line("Put it in front of your own servers: callgate clients, then callgate clients protect --all");
    screen.line("Watch every call live, with block and cap one key away: callgate watch");
    let callgate = std::env::current_exe().context("this program's own file cannot be found")?;
    screen.line(&screen.paint(screen::DIM, &format!("callgate is {}", callgate.display())));
    Ok(())
}
