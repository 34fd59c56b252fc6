//! Alarms: more calls than this person's own history makes likely.
//!
//! A value that is fed with counts by minute and says what is new about it. It knows no clock, no disk and no window.

use std::collections::{BTreeMap, HashMap};

use callgate_history::{MINUTE_MS, Tallied};
use callgate_text::{clip, harmless};

use crate::view::Alarm;

/// Below so many calls a minute nothing is unusual.
const FLOOR: u64 = 30;
/// The same for a tool that is hardly known yet.
const FLOOR_NEW: u64 = 60;
/// Unusual is so many times the usual.
const TIMES: u64 = 3;
/// A tool is known once it was busy in so many minutes.
const KNOWN: u64 = 20;
/// An alarm ends after so long below half of what raised it.
const CALM_MS: i64 = 2 * MINUTE_MS;
/// Names are hostile: no more than this are remembered.
const MOST: usize = 4_096;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct AlarmKey {
    server: String,
    client: String,
    tool: String,
}

/// How many minutes had how many calls.
#[derive(Clone, Debug, Default)]
struct Usual {
    minutes: BTreeMap<u64, u64>,
}

impl Usual {
    fn add(&mut self, calls: u64) {
        *self.minutes.entry(calls).or_default() += 1;
    }

    fn busy(&self) -> u64 {
        self.minutes.values().sum()
    }

    /// What 99 of 100 busy minutes stay within; of a tool that is known, the busiest minute of all never counts.
    fn ordinary(&self) -> u64 {
        let busy = self.busy();
        let mut above = (busy / 100).max(u64::from(busy >= KNOWN));
        for (calls, minutes) in self.minutes.iter().rev() {
            if *minutes > above {
                return *calls;
            }
            above -= minutes;
        }
        0
    }

    fn unusual(&self) -> u64 {
        let floor = if self.busy() >= KNOWN { FLOOR } else { FLOOR_NEW };
        floor.max(self.ordinary() * TIMES)
    }
}

#[derive(Clone, Debug)]
struct Raised {
    alarm: Alarm,
    ends_below: u64,
    calm_since_ms: Option<i64>,
}

/// What is usual, what goes on now, and which alarms are raised.
#[derive(Clone, Debug, Default)]
pub struct Alarms {
    /// The past was learned; before that everything would look unusual.
    knows: bool,
    usual: HashMap<AlarmKey, Usual>,
    /// Minutes that are not over yet, or only just.
    now: HashMap<AlarmKey, BTreeMap<i64, u64>>,
    raised: BTreeMap<AlarmKey, Raised>,
}

impl Alarms {
    /// What came since the last step; says which alarms are new: none before the past is known. Refused calls do not
    /// count: they were stopped.
    pub fn step(&mut self, now_ms: i64, rows: &[Tallied]) -> Vec<Alarm> {
        for row in rows.iter().filter(|row| !row.refused && row.minute_ms > now_ms - 5 * MINUTE_MS) {
            let key = key(row);
            if self.now.len() < MOST || self.now.contains_key(&key) {
                *self.now.entry(key).or_default().entry(row.minute_ms).or_default() += row.calls;
            }
        }
        let mut new = Vec::new();
        let keys: Vec<AlarmKey> = self.now.keys().cloned().collect();
        for key in keys {
            let rate = self.rate(&key, now_ms);
            self.calm(&key, rate, now_ms);
            let usual = self.usual.get(&key);
            let unusual = usual.map_or(FLOOR_NEW, Usual::unusual);
            if self.knows && rate >= unusual && !self.raised.contains_key(&key) {
                let alarm = alarm(&key, rate, usual.map_or(0, Usual::ordinary), now_ms);
                let raised = Raised { alarm: alarm.clone(), ends_below: unusual / 2, calm_since_ms: None };
                self.raised.insert(key.clone(), raised);
                new.push(alarm);
            }
            self.settle(&key, now_ms);
        }
        new.sort_by_key(|alarm| std::cmp::Reverse(alarm.per_minute));
        new
    }

    /// Those that are raised now.
    pub fn raised(&self) -> Vec<Alarm> {
        self.raised.values().map(|raised| raised.alarm.clone()).collect()
    }

