//! The driver: interleaved rounds of every measure for every peer, then the promises, then the tables.
//!
//! Each measure has some turns in a round. In a turn it runs for all peers right after one another, with fresh
//! processes, in an order that rotates from turn to turn: other load on the machine then meets all of them alike.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people that speaks no protocol"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use callgate_bench::budget::{Bound, Row, Unit, markdown, table};
use callgate_bench::measure::{
    Effort, Turn, What, calls, cold_start, crowd, disk, edits, held, lists, memory, payload, pipelined,
    review, sizes, soak, twenty, window,
};
use callgate_bench::peer::{Peer, Programs, Workspace};
use callgate_bench::stats::median;

/// How often each measure's turn comes within a round. Short turns, so that a burst of other load does not fall
/// on one peer alone.
const TURNS: usize = 3;

const HELP: &str = "\
usage: callgate-bench [--callgate PROGRAM] [--review PROGRAM] [--risk PROGRAM] [--rounds N] [--quick] [--work FOLDER] [--out FILE]
                      [--window PROGRAM --app PROGRAM (--seed PROGRAM | --history HOME)] [--window-out FILE]
                      [--only-window] [--only WORDS] [--soak MINUTES]

  --callgate PROGRAM  the callgate to measure; without it only the yardsticks (direct, relay) run
  --review PROGRAM    the review_time to measure judging and looking back with
  --risk PROGRAM      the risk_time to measure the look at definitions with
  --rounds N          rounds (7), each with a fresh home and three turns of every measure
  --quick             few calls: shows that everything runs, not how fast
  --work FOLDER       where homes are made, on the disk that counts (a folder beside the driver)
  --out FILE          also write the tables, as Markdown, to this file

  --window PROGRAM    the window_time to measure the window with
  --app PROGRAM       the app to measure, with its callgate beside it
  --seed PROGRAM      the seed_history to make the history with that the window shows
  --history HOME      a home with such a history; it is copied and stays as it is
  --window-out FILE   as --out, for the window's table
  --only-window       nothing but the window's rows

  --only WORDS        only the measures whose name has these words (\"1 MB\", \"disk\"); rows of the others are left out
  --soak MINUTES      nothing but one gate at full rate for so long: does its memory grow, does its home";

struct Options {
    callgate: Option<PathBuf>,
    review: Option<PathBuf>,
    risk: Option<PathBuf>,
    rounds: usize,
    effort: Effort,
    work: PathBuf,
    out: Option<PathBuf>,
    window: Option<PathBuf>,
    app: Option<PathBuf>,
    seed: Option<PathBuf>,
    history: Option<PathBuf>,
    window_out: Option<PathBuf>,
    only_window: bool,
    only: Option<String>,
    soak: Option<Duration>,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Options> {
        let work = std::env::current_exe()?.with_file_name("callgate-bench-work");
        let mut options = Options {
            callgate: None,
            review: None,
            risk: None,
            rounds: 7,
            effort: Effort::FULL,
            work,
            out: None,
            window: None,
            app: None,
            seed: None,
            history: None,
            window_out: None,
            only_window: false,
            only: None,
            soak: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value\n\n{HELP}"));
            match word.as_str() {
                "--callgate" => options.callgate = Some(value()?.into()),
                "--review" => options.review = Some(value()?.into()),
                "--risk" => options.risk = Some(value()?.into()),
                "--rounds" => options.rounds = value()?.parse().context("--rounds needs a number")?,
                "--quick" => options.effort = Effort::QUICK,
                "--work" => options.work = value()?.into(),
                "--out" => options.out = Some(value()?.into()),
                "--window" => options.window = Some(value()?.into()),
                "--app" => options.app = Some(value()?.into()),
                "--seed" => options.seed = Some(value()?.into()),
                "--history" => options.history = Some(value()?.into()),
                "--window-out" => options.window_out = Some(value()?.into()),
                "--only-window" => options.only_window = true,
                "--only" => options.only = Some(value()?),
                "--soak" => {
                    let minutes: u64 = value()?.parse().context("--soak needs a number of minutes")?;
                    options.soak = Some(Duration::from_secs(minutes * 60));
                }
                _ => bail!("unknown option {word}\n\n{HELP}"),
            }
        }
        if options.only_window && options.window.is_none() {
            bail!("--only-window measures nothing without --window\n\n{HELP}");
        }
        Ok(options)
    }

    fn wants(&self, measure: &str) -> bool {
        self.only.as_ref().is_none_or(|words| measure.contains(words.as_str()))
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("callgate-bench: {error:?}");
            ExitCode::from(2)
        }
    }
}

