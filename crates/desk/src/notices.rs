//! What is worth a notification: an incident, which is refusals and unusual rates that belong together, rules loosened
//! in their file, and approvals that nobody gave.
//!
//! An incident has one notification, however many calls, tools and clients take part: it is said anew in its place, and gone
//! when it was closed. A value that is fed with what is new and says what to show. It knows no desktop.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use callgate_history::{EventRow, LineRow};
use callgate_journal::{Decision, EventKind, Origin};
use callgate_text::{clip, count, harmless, number, span};
use callgate_wiring::client_name;

use crate::acts::cap_for;
use crate::tray::TrayAct;
use crate::view::{Alarm, CallFilter, ClassBadge, NotificationSettings, Place, Target};

/// After so long without anything, what comes is another incident.
const QUIET_MS: i64 = 60_000;
/// What grows is said this often.
const SAID_EVERY_MS: i64 = 3_000;
/// So many refusals are a loop, whatever they are of.
const LOOP: u64 = 20;
/// Names are hostile: no more than this are told apart.
const MOST: usize = 500;

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

/// The incident that a notification is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Topic(pub u64);

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
    /// What the tools of those calls can do, by server and tool.
    pub classes: &'a BTreeMap<(String, String), ClassBadge>,
    pub settings: NotificationSettings,
    /// The person has the window before them, which shows the same: nothing is told.
    pub in_front: bool,
}

/// What was told already.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    incident: Option<Incident>,
    incidents: u64,
    /// Up to which call and event everything was looked at.
    pub(crate) seen: Option<(i64, i64)>,
}

impl Notices {
    pub fn take(&mut self, news: &News<'_>) -> Vec<Telling> {
        let blocks: Vec<&LineRow> =
            news.calls.iter().filter(|call| news.settings.blocked && is_block(call)).collect();
        let alarms = if news.settings.alarms { news.alarms } else { &[] };
        let mut tellings: Vec<Telling> = Vec::new();
        if !blocks.is_empty() || !alarms.is_empty() {
            let incident = self.incident_at(news.now_ms);
            blocks.into_iter().for_each(|call| incident.refuse(call, news.classes));
            alarms.iter().for_each(|alarm| incident.alarm(alarm));
            incident.unsaid = true;
        }
        if let Some(incident) = &mut self.incident {
            tellings.extend(incident.tell(news));
        }
        if !news.in_front {
            tellings.extend(loosened(news.events).into_iter().map(Telling::Raise));
            tellings.extend(forged(news.events).into_iter().map(Telling::Raise));
        }
        tellings
    }

    /// The one that goes on at this moment, or a new one.
    fn incident_at(&mut self, now_ms: i64) -> &mut Incident {
        // A clock that was set back must not join what is far apart.
        let goes_on = |one: &Incident| (one.last_ms..one.last_ms + QUIET_MS).contains(&now_ms);
        if !self.incident.as_ref().is_some_and(goes_on) {
            self.incidents += 1;
            self.incident = None;
        }
        let topic = Topic(self.incidents);
        let incident = self.incident.get_or_insert_with(|| Incident::new(topic));
        incident.last_ms = now_ms;
        incident
    }
}

/// What belongs together.
#[derive(Clone, Debug)]
struct Incident {
    topic: Topic,
    last_ms: i64,
    refused: u64,
    /// When the first and the last of them were refused.
    refused_ms: Option<(i64, i64)>,
    /// The first, which is told in full as long as it is the only one of its kind.
    first: Option<LineRow>,
    /// What its tool can do.
    class: Option<ClassBadge>,
    alarms: Vec<Alarm>,
    /// Servers with their tools.
    tools: BTreeSet<(String, String)>,
    clients: BTreeSet<String>,
    shown: bool,
    said_ms: i64,
    /// It has grown since it was said.
    unsaid: bool,
}

