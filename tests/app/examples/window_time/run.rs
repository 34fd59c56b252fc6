//! One try: the app is started, asked, fed, left alone and closed, in this order.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a measuring program")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use callgate_app_tests::app::{App, Around};
use callgate_bench::measure::window::What;
use callgate_bench::process::Tree;
use callgate_bench::stats::median;
use callgate_tests::gate::{Bench, OPEN_POLICY};

use crate::feed::Feed;
use crate::frames::Frames;
use crate::{hour, pages};

/// How long all is watched that is only there to compare with, at most.
const SHORT: Duration = Duration::from_secs(15);
/// After something was done, what is put off (an index, a rubbish collection) is over by then.
const SETTLE: Duration = Duration::from_secs(15);
const IDLE: Duration = Duration::from_secs(30);

struct Options {
    server: PathBuf,
    history: PathBuf,
    time: Duration,
    only_memory: bool,
}

pub(crate) fn main() -> Result<()> {
    let options = read()?;
    let bench = Bench::new(OPEN_POLICY)?;
    copy(&options.history, &bench.home()).context("the history cannot be copied")?;
    let app = App::start_on(bench, Around::Tray)?;
    match options.only_memory {
        true => memory(&app, &options),
        false => measure(&app, &options),
    }
}

fn read() -> Result<Options> {
    let (mut server, mut history, mut seconds, mut only_memory) = (None, None, None, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} wants a value"))?;
        match word.as_str() {
            "--server" => server = Some(value.into()),
            "--history" => history = Some(value.into()),
            "--seconds" => seconds = Some(value.parse().context("--seconds wants a number")?),
            "--only" if value == "memory" => only_memory = true,
            _ => bail!("unknown words {word} {value}"),
        }
    }
    Ok(Options {
        server: server.context("--server is missing")?,
        history: history.context("--history is missing")?,
        time: Duration::from_secs(seconds.context("--seconds is missing")?),
        only_memory,
    })
}

fn measure(app: &App, options: &Options) -> Result<()> {
    app.go("#/activity")?;
    app.row("the log", "")?;
    let short = options.time.min(SHORT);
    let all = Tree::of(app.pid()?, Path::new(""))?;
    let web = all.only("WebKitWebProcess")?;
    let host = all.only("callgate-app")?;

    note("pages");
    let pages = pages::measure(app)?;
    tell(What::PageP50, median(&pages.with_count).unwrap_or(f64::NAN));
    tell(What::PageSlowest, slowest(&pages.with_count));
    tell(What::PageSlowestAlone, slowest(&pages.alone));

    note("frames while nothing comes");
    rest(&all)?;
    let (quiet, ()) = Frames::watch(&app.driver, || {
        std::thread::sleep(short);
        Ok(())
    })?;
    tell(What::QuietGap, quiet.p99());

    note("the log fills");
    let empty = web.proportional()?;
    Feed::open(app, &options.server)?.run(short)?;
    rest(&all)?;
    tell(What::Fills, grown(empty, web.proportional()?));

    note("frames while calls come and the log is open");
    let feed = Feed::open(app, &options.server)?;
    let before = (web.proportional()?, web.cpu_with_ended_threads()?, host.cpu_with_ended_threads()?);
    let (busy, made) = Frames::watch(&app.driver, || feed.run(options.time))?;
    let ended = Instant::now();
    let after = (web.cpu_with_ended_threads()?, host.cpu_with_ended_threads()?);
    shows_the_newest(app)?;
    tell(What::Behind, ended.elapsed().as_secs_f64() * 1e3);
    note(&format!("  {made} calls; frame gap p50 {:.1} ms", busy.p50()));
    tell(What::BusyGap, busy.p99());
    tell(What::BusySlow, busy.slow());
    tell(What::BusyWorst, busy.worst());
    let share = |from: Duration, to: Duration| {
        to.saturating_sub(from).as_secs_f64() / options.time.as_secs_f64() * 100.0
    };
    tell(What::WebCpu, share(before.1, after.0));
    tell(What::AppCpu, share(before.2, after.1));
    rest(&all)?;
    tell(What::Grows, grown(before.0, web.proportional()?));

    note("frames while calls come and Settings is open");
    app.go("#/settings")?;
    rest(&all)?;
    let feed = Feed::open(app, &options.server)?;
    let (elsewhere, _) = Frames::watch(&app.driver, || feed.run(short))?;
    tell(What::ElsewhereGap, elsewhere.p99());

    memory(app, options)?;

    note("idle");
    app.go("#/activity")?;
    let window = app.desktop.window("Callgate")?.context("there is no window")?;
    app.desktop.close(window)?;
    app.driver
        .wait("the window is closed", |_| Ok(app.desktop.window("Callgate")?.is_none().then_some(())))?;
    rest(&all)?;
    let (cpu, began) = (all.cpu_with_ended_threads()?, Instant::now());
    std::thread::sleep(IDLE);
    tell(
        What::Idle,
        all.cpu_with_ended_threads()?.saturating_sub(cpu).as_secs_f64() / began.elapsed().as_secs_f64()
            * 100.0,
    );
    Ok(())
}

