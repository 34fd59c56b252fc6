//! What is worth a notification: the first block per tool and session, an unusual rate, rules loosened in their file.
//!
//! A value that is fed with what is new and says what to show. It knows no desktop.

use std::collections::{BTreeSet, HashMap};

use callgate_store::history::{EventRow, LineRow};
use callgate_store::{Decision, EventKind, Origin};

use crate::acts::cap_for;
use crate::text::{clip, count, harmless};
use crate::tray::TrayAct;
use crate::view::{Alarm, LogFilter, NotificationSettings, Place, Target};

/// Notifications of blocks within a minute; an agent must not be able to flood a desktop.
const BLOCKS_A_MINUTE: usize = 4;
const MINUTE_MS: i64 = 60_000;
/// A growing count is said this often.
const COUNT_EVERY_MS: i64 = 10_000;
/// Names are hostile: no more than this, and those of one batch, are remembered.
const MOST: usize = 10_000;

/// One notification.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub title: String,
    pub body: String,
    /// Buttons, where the desktop has them.
    pub acts: Vec<(TrayAct, String)>,
    /// Where a click leads.
    pub opens: Place,
    /// What it is about, if there may be more to say about it later.
    pub topic: Option<Topic>,
}

/// What a notification is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Topic {
    pub session: String,
    pub tool: String,
}

/// What to do on the desktop.
#[derive(Clone, Debug, PartialEq)]
pub enum Telling {
    Raise(Notice),
    /// Takes the place of what is shown about its topic, quietly; nothing if that is not shown any more.
    Amend(Notice),
}

/// What is new.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    pub now_ms: i64,
    pub calls: &'a [LineRow],
    pub events: &'a [EventRow],
    pub alarms: &'a [Alarm],
    pub settings: NotificationSettings,
}

/// What was told about a tool in a session.
#[derive(Clone, Debug, Default)]
struct Told {
    /// None: it was not shown.
    notice: Option<Notice>,
    /// Blocks after the first.
    more: u64,
    said_ms: i64,
}

/// What was told already.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    told: HashMap<Topic, Told>,
    /// Those whose count has grown since it was said.
    behind: BTreeSet<Topic>,
    /// When blocks were told within the last minute.
    lately: Vec<i64>,
    /// Up to which call and event everything was looked at.
    pub(crate) seen: Option<(i64, i64)>,
}

impl Notices {
    pub fn take(&mut self, news: &News<'_>) -> Vec<Telling> {
        let now = news.now_ms;
        self.lately.retain(|at| (at..=&now).contains(&&now) && now - at < MINUTE_MS);
        // Not among the calls of one batch: what it raises is looked up when all of them were counted.
        if self.told.len() >= MOST {
            self.told.clear();
            self.behind.clear();
        }
        let mut first = Vec::new();
        for call in news.calls.iter().filter(|call| is_block(call)) {
            let tool = call.tool.clone().or_else(|| call.method.clone()).unwrap_or_default();
            let topic = Topic { session: call.id.session.to_string(), tool };
            if let Some(told) = self.told.get_mut(&topic) {
                told.more += 1;
                if told.notice.is_some() {
                    self.behind.insert(topic);
                }
                continue;
            }
            let mut told = Told { said_ms: now, ..Told::default() };
            // Also while it is not shown, it counts as the first: nobody wants old ones later.
            if news.settings.blocked && self.lately.len() < BLOCKS_A_MINUTE {
                self.lately.push(now);
                let last = self.lately.len() == BLOCKS_A_MINUTE;
                told.notice = Some(blocked(call, &topic, last));
                first.push(topic.clone());
            }
            self.told.insert(topic, told);
        }
        let mut tellings: Vec<Telling> = first.iter().filter_map(|topic| self.raise(topic)).collect();
        tellings.extend(self.amend(news));
        if news.settings.alarms {
            tellings.extend(news.alarms.iter().map(alarmed).map(Telling::Raise));
        }
        tellings.extend(loosened(news.events).into_iter().map(Telling::Raise));
        tellings
    }

    /// With all that came together with it.
    fn raise(&mut self, topic: &Topic) -> Option<Telling> {
        self.behind.remove(topic);
        self.told.get(topic)?.counted().map(Telling::Raise)
    }

