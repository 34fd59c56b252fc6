//! Text for people: names of others made harmless, counts, lengths of time, sizes, digests.

#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::time::Duration;

use jiff::{Timestamp, Zoned, tz::TimeZone};

/// Text from a server or an agent, safe to show: nothing that breaks the line, turns the writing direction or hides.
/// Each such character is shown as its number.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_hidden(c) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// Control, format, bidi, tag, variation and other characters that do not show.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// At most `width` characters, with a mark where something was left out.
pub fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// The longest name inside a sentence.
const NAME: usize = 64;

/// A name that a server, a client or an agent chose, for a sentence.
pub fn name(text: &str) -> String {
    clip(&harmless(text), NAME)
}

/// Does it stand for several tools: `write_*`?
pub fn is_pattern(tool: &str) -> bool {
    tool.contains(['*', '?'])
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./@:+,=".contains(c);
    let shown = harmless(word);
    if !shown.is_empty() && shown.chars().all(plain) {
        shown
    } else {
        format!("'{}'", shown.replace('\'', "'\\''"))
    }
}

/// Bytes as digits, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a call asked for: a tool by its name, anything else with its method.
pub fn subject(method: Option<&str>, tool: Option<&str>) -> String {
    match (method, tool) {
        (Some("tools/call") | None, Some(tool)) => tool.to_owned(),
        (Some(method), Some(name)) => format!("{method} {name}"),
        (Some(method), None) => method.to_owned(),
        (None, None) => "(no readable message)".to_owned(),
    }
}

/// `1 call`, `2,099 calls`.
pub fn count(many: u64, what: &str) -> String {
    format!("{} {what}{}", number(many), if many == 1 { "" } else { "s" })
}

/// `12`, `2,099`: as the window writes numbers.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `15 min`, `2 h 5 min`, `3 days`: rounded down.
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 if seconds % 3_600 < 60 => format!("{} h", seconds / 3_600),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        86_400..172_800 => "1 day".to_owned(),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// `640 B`, `12 kB`, `3.1 GB`: three digits are enough to compare by.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    // In tenths, so that nothing is lost on the way.
    let (mut tenths, mut unit) = (bytes / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1_000;
        unit += 1;
    }
    match tenths {
        0..100 => format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit]),
        _ => format!("{} {}", tenths / 10, UNITS[unit]),
    }
}

/// A moment as the person's own clock shows it.
pub fn local(wall_ms: i64) -> Zoned {
    Timestamp::from_millisecond(wall_ms).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system())
}

/// When the day of this moment began for the person.
pub fn day_start(wall_ms: i64) -> i64 {
    local(wall_ms).start_of_day().map_or(wall_ms, |start| start.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (many, wanted) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (20_099, "20,099"), (1_234_567, "1,234,567")]
        {
            assert_eq!(number(many), wanted);
        }
        assert_eq!((count(1, "call"), count(2_099, "call")), ("1 call".to_owned(), "2,099 calls".to_owned()));
    }

    #[test]
    fn sizes_have_a_unit_and_few_digits() {
        let cases =
            [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (12_345, "12 kB"), (470_400_000, "470 MB")];
        for (bytes, wanted) in cases.into_iter().chain([(3_140_000_000, "3.1 GB"), (999_999, "999 kB")]) {
            assert_eq!(size(bytes), wanted);
        }
    }
}
