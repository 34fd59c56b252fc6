//! The measures, one file each, and the figures that they yield.
//!
//! `calls`, `pipelined`, `payload`, `lists`, `cold_start` and `twenty` run for every peer and are read as ratios;
//! `memory`, `sizes`, `crowd`, `held`, `disk` and `edits` ask Callgate alone whether it keeps a promise, `soak` for as long as one likes; `review` asks what lies off the
//! way of a call; `window` asks the app.

pub mod calls;
pub mod cold_start;
pub mod crowd;
pub mod disk;
pub mod edits;
pub mod held;
pub mod lists;
pub mod memory;
pub mod payload;
pub mod pipelined;
pub mod review;
pub mod sizes;
pub mod soak;
pub mod twenty;
pub mod window;

use crate::peer::Peer;

/// What a figure of a peer tells. Times are in microseconds, so that less is better everywhere but for rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    CallP50,
    CallP90,
    CallP99,
    CpuPerCall,
    /// Calls a second with 64 in flight, up to the last answer.
    AnsweredRate,
    /// The same up to the end of the process, when everything is recorded.
    RecordedRate,
    ListOf91,
    ListOf1000,
    /// The same under a policy that switches pins off.
    UnpinnedListOf1000,
    /// Megabytes a second until everything is recorded.
    ResultRate,
    ArgumentsRate,
    /// One result of 10 MB and one call with 1 MB of arguments, from request to answer.
    ResultTime,
    ArgumentsTime,
    ColdStart,
    /// Twenty servers started at once, until the last of them answered `initialize`.
    TwentyStarts,
    /// What stands between the client and those twenty, in megabytes.
    TwentyMemory,
}

impl What {
    pub const ALL: [What; 16] = [
        What::CallP50,
        What::CallP90,
        What::CallP99,
        What::CpuPerCall,
        What::AnsweredRate,
        What::RecordedRate,
        What::ListOf91,
        What::ListOf1000,
        What::UnpinnedListOf1000,
        What::ResultRate,
        What::ResultTime,
        What::ArgumentsRate,
        What::ArgumentsTime,
        What::ColdStart,
        What::TwentyStarts,
        What::TwentyMemory,
    ];

    pub fn name(self) -> &'static str {
        match self {
            What::CallP50 => "small call, p50, µs",
            What::CallP90 => "small call, p90, µs",
            What::CallP99 => "small call, p99, µs",
            What::CpuPerCall => "proxy's CPU per small call, µs",
            What::AnsweredRate => "64 in flight, calls/s to the last answer",
            What::RecordedRate => "64 in flight, calls/s until recorded and ended",
            What::ListOf91 => "tools/list of 91, µs",
            What::ListOf1000 => "tools/list of 1,000, µs",
            What::UnpinnedListOf1000 => "tools/list of 1,000, without pins, µs",
            What::ResultRate => "10 MB results, MB/s until recorded and ended",
            What::ResultTime => "10 MB result, µs to the answer",
            What::ArgumentsRate => "1 MB arguments, MB/s until recorded and ended",
            What::ArgumentsTime => "1 MB arguments, µs to the answer",
            What::ColdStart => "start to initialize answered, µs",
            What::TwentyStarts => "twenty servers at once, to the last answer, µs",
            What::TwentyMemory => "twenty servers at once, memory between, MB",
        }
    }
}

/// How much is done in one turn of each measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub calls: usize,
    pub pipelined: usize,
    pub lists: usize,
    pub results: usize,
    pub arguments: usize,
    pub starts: usize,
    /// Calls in the history that is looked back on.
    pub history: usize,
    /// How long calls come in while the window is looked at.
    pub window_seconds: u64,
}

impl Effort {
    pub const FULL: Effort = Effort {
        calls: 4_000,
        pipelined: 50_000,
        lists: 100,
        results: 15,
        arguments: 100,
        starts: 5,
        history: 1_000_000,
        window_seconds: 60,
    };
    /// Enough to see that everything runs; not enough to judge by.
    pub const QUICK: Effort = Effort {
        calls: 400,
        pipelined: 5_000,
        lists: 20,
        results: 2,
        arguments: 10,
        starts: 1,
        history: 20_000,
        window_seconds: 5,
    };
}

/// The figures of one turn: one measure for all peers, right after one another.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    figures: Vec<(What, Peer, f64)>,
}

impl Turn {
    pub fn add(&mut self, what: What, peer: Peer, figure: f64) {
        self.figures.push((what, peer, figure));
    }

    pub fn figure(&self, what: What, peer: Peer) -> Option<f64> {
        self.figures.iter().find(|(a, b, _)| (*a, *b) == (what, peer)).map(|(_, _, figure)| *figure)
    }

    /// The peer's figure by the relay's of this turn.
    pub fn times_relay(&self, what: What, peer: Peer) -> Option<f64> {
        Some(self.figure(what, peer)? / self.figure(what, Peer::Relay)?)
    }
}

pub(crate) fn micros(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