/// True when every budget was kept.
fn run() -> Result<bool> {
    let options = Options::read(std::env::args().skip(1))?;
    let programs = Programs::beside_this_one(options.callgate.clone())?;
    if let Some(lasts) = options.soak {
        return soak(&programs, &options, lasts);
    }
    let mut kept = true;
    if !options.only_window {
        kept = gate(&programs, &options)?;
    }
    if let Some(program) = &options.window {
        kept &= window(program, &programs, &options)?;
    }
    fs::remove_dir_all(&options.work).ok();
    Ok(kept)
}

/// One gate for a long time, and nothing else.
fn soak(programs: &Programs, options: &Options, lasts: Duration) -> Result<bool> {
    let place = Workspace::new(programs, &options.work.join("soak"))?;
    let found = soak::measure(&place, lasts).with_context(|| said(&place))?;
    let rows = soak::rows(&found, lasts);
    let kept = close(&rows, &table(&rows), options.out.as_deref())?;
    fs::remove_dir_all(&options.work).ok();
    Ok(kept)
}

/// All that needs no window.
fn gate(programs: &Programs, options: &Options) -> Result<bool> {
    let turns = run_rounds(programs, options)?;
    let mut rows = Vec::new();
    if programs.callgate.is_some() {
        rows = ratios(&turns);
        rows.extend(promises(programs, options)?);
    }
    if let Some(program) = &options.review
        && options.wants("review")
    {
        rows.extend(reviews(program, options)?);
    }
    if let Some(program) = &options.risk
        && options.wants("risk")
    {
        rows.extend(definitions(program, options)?);
    }

    if options.only.is_some() {
        rows.retain(Row::is_measured);
    }

    let mut text = String::new();
    if !rows.is_empty() {
        text.push_str(&table(&rows));
        text.push('\n');
    }
    text.push_str("Medians of the same rounds, for scale only (absolute figures move with the machine and its load):\n\n");
    text.push_str(&medians(&turns));
    if rows.is_empty() {
        println!("no --callgate given: only the yardsticks were measured");
    }
    close(&rows, &text, options.out.as_deref())
}

/// The window's rows: up to three tries, each with an app of its own on a copy of one history.
fn window(program: &Path, programs: &Programs, options: &Options) -> Result<bool> {
    let app = options.app.clone().context("--window needs an --app")?;
    let programs = window::Programs {
        window_time: program.to_owned(),
        callgate: app.with_file_name("callgate"),
        app,
        server: programs.server.clone(),
    };
    let history = match (&options.history, &options.seed) {
        (Some(home), _) => home.clone(),
        (None, Some(seed)) => {
            let home = options.work.join("window");
            fs::create_dir_all(&options.work)?;
            if home.exists() {
                // Of a try that failed.
                fs::remove_dir_all(&home).with_context(|| format!("cannot empty {}", home.display()))?;
            }
            eprintln!("a history of {} calls for the window, with its text index", options.effort.history);
            window::fill(seed, &home, options.effort.history)?;
            home
        }
        (None, None) => bail!("--window needs a --history, or a --seed to make one\n\n{HELP}"),
    };
    let tries = options.rounds.clamp(1, 3);
    let mut found = Vec::new();
    for number in 0..tries {
        eprintln!("the window, {} of {tries}", number + 1);
        found.push(window::measure(&programs, &history, options.effort)?);
    }
    let rows = window::rows(&found);
    close(&rows, &table(&rows), options.window_out.as_deref())
}