impl Incident {
    fn new(topic: Topic) -> Incident {
        Incident {
            topic,
            last_ms: 0,
            refused: 0,
            refused_ms: None,
            first: None,
            class: None,
            alarms: Vec::new(),
            tools: BTreeSet::new(),
            clients: BTreeSet::new(),
            shown: false,
            said_ms: 0,
            unsaid: false,
        }
    }

    fn refuse(&mut self, call: &LineRow, classes: &BTreeMap<(String, String), ClassBadge>) {
        self.refused += 1;
        let (first, last) = self.refused_ms.unwrap_or((call.at_ms, call.at_ms));
        self.refused_ms = Some((first.min(call.at_ms), last.max(call.at_ms)));
        let tool = call.tool.as_deref().or(call.method.as_deref()).unwrap_or_default();
        self.takes_part(&call.server, tool, call.client.as_deref());
        if self.first.is_none() {
            self.class = classes.get(&(call.server.clone(), tool.to_owned())).copied();
            self.first = Some(call.clone());
        }
    }

    fn alarm(&mut self, alarm: &Alarm) {
        self.takes_part(&alarm.server, alarm.tool.as_deref().unwrap_or_default(), alarm.client.as_deref());
        if self.alarms.len() < MOST {
            self.alarms.push(alarm.clone());
        }
    }

    fn takes_part(&mut self, server: &str, tool: &str, client: Option<&str>) {
        if self.tools.len() < MOST {
            self.tools.insert((server.to_owned(), tool.to_owned()));
        }
        if self.clients.len() < MOST {
            self.clients.extend(client.map(str::to_owned));
        }
    }

    fn tell(&mut self, news: &News<'_>) -> Option<Telling> {
        let now = news.now_ms;
        // A clock that was set back must not silence it.
        let lately = self.shown && (self.said_ms..self.said_ms + SAID_EVERY_MS).contains(&now);
        if !self.unsaid || lately {
            return None;
        }
        self.unsaid = false;
        if news.in_front {
            return None;
        }
        self.said_ms = now;
        let notice = self.notice();
        Some(match std::mem::replace(&mut self.shown, true) {
            false => Telling::Raise(notice),
            true => Telling::Amend(notice),
        })
    }

    fn notice(&self) -> Notice {
        let alone = self.tools.len() <= 1 && self.clients.len() <= 1;
        let notice = match (&self.first, self.alarms.as_slice()) {
            (Some(first), []) if alone => blocked(first, self.class, self.refused),
            (None, [alarm]) => alarmed(alarm),
            _ => self.together(),
        };
        Notice { topic: Some(self.topic), ..notice }
    }

    /// Many calls as the one thing that they are.
    fn together(&self) -> Notice {
        let loops = self.refused >= LOOP || !self.alarms.is_empty();
        let who = self.who();
        let verb = match (loops, self.clients.len() > 1) {
            (true, true) => " loop",
            (true, false) => " loops",
            (false, _) => "",
        };
        let calls = match self.refused {
            0 => {
                let most = self.alarms.iter().map(|alarm| u64::from(alarm.per_minute)).sum();
                format!("{} in a minute", count(most, "call"))
            }
            refused => {
                let (first, last) = self.refused_ms.unwrap_or_default();
                let took = Duration::from_millis((last - first).max(1_000).unsigned_abs());
                format!("{} refused in {}", count(refused, "call"), span(took))
            }
        };
        let tools = count(self.tools.len() as u64, "tool");
        Notice {
            title: format!("{who}{verb}: {calls}, {tools}"),
            body: self.which(),
            acts: vec![
                (TrayAct::Pause { server: None }, "Pause all".to_owned()),
                (TrayAct::Log, "Show".to_owned()),
            ],
            opens: Place::Log { filter: CallFilter::default() },
            topic: None,
        }
    }

    /// "Claude Desktop and Claude Code".
    fn who(&self) -> String {
        let mut names = self.clients.iter().map(|client| name(&client_name(client)));
        match (names.next(), names.next(), self.clients.len()) {
            (None, ..) => "An agent".to_owned(),
            (Some(one), None, _) => one,
            (Some(one), Some(two), 2) => format!("{one} and {two}"),
            (Some(one), Some(_), all) => format!("{one} and {} others", all - 1),
        }
    }

