//! Calls that come in at an even pace, made as agents make them: clients with a real gate each.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use callgate_app_tests::app::App;
use callgate_bench::measure::window::RATE;
use callgate_bench::message::{Answer, Template};
use callgate_bench::policy::{self, Counter};
use callgate_bench::session::Session;

/// Sessions at a time.
const SESSIONS: u32 = 4;
/// Every so many calls one is refused.
const REFUSED: u32 = 20;
/// The policy denies it.
const DENIED_TOOL: &str = "end_codegen_session";

pub(crate) struct Feed {
    sessions: Vec<Session>,
}

impl Feed {
    /// Opens the sessions; no call yet.
    pub(crate) fn open(app: &App, server: &Path) -> Result<Feed> {
        let sessions = (0..SESSIONS).map(|number| {
            let name = format!("shop-{number}");
            let policy = app.bench.home().join("policies").join(format!("{name}.json"));
            std::fs::write(policy, policy::realistic(Counter::Session))?;
            let mut command = app.bench.callgate(["run", "--server", &name, "--client", "bench", "--"])?;
            command.arg(server).arg(policy::TOOLS.to_string());
            let mut session = Session::start(command)?;
            session.initialize()?;
            Ok(session)
        });
        Ok(Feed { sessions: sessions.collect::<Result<_>>()? })
    }

    /// Makes calls for so long, and answers how many there were. That they came in time is part of what is measured.
    pub(crate) fn run(self, time: Duration) -> Result<usize> {
        let began = Instant::now();
        let made = self.make(time)?;
        let took = began.elapsed().as_secs_f64() / time.as_secs_f64();
        ensure!(
            took < 1.1,
            "{made} calls took {took:.1} times as long as they should: this machine is too busy"
        );
        Ok(made)
    }

    /// The same calls, however long they take.
    pub(crate) fn make(self, time: Duration) -> Result<usize> {
        let began = Instant::now();
        let made: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..SESSIONS)
                .zip(self.sessions)
                .map(|(number, session)| scope.spawn(move || client(number, session, began, time)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("a client does not panic"))
                .collect::<Result<_>>()
        })?;
        let (made, wanted) = (made.iter().sum::<usize>(), time.as_secs_f64() * f64::from(RATE));
        ensure!(made as f64 >= wanted * 0.95, "{made} calls were made instead of {wanted}");
        Ok(made)
    }
}

fn client(number: u32, mut session: Session, began: Instant, time: Duration) -> Result<usize> {
    let mut allowed: Vec<Template> = (0..60)
        .map(|at| {
            let tool = policy::tool_name([0, 1, 2, 5, 10, 11][at as usize % 6]);
            let order = at * 7919 % 10_000;
            Template::call(
                &tool,
                &format!(r##"{{"url":"https://example.com/orders/{order}","selector":"#row-{at}"}}"##),
            )
        })
        .collect();
    let mut denied = Template::call(DENIED_TOOL, "{}");
    let (every, offset) = (Duration::from_secs(1) * SESSIONS / RATE, Duration::from_secs(1) / RATE * number);
    let mut made = 0;
    loop {
        let due = offset + every * made;
        if due >= time {
            break;
        }
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        made += 1;
        let (template, expected) = match made % REFUSED {
            0 => (&mut denied, Answer::Refused),
            _ => (&mut allowed[made as usize % 60], Answer::Result),
        };
        let answer = session.ask(template)?;
        ensure!(answer == expected, "call {made} of session {number}: {answer:?} instead of {expected:?}");
    }
    session.end().context("a session did not end well")?;
    Ok(made as usize)
}
