//! The part of an address that names a machine: user, host, port.

use std::net::Ipv6Addr;

use callgate_protocol::fold::fold;

/// In lower case, without a dot at the end, without the port that is meant anyway. An error where readers would not agree
/// on the name.
pub(super) fn spell(authority: &str, usual: Option<&str>, anonymous: bool) -> Result<String, &'static str> {
    let (user, machine) = match authority.rsplit_once('@') {
        Some((user, machine)) => (Some(user), machine),
        None => (None, authority),
    };
    let (host, port) = match machine.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !machine.ends_with(']') => {
            (host, port)
        }
        _ => (machine, ""),
    };
    let lower = host.to_lowercase();
    // Names that a resolver maps to others: full-width letters, ideographic dots, invisible characters.
    if !lower.is_ascii() && (fold(&lower) != lower || lower.contains(['\u{3002}', '\u{ff61}', '\u{ff0e}'])) {
        return Err("has a host that could be taken for another");
    }
    let name = lower.strip_suffix('.').unwrap_or(&lower);
    let number = ipv6(name).or_else(|| ipv4(name).filter(|_| usual.is_some()));
    let name = number.unwrap_or_else(|| name.to_owned());
    let port = match port {
        "" => String::new(),
        port if Some(port.trim_start_matches('0')) == usual => String::new(),
        port => format!(":{port}"),
    };
    Ok(match user.filter(|_| !anonymous) {
        Some(user) => format!("{user}@{name}{port}"),
        None => format!("{name}{port}"),
    })
}

/// `[0:0::1]` is `[::1]`, and `[::ffff:7f00:1]` is 127.0.0.1.
fn ipv6(host: &str) -> Option<String> {
    let address: Ipv6Addr = host.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
    Some(address.to_ipv4_mapped().map_or_else(|| format!("[{address}]"), |mapped| mapped.to_string()))
}

/// `0x7f.1`, `2130706433` and `0177.0.0.1` are all 127.0.0.1 to those who parse numbers.
fn ipv4(host: &str) -> Option<String> {
    let parts: Vec<&str> = host.split('.').collect();
    if parts.len() > 4 {
        return None;
    }
    let mut numbers = Vec::new();
    for part in &parts {
        numbers.push(match part.as_bytes() {
            [] => return None,
            [b'0', b'x', ..] => u64::from_str_radix(&part[2..], 16).ok()?,
            [b'0', _, ..] => u64::from_str_radix(&part[1..], 8).ok()?,
            _ if part.bytes().all(|b| b.is_ascii_digit()) => part.parse().ok()?,
            _ => return None,
        });
    }
    let (last, front) = numbers.split_last()?;
    let room = 8 * (4 - front.len());
    if front.iter().any(|n| *n > 255) || *last >= 1 << room {
        return None;
    }
    let start = front.iter().enumerate().fold(0u64, |sum, (i, n)| sum | n << (24 - 8 * i));
    let address = start | last;
    Some([24, 16, 8, 0].map(|shift| (address >> shift & 255).to_string()).join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_one_spelling() {
        for (authority, wanted) in [
            ("Good.Example.", "good.example"),
            ("good.example:443", "good.example"),
            ("good.example:0443", "good.example"),
            ("good.example:", "good.example"),
            ("good.example:8443", "good.example:8443"),
            ("user:pw@Good.example", "user:pw@good.example"),
            ("a@b@evil", "a@b@evil"),
            ("[::1]:443", "[::1]"),
            ("[::1]", "[::1]"),
            ("[0:0:0:0:0:0:0:1]:443", "[::1]"),
            ("[::FFFF:127.0.0.1]", "127.0.0.1"),
            ("[::ffff:7f00:1]:8443", "127.0.0.1:8443"),
            ("2130706433", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("0177.0.0.1", "127.0.0.1"),
            ("127.0.0.1", "127.0.0.1"),
            ("256.0.0.1", "256.0.0.1"),
            ("1.2.3.4.5", "1.2.3.4.5"),
            ("bücher.example", "bücher.example"),
        ] {
            assert_eq!(spell(authority, Some("443"), false).as_deref(), Ok(wanted), "{authority}");
        }
        assert_eq!(spell("a@b@evil", Some("443"), true).as_deref(), Ok("evil"));
        for authority in ["ｇood.example", "good\u{3002}example", "go\u{200b}od.example"] {
            assert!(spell(authority, Some("443"), false).is_err(), "{authority}");
        }
    }
}
