//! The file name of a server. Names come from clients' configs and are hostile text; file names are not.

use sha2::{Digest, Sha256};

/// Longest plain name that is used as it stands.
const LONGEST: usize = 64;
/// How much of an odd name is kept for people to recognise.
const RECOGNISABLE: usize = 24;
/// Device names that Windows reserves, with any extension.
const RESERVED: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$", "default", "_default"];

/// The name itself if it is plain (`a-z 0-9 . _ -`), else what is recognisable of it, `~`, and a hash of the
/// exact name. `~` is in no plain name, so the two kinds never meet, on any disk, whatever case it folds.
pub fn slug(server: &str) -> String {
    if is_plain(server) {
        return server.to_owned();
    }
    let digest = Sha256::digest(server.as_bytes());
    let hash = callgate_text::hex(&digest[..6]);
    let readable: String = server
        .chars()
        .flat_map(char::to_lowercase)
        .map(|c| if is_plain_char(c) && c != '.' { c } else { '-' })
        .take(RECOGNISABLE)
        .collect();
    format!("{}~{hash}", readable.trim_matches(['-', '_']))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST
        && name.chars().all(is_plain_char)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !name.ends_with('.')
        && !is_reserved(name)
}

fn is_plain_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-')
}

fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let numbered = stem.len() == 4
        && (stem.starts_with("com") || stem.starts_with("lpt"))
        && stem.as_bytes().last().is_some_and(u8::is_ascii_digit);
    RESERVED.contains(&stem) || numbered
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn plain_names_keep_their_name() {
        for name in ["playwright", "run-automation", "a.b_c-9", "playwright2"] {
            assert_eq!(slug(name), name);
        }
    }

    #[test]
    fn hostile_names_stay_inside_one_folder_and_apart() {
        let long = "x".repeat(300);
        let names = [
            "../../x",
            "..",
            ".",
            "",
            "a/b",
            "a\\b",
            "A/B",
            "Foo",
            "foo",
            "FOO",
            "CON",
            "con",
            "nul.txt",
            "com1",
            "lpt9.x",
            "a\0b",
            "_default",
            "default",
            ".hidden",
            "x.",
            "ſ",
            "foo~abc",
            "playwright@cursor",
            "a b",
            "a  b",
            "é",
            "e\u{301}",
            &long,
            "-rf",
        ];
        let mut seen = HashSet::new();
        for name in names {
            let slug = slug(name);
            assert!(slug.len() <= 64, "{slug}");
            assert!(slug.chars().all(|c| is_plain_char(c) || c == '~'), "{slug}");
            assert!(!slug.starts_with(['.', '-', '_']) && !is_reserved(&slug), "{slug}");
            // A case-insensitive disk must not make one of two.
            assert!(seen.insert(slug.to_ascii_lowercase()), "{name:?} collides as {slug}");
        }
    }

    #[test]
    fn a_plain_name_cannot_imitate_a_hashed_one() {
        let hashed = slug("Foo");
        assert_ne!(slug(&hashed), hashed);
    }
}
