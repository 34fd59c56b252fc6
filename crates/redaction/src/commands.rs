//! Passwords in command lines, where neither a name nor the value's looks tell: `mysql -p…`, `curl -u me:…`. One table;
//! each row carries a line that it must find and one that it must leave alone.

use std::ops::Range;

/// A command line in a command line …: deeper than this nobody looks.
const NESTED: usize = 3;

/// Where the password stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// `-psecret`
    Attached,
    /// `-p secret`, or `-psecret`.
    Next,
    /// `-u me:secret`, and `-ume:secret`.
    AfterColon,
    /// `-U me%secret`
    AfterPercent,
}

#[derive(Debug)]
struct Flag {
    programs: &'static [&'static str],
    flags: &'static [&'static str],
    stands: Stands,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the row by a test"))]
    sample: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the row by a test"))]
    near_miss: &'static str,
}

const FLAGS: &[Flag] = &[
    Flag {
        programs: &["mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump", "mysqlimport"],
        flags: &["-p"],
        stands: Stands::Attached,
        sample: "mysql -u root -phunter22 app",
        near_miss: "mysql -u root -p app",
    },
    Flag {
        programs: &["7z", "7za", "7zz", "rar", "unrar"],
        flags: &["-p"],
        stands: Stands::Attached,
        sample: "7z x -phunter22 a.7z",
        near_miss: "7z x -p a.7z",
    },
    Flag {
        programs: &["sshpass", "mongo", "mongosh", "mongodump", "mongorestore"],
        flags: &["-p"],
        stands: Stands::Next,
        sample: "sshpass -p hunter22 ssh me@host",
        near_miss: "sshpass -e ssh -p 2222 me@host",
    },
    Flag {
        programs: &["redis-cli"],
        flags: &["-a"],
        stands: Stands::Next,
        sample: "redis-cli -h cache -a hunter22 ping",
        near_miss: "redis-cli -h cache ping",
    },
    Flag {
        programs: &["unzip", "zip", "sqlcmd", "bcp"],
        flags: &["-P"],
        stands: Stands::Next,
        sample: "unzip -P hunter22 a.zip",
        near_miss: "unzip -p a.zip",
    },
    Flag {
        programs: &["ldapsearch", "ldapadd", "ldapmodify"],
        flags: &["-w"],
        stands: Stands::Next,
        sample: "ldapsearch -D cn=me -w hunter22 -b dc=x",
        near_miss: "ldapsearch -W -b dc=x",
    },
    Flag {
        programs: &["plink", "pscp", "psftp"],
        flags: &["-pw"],
        stands: Stands::Next,
        sample: "plink -pw hunter22 me@host",
        near_miss: "plink -P 22 me@host",
    },
    Flag {
        programs: &["curl"],
        flags: &["-u", "--user", "-U", "--proxy-user"],
        stands: Stands::AfterColon,
        sample: "curl -sS -u me:hunter22 https://host",
        near_miss: "curl -u me https://host",
    },
    Flag {
        programs: &["smbclient", "rpcclient"],
        flags: &["-U", "--user"],
        stands: Stands::AfterPercent,
        sample: "smbclient //host/share -U me%hunter22",
        near_miss: "smbclient //host/share -U me",
    },
];

/// After one of these a command begins.
fn ends_command(word: &str) -> bool {
    matches!(word, "|" | "||" | "&&" | ";" | "&" | "then" | "do" | "(") || word.ends_with(';')
}

/// Where passwords stand in the command lines of this text.
pub(crate) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    // Without a flag and without a login there is none: most texts are not taken apart.
    if text.contains(" -") || text.contains("login") {
        find_in(text, 0, 0, found);
    }
}

