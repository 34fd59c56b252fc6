//! A policy's own tests, run: each call is judged as it would be on its way to the server, and compared with what the
//! writer expects.
//!
//! Pure, like everything here: the time and the disk are the caller's, nothing was called before but what a test says
//! (`after`), and no time passes.

use std::fmt::Write as _;
use std::ops::Range;

use callgate_document::{Node, Syntax, Value, parse_json};
use callgate_protocol::json::Raw;

use crate::call::{Call, Circumstances, Judgement, RefusalKind};
use crate::file::{Expectation, PolicyFile, PolicyTest, TestedCall};
use crate::limit::{Kind, Taking};
use crate::policy::Policy;
use crate::problem::Place;

/// The longest name that is made up for a test without one.
const LONGEST_NAME: usize = 80;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// The test's own name, else the call.
    pub name: String,
    pub place: Place,
    pub passed: bool,
    /// `deny by /tools/x`
    pub wanted: String,
    /// `allow by /default`, and why if it was not let through.
    pub got: String,
}

/// Runs every test of a policy, each in these circumstances. `file` and `text` are what the policy was made of.
pub fn run_tests(
    policy: &Policy,
    file: &PolicyFile,
    text: &str,
    circumstances: &Circumstances<'_>,
) -> Vec<TestResult> {
    file.tests.iter().map(|test| run(policy, test, text, circumstances)).collect()
}

fn run(policy: &Policy, test: &PolicyTest, text: &str, circumstances: &Circumstances<'_>) -> TestResult {
    let (what, with) = match &test.call {
        TestedCall::Tool { name, args } => (name, args),
        TestedCall::Method { method, params } => (method, params),
    };
    let with = with.clone().map(|range| without_comments(text, range).unwrap_or_default());
    let name = test.name.clone().unwrap_or_else(|| name_of(what, with.as_deref()));
    let wanted = match &test.rule {
        Some(rule) => format!("{} by {rule}", test.expect.word()),
        None => test.expect.word().to_owned(),
    };
    let failed = |got: String| TestResult {
        name: name.clone(),
        place: test.place.clone(),
        passed: false,
        wanted: wanted.clone(),
        got,
    };
    let raw = match with.as_deref().map(Raw::parse).transpose() {
        Ok(raw) => raw,
        Err(error) => return failed(format!("no call: {error} in what is sent")),
    };
    let client = test.client.as_deref().unwrap_or("");
    let call = match &test.call {
        TestedCall::Tool { name, .. } => Call::tool(client, name, raw),
        TestedCall::Method { method, .. } => Call::method(client, method, raw),
    };
    let ending = ending(policy, &call, what, test.after, circumstances);
    let rule_fits = test.rule.as_deref().is_none_or(|rule| is_at_or_below(&ending.rule, rule));
    TestResult { passed: ending.how == test.expect && rule_fits, ..failed(ending.words()) }
}

/// How a call ends, by which rule, and why if it is not simply let through.
struct Ending {
    how: Expectation,
    rule: String,
    reason: Option<String>,
}

impl Ending {
    fn words(&self) -> String {
        let mut words = format!("{} by {}", self.how.word(), self.rule);
        if let Some(reason) = &self.reason {
            let _ = write!(words, ": {reason}");
        }
        words
    }
}

/// The one place that asks the policy. `after` identical calls were made in the same moment, by the same client.
fn ending(
    policy: &Policy,
    call: &Call<'_>,
    what: &str,
    after: u32,
    circumstances: &Circumstances<'_>,
) -> Ending {
    match policy.judge(call, circumstances) {
        Judgement::Pass(pass) => {
            let full = pass.limits.iter().find(|taking| is_full(taking, after)).map(|taking| taking.limit);
            let (how, rule, reason) = match (pass.would, full) {
                (Some(would), _) => (Expectation::WouldDeny, would.rule, Some(would.reason)),
                (None, Some(limit)) => {
                    let how = if pass.observing { Expectation::WouldDeny } else { Expectation::Capped };
                    (how, limit.pointer.clone(), Some(limit.refusal(what)))
                }
                (None, None) => (Expectation::Allow, pass.rule.to_owned(), None),
            };
            Ending { how, rule, reason }
        }
        Judgement::Refuse(refusal) => {
            let how = match refusal.kind {
                RefusalKind::Ask => Expectation::Ask,
                RefusalKind::Hidden => Expectation::Hidden,
                RefusalKind::Denied | RefusalKind::Unsupported | RefusalKind::Broken => Expectation::Deny,
            };
            Ending { how, rule: refusal.rule, reason: Some(refusal.reason) }
        }
    }
}

/// Is there no room after so many calls like this one? They have ended, so none of them is under way.
fn is_full(taking: &Taking<'_>, after: u32) -> bool {
    let before = if taking.limit.kind == Kind::Concurrent { 0 } else { u64::from(after) };
    before.saturating_add(1).saturating_mul(taking.amount) > taking.limit.ceiling()
}

/// A test that names a rule means everything in it.
fn is_at_or_below(pointer: &str, rule: &str) -> bool {
    pointer.strip_prefix(rule).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn name_of(what: &str, with: Option<&str>) -> String {
    let call = with.map_or_else(|| what.to_owned(), |with| format!("{what} {with}"));
    match call.char_indices().nth(LONGEST_NAME) {
        Some((at, _)) => format!("{}…", &call[..at]),
        None => call,
    }
}

/// The value at this range as a client would send it: compact, with every text and number as it is spelled.
fn without_comments(text: &str, range: Range<usize>) -> Option<String> {
    let slice = text.get(range)?;
    let root = parse_json(slice, Syntax::Jsonc).ok()??;
    let mut out = String::with_capacity(slice.len());
    write_value(slice, &root, &mut out);
    Some(out)
}

fn write_value(text: &str, node: &Node, out: &mut String) {
    match &node.value {
        Value::Map(members) => {
            out.push('{');
            for (i, member) in members.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                out.push_str(&text[member.key_span.clone()]);
                out.push(':');
                write_value(text, &member.value, out);
            }
            out.push('}');
        }
        Value::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                write_value(text, item, out);
            }
            out.push(']');
        }
        _ => out.push_str(&text[node.span.clone()]),
    }
}
