//! Tables of cases in text, and a gate that judges and counts as Callgate does, with a clock that is turned by hand.

use std::collections::HashMap;
use std::path::PathBuf;

use callgate_policy::{Call, Circumstances, Judgement, Policy, Taking};
use callgate_protocol::json::Raw;

pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) source: String,
    pub(crate) lines: Vec<String>,
}

/// Sections `== title`, a source, `--`, and one expectation a line.
pub(crate) fn cases(file: &str) -> Vec<Section> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let sections = text.split("\n== ").skip(1).map(|section| {
        let (title, rest) = section.split_once('\n').unwrap();
        let (source, lines) = rest.split_once("\n--\n").unwrap_or((rest, ""));
        let lines = lines.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
        Section {
            title: title.to_owned(),
            source: source.to_owned(),
            lines: lines.map(str::to_owned).collect(),
        }
    });
    sections.collect()
}

/// `tool {args}` or `"odd name" {args}`
pub(crate) fn name_and_args(call: &str) -> (String, Option<String>) {
    let (name, args) = if call.starts_with('"') {
        let mut stream = serde_json::Deserializer::from_str(call).into_iter::<String>();
        let name = stream.next().unwrap().unwrap();
        (name, call[stream.byte_offset()..].trim())
    } else {
        let (name, args) = call.split_once(' ').unwrap_or((call, ""));
        (name.to_owned(), args.trim())
    };
    (name, (!args.is_empty()).then(|| args.to_owned()))
}

struct Counted {
    counter: String,
    window: u64,
    max: u64,
    amount: u64,
    rule: String,
}

/// The one place that knows how a call is judged: the rule and the reason of a refusal, or what is counted.
fn judged(
    policy: &Policy,
    tool: &str,
    args: Option<Raw<'_>>,
    now: u64,
) -> Result<Vec<Counted>, (String, String)> {
    let circumstances =
        Circumstances { now_ms: i64::try_from(now).unwrap() * 1000, ..Circumstances::timeless() };
    match policy.judge(&Call::tool("claude", tool, args), &circumstances) {
        Judgement::Refuse(refusal) => Err((refusal.rule, refusal.reason)),
        Judgement::Pass(pass) => {
            let counted = |taking: &Taking<'_>| Counted {
                counter: format!("{:?} {}", std::mem::discriminant(&taking.limit.kind), taking.limit.counter),
                window: taking.limit.window().unwrap().as_secs(),
                max: taking.limit.ceiling(),
                amount: taking.amount,
                rule: taking.limit.refusal(tool),
            };
            Ok(pass.limits.iter().map(counted).collect())
        }
    }
}

/// A policy at work.
pub(crate) struct Gate {
    policy: Policy,
    counts: HashMap<String, Vec<(u64, u64)>>,
    /// Seconds since 1970.
    pub(crate) now: u64,
}

impl Gate {
    pub(crate) fn new(text: &str) -> Gate {
        let policy = Policy::parse(text).unwrap_or_else(|report| panic!("{report}\n{text}"));
        Gate { policy, counts: HashMap::new(), now: 0 }
    }

    /// `Ok`, or the rule and the reason of a refusal.
    pub(crate) fn call(&mut self, tool: &str, args: Option<&str>) -> Result<(), (String, String)> {
        let raw = args.map(|args| Raw::parse(args).unwrap_or_else(|e| panic!("{args}: {e}")));
        let limits = judged(&self.policy, tool, raw, self.now)?;
        for limit in &limits {
            let taken = self.counts.entry(limit.counter.clone()).or_default();
            let used: u64 = taken.iter().filter(|(at, _)| at + limit.window > self.now).map(|(_, n)| n).sum();
            if used + limit.amount > limit.max {
                return Err(("(capped)".to_owned(), limit.rule.clone()));
            }
        }
        for limit in limits {
            self.counts.entry(limit.counter).or_default().push((self.now, limit.amount));
        }
        Ok(())
    }
}
