//! What a scalar without quotes means. Go's reader mixes YAML 1.1 and 1.2: `yes` is text, `017` is fifteen.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// Whole, and beyond the signed range. Go's type for it is one that Intercept does not take for a number.
    Unsigned(u64),
    Float(f64),
    /// A date without quotes. Intercept compares it in a form that no argument has.
    Time,
    Text,
    /// `<<`
    Merge,
}

impl Scalar {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Scalar::Null => "nothing",
            Scalar::Bool(_) => "true or false",
            Scalar::Int(_) | Scalar::Unsigned(_) | Scalar::Float(_) => "a number",
            Scalar::Time => "a date",
            Scalar::Text | Scalar::Merge => "text",
        }
    }

    /// Of a scalar without quotes and without a tag.
    pub(crate) fn resolve(text: &str) -> Scalar {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
            "true" | "True" | "TRUE" => return Scalar::Bool(true),
            "false" | "False" | "FALSE" => return Scalar::Bool(false),
            "<<" => return Scalar::Merge,
            ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
            ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
            "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
            _ => {}
        }
        match text.as_bytes().first() {
            Some(b'0'..=b'9' | b'+' | b'-') if is_time(text) => Scalar::Time,
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => number(text).unwrap_or(Scalar::Text),
            _ => Scalar::Text,
        }
    }

    /// Of a scalar with a tag; `None` when they do not fit together.
    pub(crate) fn tagged(tag: &str, text: &str) -> Option<Scalar> {
        let name = tag.rsplit(['!', ':']).next().unwrap_or(tag);
        let resolved = Scalar::resolve(text);
        match (name, resolved) {
            ("str" | "", _) => Some(Scalar::Text),
            ("null", Scalar::Null)
            | ("bool", Scalar::Bool(_))
            | ("int", Scalar::Int(_) | Scalar::Unsigned(_))
            | ("float", Scalar::Float(_)) => Some(resolved),
            ("float", Scalar::Int(n)) => Some(Scalar::Float(n as f64)),
            _ => None,
        }
    }
}

fn number(text: &str) -> Option<Scalar> {
    let plain = text.replace('_', "");
    if let Some(integer) = integer(&plain) {
        return Some(match i64::try_from(integer) {
            Ok(n) => Scalar::Int(n),
            Err(_) => match u64::try_from(integer) {
                Ok(n) => Scalar::Unsigned(n),
                Err(_) => Scalar::Float(integer as f64),
            },
        });
    }
    is_float(&plain).then(|| plain.parse().ok().map(Scalar::Float)).flatten()
}

/// With the prefixes that Go knows; a leading zero alone means octal.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(hex) = lower.strip_prefix("0x") {
        (16, hex)
    } else if let Some(octal) = lower.strip_prefix("0o") {
        (8, octal)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        (2, binary)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    // A second sign is no digit.
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    Some(if negative { -value } else { value })
}

fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    exponent_fits && digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

/// `2026-11-16`, also with a time behind it.
fn is_time(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let digits =
        |s: &str, most: usize| !s.is_empty() && s.len() <= most && s.bytes().all(|b| b.is_ascii_digit());
    let day_ends = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (day, after) = rest.split_at(day_ends);
    year.len() == 4
        && digits(year, 4)
        && digits(month, 2)
        && digits(day, 2)
        && (after.is_empty() || after.starts_with(['T', 't', ' ']))
}

/// Can it stand in JSON as it is spelled?
pub(crate) fn is_json_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let whole = unsigned.find(|c: char| !c.is_ascii_digit()).map_or(unsigned, |end| &unsigned[..end]);
    is_float(text)
        && !text.starts_with('+')
        && !whole.is_empty()
        && (whole.len() == 1 || !whole.starts_with('0'))
        && !unsigned.ends_with('.')
        && !unsigned.contains(".e")
        && !unsigned.contains(".E")
}

#[cfg(test)]
mod tests {
    use super::{Scalar, is_json_number};

    #[test]
    fn scalars_are_read_as_go_reads_them() {
        for (text, scalar) in [
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("True", Scalar::Bool(true)),
            ("yes", Scalar::Text),
            ("5", Scalar::Int(5)),
            ("+5", Scalar::Int(5)),
            ("-7", Scalar::Int(-7)),
            ("1_000", Scalar::Int(1000)),
            ("017", Scalar::Int(15)),
            ("0o17", Scalar::Int(15)),
            ("0x1F", Scalar::Int(31)),
            ("-0b11", Scalar::Int(-3)),
            ("08", Scalar::Float(8.0)),
            ("0", Scalar::Int(0)),
            ("9223372036854775808", Scalar::Unsigned(9_223_372_036_854_775_808)),
            ("1.5", Scalar::Float(1.5)),
            (".5", Scalar::Float(0.5)),
            ("1e3", Scalar::Float(1000.0)),
            ("-.inf", Scalar::Float(f64::NEG_INFINITY)),
            ("2026-11-16", Scalar::Time),
            ("2026-1-6 10:00:00", Scalar::Time),
            ("555-1234", Scalar::Text),
            ("5/hour", Scalar::Text),
            ("--5", Scalar::Text),
            ("0x", Scalar::Text),
            (".", Scalar::Text),
            ("-", Scalar::Text),
            ("1e", Scalar::Text),
            ("<<", Scalar::Merge),
        ] {
            assert_eq!(Scalar::resolve(text), scalar, "{text}");
        }
    }

    #[test]
    fn numbers_keep_their_spelling_where_json_has_it() {
        for text in ["0", "-0.5", "1e3", "1.25E-2", "10"] {
            assert!(is_json_number(text), "{text}");
        }
        for text in ["", "+1", ".5", "1.", "017", "1.e3", "0x1", "-", "-.5", "1_000"] {
            assert!(!is_json_number(text), "{text}");
        }
    }
}