/// What an hour of use leaves in memory.
fn memory(app: &App, options: &Options) -> Result<()> {
    note("an hour of use");
    let all = Tree::of(app.pid()?, Path::new(""))?;
    let (host, page) = (all.only("callgate-app")?, all.without("callgate-app")?);
    let made = hour::pass(app, Feed::open(app, &options.server)?, options.time)?;
    // Opened anew, the log follows the newest again.
    app.go("#/settings")?;
    app.driver.the("settings-login")?;
    app.go("#/activity")?;
    shows_the_newest(app)?;
    rest(&all)?;
    note(&format!("  {made} calls"));
    tell(What::PageMemory, megabytes(page.own()?));
    tell(What::PageShare, megabytes(page.proportional()?));
    tell(What::AppMemory, megabytes(host.own()?));
    tell(What::AppShare, megabytes(host.proportional()?));
    Ok(())
}

/// Figures of a page that has fallen behind would not be fair.
fn shows_the_newest(app: &App) -> Result<()> {
    let script = r#"
      const done = arguments[0];
      const last = [...document.querySelectorAll('[data-testid="row"][data-kind="call"]')].at(-1)?.dataset.call;
      window.__TAURI_INTERNALS__.invoke('log_page', { filter: { only: 'calls' }, from: { kind: 'newest' }, count: 1 })
        .then((page) => done(page.entries.at(-1)?.id === last), () => done(false));"#;
    app.driver.wait("the newest call is on the page", |driver| {
        Ok((driver.script_that_waits(script, &[])? == true).then_some(()))
    })
}

/// Waits until little is done, at least for a while.
fn rest(tree: &Tree) -> Result<()> {
    const LITTLE: Duration = Duration::from_millis(40);
    let began = Instant::now();
    let mut before = tree.cpu_with_ended_threads()?;
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = tree.cpu_with_ended_threads()?;
        if now.saturating_sub(before) < LITTLE && began.elapsed() >= SETTLE {
            return Ok(());
        }
        if began.elapsed() > SETTLE * 8 {
            note("  still busy; measured anyway");
            return Ok(());
        }
        before = now;
    }
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Megabytes.
fn grown(from: u64, to: u64) -> f64 {
    (to as f64 - from as f64) / 1e6
}

fn slowest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(f64::NAN, f64::max)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type()?.is_dir() {
            true => copy(&from, &to)?,
            false => std::fs::copy(&from, &to).map(drop).with_context(|| from.display().to_string())?,
        }
    }
    Ok(())
}

fn tell(what: What, figure: f64) {
    println!("{}\t{figure:.3}", what.name());
}

pub(crate) fn note(words: &str) {
    eprintln!("{words}");
}
