//! A thousand calls that wait for a person: what they take while nobody decides.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use memchr::memmem;

use crate::message::{SMALL_TOOL, Template};
use crate::peer::Workspace;
use crate::policy;

/// As many different questions as one session may have open, each asked so often.
const QUESTIONS: usize = 50;
const EACH: usize = 20;
/// For so long it is looked what they cost.
const WATCHED: Duration = Duration::from_secs(10);
const DEADLINE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// What the gate's memory grew by, in megabytes.
    pub memory: f64,
    /// Of a core.
    pub cpu_percent: f64,
}

/// Somebody who could decide, and does not. Without one nobody is waited for.
struct Person(Child);

impl Drop for Person {
    fn drop(&mut self) {
        let _gone = self.0.kill().and_then(|()| self.0.wait());
    }
}

pub fn measure(place: &Workspace) -> Result<Figures> {
    place.write_policy("held", &policy::asking("4m"))?;
    let mut follow = place.callgate()?;
    follow.args(["approvals", "--follow", "--json"]).stdin(Stdio::null()).stdout(Stdio::null());
    let _person = Person(follow.spawn()?);
    wait("somebody to decide", || {
        let leases = fs::read_dir(place.home().join("leases"))?;
        Ok(leases.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("decider-")))
    })?;
    let mut session = place.gate("held", policy::TOOLS)?;
    session.initialize()?;
    session.call(&mut Template::list_tools())?;
    let tree = place.tree(&session)?;
    tree.cpu_when_quiet()?;
    let before = tree.memory()?.now;
    for number in 0..QUESTIONS * EACH {
        let url = format!(r#"{{"url":"https://example.com/orders/{}"}}"#, number % QUESTIONS);
        let id = session.take_id();
        session.send(Template::call(SMALL_TOOL, &url).with_id(id))?;
    }
    let asked = format!(r#""asked":{EACH}"#);
    wait("a thousand held calls", || {
        let open = place.run_callgate(&["approvals", "--json"])?;
        Ok(memmem::find_iter(&open, &asked).count() == QUESTIONS)
    })?;
    let quiet = tree.cpu_when_quiet()?;
    let memory = tree.memory()?.now.saturating_sub(before);
    let since = Instant::now();
    thread::sleep(WATCHED);
    let spent = tree.cpu()?.saturating_sub(quiet);
    let cpu_percent = spent.as_secs_f64() / since.elapsed().as_secs_f64() * 100.0;
    // Everything else of the session goes on.
    session.call(&mut Template::list_tools())?;
    session.end()?;
    Ok(Figures { memory: memory as f64 / 1e6, cpu_percent })
}

fn wait(what: &str, mut come: impl FnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + DEADLINE;
    while !come()? {
        ensure!(Instant::now() < deadline, "{what} did not come within {} s", DEADLINE.as_secs());
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