    /// "get_ticket, create_ticket and 4 more on tickets".
    fn which(&self) -> String {
        const NAMED: usize = 3;
        let servers: BTreeSet<&str> = self.tools.iter().map(|(server, _)| server.as_str()).collect();
        let mut words: Vec<String> = self.tools.iter().take(NAMED).map(|(_, tool)| name(tool)).collect();
        let more = self.tools.len().saturating_sub(NAMED);
        let last = if more > 0 { Some(format!("{more} more")) } else { words.pop() };
        let tools = match (words.is_empty(), last) {
            (true, last) => last.unwrap_or_default(),
            (false, last) => format!("{} and {}", words.join(", "), last.unwrap_or_default()),
        };
        match (servers.len(), servers.first()) {
            (1, Some(server)) => format!("{tools} on {}", name(server)),
            (all, _) => format!("{tools} on {all} servers"),
        }
    }
}

/// Refused by rules; not by a person's own pause, and not in the demonstration.
fn is_block(call: &LineRow) -> bool {
    // What a person decides about has a notification of its own.
    call.decision.is_refused() && !matches!(call.decision, Decision::Paused | Decision::Asked) && !call.demo
}

fn name(text: &str) -> String {
    clip(&harmless(text), 40)
}

/// One tool, and one client that was kept from it so many times.
fn blocked(call: &LineRow, class: Option<ClassBadge>, times: u64) -> Notice {
    let what = name(call.tool.as_deref().or(call.method.as_deref()).unwrap_or("a message"));
    let word = match call.decision {
        Decision::Capped => "Capped",
        Decision::Denied | Decision::Hidden => "Blocked",
        _ => "Refused",
    };
    let who = call.client.as_deref().map_or("An agent".to_owned(), |client| name(&client_name(client)));
    let reason = call.reason.as_deref().filter(|reason| !reason.is_empty());
    let reason = reason.map_or(String::new(), |reason| format!(": {}", clip(&harmless(reason), 160)));
    let class = class.map_or_else(String::new, |class| format!(" ({})", class.words()));
    let more = match times {
        0 | 1 => String::new(),
        2 => " (refused once more)".to_owned(),
        times => format!(" (refused {} more times)", number(times - 1)),
    };
    Notice {
        title: format!("{word}: {what} on {}{class}", name(&call.server)),
        body: format!("{who} was kept from it{reason}{more}"),
        acts: vec![(TrayAct::Why { call: call.id.to_string() }, "Why".to_owned())],
        opens: Place::Call { id: call.id.to_string() },
        topic: None,
    }
}

fn alarmed(alarm: &Alarm) -> Notice {
    let target =
        Target { server: alarm.server.clone(), tool: alarm.tool.clone(), client: alarm.client.clone() };
    let filter = CallFilter {
        server: Some(alarm.server.clone()),
        client: alarm.client.clone(),
        tool: alarm.tool.clone(),
        ..CallFilter::default()
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

/// One for each server that calls got to by an approval which nobody gave.
fn forged(events: &[EventRow]) -> Vec<Notice> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for event in events.iter().filter(|event| event.kind == EventKind::ForgedApproval) {
        let server = event.server.as_deref().unwrap_or_default();
        if !found.iter().any(|known| known.0 == server) {
            found.push((server, &event.text));
        }
    }
    let notice = |(server, text): (&str, &str)| Notice {
        title: format!("An approval that nobody gave let a call of {} through", name(server)),
        body: clip(&harmless(text), 200),
        acts: vec![(TrayAct::Pause { server: Some(server.to_owned()) }, "Pause server".to_owned())],
        opens: Place::Approvals,
        topic: None,
    };
    found.into_iter().map(notice).collect()
}

#[cfg(test)]
#[path = "notices_tests.rs"]
mod tests;