fn find_in(text: &str, offset: usize, depth: usize, found: &mut Vec<Range<usize>>) {
    let words: Vec<Range<usize>> = words(text).collect();
    let texts: Vec<&str> = words.iter().map(|word| &text[word.clone()]).collect();
    for (at, inside) in passwords(&texts) {
        let start = offset + words[at].start;
        found.push(start + inside.start..start + inside.end);
    }
    netrc(&texts, |at| found.push(offset + words[at].start..offset + words[at].end));
    // `bash -c "mysql -p…"`: a command line in a word.
    for (word, said) in words.iter().zip(&texts) {
        let quoted = said.starts_with(['"', '\'']) && said.len() > 2;
        if quoted && depth < NESTED && said.contains(char::is_whitespace) {
            find_in(&said[1..], offset + word.start + 1, depth + 1, found);
        }
    }
}

/// The passwords in these words, by the number of the word.
pub(crate) fn passwords(words: &[&str]) -> Vec<(usize, Range<usize>)> {
    let mut line = CommandWords::default();
    words.iter().enumerate().filter_map(|(at, word)| Some((at, line.next(word)?))).collect()
}

/// A command line, word by word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandWords {
    program: Option<&'static str>,
    /// The word before says that this one is, or holds, a password.
    announced: Option<Stands>,
}

impl CommandWords {
    /// The arguments of this program.
    pub(crate) fn of(program: &str) -> CommandWords {
        CommandWords { program: known(program), announced: None }
    }

    /// Where the password stands in the next word, if there is one.
    pub(crate) fn next(&mut self, word: &str) -> Option<Range<usize>> {
        if let Some(stands) = self.announced.take()
            && !word.starts_with('-')
        {
            return stands.inside(word, 0);
        }
        if ends_command(word) {
            self.program = None;
        } else if let Some(known) = known(word) {
            // `sshpass -p … mysql -p…`: what it starts has flags of its own.
            self.program = Some(known);
        } else if self.program == Some("sshpass") && !word.starts_with('-') {
            // Nor are the flags of what it starts its own.
            self.program = None;
        } else if let Some(program) = self.program {
            return self.flag(program, word);
        }
        None
    }

    fn flag(&mut self, program: &str, word: &str) -> Option<Range<usize>> {
        for row in FLAGS.iter().filter(|row| row.programs.contains(&program)) {
            for flag in row.flags {
                let Some(rest) = word.strip_prefix(flag) else { continue };
                let attached = match rest.strip_prefix('=') {
                    Some(rest) if flag.starts_with("--") => rest,
                    None if flag.starts_with("--") && !rest.is_empty() => continue,
                    _ => rest,
                };
                if !attached.is_empty() {
                    return row.stands.inside(word, word.len() - attached.len());
                }
                self.announced = Some(row.stands).filter(|stands| *stands != Stands::Attached);
                return None;
            }
        }
        None
    }
}

/// The program that this word starts, if it is one of the table's.
fn known(word: &str) -> Option<&'static str> {
    let name = word.rsplit(['/', '\\', '(', '`', '"', '\'']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    FLAGS.iter().flat_map(|row| row.programs).find(|program| **program == name).copied()
}

impl Stands {
    /// The password in what begins here in the word.
    fn inside(self, word: &str, from: usize) -> Option<Range<usize>> {
        let start = match self {
            Stands::Attached | Stands::Next => from,
            Stands::AfterColon => from + word[from..].find(':')? + 1,
            Stands::AfterPercent => from + word[from..].find('%')? + 1,
        };
        let inside = unquoted(word, start..word.len());
        let password = &word[inside.clone()];
        let named = password.starts_with(['$', '%', '<']) || password.starts_with("[masked");
        (!password.is_empty() && !named).then_some(inside)
    }
}

/// Without the quotes around it.
fn unquoted(word: &str, inside: Range<usize>) -> Range<usize> {
    let text = &word[inside.clone()];
    let bare = text.trim_start_matches(['"', '\'', '\\']);
    let start = inside.end - bare.len();
    start..start + bare.trim_end_matches(['"', '\'', '\\', ';', ')']).len()
}

