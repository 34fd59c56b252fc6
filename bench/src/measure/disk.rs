//! What the record costs on the disk, whether its ceiling holds while many write, and how soon a block is in force then.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, anyhow};

use super::{Effort, micros, pipelined};
use crate::message::{Answer, SMALL_TOOL, Template};
use crate::peer::{Peer, Workspace};
use crate::policy::tool_name;

/// Sessions one after another that make the calls of a month.
const SESSIONS: usize = 20;
/// Gates that write at once.
const GATES: usize = 20;
/// The ceiling that is asked for.
const MEGABYTES: u64 = 20;
const BLOCKS: usize = 5;

#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Bytes of the whole home for each small call, once all sessions have ended.
    pub per_call: f64,
    /// The longest write-ahead log of the history after a session, in megabytes.
    pub log: f64,
    /// The most that a home took while twenty gates wrote, by its ceiling.
    pub ceiling: f64,
    /// The slowest block meanwhile.
    pub block: Block,
    /// What a gate's memory grew by in the second half of its calls at full rate, in megabytes.
    pub growth: f64,
}

/// Leaves a home with a low ceiling behind.
pub fn measure(place: &Workspace, effort: Effort) -> Result<Figures> {
    let before = bytes(&place.home());
    let mut log = 0;
    let calls = effort.calls * SESSIONS / 10;
    for _ in 0..SESSIONS {
        let mut session = place.open(Peer::Callgate)?;
        let mut call = Template::small_call(SMALL_TOOL);
        for _ in 0..calls / SESSIONS {
            session.call(&mut call)?;
        }
        session.end()?;
        log = log.max(fs::metadata(place.home().join("history.db-wal")).map_or(0, |meta| meta.len()));
    }
    let per_call = (bytes(&place.home()) - before.min(bytes(&place.home()))) as f64 / calls as f64;

    fs::write(place.home().join("settings.json"), format!("{{\"history\":{{\"megabytes\":{MEGABYTES}}}}}"))?;
    let (most, block, growth) = at_full_rate(place, effort)?;
    Ok(Figures {
        per_call,
        log: log as f64 / 1e6,
        ceiling: most as f64 / (MEGABYTES << 20) as f64,
        block,
        growth,
    })
}

/// Twenty gates write as fast as they can: the most that the home takes, the slowest block, and how a gate's memory grows.
fn at_full_rate(place: &Workspace, effort: Effort) -> Result<(u64, Block, f64)> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..GATES)
            .map(|_| {
                scope.spawn(|| {
                    write(place, effort.pipelined / 2).inspect_err(|_| over.store(true, Ordering::Relaxed))
                })
            })
            .collect();
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !over.load(Ordering::Relaxed) {
                most = most.max(bytes(&place.home()));
                thread::sleep(Duration::from_millis(5));
            }
            most
        });
        let blocked = block(place);
        let written: Vec<Result<f64>> = writers
            .into_iter()
            .map(|writer| writer.join().map_err(|_| anyhow!("a client panicked"))?)
            .collect();
        over.store(true, Ordering::Relaxed);
        let most = watcher.join().map_err(|_| anyhow!("the watcher panicked"))?;
        let growth = written.into_iter().collect::<Result<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
        Ok((most.max(bytes(&place.home())), blocked?, growth))
    })
}

/// One client's calls; gives what the gate's memory grew by in the second half of them, in megabytes.
fn write(place: &Workspace, calls: usize) -> Result<f64> {
    let mut session = place.open(Peer::Callgate)?;
    pipelined::run(&mut session, calls / 2)?;
    let half = place.tree(&session)?.memory()?.now;
    pipelined::run(&mut session, calls / 2)?;
    let whole = place.tree(&session)?.memory()?.now;
    session.end()?;
    Ok((whole as f64 - half as f64) / 1e6)
}

/// How long a block took, from the start of the command, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Until the rule is in its place: every gate looks there before each call, so the next call that is judged is refused.
    pub in_force: f64,
    /// Until a busy agent has its first refusal. What it called just before has to be over first.
    pub refused: f64,
}

/// The slowest of some blocks.
fn block(place: &Workspace) -> Result<Block> {
    let mut slowest = Block::default();
    let mut session = place.open(Peer::Callgate)?;
    // As every agent does before its first call.
    session.call(&mut Template::list_tools())?;
    for index in 0..BLOCKS {
        let tool = tool_name(60 + index);
        let (began, start) = (SystemTime::now().duration_since(UNIX_EPOCH)?, Instant::now());
        let since_start = || micros(start.elapsed()) / 1e3;
        let refused = thread::scope(|scope| {
            let command = scope.spawn(|| place.run_callgate(&["block", "bench", &tool]));
            let mut refused = None;
            while refused.is_none() && start.elapsed() < Duration::from_secs(60) {
                let answer = session.ask(&mut Template::small_call(&tool))?;
                refused = (answer == Answer::Refused).then(since_start);
            }
            command.join().map_err(|_| anyhow!("the command panicked"))??;
            refused.ok_or_else(|| anyhow!("a block was not in force after a minute"))
        })?;
        let in_place = renamed(&place.policy("bench"))?;
        let in_force = micros(in_place.saturating_sub(began)) / 1e3;
        slowest = Block { in_force: slowest.in_force.max(in_force), refused: slowest.refused.max(refused) };
    }
    session.end()?;
    Ok(slowest)
}

/// When a file was given its name, since 1970, by the clock of the file system (which moves every 4 ms or so).
fn renamed(path: &Path) -> Result<Duration> {
    let meta = fs::metadata(path)?;
    Ok(Duration::new(u64::try_from(meta.ctime())?, u32::try_from(meta.ctime_nsec())?))
}

/// What a folder takes.
pub(super) fn bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, meta)| if meta.is_dir() { bytes(&path) } else { meta.len() })
        .sum()
}
