//! What came since it was asked last and is worth a notification.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use callgate_history::{History, LineRow};
use callgate_text::day_start;
use callgate_wiring::GuardNews;

use crate::notices::{News, Notice, Telling};
use crate::view::{ClassBadge, Place};
use crate::{Desk, DeskError};

/// Calls looked at in one go, and how many goes: what is beyond came too fast to be told one by one.
const STEP: usize = 500;
const STEPS: usize = 20;

impl Desk {
    /// Notifications to show now. The first time there are none of calls: what was is in the log. Ask about once a second, also
    /// when nobody looks: with each question a little of the past is learned, against which alarms are raised.
    /// While the window is in front of the person, it says all of it.
    pub fn news(&self, in_front: bool) -> Result<Vec<Telling>, DeskError> {
        let mut tellings = self.news_of_calls(in_front)?;
        tellings.extend(self.approval_news(in_front)?.map(Telling::Raise));
        let guarded = self.wiring.guard_news();
        if !in_front {
            tellings.extend(guarded.into_iter().map(|GuardNews { title, body }| {
                Telling::Raise(Notice { title, body, acts: Vec::new(), opens: Place::Clients, topic: None })
            }));
        }
        Ok(tellings)
    }

    fn news_of_calls(&self, in_front: bool) -> Result<Vec<Telling>, DeskError> {
        let now_ms = self.clock.now().wall_ms;
        let settings = self.user_settings().notifications;
        let history = History::open_reader(&self.home)?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.step(&history, now_ms, day_start(now_ms))?;
        cache.learn(&history, now_ms)?;
        let latest = history.latest_rev()?;
        let Some((rev, event)) = cache.notices.seen else {
            let newest = history.events_after(i64::MAX - 1, 1)?.1;
            cache.notices.seen = Some((latest, newest));
            return Ok(Vec::new());
        };
        // Everything is read before anything counts as told: what cannot be read now is news the next time.
        let (events, _) = history.events_after(event, STEP)?;
        let mut seen = (rev, events.last().map_or(event, |last| last.id));
        let mut calls = Vec::new();
        for _ in 0..STEPS {
            let more = history.lines_after(seen.0, STEP)?;
            let Some(last) = more.last() else { break };
            seen.0 = last.rev;
            calls.extend(more);
        }
        let alarms = std::mem::take(&mut cache.untold);
        let classes = self.classes_of(&calls);
        let news = News {
            now_ms,
            calls: &calls,
            events: &events,
            alarms: &alarms,
            classes: &classes,
            settings,
            in_front,
        };
        let notices = cache.notices.take(&news);
        cache.notices.seen = Some((seen.0.max(latest), seen.1));
        Ok(notices)
    }

    /// What the tools of calls that were refused can do; of the others nothing is said.
    fn classes_of(&self, calls: &[LineRow]) -> BTreeMap<(String, String), ClassBadge> {
        let mut badges = self.badges.look();
        let refused = calls.iter().filter(|call| call.decision.is_refused());
        refused
            .filter_map(|call| {
                let tool = call.tool.clone()?;
                let badge = badges.badge(&call.server, &tool)?;
                Some(((call.server.clone(), tool), badge))
            })
            .collect()
    }
}
