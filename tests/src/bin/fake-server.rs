//! A scriptable MCP server: records every byte it receives before it acts on it, offers the tools of the corpus and
//! some whose only purpose is bad behaviour, and does what its script says instead where the script says so.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use anyhow::Context as _;
use callgate_tests::json::{Dialect, Json, on_big_stack, quote};
use callgate_tests::script::{Act, Script};

/// Whatever a test forgets, no process of ours outlives this.
const LIFETIME: Duration = Duration::from_secs(120);

const TOOLS: [&str; 12] = [
    "safe",
    "danger",
    "hidden_one",
    "slow",
    "later",
    "never",
    "flood",
    "big",
    "fail",
    "ask",
    "progress",
    "stderr",
];

#[derive(Default)]
struct Options {
    record: Option<PathBuf>,
    script: Option<PathBuf>,
    pids: Option<PathBuf>,
    ignore_eof: bool,
    ignore_term: bool,
    grandchild: bool,
    detach: bool,
    sleeper: bool,
    /// What is detached starts with an empty environment and a temporary profile, as a crash handler and a browser do.
    browser: bool,
    profile: Option<PathBuf>,
    exit: u8,
}

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::read(std::env::args_os().skip(1))?;
    if options.ignore_term || options.sleeper {
        ignore_term()?;
    }
    if options.sleeper {
        return Ok(sleeper(&options));
    }
    if options.detach {
        // The middle process of a double fork: its child loses its parent at once.
        again(&options, "--sleeper")?;
        return Ok(ExitCode::SUCCESS);
    }
    note_pid(&options, "server", std::process::id())?;
    #[cfg(unix)]
    if let Some(parent) = rustix::process::getppid() {
        note_pid(&options, "keeper", parent.as_raw_nonzero().get().unsigned_abs())?;
    }
    if options.grandchild {
        again(&options, "--detach")?.wait()?;
    }
    on_big_stack(|| serve(&options))
}

impl Options {
    fn read(words: impl Iterator<Item = OsString>) -> anyhow::Result<Options> {
        let (mut options, mut words) = (Options::default(), words);
        while let Some(word) = words.next() {
            match word.to_str().unwrap_or_default() {
                "--record" => options.record = words.next().map(PathBuf::from),
                "--script" => options.script = words.next().map(PathBuf::from),
                "--pids" => options.pids = words.next().map(PathBuf::from),
                "--ignore-eof" => options.ignore_eof = true,
                "--ignore-term" => options.ignore_term = true,
                "--grandchild" => options.grandchild = true,
                "--detach" => options.detach = true,
                "--sleeper" => options.sleeper = true,
                "--browser" => options.browser = true,
                "--user-data-dir" => options.profile = words.next().map(PathBuf::from),
                "--exit" => {
                    options.exit =
                        words.next().and_then(|code| code.to_str()?.parse().ok()).context("--exit CODE")?;
                }
                other => anyhow::bail!("unknown option {other}"),
            }
        }
        Ok(options)
    }
}

fn note_pid(options: &Options, name: &str, pid: u32) -> anyhow::Result<()> {
    let Some(path) = &options.pids else { return Ok(()) };
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    Ok(file.write_all(format!("{name} {pid}\n").as_bytes())?)
}

fn again(options: &Options, mode: &str) -> anyhow::Result<std::process::Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(mode).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(pids) = &options.pids {
        command.arg("--pids").arg(pids);
    }
    if options.browser {
        let profile =
            std::env::temp_dir().join(format!("puppeteer_dev_chrome_profile-test{}", std::process::id()));
        std::fs::create_dir_all(profile.join("Default"))?;
        command.env_clear().arg("--user-data-dir").arg(profile);
    } else if let Some(profile) = &options.profile {
        command.env_clear().arg("--user-data-dir").arg(profile);
    }
    Ok(command.spawn()?)
}

/// A detached browser, as it were: own session, deaf to TERM.
fn sleeper(options: &Options) -> ExitCode {
    #[cfg(unix)]
    let _ = rustix::process::setsid();
    let _ = note_pid(options, "grandchild", std::process::id());
    idle();
    ExitCode::SUCCESS
}

fn idle() {
    let (_sender, receiver) = mpsc::channel::<()>();
    let _ = receiver.recv_timeout(LIFETIME);
}

#[cfg(unix)]
fn ignore_term() -> anyhow::Result<()> {
    // A handler that only sets a flag that nobody reads.
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::default())?;
    Ok(())
}

/// The pipe's only copy goes when something else takes its place.
#[cfg(unix)]
fn close_output() {
    if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(nowhere);
    }
}

#[cfg(not(unix))]
fn close_output() {}

#[cfg(not(unix))]
fn ignore_term() -> anyhow::Result<()> {
    Ok(())
}

