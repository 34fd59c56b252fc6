//! Moments as people type and read them: `15m`, `2026-11-16`.

use std::str::FromStr;
use std::time::Duration;

use callgate_text::local;
use jiff::civil::{Date, DateTime};
use jiff::{SpanRelativeTo, Timestamp, tz::TimeZone};

/// A moment in the past: an age (`7d`), or a date with or without a time of day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ago(pub(crate) i64);

impl FromStr for Ago {
    type Err = String;

    fn from_str(text: &str) -> Result<Ago, String> {
        // With an offset, as a piped log prints it.
        if let Ok(time) = Timestamp::from_str(text) {
            return Ok(Ago(time.as_millisecond()));
        }
        if let Some(time) = on_own_clock(text) {
            let time = time.to_zoned(TimeZone::system()).map_err(|error| error.to_string())?;
            return Ok(Ago(time.timestamp().as_millisecond()));
        }
        let age = span(text).ok_or_else(|| {
            format!(
                "\"{text}\" is neither an age such as 90s, 15m, 1h, 7d nor a date such as 2026-11-16, \
                 \"2026-11-16 23:36:45\" or 2026-11-16T23:36:45+01:00"
            )
        })?;
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        Ok(Ago(Timestamp::now().as_millisecond().saturating_sub(age)))
    }
}

/// A date, perhaps with a time of day, as the person's own clock shows it. Nothing that stands beside them is passed over:
/// an offset or a zone here is one that was not understood.
fn on_own_clock(text: &str) -> Option<DateTime> {
    let of_a_clock = |c: char| c.is_ascii_digit() || matches!(c, 'T' | 't' | ' ' | ':' | '.');
    text.chars().skip("2026-11-16".len()).all(of_a_clock).then(|| DateTime::from_str(text).ok())?
}

/// How long something lasts, from a second on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span(pub(crate) Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        match span(text) {
            Some(span) if !span.is_zero() => Ok(Span(span)),
            _ => Err(format!("\"{text}\" is no length of time such as 90s, 15m, 8h, 7d")),
        }
    }
}

fn span(text: &str) -> Option<Duration> {
    let span: jiff::Span = text.parse().ok()?;
    Duration::try_from(span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?).ok()
}

/// A moment as the person's own clock shows it, for machines that read what people do.
pub(crate) fn local_iso(wall_ms: i64) -> String {
    local(wall_ms).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// A day between rows: `today`, `yesterday`, `Mon 2 Nov 2026`.
pub(crate) fn day(date: Date, today: Date) -> String {
    match today.yesterday() {
        _ if date == today => "today".to_owned(),
        Ok(yesterday) if date == yesterday => "yesterday".to_owned(),
        _ => date.strftime("%a %-d %b %Y").to_string(),
    }
}

/// A moment for machines.
pub(crate) fn iso(wall_ms: i64) -> String {
    Timestamp::from_millisecond(wall_ms).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed parse is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn a_call_of_last_year_does_not_read_like_one_of_today() {
        let today = Date::constant(2026, 11, 17);
        let told = [(2026, 11, 17), (2026, 11, 16), (2026, 11, 2), (2025, 10, 10), (2026, 11, 18)]
            .map(|(year, month, day_of_month)| day(Date::constant(year, month, day_of_month), today));
        assert_eq!(told, ["today", "yesterday", "Mon 2 Nov 2026", "Fri 10 Oct 2025", "Wed 18 Nov 2026"]);
    }

    #[test]
    fn a_clock_time_of_a_moment_is_not_dropped() {
        let moment = |text: &str| Ago::from_str(text).map(|ago| ago.0);
        let utc = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        for text in ["2026-11-17T23:36:52+00:00", "2026-11-17T23:36:52Z", "2026-11-18T00:36:52+01:00"] {
            assert_eq!(moment(text), Ok(utc("2026-11-17T23:36:52Z")), "{text}");
        }
        let own = |hour, minute, second| {
            let time = Date::constant(2026, 11, 17).at(hour, minute, second, 0);
            Ok(time.to_zoned(TimeZone::system()).unwrap().timestamp().as_millisecond())
        };
        assert_eq!(moment("2026-11-17"), own(0, 0, 0));
        for (text, wanted) in [
            ("2026-11-17 23:36:45", own(23, 36, 45)),
            ("2026-11-17T23:36:45", own(23, 36, 45)),
            ("2026-11-17 23:36", own(23, 36, 0)),
            ("2026-11-17T23:36", own(23, 36, 0)),
        ] {
            assert_eq!(moment(text), wanted, "{text}");
        }
        for text in [
            "2026-11-17T25:00:00",
            "2026-11-17 23:36:45 CET",
            "2026-11-17T23:36:45+99:00",
            "2026-11-17T23:36:45[Europe/Berlin]",
            "2026-11-17+01:00",
            "2026-11-17T",
            "2026-11-17x",
            "23:36",
        ] {
            assert!(moment(text).unwrap_err().contains("2026-11-16 23:36:45"), "{text}");
        }
    }

    #[test]
    fn ages_and_dates_are_understood_and_nonsense_is_explained() {
        let now = Timestamp::now().as_millisecond();
        let hour_ago = Ago::from_str("1h").unwrap().0;
        assert!((now - hour_ago - 3_600_000).abs() < 5_000);
        assert!(Ago::from_str("2026-11-16").is_ok());
        assert!(Ago::from_str("2026-11-16T05:00:00Z").is_ok());
        assert!(Ago::from_str("soon").unwrap_err().contains("15m"));
        for (typed, seconds) in [("90s", 90), ("15m", 900), ("1h30m", 5_400), ("2w", 1_209_600)] {
            assert_eq!(Span::from_str(typed).map(|span| span.0.as_secs()), Ok(seconds), "{typed}");
        }
        for typed in ["-5m", "5m ago", "1 month", "15", "0s", "", "m"] {
            assert!(Span::from_str(typed).is_err(), "{typed}");
        }
        assert!(Ago::from_str("5é").is_err());
    }
}