/// Shows a table, says whether it keeps its budgets, and writes it down where that is wanted.
fn close(rows: &[Row], text: &str, out: Option<&Path>) -> Result<bool> {
    println!("\n{text}");
    let over = rows.iter().filter(|row| row.is_over()).count();
    match over {
        0 => println!("every budget kept"),
        _ => println!("{over} budgets not kept"),
    }
    if let Some(path) = out {
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(over == 0)
}

fn run_rounds(programs: &Programs, options: &Options) -> Result<Vec<Turn>> {
    type Measure = fn(&Workspace, Peer, Effort, &mut Turn) -> Result<()>;
    let measures: [(&str, Measure); 7] = [
        ("small calls", calls::measure),
        ("64 in flight", pipelined::measure),
        ("tools/list", lists::measure),
        ("10 MB results", payload::results),
        ("1 MB arguments", payload::arguments),
        ("cold start", cold_start::measure),
        ("twenty servers at once", twenty::measure),
    ];
    let mut peers = vec![Peer::Relay, Peer::Direct];
    if programs.callgate.is_some() {
        peers.extend([Peer::Callgate, Peer::CallgateShared]);
    }
    let mut turns = Vec::new();
    for number in 0..options.rounds {
        let place = Workspace::new(programs, &options.work.join(format!("round-{number}")))?;
        let mut recorded = 0;
        for (name, measure) in measures.into_iter().filter(|(name, _)| options.wants(name)) {
            eprintln!("round {} of {}: {name}", number + 1, options.rounds);
            for _ in 0..TURNS {
                let mut turn = Turn::default();
                for &peer in &peers {
                    // The shared limit changes what a small call costs; all else is the same way.
                    if peer == Peer::CallgateShared && name != "small calls" {
                        continue;
                    }
                    measure(&place, peer, options.effort, &mut turn)
                        .with_context(|| format!("{name}, {}", peer.name()))
                        .with_context(|| said(&place))?;
                    recorded += usize::from(peer == Peer::Callgate) * calls_of(name, options.effort);
                }
                turns.push(turn);
                peers.rotate_left(1);
            }
        }
        if programs.callgate.is_some() {
            check_record(&place, recorded)?;
        }
        fs::remove_dir_all(options.work.join(format!("round-{number}"))).ok();
    }
    Ok(turns)
}

/// How many tool calls one such measure makes under the server name `bench`.
fn calls_of(measure: &str, effort: Effort) -> usize {
    match measure {
        "small calls" => effort.calls / 20 + effort.calls,
        "64 in flight" => effort.pipelined,
        "10 MB results" => effort.results + 1,
        "1 MB arguments" => effort.arguments + 1,
        _ => 0,
    }
}

/// A gate that forgets calls is fast and worthless: every call of the round must be in the history.
fn check_record(place: &Workspace, expected: usize) -> Result<()> {
    let log = place.run_callgate(&["log", "--json", "--server", "bench", "--limit", "100000000"])?;
    let lines = memchr::memchr_iter(b'\n', &log).count();
    if lines != expected {
        bail!("{expected} calls were made and {lines} are in the history: the figures would not be fair");
    }
    Ok(())
}

fn said(place: &Workspace) -> String {
    let text = fs::read_to_string(place.stderr()).unwrap_or_default();
    let tail: Vec<&str> = text.lines().rev().take(10).collect();
    format!("last words on stderr: {}", tail.into_iter().rev().collect::<Vec<_>>().join("\n"))
}

/// The rows that compare, in the order of the budgets.
fn ratios(turns: &[Turn]) -> Vec<Row> {
    use Bound::{AtLeast, AtMost};
    let row = |name: &str, what: What, peer: Peer| {
        let figures = turns.iter().filter_map(|turn| turn.times_relay(what, peer)).collect();
        Row::new(name, Unit::TimesRelay, figures)
    };
    let gate = |name: &str, what: What| row(name, what, Peer::Callgate);
    let list = |turn: &Turn, what: What| turn.figure(what, Peer::Callgate);
    let pinned = turns
        .iter()
        .filter_map(|turn| Some(list(turn, What::ListOf1000)? / list(turn, What::UnpinnedListOf1000)?))
        .collect();
    let shared = |name: &str, what: What| row(name, what, Peer::CallgateShared);
    vec![
        gate("small call, p50", What::CallP50).budget(AtMost(1.35)).stretch(AtMost(1.2)),
        gate("small call, p90", What::CallP90),
        gate("small call, p99", What::CallP99).budget(AtMost(1.75)),
        shared("with a shared limit, p50", What::CallP50).budget(AtMost(2.5)).stretch(AtMost(1.8)),
        shared("with a shared limit, p99", What::CallP99),
        gate("CPU per small call", What::CpuPerCall).budget(AtMost(2.0)).stretch(AtMost(1.6)),
        shared("CPU per small call, shared limit", What::CpuPerCall),
        gate("calls/s, 64 in flight, until recorded", What::RecordedRate)
            .budget(AtLeast(0.5))
            .stretch(AtLeast(0.7)),
        gate("calls/s, 64 in flight, to the last answer", What::AnsweredRate),
        gate("10 MB results, MB/s until recorded", What::ResultRate)
            .budget(AtLeast(0.5))
            .stretch(AtLeast(0.8)),
        gate("1 MB arguments, MB/s until recorded", What::ArgumentsRate)
            .budget(AtLeast(0.4))
            .stretch(AtLeast(0.6)),
        gate("tools/list of 91 tools, one hidden", What::ListOf91),
        gate("tools/list of 1,000 tools, one hidden", What::ListOf1000)
            .budget(AtMost(4.0))
            .stretch(AtMost(2.0)),
        Row::new("list of 1,000 pinned tools, of one without pins", Unit::Times, pinned).budget(AtMost(1.3)),
        gate("cold start", What::ColdStart).budget(AtMost(2.0)).stretch(AtMost(1.5)),
        gate("twenty servers at once, to the last answer", What::TwentyStarts),
        gate("twenty servers at once, memory between", What::TwentyMemory),
    ]
}

/// The rows that ask Callgate alone: up to three tries of each, in fresh homes.
fn promises(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    use Bound::{AtLeast, AtMost};
    let tries = options.rounds.clamp(1, 3);
    let (mut memories, mut largest, mut at_once, mut edited) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut on_disk, mut waiting) = (Vec::new(), Vec::new());
    for number in 0..tries {
        let place = Workspace::new(programs, &options.work.join(format!("promises-{number}")))?;
        let begins = |measure: &str| {
            let wanted = options.wants(measure);
            if wanted {
                eprintln!("promises, {} of {tries}: {measure}", number + 1);
            }
            wanted
        };
        if begins("memory") {
            memories.push(memory::measure(&place).context("memory").with_context(|| said(&place))?);
        }
        if begins("sizes") {
            largest.push(sizes::measure(&place).context("sizes").with_context(|| said(&place))?);
        }
        if begins("ten gates") {
            at_once.push(crowd::measure(&place).context("ten gates").with_context(|| said(&place))?);
        }
        if begins("held calls") {
            waiting.push(held::measure(&place).context("held calls").with_context(|| said(&place))?);
        }
        if begins("edits") {
            edited.push(edits::measure(&place).context("edits").with_context(|| said(&place))?);
        }
        if begins("disk") {
            let place = Workspace::new(programs, &options.work.join(format!("disk-{number}")))?;
            on_disk
                .push(disk::measure(&place, options.effort).context("disk").with_context(|| said(&place))?);
            fs::remove_dir_all(options.work.join(format!("disk-{number}"))).ok();
        }
    }
    let mut rows = Vec::new();
    let mut add =
        |what: &str, unit, figures: Vec<f64>, bound| rows.push(Row::new(what, unit, figures).budget(bound));
    let of_memory = |pick: fn(&memory::Figures) -> f64| memories.iter().map(pick).collect::<Vec<f64>>();
    add("memory idle, shim + keeper", Unit::Megabytes, of_memory(|it| it.idle), AtMost(10.0));
    add("memory, lines to 1 MiB, peak", Unit::Megabytes, of_memory(|it| it.lines_to_one_mib), AtMost(30.0));
    add("memory, 50 MiB arguments, peak", Unit::TimesLine, of_memory(|it| it.long_arguments), AtMost(2.2));
    add("memory, 50 MiB result, peak", Unit::TimesLine, of_memory(|it| it.long_result), AtMost(2.2));
    add("memory after those", Unit::Megabytes, of_memory(|it| it.given_back), AtMost(30.0));
    let largest_pass = largest.iter().map(|it| it.largest_pass).collect();
    add("64 MiB messages pass, both ways", Unit::Share, largest_pass, AtLeast(1.0));
    let refused = largest.iter().map(|it| it.larger_refused_and_alive).collect();
    add("longer ones refused, session lives", Unit::Share, refused, AtLeast(1.0));
    let exact = at_once.iter().map(|it| it.exact).collect();
    add("ten gates, one limit: exactly as many pass", Unit::Share, exact, AtLeast(1.0));
    let p99 = at_once.iter().map(|it| it.p99_ms).collect();
    add("ten gates, one limit: p99 of a passed call", Unit::Milliseconds, p99, AtMost(20.0));
    let of_held = |pick: fn(&held::Figures) -> f64| waiting.iter().map(pick).collect::<Vec<f64>>();
    add("1,000 held calls, memory", Unit::Megabytes, of_held(|it| it.memory), AtMost(20.0));
    add("1,000 held calls, CPU", Unit::PercentOfCore, of_held(|it| it.cpu_percent), AtMost(0.5));
    let obeyed = edited.iter().map(|it| it.obeyed).collect();
    add("policy edit and pause hold from the next call", Unit::Share, obeyed, AtLeast(1.0));
    let changed = edited.iter().map(|it| it.list_changed_ms).collect();
    add("hide to list_changed at the client, slowest", Unit::Milliseconds, changed, AtMost(200.0));
    let of_disk = |pick: fn(&disk::Figures) -> f64| on_disk.iter().map(pick).collect::<Vec<f64>>();
    add("disk for a small call, all files", Unit::Bytes, of_disk(|it| it.per_call), AtMost(1_500.0));
    add("the history's log after a session, longest", Unit::Megabytes, of_disk(|it| it.log), AtMost(4.0));
    add("home while twenty gates write, by its ceiling", Unit::Times, of_disk(|it| it.ceiling), AtMost(1.25));
    add(
        "block while twenty gates write, in force, slowest",
        Unit::Milliseconds,
        of_disk(|it| it.block.in_force),
        AtMost(100.0),
    );
    add(
        "memory of a gate grows, second half at full rate",
        Unit::Megabytes,
        of_disk(|it| it.growth),
        AtMost(2.0),
    );
    // Without a budget: most of it is the agent's own waiting for one of two cores.
    rows.push(Row::new(
        "block while twenty gates write, to a busy agent's refusal",
        Unit::Milliseconds,
        of_disk(|it| it.block.refused),
    ));
    Ok(rows)
}

