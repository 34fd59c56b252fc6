//! The rule for one tool.

use std::collections::{BTreeMap, BTreeSet};

use callgate_risk::{Assessment, OperationClass, RiskClass, RiskSeverity};
use serde_json::{Map, Value, json};

/// Calls a minute of each client, of what can be undone or repeated,
const WRITES: u32 = 30;
/// and of what depends on its arguments.
const EXECUTIONS: u32 = 10;
/// A counter's name has no more bytes.
const LONGEST_COUNTER: usize = 256;
/// They throw away what the agent itself has made, and are needed for nothing: better not even seen.
const DISCARDING: &[&str] = &["clear_codegen_session"];

/// What is known of one tool.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub name: &'a str,
    pub assessment: &'a Assessment,
    /// The scan found something in its definition.
    pub has_findings: bool,
    /// What is asked of its arguments beside their schema, as members of a rule: `require`, `deny_if`.
    pub guards: Option<&'a Map<String, Value>>,
}

/// What the rule does, as the button says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Keep,
    Limit,
    Ask,
    Hide,
    /// No rule can be about this tool alone.
    Nothing,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    pub act: Act,
    /// A part of a policy that says nothing of other tools; empty for [`Act::Nothing`].
    pub part: Value,
    /// The rule in words.
    pub words: String,
    /// Why this one.
    pub reason: &'static str,
}

impl Recommendation {
    fn of(act: Act, part: Value, words: impl Into<String>, reason: &'static str) -> Recommendation {
        Recommendation { act, part, words: words.into(), reason }
    }

    /// What stands under the tool's name in `tools`, if it is no hidden one.
    pub(crate) fn rule(&self) -> Option<&Value> {
        self.part.get("tools")?.as_object()?.values().next()
    }
}

/// The rule for a tool, by its class and what else is known of it.
pub fn recommend(tool: &Facts<'_>) -> Recommendation {
    let Facts { name, assessment, .. } = *tool;
    if let Some(why) = unnameable(name) {
        return Recommendation::of(Act::Nothing, json!({}), "no rule", why);
    }
    if tool.has_findings && assessment.class < RiskClass::Destructive {
        let why = "Its definition holds what should not be in one: look at it before it is let through.";
        return asked(name, why);
    }
    match assessment.class {
        RiskClass::Read => Recommendation::of(
            Act::Keep,
            named(name, &json!({})),
            "allowed",
            "It changes nothing. Naming it keeps it allowed where what is not named is refused.",
        ),
        RiskClass::Write => limited(
            tool,
            WRITES,
            false,
            "It stays usable, and an agent in a loop cannot make hundreds of changes a minute.",
        ),
        RiskClass::Execute => limited(
            tool,
            EXECUTIONS,
            true,
            "It stays usable, and a runaway agent cannot fire it again and again; arguments that do not fit its schema are refused.",
        ),
        RiskClass::Destructive | RiskClass::Financial => {
            let dispatched = dispatched(tool).filter(|_| !tool.has_findings);
            dispatched.unwrap_or_else(|| grave(name, assessment.class))
        }
    }
}

/// A name that a policy cannot mean by itself.
fn unnameable(name: &str) -> Option<&'static str> {
    if name.is_empty()
        || name.len() > 1024
        || name.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffd}'))
    {
        return Some("Its name cannot be called at all: the gate refuses it whatever the rules say.");
    }
    callgate_text::is_pattern(name).then_some(
        "Its name counts as a pattern in a policy: a rule for it would be one for other tools, too.",
    )
}

fn grave(name: &str, class: RiskClass) -> Recommendation {
    match class {
        RiskClass::Destructive if DISCARDING.contains(&name) => Recommendation::of(
            Act::Hide,
            json!({ "hide": [name] }),
            "hidden",
            "It discards what was recorded and makes nothing of it. It leaves the agent's list; every other tool stays as it is.",
        ),
        RiskClass::Financial => {
            asked(name, "Money that is gone does not come back: a person looks at each call.")
        }
        _ => asked(name, "What it removes does not come back: a person looks at each call."),
    }
}

