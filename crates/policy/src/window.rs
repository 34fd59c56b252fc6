//! The span of time that a limit looks back over, and the short form `10/minute`.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

/// The longest window: a limit is about runaway calls, not about years, and counters must be kept that long.
const LONGEST: u64 = 366 * DAY;
const DAY: u64 = 24 * 60 * 60;

/// Words that name a window, with their seconds.
const WORDS: [(&str, u64); 5] =
    [("second", 1), ("minute", 60), ("hour", 60 * 60), ("day", DAY), ("week", 7 * DAY)];
/// Unit letters after a number, longest unit first (the order in which a window is printed).
const UNITS: [(&str, u64); 5] = [("w", 7 * DAY), ("d", DAY), ("h", 60 * 60), ("m", 60), ("s", 1)];

/// A sliding window: at least a second, at most a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window(Duration);

/// Why a text or a number is no window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    #[error("a window is second, minute, hour, day or week, or a number with a unit such as 90s, 15m or 2h")]
    Form,
    #[error("a window is at least 1 second")]
    Empty,
    #[error("a window is at most 366 days")]
    TooLong,
}

impl Window {
    pub const SECOND: Window = Window(Duration::from_secs(1));
    pub const MINUTE: Window = Window(Duration::from_secs(60));
    pub const HOUR: Window = Window(Duration::from_secs(60 * 60));
    pub const DAY: Window = Window(Duration::from_secs(DAY));

    pub fn from_seconds(seconds: u64) -> Result<Window, WindowError> {
        match seconds {
            0 => Err(WindowError::Empty),
            1..=LONGEST => Ok(Window(Duration::from_secs(seconds))),
            _ => Err(WindowError::TooLong),
        }
    }

    pub fn duration(self) -> Duration {
        self.0
    }

    /// What a text that is no window was probably to say, where it has a number: `5 minutes`, `30 sec`. For proposals only.
    pub(crate) fn meant(text: &str) -> Option<Window> {
        let text = text.trim().to_ascii_lowercase();
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let number: u64 = text[..text.len() - rest.len()].parse().ok()?;
        let unit = rest.trim();
        let is_meant = |word: &str| match unit.trim_end_matches('s') {
            "" => unit == "s" && word == "second",
            "hr" => word == "hour",
            unit => word.starts_with(unit),
        };
        let (_, seconds) = WORDS.iter().find(|(word, _)| is_meant(word))?;
        Window::from_seconds(number.checked_mul(*seconds)?).ok()
    }
}

impl FromStr for Window {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        if let Some((_, seconds)) = WORDS.iter().find(|(word, _)| *word == text) {
            return Window::from_seconds(*seconds);
        }
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let (_, unit) = UNITS.iter().find(|(letter, _)| *letter == unit).ok_or(WindowError::Form)?;
        if number.is_empty() {
            return Err(WindowError::Form);
        }
        let number: u64 = number.parse().map_err(|_| WindowError::TooLong)?;
        Window::from_seconds(number.checked_mul(*unit).ok_or(WindowError::TooLong)?)
    }
}

/// The word where there is one, else the shortest number with a unit: `minute`, `90s`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        if let Some((word, _)) = WORDS.iter().find(|(_, s)| *s == seconds) {
            return f.write_str(word);
        }
        for (letter, unit) in UNITS {
            if seconds.is_multiple_of(unit) {
                return write!(f, "{}{letter}", seconds / unit);
            }
        }
        write!(f, "{seconds}s")
    }
}

/// How long there is to wait, as people say it: `41 s`, `5 min`, `2 h 5 min`, `24 h`, `3 days`. Rounded up, so that nobody comes
/// too early, and never "0 s".
pub fn wait_words(wait: Duration) -> String {
    let seconds = wait.as_millis().div_ceil(1000).max(1);
    let minutes = seconds.div_ceil(60);
    match (seconds, minutes) {
        (..=120, _) => format!("{seconds} s"),
        (_, ..120) => format!("{minutes} min"),
        (_, ..2_880) if minutes.is_multiple_of(60) => format!("{} h", minutes / 60),
        (_, ..1_440) => format!("{} h {} min", minutes / 60, minutes % 60),
        (_, ..2_880) => format!("{} h", minutes.div_ceil(60)),
        _ => format!("{} days", minutes.div_ceil(1_440)),
    }
}

/// So many calls a window: `10/minute`, `5/90s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub max: NonZeroU32,
    pub window: Window,
}

/// Why a text is no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    #[error("a rate is a number, a slash and a window, such as 10/minute or 5/90s")]
    Form,
    #[error("a cap of 0 would be a block; the smallest cap is 1")]
    Zero,
    #[error(transparent)]
    Window(#[from] WindowError),
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let (max, window) = text.split_once('/').ok_or(RateError::Form)?;
        if max.is_empty() || !max.bytes().all(|b| b.is_ascii_digit()) {
            return Err(RateError::Form);
        }
        let max: u32 = max.parse().map_err(|_| RateError::Form)?;
        Ok(Rate { max: NonZeroU32::new(max).ok_or(RateError::Zero)?, window: window.parse()? })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.max, self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_said_as_people_say_it_and_never_too_short() {
        for (millis, words) in [
            (0, "1 s"),
            (1, "1 s"),
            (59_001, "60 s"),
            (120_000, "120 s"),
            (120_001, "3 min"),
            (7_140_000, "119 min"),
            (7_140_001, "2 h"),
            (7_500_000, "2 h 5 min"),
            (86_400_000, "24 h"),
            (86_399_000, "24 h"),
            (90_000_001, "26 h"),
            (172_800_000, "2 days"),
            (172_800_001, "3 days"),
        ] {
            assert_eq!(wait_words(Duration::from_millis(millis)), words, "{millis}");
        }
        assert!(wait_words(Duration::MAX).ends_with(" days"));
    }

    #[test]
    fn a_time_in_words_is_understood_for_a_proposal() {
        for (text, meant) in [
            ("5 minutes", Some("5m")),
            ("30 sec", Some("30s")),
            ("90 S", Some("90s")),
            ("2hrs", Some("2h")),
            ("1 day", Some("day")),
            ("3 weeks", Some("3w")),
            ("minutes", None),
            ("5", None),
            ("5 minutes or so", None),
            ("99999999999999999999 days", None),
        ] {
            assert_eq!(Window::meant(text).map(|window| window.to_string()).as_deref(), meant, "{text}");
        }
    }
}
