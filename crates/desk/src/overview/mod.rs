//! How things stand: the tray's icon, what needs a person, today's numbers.
//!
//! Made to be asked every second. What cannot be read becomes something that needs a person; this never fails because
//! of it.

mod headline;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::PoisonError;

use callgate_controls::allowance::{self, Allowance, AllowanceScope, Allowances};
use callgate_controls::pause::Switch;
use callgate_history::History;
use callgate_home::clock::Moment;
use callgate_journal::catch_up;
use callgate_text::{count, day_start, number};

use crate::acts::NEW_CAP;
use crate::allowing;
use crate::findings::{Finding, Sessions};
use crate::overview_cache::OverviewCache;
use crate::recent::recent;
use crate::view::{AllowanceView, Done, IconState, Overview, Restriction, Target};
use crate::{Desk, DeskError};

/// A refusal is *lately* for so long.
const LATELY_MS: i64 = 10 * 60 * 1000;
/// Calls that the tray shows.
const RECENT: usize = 5;
/// What dead sessions left is filed this often, should no other session do it.
const CATCH_UP_MS: i64 = 60 * 1000;

impl Desk {
    /// How things stand at this moment.
    pub fn overview(&self) -> Result<Overview, DeskError> {
        let now = self.clock.now();
        if let Err(error) = callgate_controls::prepare_home(&self.home) {
            let needs = vec![self.unusable_home(&error).need()];
            let headline = headline::headline(IconState::NeedsYou, &needs, false, 0, &[]);
            return Ok(Overview { needs, headline, ..nothing() });
        }
        let mut sessions = self.sessions_now();
        let mut findings = self.quick_findings(&mut sessions);
        findings.extend(self.client_findings(&self.wiring.last_report()));
        let numbers = self.counted(&now).unwrap_or_else(|error| {
            findings.push(self.unusable_history(&error));
            Counted::default()
        });
        // Worst first; of equals the order in which they were found.
        findings.sort_by_key(|finding| Reverse(finding.gravity));
        let needs: Vec<_> = findings.iter().map(Finding::need).collect();
        let Sessions { leases, guards, switch } = sessions;
        let (paused_all, paused_servers) = match switch {
            Switch::Broken(_) => (true, Vec::new()),
            Switch::Readable(pauses) => (pauses.all.is_some(), pauses.servers.into_keys().collect()),
        };
        let servers: BTreeSet<&str> = leases.iter().map(|lease| lease.server.as_str()).collect();
        let servers_running = u32::try_from(servers.len()).unwrap_or(u32::MAX);
        let unprotected = self.wiring.unprotected();
        let lately = numbers.last_refused_ms.is_some_and(|at| now.wall_ms - at < LATELY_MS);
        let icon = headline::icon(&needs, unprotected, &numbers.alarms, lately);
        Ok(Overview {
            icon,
            headline: headline::headline(icon, &needs, paused_all, unprotected, &numbers.alarms),
            unprotected,
            needs,
            status: status(servers_running, numbers.calls, numbers.refused),
            servers_running,
            sessions_running: u32::try_from(leases.len()).unwrap_or(u32::MAX),
            calls_today: numbers.calls,
            refused_today: numbers.refused,
            paused_all,
            paused_servers,
            allowances: self.open_allowances(&guards.allowances, &now),
            recent: numbers.recent,
            alarms: numbers.alarms,
            first_run: numbers.first_run,
            demo_running: leases.iter().any(|lease| lease.demo),
            ask_login: !self.asked_about_login(),
        })
    }

    /// Caps at once at what this person's own use advises; for the tray, where nothing can be chosen.
    pub fn cap_as_advised(&self, target: &Target) -> Result<Done, DeskError> {
        let advice = self.cap_advice(target)?;
        let choice = advice.choices.into_iter().find(|choice| choice.advised);
        let (max, window) = choice.map_or((NEW_CAP, "minute".to_owned()), |one| (one.max, one.window));
        self.restrict(&Restriction::Cap { target: target.clone(), max, window })
    }

    /// What only the history knows.
    fn counted(&self, now: &Moment) -> Result<Counted, DeskError> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let cache: &mut OverviewCache = &mut cache;
        if cache.caught_up_ms.is_none_or(|at| (now.wall_ms - at).abs() >= CATCH_UP_MS) {
            cache.caught_up_ms = Some(now.wall_ms);
            // What fails is tried again; the history is shown as it is.
            let _later = catch_up(&self.home, self.clock.as_ref());
        }
        let history = History::open_reader(&self.home)?;
        cache.step(&history, now.wall_ms, day_start(now.wall_ms))?;
        let latest = history.latest_rev()?;
        let mut recent = match &cache.recent {
            Some((rev, lines)) if *rev == latest => lines.clone(),
            _ => recent(&history, RECENT)?,
        };
        self.badges.look().put(&mut recent);
        cache.recent = Some((latest, recent.clone()));
        let (calls, refused) = cache.tally.today();
        Ok(Counted {
            calls,
            refused,
            last_refused_ms: cache.tally.last_refused_ms,
            recent,
            alarms: cache.alarms.raised(),
            first_run: latest == 0,
        })
    }

    /// What is let through for a while, the first to end first.
    fn open_allowances(&self, allowances: &Allowances, now: &Moment) -> Vec<AllowanceView> {
        let mut open: Vec<&Allowance> = allowances.all.iter().filter(|one| one.is_open(now)).collect();
        open.sort_by_key(|one| one.ends_ms);
        let unspent = |one: &&Allowance| !allowance::is_spent(&self.home, now, one).unwrap_or(false);
        open.into_iter().filter(unspent).map(view).collect()
    }
}

#[derive(Debug, Default)]
struct Counted {
    calls: u64,
    refused: u64,
    last_refused_ms: Option<i64>,
    recent: Vec<crate::view::CallLine>,
    alarms: Vec<crate::view::Alarm>,
    first_run: bool,
}

fn view(one: &Allowance) -> AllowanceView {
    let tool = match &one.what {
        AllowanceScope::Tool(tool) | AllowanceScope::Call { tool, .. } => Some(tool.clone()),
        AllowanceScope::Observe => None,
    };
    let (id, server, words) = (one.id.clone(), one.server.clone(), allowing::described(one));
    AllowanceView { id, server, tool, client: one.client.clone(), words, ends_ms: one.ends_ms }
}

/// `3 servers, 2,140 calls today, 2 refused`.
fn status(servers: u32, calls: u64, refused: u64) -> String {
    let running = match servers {
        0 => "no servers running".to_owned(),
        servers => count(u64::from(servers), "server"),
    };
    match (servers, calls) {
        (0, 0) => running,
        (_, 0) => format!("{running}, no calls today"),
        (_, calls) => format!("{running}, {} today, {} refused", count(calls, "call"), number(refused)),
    }
}

/// When not even the home can be used.
fn nothing() -> Overview {
    Overview {
        // Every call is refused by a gate that cannot write.
        icon: IconState::NeedsYou,
        needs: Vec::new(),
        status: status(0, 0, 0),
        headline: String::new(),
        unprotected: 0,
        servers_running: 0,
        sessions_running: 0,
        calls_today: 0,
        refused_today: 0,
        paused_all: false,
        paused_servers: Vec::new(),
        allowances: Vec::new(),
        recent: Vec::new(),
        alarms: Vec::new(),
        first_run: false,
        demo_running: false,
        ask_login: false,
    }
}

#[cfg(test)]
mod tests;