    /// Takes up what was learned about the past instead of what was known.
    pub fn know(&mut self, learned: Learned) {
        self.usual = learned.usual();
        self.knows = true;
    }

    /// Calls in the last sixty seconds, taking those of the minute before to be spread over it.
    fn rate(&self, key: &AlarmKey, now_ms: i64) -> u64 {
        let Some(minutes) = self.now.get(key) else { return 0 };
        let this = now_ms.div_euclid(MINUTE_MS) * MINUTE_MS;
        let calls = |minute: i64| minutes.get(&minute).copied().unwrap_or_default();
        let left = (MINUTE_MS - (now_ms - this)).max(0).unsigned_abs();
        calls(this) + calls(this - MINUTE_MS) * left / MINUTE_MS.unsigned_abs()
    }

    fn calm(&mut self, key: &AlarmKey, rate: u64, now_ms: i64) {
        let Some(raised) = self.raised.get_mut(key) else { return };
        if rate >= raised.ends_below {
            raised.calm_since_ms = None;
            raised.alarm.per_minute = raised.alarm.per_minute.max(u32::try_from(rate).unwrap_or(u32::MAX));
        } else if now_ms - *raised.calm_since_ms.get_or_insert(now_ms) >= CALM_MS {
            self.raised.remove(key);
        }
    }

    /// Minutes that are over become part of what is usual; not those of an alarm, or it would excuse the next one.
    fn settle(&mut self, key: &AlarmKey, now_ms: i64) {
        let Some(minutes) = self.now.get_mut(key) else { return };
        let over: Vec<i64> = minutes.range(..now_ms - 2 * MINUTE_MS).map(|(minute, _)| *minute).collect();
        for minute in over {
            let calls = minutes.remove(&minute).unwrap_or_default();
            let room = self.usual.len() < MOST || self.usual.contains_key(key);
            if room && !self.raised.contains_key(key) {
                self.usual.entry(key.clone()).or_default().add(calls);
            }
        }
        if minutes.is_empty() && !self.raised.contains_key(key) {
            self.now.remove(key);
        }
    }
}

/// The past, learned bit by bit.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    minutes: HashMap<AlarmKey, BTreeMap<i64, u64>>,
}

impl Learned {
    /// In any order, a minute in as many parts as it comes.
    pub fn add(&mut self, rows: &[Tallied]) {
        for row in rows.iter().filter(|row| !row.refused) {
            let key = key(row);
            if self.minutes.len() < MOST || self.minutes.contains_key(&key) {
                *self.minutes.entry(key).or_default().entry(row.minute_ms).or_default() += row.calls;
            }
        }
    }

    fn usual(self) -> HashMap<AlarmKey, Usual> {
        let of = |minutes: BTreeMap<i64, u64>| {
            let mut usual = Usual::default();
            minutes.into_values().for_each(|calls| usual.add(calls));
            usual
        };
        self.minutes.into_iter().map(|(key, minutes)| (key, of(minutes))).collect()
    }
}

fn key(row: &Tallied) -> AlarmKey {
    AlarmKey { server: row.server.clone(), client: row.client.clone(), tool: row.tool.clone() }
}

fn alarm(key: &AlarmKey, rate: u64, usual: u64, now_ms: i64) -> Alarm {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let tool = known(&key.tool);
    let what = tool.as_deref().unwrap_or("messages");
    let before = match usual {
        0 => "never seen before".to_owned(),
        usual => format!("usually up to {usual}"),
    };
    let words = format!(
        "{} on {}: {rate} calls a minute, {before}",
        clip(&harmless(what), 32),
        clip(&harmless(&key.server), 24)
    );
    Alarm {
        server: key.server.clone(),
        client: known(&key.client),
        tool,
        per_minute: u32::try_from(rate).unwrap_or(u32::MAX),
        usual_per_minute: u32::try_from(usual).unwrap_or(u32::MAX),
        since_ms: now_ms,
        words,
    }
}

#[cfg(test)]
#[path = "alarms_tests.rs"]
mod tests;