/// The rows about what lies off the way of a call: up to three tries of each.
fn reviews(program: &Path, options: &Options) -> Result<Vec<Row>> {
    let tries = options.rounds.clamp(1, 3);
    let folder = options.work.join("history");
    fs::create_dir_all(&options.work)?;
    if folder.exists() {
        // Of a try that failed.
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    eprintln!("a history of {} calls", options.effort.history);
    review::fill(program, &folder, options.effort.history).context("a long history")?;
    let mut found: Vec<(review::Figure, Vec<f64>)> = Vec::new();
    for number in 0..tries {
        eprintln!("judging and looking back, {} of {tries}", number + 1);
        let figures = review::judge(program)?.into_iter().chain(review::look_back(program, &folder)?);
        for figure in figures {
            match found.iter_mut().find(|(known, _)| known.what == figure.what) {
                Some((_, tries)) => tries.push(figure.figure),
                None => found.push((figure.clone(), vec![figure.figure])),
            }
        }
    }
    let rows = found.into_iter().map(|(figure, tries)| {
        let row = Row::new(&figure.what, figure.unit, tries);
        match figure.unit {
            Unit::Seconds if figure.what.starts_with("simulate") => row.budget(Bound::AtMost(5.0)),
            Unit::Megabytes if figure.what.starts_with("simulate") => row.budget(Bound::AtMost(64.0)),
            _ => row,
        }
    });
    Ok(rows.collect())
}

/// The rows about the look at tools' definitions.
fn definitions(program: &Path, options: &Options) -> Result<Vec<Row>> {
    let mut found: Vec<(review::Figure, Vec<f64>)> = Vec::new();
    for _ in 0..options.rounds.clamp(1, 3) {
        for figure in review::definitions(program)? {
            match found.iter_mut().find(|(known, _)| known.what == figure.what) {
                Some((_, tries)) => tries.push(figure.figure),
                None => found.push((figure.clone(), vec![figure.figure])),
            }
        }
    }
    let row = |(figure, tries): (review::Figure, Vec<f64>)| {
        Row::new(&figure.what, figure.unit, tries).budget(Bound::AtMost(1.0))
    };
    Ok(found.into_iter().map(row).collect())
}

/// What each peer took, for scale.
fn medians(turns: &[Turn]) -> String {
    let peers = [Peer::Direct, Peer::Relay, Peer::Callgate, Peer::CallgateShared];
    let mut lines =
        vec![["", peers[0].name(), peers[1].name(), peers[2].name(), peers[3].name()].map(str::to_owned)];
    for what in What::ALL {
        let cell = |peer| {
            let figures: Vec<f64> = turns.iter().filter_map(|turn| turn.figure(what, peer)).collect();
            median(&figures).map_or_else(String::new, |figure| match figure {
                small if small < 100.0 => format!("{small:.1}"),
                large => format!("{large:.0}"),
            })
        };
        lines.push([what.name().to_owned(), cell(peers[0]), cell(peers[1]), cell(peers[2]), cell(peers[3])]);
    }
    markdown(&lines)
}
