//! Intercept's engine in small: what it denies, by its published behaviour. Calendar windows, one clock, no failed calls.

use std::collections::HashMap;

use serde_json::Value;

#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) deny: bool,
    pub(crate) hide: Vec<String>,
    pub(crate) tools: Vec<(String, Vec<Rule>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) deny: bool,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) state: Option<State>,
}

#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) path: String,
    pub(crate) op: &'static str,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) counter: String,
    pub(crate) window: &'static str,
    pub(crate) increment: i64,
    pub(crate) from: Option<String>,
}

pub(crate) fn seconds(window: &str) -> u64 {
    match window {
        "minute" => 60,
        "hour" => 3600,
        _ => 86400,
    }
}

impl Config {
    /// The policy as a person would write it; JSON values are YAML too.
    pub(crate) fn yaml(&self) -> String {
        let mut out = format!("version: \"1\"\ndefault: {}\n", if self.deny { "deny" } else { "allow" });
        out.push_str(&format!("hide: {}\ntools:\n", Value::from(self.hide.clone())));
        for (tool, rules) in &self.tools {
            out.push_str(&format!("  {}:\n    rules:\n", Value::from(tool.as_str())));
            for (i, rule) in rules.iter().enumerate() {
                out.push_str(&format!("      - name: rule {i}\n"));
                if rule.deny {
                    out.push_str("        action: deny\n");
                }
                for (j, c) in rule.conditions.iter().enumerate() {
                    let head = if j == 0 { "        conditions:\n" } else { "" };
                    out.push_str(&format!(
                        "{head}          - {{path: {}, op: {}, value: {}}}\n",
                        Value::from(c.path.as_str()),
                        c.op,
                        c.value
                    ));
                }
                if let Some(state) = &rule.state {
                    let from =
                        state.from.as_ref().map(|f| format!(", increment_from: {f}")).unwrap_or_default();
                    out.push_str(&format!(
                        "        state: {{counter: {}, window: {}, increment: {}{from}}}\n",
                        state.counter, state.window, state.increment
                    ));
                }
            }
        }
        out
    }
}

#[derive(Default)]
pub(crate) struct Engine {
    /// Value, start of its window, length of its window.
    counters: HashMap<String, (i64, u64, u64)>,
}

impl Engine {
    fn value(&self, key: &str, now: u64) -> i64 {
        match self.counters.get(key) {
            Some((value, start, length)) if now / length * length == *start => *value,
            _ => 0,
        }
    }

    /// Is the call let through?
    pub(crate) fn call(&mut self, config: &Config, tool: &str, args: &Value, now: u64) -> bool {
        if config.hide.iter().any(|name| name == tool || name == "*") {
            return false;
        }
        let rules_of =
            |name: &str| config.tools.iter().find(|(tool, _)| tool == name).map(|(_, rules)| rules);
        if config.deny && rules_of(tool).is_none() {
            return false;
        }
        let mut rules: Vec<(&Rule, &str)> = Vec::new();
        rules.extend(rules_of(tool).into_iter().flatten().map(|rule| (rule, tool)));
        rules.extend(rules_of("*").into_iter().flatten().map(|rule| (rule, "_global")));
        for (rule, _) in &rules {
            if rule.deny || !rule.conditions.iter().all(|c| self.holds(c, args, now)) {
                return false;
            }
        }
        let mut reserved = HashMap::new();
        for (rule, scope) in &rules {
            let Some(state) = &rule.state else { continue };
            let amount = match &state.from {
                None => state.increment,
                Some(path) => match resolve(args, path.trim_start_matches("args.")).and_then(Value::as_f64) {
                    Some(amount) => amount.trunc() as i64,
                    None => return false,
                },
            };
            let key = format!("{scope}.{}", state.counter);
            let own = format!("state.{key}");
            let limit = rule.conditions.iter().filter(|c| c.path == own).find_map(|c| {
                let number = c.value.as_f64()?.trunc() as i64;
                match c.op {
                    "lt" => Some(number - 1),
                    "lte" => Some(number),
                    _ => None,
                }
            });
            let Some(limit) = limit else { continue };
            let length = seconds(state.window);
            let value = self.value(&key, now) + amount;
            if value > limit {
                return false;
            }
            reserved.insert(key, (value, now / length * length, length));
        }
        self.counters.extend(reserved);
        true
    }

    fn holds(&self, condition: &Condition, args: &Value, now: u64) -> bool {
        let found = match condition.path.strip_prefix("args.") {
            Some(path) => resolve(args, path).cloned(),
            None => Some(Value::from(self.value(condition.path.trim_start_matches("state."), now))),
        };
        if condition.op == "exists" {
            let there = found.is_some_and(|value| !value.is_null());
            return Some(there) == condition.value.as_bool();
        }
        let Some(found) = found else { return false };
        let wanted = &condition.value;
        let compare = |test: fn(f64, f64) -> bool| match (found.as_f64(), wanted.as_f64()) {
            (Some(a), Some(b)) => test(a, b),
            _ => false,
        };
        let among = || wanted.as_array().is_some_and(|list| list.iter().any(|item| equal(&found, item)));
        match condition.op {
            "eq" => equal(&found, wanted),
            "neq" => !equal(&found, wanted),
            "in" => among(),
            "not_in" => !among(),
            "lt" => compare(|a, b| a < b),
            "lte" => compare(|a, b| a <= b),
            "gt" => compare(|a, b| a > b),
            "gte" => compare(|a, b| a >= b),
            // The patterns of the tests: `^x` and `^[a-c]+$`.
            "regex" => match (found.as_str(), wanted.as_str()) {
                (Some(text), Some("^x")) => text.starts_with('x'),
                (Some(text), Some(_)) => !text.is_empty() && text.chars().all(|c| ('a'..='c').contains(&c)),
                _ => false,
            },
            "contains" => match (&found, wanted) {
                (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
                (Value::Array(items), wanted) => items.iter().any(|item| equal(item, wanted)),
                _ => false,
            },
            other => panic!("{other}"),
        }
    }
}

fn resolve<'v>(args: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(args, |at, step| at.as_object()?.get(step))
}

/// Numbers by value, all else by how Go prints it (close enough for the values of the tests).
fn equal(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => printed(a) == printed(b),
    }
}

fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(printed).collect::<Vec<_>>().join(" ")),
        Value::Object(_) => "map[]".to_owned(),
        other => other.to_string(),
    }
}
