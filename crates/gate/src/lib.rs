//! The words of `callgate run`, as clients' files have them.
//!
//! Every client starts the gate for every server, so these are read by hand. Whatever is not plainly right is left to the
//! partner's command line, which reads all of it and has the words for what is wrong.

use std::ffi::OsString;

/// What a client asks the gate to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RunWords {
    pub server: String,
    pub client: Option<String>,
    pub started_by: Option<String>,
    pub demo: bool,
    pub program: OsString,
    pub args: Vec<OsString>,
}

impl RunWords {
    /// `words`: without the program's own name. `None`: ask somebody who knows every word.
    pub fn read(words: &[OsString]) -> Option<RunWords> {
        let (first, mut words) = words.split_first()?;
        if first != "run" {
            return None;
        }
        let (mut found, mut server, mut no_args) = (RunWords::default(), None, false);
        loop {
            let word = next(&mut words)?.to_str()?;
            let once = match word {
                "--" => break,
                "--no-args" => !std::mem::replace(&mut no_args, true),
                "--demo" => !std::mem::replace(&mut found.demo, true),
                _ => {
                    let (name, value) = match word.split_once('=') {
                        Some(pair) => pair,
                        None => (word, next(&mut words)?.to_str()?),
                    };
                    let place = match name {
                        "--server" => &mut server,
                        "--client" => &mut found.client,
                        "--started-by" => &mut found.started_by,
                        _ => return None,
                    };
                    // It may be a value or the next flag.
                    let plain = !value.is_empty() && !value.starts_with('-');
                    plain && place.replace(value.to_owned()).is_none()
                }
            };
            if !once {
                return None;
            }
        }
        let (program, args) = words.split_first()?;
        Some(RunWords { server: server?, program: program.clone(), args: args.to_vec(), ..found })
    }
}

fn next<'w>(words: &mut &'w [OsString]) -> Option<&'w OsString> {
    let (first, rest) = words.split_first()?;
    *words = rest;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Option<RunWords> {
        RunWords::read(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_words_that_clients_files_have_are_read() {
        let found =
            read(&["run", "--server", "a b", "--client=cursor", "--no-args", "--", "npx", "--server", "--"]);
        let found = found.expect("they are plain");
        assert_eq!(
            (found.server.as_str(), found.client.as_deref(), found.demo),
            ("a b", Some("cursor"), false)
        );
        assert_eq!((found.program, found.args), ("npx".into(), vec!["--server".into(), "--".into()]));
    }

    #[test]
    fn whatever_is_not_plain_is_left_to_the_whole_command_line() {
        for words in [
            &["log"][..],
            &["run"],
            &["run", "--help"],
            &["run", "--server", "a"],
            &["run", "--server", "a", "--"],
            &["run", "--server", "a", "npx"],
            &["run", "--", "npx"],
            &["run", "--server", "", "--", "npx"],
            &["run", "--server", "--", "--", "npx"],
            &["run", "--server", "-a", "--", "npx"],
            &["run", "--server", "a", "--server", "b", "--", "npx"],
            &["run", "--server", "a", "--no-args", "--no-args", "--", "npx"],
            &["run", "--server", "a", "--more", "b", "--", "npx"],
        ] {
            assert_eq!(read(words), None, "{words:?}");
        }
    }
}