/// `machine host login me password secret`, on one line or several.
fn netrc(words: &[&str], mut found: impl FnMut(usize)) {
    for (at, four) in words.windows(4).enumerate() {
        if matches!(four[0], "login" | "account") && four[2] == "password" && !four[3].starts_with("[masked")
        {
            found(at + 3);
        }
    }
}

/// The words of a command line: blanks inside quotes belong to a word.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at)?.is_ascii_whitespace() {
            at += 1;
        }
        let start = at;
        let mut quote: Option<u8> = None;
        while let Some(&byte) = bytes.get(at) {
            match quote {
                None if byte.is_ascii_whitespace() => break,
                // An apostrophe inside a word quotes nothing.
                None if matches!(byte, b'"' | b'\'')
                    && (at == start
                        || !bytes[at - 1].is_ascii_alphanumeric()
                        || starts_a_flag(&bytes[start..at])) =>
                {
                    // A quote that does not end on its line is none.
                    let line =
                        bytes[at + 1..].iter().position(|other| matches!(*other, b'\n') || *other == byte);
                    if line.is_some_and(|end| bytes[at + 1 + end] == byte) {
                        quote = Some(byte);
                    }
                }
                Some(open) if byte == open => quote = None,
                _ => {}
            }
            at += 1;
        }
        Some(start..at)
    })
}

/// `-p'my secret'`
fn starts_a_flag(word: &[u8]) -> bool {
    word.starts_with(b"-") || word.ends_with(b":")
}

/// What a text with one of these in it may hold, in any case: part of the first look.
pub(crate) const TRIGGERS: &[&str] = &[
    "mysql",
    "mariadb",
    "7z",
    "rar ",
    "rar\"",
    "sshpass",
    "mongo",
    "redis-cli",
    "zip ",
    "zip\"",
    "sqlcmd",
    "bcp ",
    "bcp\"",
    "ldap",
    "plink",
    "pscp",
    "psftp",
    "curl",
    "smbclient",
    "rpcclient",
    "login ",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Masker;

    #[test]
    fn every_program_of_the_table_is_found_in_a_line_and_in_a_list() {
        let masker = Masker::default();
        for Flag { programs, sample, near_miss, .. } in FLAGS {
            for program in *programs {
                let line = sample.replacen(sample.split(' ').next().unwrap_or_default(), program, 1);
                let kept = masker.keep_line(&line).into_owned();
                assert_eq!(kept, line.replace("hunter22", "[masked, 8 characters]"));
                let list = serde_json::to_string(&line.split(' ').collect::<Vec<_>>()).unwrap_or_default();
                let kept = masker.keep(&list).text.into_owned();
                assert_eq!(kept, list.replace("hunter22", "[masked, 8 characters]"));
                let shown = masker.command(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
                assert!(!shown.join(" ").contains("hunter22"), "{shown:?}");
            }
            assert_eq!(masker.keep_line(near_miss), *near_miss);
        }
    }

    #[test]
    fn passwords_of_programs_are_found_where_people_write_them() {
        for line in [
            "cd /tmp && mysql -phunter22 < a.sql",
            "/usr/bin/mysqldump --host x -p'hunter22' app | gzip",
            "curl --user 'me:hunter22' https://x",
            "curl -ume:hunter22 https://x",
            "curl --user=me:hunter22 https://x",
            "bash -c \"curl -u me:hunter22 https://x\"",
            "machine host login me password hunter22",
            "machine host\n  login me\n  password hunter22\n",
            "sshpass -p \"hunter22\" scp a b",
            "sshpass -p one2three mysql -phunter22",
        ] {
            let kept = Masker::default().keep_line(line).into_owned();
            assert!(!kept.contains("hunter22"), "{kept}");
        }
        for line in [
            "mkdir -p /tmp/a && curl https://x",
            "mysql -p$PASSWORD app",
            "mysql -p ${PASSWORD}",
            "don't login as root password",
            "it's 7z's -p flag",
            "ssh -p 2222 host; unzip a.zip",
        ] {
            assert_eq!(Masker::default().keep_line(line), line);
        }
    }
}
