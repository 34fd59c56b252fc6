//! Moments as a policy writes them (RFC 3339), as milliseconds since 1970, and back.
//!
//! No clock and no time zones by name: a written moment carries its own offset.

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// `2026-03-01T18:00:00Z`, `2026-03-01 19:00:00.5+01:00`; `None` for what is no moment of any calendar.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let at = |i: usize, wanted: &[u8]| text.as_bytes().get(i).is_some_and(|b| wanted.contains(b));
    if !(at(4, b"-") && at(7, b"-") && at(10, b"Tt ") && at(13, b":") && at(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // A leap second is the first moment of the next minute.
    if !(1..=12).contains(&month)
        || !(1..=days_in(year, month)).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let (millis, zone) = fraction(text.get(19..)?)?;
    let of_day = ((hour * 60 + minute) * 60 + second) * 1000 + millis;
    Some(days_since_1970(year, month, day) * DAY_MS + of_day - offset(zone)? * 60_000)
}

/// Milliseconds, and what follows the fraction. Finer parts are cut off.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some((0, text)) };
    let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &rest[..rest.len() - zone.len()];
    if digits.is_empty() {
        return None;
    }
    let millis = digits.bytes().chain(std::iter::repeat(b'0')).take(3);
    Some((millis.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')), zone))
}

/// Minutes east of Greenwich.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes() {
        b"Z" | b"z" => return Some(0),
        [b'+', _, _, b':', _, _] => 1,
        [b'-', _, _, b':', _, _] => -1,
        _ => return None,
    };
    let number = |from: usize, max: i64| -> Option<i64> {
        let digits = zone.get(from..from + 2)?;
        let all = digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|n| all && *n <= max)
    };
    Some(sign * (number(1, 23)? * 60 + number(4, 59)?))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Counted in years that start in March: then the leap day is the last of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

/// `2026-03-01T18:00:00Z`, for sentences.
pub(crate) fn shown(ms: i64) -> String {
    let days = ms.div_euclid(DAY_MS);
    let seconds = ms.rem_euclid(DAY_MS) / 1000;
    // The year is at most one off when guessed from its mean length.
    let mut year = 1970 + days * 400 / 146_097;
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    while days_since_1970(year, 1, 1) > days {
        year -= 1;
    }
    let mut left = days - days_since_1970(year, 1, 1);
    let mut month = 1;
    while left >= days_in(year, month) {
        left -= days_in(year, month);
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", left + 1)
}

#[cfg(test)]
mod tests {
    use super::{parse, shown};

    #[test]
    fn moments_are_read_to_the_millisecond() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.001Z", 1),
            ("1970-01-01T00:00:00.0019z", 1),
            ("1970-01-01t01:00:00+01:00", 0),
            ("1969-12-31 23:59:59-00:00", -1000),
            ("2000-02-29T12:00:00Z", 951_825_600_000),
            ("2026-03-01T18:00:00Z", 1_772_388_000_000),
            ("2026-03-01T23:30:00.5+05:30", 1_772_388_000_500),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ] {
            assert_eq!(parse(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn what_no_calendar_knows_is_no_moment() {
        for text in [
            "",
            "tomorrow",
            "2026-03-01",
            "2026-03-01T18:00:00",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-03-01T24:00:00Z",
            "2026-03-01T18:60:00Z",
            "2026-03-01T18:00:61Z",
            "2026-03-01T18:00:00.Z",
            "2026-03-01T18:00:00+1:00",
            "2026-03-01T18:00:00+24:00",
            "2026-03-01T18:00:00Z ",
            "+026-03-01T18:00:00Z",
            "2026-03-01T18:00:00é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_moment_is_shown_as_it_is_read() {
        for text in [
            "0000-01-01T00:00:00Z",
            "1900-03-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2000-12-31T00:00:00Z",
            "2024-02-29T23:59:59Z",
            "2026-03-01T18:00:00Z",
            "9999-12-31T23:59:59Z",
        ] {
            assert_eq!(parse(text).map(shown).as_deref(), Some(text));
        }
    }
}
