//! What a person may call a server, and its variables.

/// Clients make the names of tools of it, of 64 characters at most.
const LONGEST: usize = 40;

/// Why a server cannot be called so.
pub(super) fn problem_with(name: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    (!begins || !name.chars().all(fits) || name.len() > LONGEST).then(|| {
        format!(
            "a server's name has letters, digits, - and _, begins with a letter or a digit, and has at most {LONGEST} characters: \
             clients make the names of tools of it"
        )
    })
}

/// Why a variable cannot be called so.
pub(super) fn problem_with_variable(name: &str) -> Option<String> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!begins || !name.chars().all(fits))
        .then(|| "a variable's name has letters, digits and _, and does not begin with a digit".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for good in ["notes", "Play-Wright_2", "7zip"] {
            assert_eq!(problem_with(good), None, "{good}");
        }
        let long = "a".repeat(41);
        for bad in ["", "-x", "_default", "a b", "a/b", "a.b", "é", "a\u{202e}b", &long] {
            assert!(problem_with(bad).is_some(), "{bad}");
        }
        assert_eq!((problem_with_variable("_A1"), problem_with_variable("a")), (None, None));
        for bad in ["", "1A", "A-B", "A=B", "A B"] {
            assert!(problem_with_variable(bad).is_some(), "{bad}");
        }
    }
}