    /// Counts that have grown, each only so often: "blocked 12 more times".
    fn amend(&mut self, news: &News<'_>) -> Vec<Telling> {
        let mut tellings = Vec::new();
        self.behind.retain(|topic| {
            let Some(told) = self.told.get_mut(topic) else { return false };
            // A clock that was set back must not silence it.
            if (told.said_ms..told.said_ms + COUNT_EVERY_MS).contains(&news.now_ms) {
                return true;
            }
            told.said_ms = news.now_ms;
            let notice = told.counted().filter(|_| news.settings.blocked);
            tellings.extend(notice.map(Telling::Amend));
            false
        });
        tellings
    }
}

impl Told {
    /// What was told, and how often it happened after that.
    fn counted(&self) -> Option<Notice> {
        let mut notice = self.notice.clone()?;
        match self.more {
            0 => {}
            1 => notice.body.push_str(" (refused once more)"),
            more => notice.body.push_str(&format!(" (refused {more} more times)")),
        }
        Some(notice)
    }
}

/// Refused by rules; not by a person's own pause, and not in the demonstration.
fn is_block(call: &LineRow) -> bool {
    call.decision.is_refused() && call.decision != Decision::Paused && !call.demo
}

fn name(text: &str) -> String {
    clip(&harmless(text), 40)
}

fn blocked(call: &LineRow, topic: &Topic, last: bool) -> Notice {
    let what = name(call.tool.as_deref().or(call.method.as_deref()).unwrap_or("a message"));
    let word = match call.decision {
        Decision::Capped => "Capped",
        Decision::Denied | Decision::Hidden => "Blocked",
        _ => "Refused",
    };
    let who = call.client.as_deref().map_or("An agent".to_owned(), name);
    let reason = call.reason.as_deref().filter(|reason| !reason.is_empty());
    let reason = reason.map_or(String::new(), |reason| format!(": {}", clip(&harmless(reason), 160)));
    let mut body = format!("{who} was kept from it{reason}");
    if last {
        body.push_str(" (more may follow; the log has them all)");
    }
    Notice {
        title: format!("{word}: {what} on {}", name(&call.server)),
        body,
        acts: vec![(TrayAct::Why { call: call.id.to_string() }, "Why".to_owned())],
        opens: Place::Call { id: call.id.to_string() },
        topic: Some(topic.clone()),
    }
}

fn alarmed(alarm: &Alarm) -> Notice {
    let target =
        Target { server: alarm.server.clone(), tool: alarm.tool.clone(), client: alarm.client.clone() };
    let filter = LogFilter {
        server: Some(alarm.server.clone()),
        client: alarm.client.clone(),
        tool: alarm.tool.clone(),
        ..LogFilter::default()
    };
    Notice {
        title: format!("{} in a minute", count(u64::from(alarm.per_minute), "call")),
        body: alarm.words.clone(),
        acts: vec![
            (TrayAct::Pause { server: Some(alarm.server.clone()) }, "Pause server".to_owned()),
            (TrayAct::Cap { target, max: Some(cap_for(alarm)) }, "Cap".to_owned()),
        ],
        opens: Place::Log { filter },
        topic: None,
    }
}

/// One for each server whose rules somebody loosened in the file, however many rules that were.
fn loosened(events: &[EventRow]) -> Vec<Notice> {
    let mut found: Vec<(&str, &str, usize)> = Vec::new();
    let by_file = |event: &&EventRow| event.kind == EventKind::Loosened && event.origin == Some(Origin::File);
    for event in events.iter().filter(by_file) {
        let server = event.server.as_deref().unwrap_or_default();
        match found.iter_mut().find(|known| known.0 == server) {
            Some(known) => known.2 += 1,
            None => found.push((server, &event.text, 0)),
        }
    }
    let notice = |(server, text, more): (&str, &str, usize)| {
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        Notice {
            title: format!("The rules of {} were loosened in their file", name(server)),
            body: format!("{}{more}", clip(&harmless(text), 200)),
            acts: vec![(TrayAct::Pause { server: Some(server.to_owned()) }, "Pause server".to_owned())],
            opens: Place::Rules { server: server.to_owned() },
            topic: None,
        }
    };
    found.into_iter().map(notice).collect()
}

#[cfg(test)]
#[path = "notices_tests.rs"]
mod tests;
