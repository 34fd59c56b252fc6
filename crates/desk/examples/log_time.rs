//! How long the log takes on a home with a long history (`cargo xtask seed-history`): first pages, counts, the index.
//!
//! `cargo run --release -p callgate-desk --example log_time -- HOME`

#![expect(clippy::print_stdout, reason = "a program for people that speaks no protocol")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_desk::Desk;
use callgate_desk::view::{CallFilter, Decision, PageFrom};
use callgate_home::Home;
use callgate_home::clock::{SystemClock, wall_ms};
use callgate_journal::Origin;

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let place = std::env::args().nth(1).ok_or("say which home")?;
    let desk = Desk::new(Home::at(place), Arc::new(SystemClock::default()), Origin::Window);
    let none = CallFilter::default();
    show("first page, nothing indexed", || desk.log_page(&none, &PageFrom::Newest, 100))?;
    let rare = CallFilter { tool: Some("clear_codegen_session".to_owned()), ..none.clone() };
    show("a tool, nothing indexed", || desk.log_page(&rare, &PageFrom::Newest, 100))?;
    index(&desk)?;
    let now = wall_ms();
    let hour = 3_600_000;
    let text = |text: &str| CallFilter { text: Some(text.to_owned()), ..CallFilter::default() };
    let filters = [
        ("no filter", none.clone()),
        ("a server", CallFilter { server: Some("slack".to_owned()), ..none.clone() }),
        ("a tool", rare),
        (
            "a client and a decision",
            CallFilter {
                client: Some("Cursor".to_owned()),
                decisions: vec![Decision::Denied],
                ..none.clone()
            },
        ),
        ("failed", CallFilter { failed: true, ..none.clone() }),
        ("failed, a server", CallFilter { failed: true, server: Some("slack".to_owned()), ..none.clone() }),
        ("a decision that never was", CallFilter { decisions: vec![Decision::Hidden], ..none.clone() }),
        (
            "a server and a tool of another",
            CallFilter {
                server: Some("slack".to_owned()),
                tool: Some("browser_click".to_owned()),
                ..none.clone()
            },
        ),
        ("a session that never was", CallFilter { session: Some("zzzzzz".to_owned()), ..none.clone() }),
        (
            "an hour two weeks ago",
            CallFilter { since_ms: Some(now - 337 * hour), until_ms: Some(now - 336 * hour), ..none.clone() },
        ),
        ("a time before everything", CallFilter { until_ms: Some(now - 10_000 * hour), ..none.clone() }),
        (
            "denied, an hour two weeks ago",
            CallFilter {
                decisions: vec![Decision::Denied],
                since_ms: Some(now - 337 * hour),
                until_ms: Some(now - 336 * hour),
                ..none.clone()
            },
        ),
        ("search: common word", text("example ")),
        ("search: begun word", text("playw")),
        ("search: one letter", text("a")),
        ("search: two words", text("wikipedia sliding")),
        ("search: rare word", text("credentials")),
        ("search: no such word", text("xyzzyplugh")),
        ("search: no such word, and a letter", text("xyzzyplugh a")),
        ("search: two that never meet", text("credentials wikipedia ")),
        ("search: rare and begun", text("credentials e")),
        ("search in a server", CallFilter { server: Some("github".to_owned()), ..text("rounding") }),
        ("search: hex that never was", text("deadbeefcafe")),
    ];
    for (name, filter) in &filters {
        show(&format!("page: {name}"), || desk.log_page(filter, &PageFrom::Newest, 100))?;
    }
    let middle = desk.log_page(&none, &PageFrom::Newest, 1)?.rev / 2;
    show("jump to the middle", || desk.log_page(&none, &PageFrom::Near { rev: middle }, 100))?;
    show("jump in denied", || desk.log_page(&filters[3].1, &PageFrom::Near { rev: middle }, 100))?;
    for at in [0, 1, 7, 10, 11] {
        let (name, filter) = &filters[at];
        let began = worked();
        let (mut first, mut calls) = (None, 0);
        desk.log_count(filter, &|| false, &mut |count| {
            first.get_or_insert_with(|| worked().saturating_sub(began));
            calls = count.calls;
        })?;
        println!(
            "count: {name:34} {calls:>9} calls, first told {:>7}, done {:>7}",
            ms(first.unwrap_or_default()),
            ms(worked().saturating_sub(began))
        );
    }
    show("runs", || desk.runs(None, 50))?;
    let refused = CallFilter { decisions: vec![Decision::Denied], ..CallFilter::default() };
    show("runs with a denial", || desk.runs_matching(&refused, None, 50))?;
    let word = CallFilter { text: Some("error".to_owned()), ..CallFilter::default() };
    show("runs with a word", || desk.runs_matching(&word, None, 50))?;
    show("choices", || desk.choices())?;
    show("since last look", || desk.since_last_look())?;
    let page = desk.log_page(&none, &PageFrom::Newest, 1)?;
    let mut follower = desk.follow(&none, page.rev)?;
    show("follow: nothing new", || follower.next())?;
    let id = serde_json::to_value(&page.entries)?[0]["id"].as_str().unwrap_or_default().to_owned();
    show("one call", || desk.call(&id))?;
    Ok(())
}

/// The middle of several times.
fn show<T, E: std::error::Error + 'static>(
    name: &str,
    mut work: impl FnMut() -> Result<T, E>,
) -> Result<(), Failed> {
    let mut times = Vec::new();
    for _ in 0..7 {
        let began = worked();
        drop(work()?);
        times.push(worked().saturating_sub(began));
    }
    let first = times[0];
    times.sort_unstable();
    println!("{name:42} {:>9}   first {:>9}, worst {:>9}", ms(times[3]), ms(first), ms(times[6]));
    Ok(())
}

/// What this thread has worked so far, where the system tells (then others on the machine do not count), else the time.
fn worked() -> Duration {
    static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| BEGAN.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

fn index(desk: &Desk) -> Result<(), Failed> {
    let began = Instant::now();
    let (mut steps, mut longest) = (0_u32, Duration::ZERO);
    loop {
        let step = worked();
        let more = desk.index_step()?;
        longest = longest.max(worked().saturating_sub(step));
        steps += 1;
        if !more {
            break;
        }
    }
    let bytes = std::fs::metadata(desk.home().search_db())?.len();
    println!(
        "index: {steps} steps, {:.1} s, the longest {}, {} MB",
        began.elapsed().as_secs_f64(),
        ms(longest),
        bytes >> 20
    );
    Ok(())
}
