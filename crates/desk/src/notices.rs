//! What is worth a notification: the first block per tool and session, an unusual rate, rules loosened in their file.
//!
//! A value that is fed with what is new and says what to show. It knows no desktop.

use std::collections::HashMap;

use callgate_store::history::{EventRow, Glance};
use callgate_store::{Decision, EventKind, Origin};

use crate::acts::cap_for;
use crate::text::{clip, count, harmless};
use crate::tray::TrayAct;
use crate::view::{Alarm, LogFilter, NotificationSettings, Place, Target};

/// Notifications of blocks within a minute; an agent must not be able to flood a desktop.
const BLOCKS_A_MINUTE: usize = 4;
const MINUTE_MS: i64 = 60_000;
/// Names are hostile: no more than this are remembered.
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
}

/// What is new.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    pub now_ms: i64,
    pub calls: &'a [Glance],
    pub events: &'a [EventRow],
    pub alarms: &'a [Alarm],
    pub settings: NotificationSettings,
}

/// What was told already.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    /// Session and tool; how often it was blocked after that was told.
    told: HashMap<(String, String), u64>,
    /// When blocks were told within the last minute.
    lately: Vec<i64>,
    /// Up to which call and event everything was looked at.
    pub(crate) seen: Option<(i64, i64)>,
}

impl Notices {
    pub fn take(&mut self, news: &News<'_>) -> Vec<Notice> {
        let mut notices = Vec::new();
        self.lately.retain(|at| (at..=&news.now_ms).contains(&&news.now_ms) && news.now_ms - at < MINUTE_MS);
        for call in news.calls.iter().filter(|call| is_block(call)) {
            let tool = call.tool.clone().or_else(|| call.method.clone()).unwrap_or_default();
            if self.told.len() >= MOST {
                self.told.clear();
            }
            match self.told.entry((call.id.session.to_string(), tool)) {
                std::collections::hash_map::Entry::Occupied(mut told) => *told.get_mut() += 1,
                std::collections::hash_map::Entry::Vacant(first) => {
                    first.insert(0);
                    // Also while it is not shown, it counts as the first: nobody wants old ones later.
                    if news.settings.blocked && self.lately.len() < BLOCKS_A_MINUTE {
                        self.lately.push(news.now_ms);
                        let last = self.lately.len() == BLOCKS_A_MINUTE;
                        notices.push(blocked(call, last));
                    }
                }
            }
        }
        if news.settings.alarms {
            notices.extend(news.alarms.iter().map(alarmed));
        }
        notices.extend(loosened(news.events));
        notices
    }

    /// How often a tool was blocked in a session after that was told: "blocked 12 more times".
    pub fn more(&self, session: &str, tool: &str) -> u64 {
        self.told.get(&(session.to_owned(), tool.to_owned())).copied().unwrap_or_default()
    }
}

/// Refused by rules; not by a person's own pause, and not in the demonstration.
fn is_block(call: &Glance) -> bool {
    call.decision.is_refused() && call.decision != Decision::Paused && !call.demo
}

fn name(text: &str) -> String {
    clip(&harmless(text), 40)
}

fn blocked(call: &Glance, last: bool) -> Notice {
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
        }
    };
    found.into_iter().map(notice).collect()
}

#[cfg(test)]
#[path = "notices_tests.rs"]
mod tests;
