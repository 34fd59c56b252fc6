//! Secrets without a beginning of their own: a token stands alone, is exactly so long, and looks drawn. Commit hashes,
//! ids, names of files and words that are run together must not look so.

use std::ops::Range;

/// No shorter token is looked at.
const SHORTEST: usize = 40;

#[derive(Debug)]
struct TokenFormat {
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader and the test"))]
    name: &'static str,
    is: fn(&str) -> bool,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the kind by a test"))]
    sample: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the kind by a test"))]
    near_miss: &'static str,
}

const KINDS: &[TokenFormat] = &[
    TokenFormat {
        name: "AWS secret",
        is: is_aws_secret,
        sample: concat!("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCY3aMPLEK9Yz"),
        near_miss: "Users/ann/Projects/Site2/src/Pages/Login",
    },
    TokenFormat {
        name: "Discord bot",
        is: is_discord_bot,
        sample: concat!("MTAxMjM0NTY3ODkwMTIzNDU2", ".G1a2B3.0123456789abcdefghijABCDEFGHIJklm"),
        near_miss: "My.Company.Product.Module.Submodule.ClassName.MethodName",
    },
    TokenFormat {
        name: "Airtable",
        is: is_airtable,
        sample: concat!(
            "pat0123456789ABCD",
            ".0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
        ),
        near_miss: "patches.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    },
];

/// The tokens of these kinds that stand in this text.
pub(crate) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    for token in long(text) {
        if KINDS.iter().any(|kind| (kind.is)(&text[token.clone()])) {
            found.push(token);
        }
    }
}

/// Is there one?
pub(crate) fn any(text: &str) -> bool {
    long(text).any(|token| KINDS.iter().any(|kind| (kind.is)(&text[token.clone()])))
}

/// The runs of characters of tokens that are long enough. Looks at every fortieth character alone, as long as that is none
/// of a token: ordinary text costs next to nothing.
fn long(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let probe = from + SHORTEST - 1;
            if !belongs(*bytes.get(probe)?) {
                from = probe + 1;
                continue;
            }
            let start =
                bytes[from..probe].iter().rposition(|byte| !belongs(*byte)).map_or(from, |at| from + at + 1);
            if start > from {
                from = start;
                continue;
            }
            let end =
                bytes[probe..].iter().position(|byte| !belongs(*byte)).map_or(bytes.len(), |at| probe + at);
            from = end;
            // Padding belongs to what is before it, the end of a sentence does not.
            if bytes.get(end) == Some(&b'=') {
                continue;
            }
            let token = text[start..end].trim_end_matches('.');
            return Some(start..start + token.len());
        }
    })
}

fn belongs(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/_-.~".contains(&byte)
}

fn is_aws_secret(token: &str) -> bool {
    token.len() == 40
        && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte))
        && is_drawn(token, 16)
}

fn is_discord_bot(token: &str) -> bool {
    let mut parts = token.split('.');
    let lengths = (parts.next(), parts.next(), parts.next(), parts.next());
    let (Some(user), Some(time), Some(rest), None) = lengths else { return false };
    let written = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    user.starts_with(['M', 'N', 'O'])
        && matches!(user.len(), 23..=28)
        && matches!(time.len(), 6 | 7)
        && matches!(rest.len(), 27..=40)
        && [user, time, rest].into_iter().all(written)
        && is_drawn(user, 8)
}

fn is_airtable(token: &str) -> bool {
    let Some((id, rest)) = token.split_once('.') else { return false };
    id.starts_with("pat")
        && id.len() == 17
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && rest.len() == 64
        && rest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Small and large letters and digits, in no order: what people write changes its kind of letter less often.
fn is_drawn(token: &str, changes: usize) -> bool {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let mut counts = [0_usize; 4];
    token.bytes().for_each(|byte| counts[kind(byte)] += 1);
    let changed = token.as_bytes().windows(2).filter(|two| kind(two[0]) != kind(two[1])).count();
    counts[0] >= 4 && counts[1] >= 4 && counts[2] >= 2 && changed >= changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Masker;

    #[test]
    fn every_kind_finds_its_sample_and_leaves_its_near_miss() {
        for TokenFormat { name, sample, near_miss, .. } in KINDS {
            for (before, after) in [("", ""), ("see ", " there"), ("KEY=", "\n"), ("\"", "\","), ("", ".")] {
                let text = format!("{before}{sample}{after}");
                let kept = Masker::default().keep_line(&text).into_owned();
                assert!(!kept.contains(sample) && kept.contains("[masked, "), "{name}: {kept}");
            }
            assert_eq!(Masker::default().keep_line(near_miss), *near_miss, "near miss of {name}");
        }
    }

    #[test]
    fn no_run_of_characters_is_passed_over() {
        let sample = KINDS[0].sample;
        for before in 0..90 {
            let text = format!("{} {sample} {}", "x".repeat(before), "y".repeat(before));
            let mut found = Vec::new();
            find(&text, &mut found);
            assert_eq!((found.len(), found[0].clone()), (1, before + 1..before + 41), "{text}");
        }
    }
}
