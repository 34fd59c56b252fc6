//! JSON numbers compared as what they say, not as what a float makes of them.
//!
//! `9007199254740993` and `9007199254740992` differ, `1e2` and `100.0` do not. Nothing is allocated.

use std::cmp::Ordering;

/// A decimal read from a JSON number: 0.d₁d₂d₃… × 10^scale, d₁ ≠ 0, no trailing zeros; zero has no digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal<'a> {
    negative: bool,
    /// Digits with at most one point among them.
    digits: &'a str,
    scale: i64,
}

impl<'a> Decimal<'a> {
    /// `None` when the text is no JSON number, or its exponent is beyond anything that could be compared in earnest.
    pub(crate) fn parse(text: &'a str) -> Option<Decimal<'a>> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], parse_exponent(&rest[at + 1..])?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some((whole, fraction)) => (whole, fraction),
            None => (mantissa, ""),
        };
        let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty()
            || !all_digits(whole)
            || !all_digits(fraction)
            || (whole.len() > 1 && whole.starts_with('0'))
        {
            return None;
        }
        let trimmed = if fraction.is_empty() {
            mantissa.trim_end_matches('0')
        } else {
            mantissa.trim_end_matches(['0', '.'])
        };
        let digits = trimmed.trim_start_matches(['0', '.']);
        if digits.is_empty() {
            return Some(Decimal { negative: false, digits: "", scale: 0 });
        }
        let scale = if whole == "0" {
            -i64::try_from(fraction.len() - fraction.trim_start_matches('0').len()).ok()?
        } else {
            i64::try_from(whole.len()).ok()?
        };
        Some(Decimal { negative, digits, scale: scale.checked_add(exponent)? })
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// Its size in millionths; finer parts are rounded up. `None` when that is beyond counting.
    pub(crate) fn millionths(&self) -> Option<u64> {
        let places = self.scale.checked_add(6)?;
        if self.digits.is_empty() {
            return Some(0);
        }
        if places <= 0 {
            return Some(1);
        }
        // No u64 has more than 20 digits, so longer ones need not be read.
        let places = usize::try_from(places).ok().filter(|places| *places <= 20)?;
        let mut digits = self.digits();
        let mut sum = 0u64;
        for _ in 0..places {
            let digit = digits.next().map_or(0, |digit| digit - b'0');
            sum = sum.checked_mul(10)?.checked_add(u64::from(digit))?;
        }
        // There are no trailing zeros: a digit that is left makes it more.
        if digits.next().is_some() { sum.checked_add(1) } else { Some(sum) }
    }

    fn digits(&self) -> impl Iterator<Item = u8> + 'a {
        self.digits.bytes().filter(|b| *b != b'.')
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || digits.len() > 15 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.strip_prefix('+').unwrap_or(text).parse().ok()
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |d: &Decimal<'_>| match (d.digits.is_empty(), d.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let (a, b) = (sign(self), sign(other));
        if a != b || a == 0 {
            return a.cmp(&b);
        }
        let size = self.scale.cmp(&other.scale).then_with(|| self.digits().cmp(other.digits()));
        if self.negative { size.reverse() } else { size }
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal<'_> {}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Decimal;
    use std::cmp::Ordering;

    fn cmp(a: &str, b: &str) -> Ordering {
        Decimal::parse(a).unwrap().cmp(&Decimal::parse(b).unwrap())
    }

    #[test]
    fn numbers_compare_by_value_not_by_spelling() {
        for same in [
            ["100", "1e2"],
            ["100.0", "1E+2"],
            ["0", "-0"],
            ["0.0e9", "0"],
            ["0.001", "1e-3"],
            ["1200", "12e2"],
            ["10.50", "10.5"],
            ["-5", "-5.000"],
            ["0.10", "1e-1"],
        ] {
            assert_eq!(cmp(same[0], same[1]), Ordering::Equal, "{same:?}");
        }
        for rising in [
            ["9007199254740992", "9007199254740993"],
            ["-2", "-1"],
            ["-1", "0"],
            ["0.1", "0.11"],
            ["99", "1e2"],
            ["1e-400", "1e400"],
            ["0", "1e-400"],
            ["-1e400", "1"],
            ["10000", "10000.0000000000000000001"],
            ["19", "2e1"],
        ] {
            assert_eq!(cmp(rising[0], rising[1]), Ordering::Less, "{rising:?}");
        }
    }

    #[test]
    fn millionths_are_exact_and_rounded_up() {
        for (text, millionths) in [
            ("0", Some(0)),
            ("-0.0", Some(0)),
            ("1", Some(1_000_000)),
            ("12.5", Some(12_500_000)),
            ("1e2", Some(100_000_000)),
            ("0.000001", Some(1)),
            ("0.0000001", Some(1)),
            ("1e-999999", Some(1)),
            ("0.0000011", Some(2)),
            ("1.9999999", Some(2_000_000)),
            ("0.1", Some(100_000)),
            ("100.00000000000000000000000000001", Some(100_000_001)),
            ("18446744073709.551615", Some(u64::MAX)),
            ("18446744073709.5516151", None),
            ("18446744073709.551616", None),
            ("1e99", None),
            ("1e999999999999", None),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().millionths(), millionths, "{text}");
        }
    }

    #[test]
    fn what_is_no_json_number_is_none() {
        for text in
            ["", "-", "01", "1.", ".5", "+1", "1e", "1e+", "0x10", "1_000", " 1", "NaN", "1e9999999999999999"]
        {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }
}