/// What the reading loop carries along.
struct Server {
    script: Script,
    seen: HashMap<String, usize>,
    held: Vec<Vec<u8>>,
    /// Our requests to the client: our id, and the call that waits for the reply.
    asked: HashMap<String, String>,
    out: Arc<Mutex<std::io::Stdout>>,
    /// Memory that was asked to be taken.
    hoard: Vec<Vec<u8>>,
    pids: Option<PathBuf>,
}

fn serve(options: &Options) -> anyhow::Result<ExitCode> {
    let script = options.script.as_ref().map(std::fs::read_to_string).transpose()?.unwrap_or_default();
    let mut record = match &options.record {
        Some(path) => Some(OpenOptions::new().create(true).append(true).open(path)?),
        None => None,
    };
    let mut server = Server {
        script: Script::parse(&script),
        seen: HashMap::new(),
        held: Vec::new(),
        asked: HashMap::new(),
        out: Arc::new(Mutex::new(std::io::stdout())),
        hoard: Vec::new(),
        pids: options.pids.clone(),
    };
    server.play("start", "null", None);
    let (mut chunk, mut pending) = (vec![0; 1 << 16], Vec::new());
    loop {
        let read = std::io::stdin().lock().read(&mut chunk)?;
        if read == 0 {
            break;
        }
        note(record.as_mut(), &chunk[..read])?;
        let mut fresh = &chunk[..read];
        while let Some(end) = fresh.iter().position(|b| *b == b'\n') {
            pending.extend_from_slice(&fresh[..end]);
            server.line(&std::mem::take(&mut pending));
            fresh = &fresh[end + 1..];
        }
        pending.extend_from_slice(fresh);
    }
    server.play("eof", "null", None);
    if options.ignore_eof {
        idle();
    }
    Ok(ExitCode::from(options.exit))
}

fn note(record: Option<&mut File>, bytes: &[u8]) -> std::io::Result<()> {
    record.map_or(Ok(()), |file| file.write_all(bytes))
}

impl Server {
    fn line(&mut self, line: &[u8]) {
        // Only recorded: our reader is made for looking closely, not for speed.
        if line.len() > 16 << 20 {
            return;
        }
        let value = std::str::from_utf8(line).ok().and_then(|text| Json::parse(text, Dialect::Strict));
        let Some(value) = value else { return };
        let id = value.get("id").map(Json::to_text);
        let Some(method) = value.get("method").and_then(Json::as_text) else {
            self.reply(id, &value);
            return;
        };
        let params = value.get("params");
        let tool = params.and_then(|params| params.get("name")).and_then(Json::as_text);
        let key = tool.filter(|_| method == "tools/call").unwrap_or(method).to_owned();
        let ordinary = id.as_deref().and_then(|id| self.ordinary(id, method, &key, params));
        self.play(&key, id.as_deref().unwrap_or("null"), ordinary);
    }

    /// Does what the script says for this moment, else gives the ordinary answer.
    fn play(&mut self, key: &str, id: &str, ordinary: Option<Vec<u8>>) {
        let count = self.seen.entry(key.to_owned()).or_default();
        *count += 1;
        let nth = *count;
        let Some(acts) = self.script.acts(key, nth).map(<[Act]>::to_vec) else {
            ordinary.into_iter().for_each(|line| self.write(&line));
            return;
        };
        for act in acts {
            match act {
                Act::Send(bytes) => self.write(&with_id(&bytes, id)),
                Act::Exit(code) => std::process::exit(code),
                Act::Abort => std::process::abort(),
                Act::Hold => self.held.extend(ordinary.clone()),
                Act::Release => std::mem::take(&mut self.held).iter().for_each(|line| self.write(line)),
                Act::Answer => ordinary.iter().for_each(|line| self.write(line)),
                Act::CloseOutput => close_output(),
                Act::Stderr(text) => drop(std::io::stderr().lock().write_all(&text)),
            }
        }
    }

    fn write(&self, bytes: &[u8]) {
        write(&self.out, bytes);
    }

    /// The client answered one of our requests: the waiting call gets its words.
    fn reply(&mut self, id: Option<String>, value: &Json) {
        if let Some(call) = id.and_then(|id| self.asked.remove(&id)) {
            let said = value.get("result").or(value.get("error")).map(Json::to_text).unwrap_or_default();
            self.write(&result(
                &call,
                &format!(r#"{{"content":[],"structuredContent":{{"reply":{said}}}}}"#),
            ));
        }
    }

    /// `None`: nothing to say now.
    fn ordinary(&mut self, id: &str, method: &str, key: &str, params: Option<&Json>) -> Option<Vec<u8>> {
        let asked = |name: &str| params?.get(name);
        let body = match method {
            "initialize" => {
                let version = asked("protocolVersion").map_or("\"2025-06-18\"".to_owned(), Json::to_text);
                format!(
                    r#"{{"protocolVersion":{version},"capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"fake","version":"1.0"}}}}"#
                )
            }
            "server/discover" => r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1.0"}}"#.to_owned(),
            "ping" => "{}".to_owned(),
            "tools/list" => format!(r#"{{"tools":[{}]}}"#, TOOLS.map(tool_entry).join(",")),
            "tools/call" => return self.call(id, key, params),
            other => {
                let message = quote(&format!("Method not found: {other}"));
                return Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":{message}}}}}\n").into_bytes());
            }
        };
        Some(result(id, &body))
    }

