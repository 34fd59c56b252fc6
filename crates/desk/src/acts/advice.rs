//! Where a rule is in force, and which caps would suit.

use std::sync::PoisonError;
use std::time::Duration;

use callgate_history::PeakOf;
use callgate_home::{DEFAULT_SERVER, Lease, running};
use callgate_policy::Window;

use super::words;
use crate::view::{Alarm, CapAdvice, CapChoice, Enforcement, Target};
use crate::{Desk, DeskError};

const MONTH_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// How long a menu may wait for the peak.
const PATIENCE: Duration = Duration::from_millis(150);

/// Those that fit most tools, whatever the history says.
const FIXED: [(u32, Window); 3] = [(5, Window::MINUTE), (20, Window::HOUR), (100, Window::DAY)];

/// Leading digits that people choose by themselves.
const FRIENDLY: [u32; 9] = [10, 12, 15, 20, 25, 30, 40, 50, 80];

/// Calls a minute for what was never used before: slow enough for a person to follow.
pub(crate) const NEW_CAP: u32 = 20;
/// An alarm's cap leaves room for ordinary work.
const LEAST_CAP: u32 = 5;

impl Desk {
    /// In how many running sessions of the server this version of its policy is in force.
    pub fn enforcement(&self, server: &str, version: &str) -> Result<Enforcement, DeskError> {
        let mut enforcement = Enforcement { in_force: 0, sessions: 0 };
        let is_its = |lease: &&Lease| match server {
            DEFAULT_SERVER => !self.home.policy(&lease.server).exists(),
            server => lease.server == server,
        };
        for lease in running(&self.home).iter().filter(is_its) {
            enforcement.sessions += 1;
            enforcement.in_force += u32::from(lease.policy_version.as_deref() == Some(version));
        }
        Ok(enforcement)
    }

    /// Caps to choose from, by what this person's own use has come to.
    pub fn cap_advice(&self, target: &Target) -> Result<CapAdvice, DeskError> {
        let of = PeakOf {
            server: &target.server,
            tool: target.tool.as_deref(),
            client: target.client.as_deref(),
            since_ms: self.clock.now().wall_ms - MONTH_MS,
        };
        let peak = self.history_now()?.peak_per_minute(&of, PATIENCE)?;
        let mut choices: Vec<CapChoice> =
            FIXED.into_iter().map(|(max, window)| choice(max, window, false)).collect();
        let alarm = self.alarm_of(target);
        let advised = match &alarm {
            // The busiest minute is the one that has to be stopped.
            Some(alarm) => Some(cap_for(alarm)),
            None => (peak > 0).then(|| friendly(u64::from(peak))),
        };
        if let Some(advised) = advised {
            choices.retain(|fixed| (fixed.max, fixed.window.as_str()) != (advised, "minute"));
            choices.insert(0, choice(advised, Window::MINUTE, true));
        }
        // One for this client, else the one that everyone has.
        let everyone = Target { client: None, ..target.clone() };
        let own = self.present_cap(target)?;
        let present = own.map_or_else(|| self.present_cap(&everyone), |rate| Ok(Some(rate)))?;
        let words = match (peak, alarm.map(|alarm| alarm.usual_per_minute)) {
            (peak, Some(0)) => format!("your peak is {peak}/min, just now; never used before"),
            (peak, Some(usual)) => format!("your peak is {peak}/min, just now; usually up to {usual}"),
            (0, None) => "no use on record in the last 30 days".to_owned(),
            (peak, None) => format!("your peak is {peak}/min"),
        };
        Ok(CapAdvice { peak_per_minute: peak, words, choices, present: present.map(words::rate) })
    }

    /// The alarm that is raised about this now; of several clients' the one with the most use.
    fn alarm_of(&self, target: &Target) -> Option<Alarm> {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let about = |alarm: &Alarm| {
            alarm.server == target.server
                && alarm.tool == target.tool
                && (target.client.is_none() || alarm.client == target.client)
        };
        standing.alarms.raised().into_iter().filter(about).max_by_key(|alarm| alarm.usual_per_minute)
    }
}

/// Calls a minute that end an alarm: a little above what is usual, far below what raised it.
pub(crate) fn cap_for(alarm: &Alarm) -> u32 {
    match alarm.usual_per_minute {
        0 => NEW_CAP,
        usual => friendly(u64::from(usual)).max(LEAST_CAP),
    }
}

fn choice(max: u32, window: Window, advised: bool) -> CapChoice {
    let short = match window {
        Window::MINUTE => "min",
        Window::HOUR => "h",
        _ => "day",
    };
    CapChoice { max, window: window.to_string(), words: format!("{max}/{short}"), advised }
}

/// About a third above the peak, as a number that people like.
fn friendly(peak: u64) -> u32 {
    let wanted = (peak * 13).div_ceil(10);
    // Small ones are all friendly.
    if wanted <= 6 {
        return u32::try_from(wanted).unwrap_or(u32::MAX);
    }
    let mut unit = 1u64;
    loop {
        // 10 in these units is 1.0, 1.2 … of the next power of ten.
        let found = FRIENDLY.iter().map(|first| u64::from(*first) * unit).find(|n| *n >= wanted);
        if let Some(found) = found {
            return u32::try_from(found).unwrap_or(u32::MAX);
        }
        unit *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advised_cap_is_a_friendly_number_above_the_peak() {
        let advised = [1, 2, 4, 5, 8, 22, 45, 60, 100, 700, 5_000].map(friendly);
        assert_eq!(advised, [2, 3, 6, 10, 12, 30, 80, 80, 150, 1_000, 8_000]);
        for peak in 1..3_000u64 {
            let advised = u64::from(friendly(peak));
            assert!(advised * 10 >= peak * 13 && advised <= peak * 3, "{peak} → {advised}");
        }
        assert_eq!(friendly(u64::from(u32::MAX)), u32::MAX);
    }
}