fn asked(name: &str, reason: &'static str) -> Recommendation {
    Recommendation::of(Act::Ask, named(name, &json!({ "action": "ask" })), "asked about", reason)
}

fn limited(tool: &Facts<'_>, max: u32, checked: bool, reason: &'static str) -> Recommendation {
    let (rule, words) = limits(tool, max, checked);
    Recommendation::of(Act::Limit, named(tool.name, &Value::Object(rule)), words, reason)
}

fn limits(tool: &Facts<'_>, max: u32, checked: bool) -> (Map<String, Value>, String) {
    let mut limit = Map::new();
    let counter = format!("{}_rate", tool.name);
    // Without a name of its own the limit is counted by its place.
    if counter.len() <= LONGEST_COUNTER {
        limit.insert("counter".to_owned(), json!(counter));
    }
    limit.extend([
        ("window".to_owned(), json!("minute")),
        ("max".to_owned(), json!(max)),
        ("scope".to_owned(), json!("grant")),
    ]);
    let mut rule = Map::from_iter([("limits".to_owned(), json!([limit]))]);
    let mut words = format!("at most {max} calls a minute for each client");
    if checked {
        rule.insert("validate".to_owned(), json!(true));
        words.push_str(", its arguments checked against its schema");
        if let Some(guards) = tool.guards.filter(|guards| !guards.is_empty()) {
            rule.extend(guards.clone());
            words.push_str(", and conditions on its arguments");
        }
    }
    (rule, words)
}

/// A tool that does several things, chosen by one argument: those that are known to be harmless pass as the gravest of them would.
/// A person is asked about every other value, the grave ones and those that nobody knows, and where none is said: the server then
/// chooses.
fn dispatched(tool: &Facts<'_>) -> Option<Recommendation> {
    let mut by_argument: BTreeMap<&str, Vec<&OperationClass>> = BTreeMap::new();
    for operation in &tool.assessment.operations {
        by_argument.entry(&operation.argument).or_default().push(operation);
    }
    let is_grave = |operation: &&OperationClass| operation.class.severity() == RiskSeverity::Critical;
    // Two arguments that choose: which of them decides cannot be told.
    let [(argument, operations)] = by_argument.into_iter().collect::<Vec<_>>().try_into().ok()?;
    let (grave, rest): (Vec<&OperationClass>, Vec<&OperationClass>) =
        operations.into_iter().partition(is_grave);
    let gravest = rest.iter().map(|operation| operation.class).max()?;
    // It is grave for another reason than these.
    if grave.iter().map(|operation| operation.class).max()? < tool.assessment.class {
        return None;
    }
    let path = argument_path(argument)?;
    let values: BTreeSet<&str> = rest.iter().map(|operation| operation.value.as_str()).collect();
    let (mut rule, mut words) = match gravest {
        RiskClass::Read => (Map::new(), "allowed".to_owned()),
        RiskClass::Write => limits(tool, WRITES, false),
        _ => limits(tool, EXECUTIONS, true),
    };
    let other = json!({ "path": path, "op": "not_in", "value": values });
    let unsaid = json!({ "path": path, "op": "exists", "value": false });
    rule.insert("ask_if".to_owned(), json!([{ "conditions": [other] }, { "conditions": [unsaid] }]));
    let listed: Vec<String> = values.iter().take(5).map(|value| callgate_text::name(value)).collect();
    let more = values.len().saturating_sub(listed.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    words.push_str(&format!(
        "; asked about unless {} is {}{more}",
        callgate_text::name(argument),
        listed.join(", ")
    ));
    let reason = "It does several things, chosen by an argument: a person looks at each call but those that can be undone.";
    Some(Recommendation::of(Act::Ask, named(tool.name, &Value::Object(rule)), words, reason))
}

/// As conditions name it; none for a name that they cannot write.
fn argument_path(argument: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
    if !argument.is_empty() && argument.chars().all(plain) {
        return Some(format!("args.{argument}"));
    }
    let writable =
        !argument.is_empty() && !argument.contains(['"', '\\']) && !argument.contains(char::is_control);
    writable.then(|| format!("args[\"{argument}\"]"))
}

fn named(name: &str, rule: &Value) -> Value {
    json!({ "tools": { name: rule } })
}