    fn call(&mut self, id: &str, tool: &str, params: Option<&Json>) -> Option<Vec<u8>> {
        let arguments = params.and_then(|params| params.get("arguments")).cloned().unwrap_or(Json::Null);
        let number = |key: &str| match arguments.get(key) {
            Some(Json::Number(lexeme)) => lexeme.parse().unwrap_or(0),
            _ => 0_usize,
        };
        match tool {
            "never" => return None,
            "later" => {
                let (out, line) = (Arc::clone(&self.out), echo(id, tool, &arguments));
                let wait = Duration::from_millis(number("ms") as u64);
                std::thread::spawn(move || {
                    let (_sender, receiver) = mpsc::channel::<()>();
                    let _ = receiver.recv_timeout(wait);
                    write(&out, &line);
                });
                return None;
            }
            // Tells of progress at each step, and answers after the last.
            "working" => {
                let (out, line) = (Arc::clone(&self.out), echo(id, tool, &arguments));
                let (steps, wait) = (number("steps"), Duration::from_millis(number("ms") as u64));
                let token = progress_token(params);
                std::thread::spawn(move || {
                    let (_sender, receiver) = mpsc::channel::<()>();
                    for step in 1..=steps {
                        let _ = receiver.recv_timeout(wait);
                        write(&out, &progress(&token, step));
                    }
                    write(&out, &line);
                });
                return None;
            }
            // Takes memory and keeps it.
            "hog" => self.hoard.push(vec![1; number("mb") << 20]),
            // So many processes, each with its own session, deaf to TERM.
            "breed" => {
                for _ in 0..number("count").min(64) {
                    let _ = again(&Options { pids: self.pids.clone(), ..Options::default() }, "--sleeper");
                }
            }
            "flood" => {
                let line = notification(&"x".repeat(number("bytes")));
                (0..number("lines")).for_each(|_| self.write(&line));
            }
            "big" => {
                let text = "x".repeat(number("bytes"));
                return Some(result(id, &format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)));
            }
            "fail" => {
                return Some(result(
                    id,
                    r#"{"content":[{"type":"text","text":"it failed"}],"isError":true}"#,
                ));
            }
            "ask" => {
                let own = quote(&format!("s{}", self.asked.len() + 1));
                let method = arguments.get("method").map(Json::to_text).unwrap_or_default();
                let params = arguments.get("params").map_or("{}".to_owned(), Json::to_text);
                self.write(
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{own},\"method\":{method},\"params\":{params}}}\n")
                        .as_bytes(),
                );
                self.asked.insert(own, id.to_owned());
                return None;
            }
            "progress" => {
                let token = progress_token(params);
                (1..=number("steps")).for_each(|step| self.write(&progress(&token, step)));
            }
            "stderr" => {
                let text = arguments.get("text").and_then(Json::as_text).unwrap_or_default();
                let _ = std::io::stderr().lock().write_all(format!("{text}\n").as_bytes());
            }
            _ => {}
        }
        Some(echo(id, tool, &arguments))
    }
}

fn write(out: &Mutex<std::io::Stdout>, bytes: &[u8]) {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    // Nobody left to read is no reason to die: that is one of the behaviours under test.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

fn with_id(bytes: &[u8], id: &str) -> Vec<u8> {
    const MARK: &[u8] = b"$id";
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(MARK.len()).position(|window| window == MARK) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(id.as_bytes());
        rest = &rest[at + MARK.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn result(id: &str, body: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{body}}}\n").into_bytes()
}

fn echo(id: &str, tool: &str, arguments: &Json) -> Vec<u8> {
    let text = quote(&format!("{tool} ran"));
    let arguments = arguments.to_text();
    result(
        id,
        &format!(
            r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{{"echo":{arguments}}}}}"#
        ),
    )
}

fn progress_token(params: Option<&Json>) -> String {
    params.and_then(|params| params.at(&["_meta", "progressToken"])).map_or("null".to_owned(), Json::to_text)
}

fn progress(token: &str, step: usize) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{token},\"progress\":{step}}}}}\n").into_bytes()
}

fn notification(text: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\"data\":\"{text}\"}}}}\n").into_bytes()
}

fn tool_entry(name: &str) -> String {
    format!(r#"{{"name":"{name}","description":"The tool {name}.","inputSchema":{{"type":"object"}}}}"#)
}
