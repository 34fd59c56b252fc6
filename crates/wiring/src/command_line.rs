//! A command line as a person types it, cut into words.

use callgate_clients::Os;

/// Words between blanks. Quotes of both kinds hold blanks; a backslash takes the next character as it is, but not on Windows,
/// where it is part of paths.
pub(crate) fn words(line: &str, os: Os) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) if os != Os::Windows => {
                let next = chars.next().ok_or("it ends with a backslash")?;
                let word = word.get_or_insert_default();
                // Between double quotes it stands for itself before most characters.
                if quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(next);
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_as_a_shell_does_it() {
        for (line, expected) in [
            ("npx -y  @playwright/mcp@latest ", vec!["npx", "-y", "@playwright/mcp@latest"]),
            (r#"node "/home/a b/x.js" --n='it is' ''"#, vec!["node", "/home/a b/x.js", "--n=it is", ""]),
            (r#"a\ b "c\"d" 'e\f' "g\h""#, vec!["a b", "c\"d", "e\\f", "g\\h"]),
            ("", vec![]),
            ("  \t", vec![]),
            ("a\nb", vec!["a", "b"]),
        ] {
            assert_eq!(
                words(line, Os::Linux),
                Ok(expected.into_iter().map(str::to_owned).collect()),
                "{line}"
            );
        }
        let windows = words(r#""C:\Program Files\x.exe" C:\y"#, Os::Windows);
        assert_eq!(windows, Ok(vec![r"C:\Program Files\x.exe".to_owned(), r"C:\y".to_owned()]));
        assert!(words("a 'b", Os::Linux).is_err() && words("a\\", Os::Mac).is_err());
    }
}
