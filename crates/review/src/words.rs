//! Counts and periods in words.

const MINUTE_MS: i64 = 60 * 1000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;

/// `1 call`, `312 calls`
pub(crate) fn counted(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// `7 days`, `1 hour`: the largest unit of which there are at least one and a half, rounded.
pub(crate) fn period(length_ms: i64) -> String {
    let units = [(DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute"), (1000, "second")];
    let length_ms = length_ms.max(0);
    let enough = |unit: i64| length_ms >= unit.saturating_add(unit / 2) || length_ms == unit;
    let (unit, word) = units.into_iter().find(|(unit, _)| enough(*unit)).unwrap_or((1000, "second"));
    counted((length_ms.saturating_add(unit / 2) / unit).unsigned_abs(), word)
}

/// `in the last 7 days`, `of the last hour`; without a beginning `on record`.
pub(crate) fn when(preposition: &str, since_ms: i64, now_ms: i64) -> String {
    match since_ms {
        i64::MIN..=0 => "on record".to_owned(),
        since_ms => lately(preposition, now_ms.saturating_sub(since_ms)),
    }
}

/// `in the last 7 days`, `in the last hour`
pub(crate) fn lately(preposition: &str, length_ms: i64) -> String {
    let period = period(length_ms);
    format!("{preposition} the last {}", period.strip_prefix("1 ").unwrap_or(&period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_said_in_the_unit_that_fits() {
        let said = [0, 1, 60, 89, 90, 3_600, 86_400, 100_000, 7 * 86_400, 7 * 86_400 + 5]
            .map(|seconds: i64| period(seconds * 1000));
        let expected = [
            "0 seconds",
            "1 second",
            "1 minute",
            "89 seconds",
            "2 minutes",
            "1 hour",
            "1 day",
            "28 hours",
            "7 days",
            "7 days",
        ];
        assert_eq!(said, expected);
        assert_eq!(lately("in", 3_600_000), "in the last hour");
        assert_eq!(lately("of", 7 * DAY_MS), "of the last 7 days");
        assert!(period(i64::MAX).ends_with(" days"));
    }
}
