//! The cases of the bypass corpus, read from the text files under `corpus/` (grammar in its README).

use crate::json::{Dialect, Json};
use crate::notation;
use crate::oracle::Ruling;

#[derive(Clone, Debug)]
pub struct Case {
    pub id: String,
    pub title: String,
    pub ruling: Ruling,
    pub steps: Vec<Step>,
    /// What the fake server does out of the ordinary.
    pub script: String,
    pub answers: Vec<Expected>,
    pub server_messages: Option<usize>,
    pub records: Option<Records>,
    pub holds: Vec<String>,
    pub lacks: Vec<String>,
    pub bytewise: bool,
    pub close: Close,
    pub huge: bool,
}

/// How the case is brought to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// A call of `safe` must still be answered; then the client closes.
    Probe,
    /// The client closes at once.
    Eof,
    /// The server ends by itself.
    Ends,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// In notation: spelled out only when it is sent, because some cases are 100 MB.
    Send(String),
    Wait(String),
}

#[derive(Clone, Debug)]
pub struct Expected {
    pub id: Json,
    pub kind: Kind,
    pub optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Result,
    Denied,
    Unknown,
    Error(i64),
    Refused,
    Any,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    Exactly(usize),
    AtLeast(usize),
}

/// Cases of what clients send.
pub fn client_cases() -> Vec<Case> {
    parse(include_str!("../corpus/client.txt"))
}

/// Cases of what servers answer.
pub fn server_cases() -> Vec<Case> {
    parse(include_str!("../corpus/server.txt"))
}

/// Of the client cases, those with these ids.
pub fn chosen(ids: &[&str]) -> Vec<Case> {
    let all = client_cases();
    ids.iter()
        .map(|id| all.iter().find(|case| case.id == *id).unwrap_or_else(|| panic!("no case {id}")).clone())
        .collect()
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        if let Some(heading) = line.strip_prefix("== ") {
            let (id, title) = heading.split_once(' ').unwrap_or((heading, ""));
            assert!(cases.iter().all(|case| case.id != id), "case {id} stands twice");
            cases.push(Case::new(id, title));
            continue;
        }
        let case = cases.last_mut().unwrap_or_else(|| panic!("before the first case: {line}"));
        case.line(line).unwrap_or_else(|| panic!("case {}: cannot read {line:.80}", case.id));
    }
    cases
}

impl Case {
    fn new(id: &str, title: &str) -> Case {
        Case {
            id: id.to_owned(),
            title: title.to_owned(),
            ruling: Ruling::DefaultDeny,
            steps: Vec::new(),
            script: String::new(),
            answers: Vec::new(),
            server_messages: None,
            records: None,
            holds: Vec::new(),
            lacks: Vec::new(),
            bytewise: false,
            close: Close::Probe,
            huge: false,
        }
    }

    fn line(&mut self, line: &str) -> Option<()> {
        if let Some(text) = line.strip_prefix(">> ") {
            self.steps.push(Step::Send(expand(text)));
        } else if let Some(text) = line.strip_prefix("> ") {
            self.steps.push(Step::Send(sent(text)));
        } else if let Some(rest) = line.strip_prefix("* ") {
            let (count, text) = rest.split_once(" > ")?;
            let all = (1..=count.parse().ok()?).map(|n: usize| sent(&text.replace("$n", &n.to_string())));
            self.steps.push(Step::Send(all.collect()));
        } else if let Some(id) = line.strip_prefix("wait ") {
            self.steps.push(Step::Wait(id.to_owned()));
        } else if let Some(text) = line.strip_prefix("client holds: ") {
            self.holds.push(text.to_owned());
        } else if let Some(text) = line.strip_prefix("client lacks: ") {
            self.lacks.push(text.to_owned());
        } else if let Some(count) = line.strip_prefix("server: ") {
            self.server_messages = Some(count.parse().ok()?);
        } else if let Some(count) = line.strip_prefix("records: ") {
            self.records = Some(match count.strip_suffix('+') {
                Some(least) => Records::AtLeast(least.parse().ok()?),
                None => Records::Exactly(count.parse().ok()?),
            });
        } else {
            self.word(line)?;
        }
        Some(())
    }

    fn word(&mut self, line: &str) -> Option<()> {
        match line {
            "policy: allow" => self.ruling = Ruling::DefaultAllow,
            "bytewise" => self.bytewise = true,
            "eof" => self.close = Close::Eof,
            "ends" => self.close = Close::Ends,
            "huge" => self.huge = true,
            _ if is_script(line) => self.script += &format!("{line}\n"),
            _ => {
                let (id, kind) = line.rsplit_once(": ")?;
                let (kind, optional) = kind.strip_suffix('?').map_or((kind, false), |kind| (kind, true));
                let kind = Kind::read(kind)?;
                let ids = match id.split_once("..") {
                    Some((first, last)) => {
                        (first.parse().ok()?..=last.parse().ok()?).map(|n: u32| n.to_string()).collect()
                    }
                    None => vec![String::from_utf8(notation::bytes(id)).ok()?],
                };
                for id in ids {
                    self.answers.push(Expected { id: Json::parse(&id, Dialect::Strict)?, kind, optional });
                }
            }
        }
        Some(())
    }

    /// Refused messages that the history must show.
    pub fn expected_records(&self) -> Option<Records> {
        let refused = self.answers.iter().filter(|answer| answer.kind.refuses() && !answer.optional).count();
        self.records.or_else(|| self.script.is_empty().then_some(Records::Exactly(refused)))
    }
}

impl Kind {
    fn read(text: &str) -> Option<Kind> {
        Some(match text {
            "result" => Kind::Result,
            "denied" => Kind::Denied,
            "unknown" => Kind::Unknown,
            "refused" => Kind::Refused,
            "any" => Kind::Any,
            "none" => Kind::None,
            other => Kind::Error(other.strip_prefix("error ")?.parse().ok()?),
        })
    }

    fn refuses(self) -> bool {
        matches!(self, Kind::Denied | Kind::Unknown | Kind::Refused | Kind::Error(_))
    }
}

fn is_script(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    ["on", "send", "raw", "exit", "abort", "hold", "release", "answer"].contains(&word)
}

fn sent(text: &str) -> String {
    expand(text) + "␊"
}

/// `C(…)` and `C2(…)`, wherever they stand in the line.
fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, id, inside, after)) = shorthand(rest) {
        out += before;
        out += &format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{}}}}}"#,
            expand(inside)
        );
        rest = after;
    }
    out + rest
}

fn shorthand(text: &str) -> Option<(&str, &str, &str, &str)> {
    let open = text.match_indices('(').map(|(at, _)| at).find(|at| {
        let word = text[..*at].trim_end_matches(|c: char| c.is_ascii_digit());
        word.ends_with('C')
    })?;
    let head = text[..open].trim_end_matches(|c: char| c.is_ascii_digit());
    let id = &text[head.len()..open];
    let mut depth = 0;
    let close = text[open..].char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0
    })?;
    let end = open + close.0;
    Some((
        &head[..head.len() - 1],
        if id.is_empty() { "1" } else { id },
        &text[open + 1..end],
        &text[end + 1..],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorthand_is_a_call() {
        assert_eq!(
            expand(r#"[C("name":"a"),C22("name":"b")]"#),
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},{"jsonrpc":"2.0","id":22,"method":"tools/call","params":{"name":"b"}}]"#
        );
    }

    #[test]
    fn the_files_can_be_read() {
        assert!(client_cases().len() > 200);
        assert!(server_cases().len() > 40);
    }
}
