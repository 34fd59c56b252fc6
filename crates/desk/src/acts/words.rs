//! What was done or is asked, in words: always with whom it is for and how long.

use callgate_policy::Rate;
use callgate_policy::edit::When;
use callgate_text::{clip, count, harmless, is_pattern, name};
use callgate_wiring::client_name;

use crate::DeskError;
use crate::view::{ArgumentRule, Target};

/// The longest part of a sentence that others had a hand in.
const SENTENCE: usize = 200;

/// Text that others had a hand in, as a part of a sentence.
pub(super) fn sentence(text: &str) -> String {
    clip(&harmless(text), SENTENCE)
}

/// "delete_file on files", "every tool of files that fits write_*", "every tool of files".
pub(super) fn what(target: &Target) -> String {
    match &target.tool {
        Some(tool) if is_pattern(tool) => {
            format!("every tool of {} that fits {}", name(&target.server), name(tool))
        }
        Some(tool) => format!("{} on {}", name(tool), name(&target.server)),
        None => format!("every tool of {}", name(&target.server)),
    }
}

/// The same of a pattern that other rules take tools away from.
pub(super) fn rest(target: &Target) -> String {
    let pattern = target.tool.as_deref().map(name).unwrap_or_default();
    format!("tools of {} that fit {pattern}, but not all of them", name(&target.server))
}

/// Whose calls are counted by a cap: each client has a count of its own.
pub(super) fn each(target: &Target) -> String {
    target.client.as_deref().map_or_else(|| "each client".to_owned(), client_name)
}

/// "Claude Desktop", "every client".
pub(super) fn whom(target: &Target) -> String {
    client(target.client.as_deref())
}

/// The same of a client alone.
pub(super) fn client(client: Option<&str>) -> String {
    client.map_or_else(|| "every client".to_owned(), client_name)
}

/// "10 per minute".
pub(super) fn rate(rate: Rate) -> String {
    let window = rate.window.to_string();
    format!("{} per {}", rate.max, window.strip_prefix('1').unwrap_or(&window))
}

/// "when args.url starts with \"file:\"".
pub(super) fn condition(rule: &ArgumentRule) -> String {
    let words = match rule {
        ArgumentRule::StartsWith { path, prefix } => format!("when {path} starts with \"{prefix}\""),
        ArgumentRule::Equals { path, value } => format!("when {path} is {value}"),
        ArgumentRule::OnlyInside { path, folder } => format!("unless {path} is inside \"{folder}\""),
    };
    sentence(&words)
}

/// The same for the policy language.
pub(super) fn when(rule: &ArgumentRule) -> When {
    match rule.clone() {
        ArgumentRule::StartsWith { path, prefix } => When::StartsWith { path, prefix },
        ArgumentRule::Equals { path, value } => When::Equals { path, value },
        ArgumentRule::OnlyInside { path, folder } => When::NotInside { path, folder },
    }
}

/// "90 seconds", "15 minutes", "2 hours".
pub(super) fn seconds(seconds: u32) -> String {
    const UNITS: [(u32, &str); 3] = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let unit = UNITS.into_iter().find(|(unit, _)| seconds >= *unit && seconds.is_multiple_of(*unit));
    let (unit, word) = unit.unwrap_or((1, "second"));
    count(u64::from(seconds / unit), word)
}

/// A moment as policies write it, to the second.
pub(super) fn moment(wall_ms: i64) -> Result<String, DeskError> {
    let at = jiff::Timestamp::from_second(wall_ms.div_euclid(1_000))
        .map_err(|error| DeskError::BadInput(format!("no such time: {error}")))?;
    Ok(at.to_string())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_harmless_and_short_in_every_sentence() {
        let hostile = "a\u{202e}b\n\u{1b}[2J".repeat(100);
        let target =
            Target { server: hostile.clone(), tool: Some(hostile.clone()), client: Some(hostile.clone()) };
        let rule = ArgumentRule::StartsWith { path: hostile.clone(), prefix: hostile };
        let all =
            [what(&target), what(&Target { tool: None, ..target.clone() }), whom(&target), condition(&rule)];
        for words in all {
            let short = words.chars().count() <= SENTENCE;
            assert!(short && !words.chars().any(callgate_text::is_hidden), "{words:?}");
        }
    }

    #[test]
    fn spans_and_rates_read_like_speech() {
        let spoken = [1, 45, 60, 90, 900, 5_400, 7_200, 86_400, 604_800].map(seconds);
        let read = [
            "1 second",
            "45 seconds",
            "1 minute",
            "90 seconds",
            "15 minutes",
            "90 minutes",
            "2 hours",
            "1 day",
            "7 days",
        ];
        assert_eq!(spoken, read.map(str::to_owned));
        for (written, read) in
            [("10/minute", "10 per minute"), ("3/90s", "3 per 90s"), ("1/day", "1 per day")]
        {
            assert_eq!(rate(written.parse().unwrap()), read);
        }
    }
}
