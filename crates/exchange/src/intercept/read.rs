//! The file as Intercept reads and checks it: the same errors, each with its place and a fix, all at once.

use std::collections::HashMap;
use std::rc::Rc;

use super::config::{
    ConditionSubject, Config, CounterState, Increment, OPS, Op, Rule, SourceCondition, Spot, Tool,
};
use super::pattern;
use super::value::{Operand, Unfit};
use crate::ledger::{Ledger, SourcePosition, below};
use crate::note::Difference;
use crate::yaml::{Node, Scalar, Value};

const WINDOWS: [&str; 3] = ["minute", "hour", "day"];

/// `None` when there is nothing that could be used; else what was read, with its problems in the ledger.
pub(super) fn config(root: &Rc<Node>, ledger: &mut Ledger) -> Option<Config> {
    let mut reader = Reader { ledger };
    let known = ["version", "description", "default", "hide", "tools"];
    let fields = reader.fields(root, "", "a policy", &known)?;
    let version = fields.get("version").map(|node| (node.place, reader.text(node, "/version", "`version`")));
    match version {
        Some((_, Some(version))) if version == "1" => {}
        Some((_, None)) => {}
        Some((place, Some(other))) => {
            let message = format!("version must be \"1\", got {other:?}");
            reader.ledger.problem(place, "/version", message, "write version: \"1\"");
        }
        None => {
            reader.ledger.problem(root.place, "/version", "version is missing", "add version: \"1\"");
        }
    }
    let description =
        fields.get("description").and_then(|node| reader.text(node, "/description", "`description`"));
    Some(Config {
        description: description.filter(|text| !text.is_empty()),
        default_deny: fields.get("default").is_some_and(|node| reader.default_deny(node)),
        hide: fields.get("hide").map(|node| reader.hide(node)).unwrap_or_default(),
        tools: fields.get("tools").map(|node| reader.tools(node)).unwrap_or_default(),
    })
}

type Fields<'n> = HashMap<&'n str, &'n Rc<Node>>;

struct Reader<'l> {
    ledger: &'l mut Ledger,
}

impl Reader<'_> {
    /// A map with known keys. Intercept ignores what it does not know; that is worth a word.
    fn fields<'n>(
        &mut self,
        node: &'n Node,
        pointer: &str,
        what: &str,
        known: &[&str],
    ) -> Option<Fields<'n>> {
        let entries = match &node.value {
            Value::Map(entries) => entries,
            _ if node.is_null() => return Some(Fields::new()),
            _ => {
                self.wrong_kind(node, pointer, what, "a map");
                return None;
            }
        };
        let mut fields = Fields::new();
        for (key, value) in entries {
            let name = key.text().unwrap_or_default();
            if known.contains(&name) {
                fields.insert(name, value);
            } else {
                let text =
                    format!("{name:?} is no key of {what}: Intercept ignores it, and it was left out here");
                self.ledger.note(key.place.line, Difference::NotSaid, text);
            }
        }
        Some(fields)
    }

    fn wrong_kind(&mut self, node: &Node, pointer: &str, what: &str, wanted: &str) {
        let fix = match wanted {
            "a list" => "write each entry on a line of its own, after \"- \"",
            "a map" => "write name: value, one a line, indented",
            _ => "write one plain value",
        };
        let message = format!("{what} must be {wanted}, not {}", node.kind());
        self.ledger.problem(node.place, pointer, message, fix);
    }

    /// Any scalar as text, as Go puts it into a text field.
    fn text(&mut self, node: &Node, pointer: &str, what: &str) -> Option<String> {
        let text = node.text();
        if text.is_none() {
            self.wrong_kind(node, pointer, what, "text");
        }
        text.map(str::to_owned)
    }

    fn items<'n>(&mut self, node: &'n Node, pointer: &str, what: &str) -> &'n [Rc<Node>] {
        match &node.value {
            Value::List(items) => items,
            _ => {
                if !node.is_null() {
                    self.wrong_kind(node, pointer, what, "a list");
                }
                &[]
            }
        }
    }

    fn default_deny(&mut self, node: &Node) -> bool {
        match self.text(node, "/default", "`default`").as_deref() {
            Some("deny") => true,
            Some("allow" | "") | None => false,
            Some(other) => {
                let message = format!("default must be \"allow\" or \"deny\", got {other:?}");
                self.ledger.problem(node.place, "/default", message, "write allow or deny, or leave it out");
                false
            }
        }
    }

    fn hide(&mut self, node: &Node) -> Vec<Spot<String>> {
        let mut out: Vec<Spot<String>> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (i, item) in self.items(node, "/hide", "`hide`").iter().enumerate() {
            let pointer = format!("/hide/{i}");
            let Some(name) = self.text(item, &pointer, "an entry of `hide`") else { continue };
            if name.trim().is_empty() {
                let message = "an entry of `hide` must not be empty";
                self.ledger.problem(item.place, &pointer, message, "remove it, or write a tool's name");
            } else if let Some(first) = seen.get(&name) {
                let message = format!("{name:?} is hidden twice, first in line {first}");
                self.ledger.problem(item.place, &pointer, message, "remove one of them");
            } else {
                seen.insert(name.clone(), item.place.line);
                out.push(Spot { value: name, place: item.place });
            }
        }
        out
    }

    fn tools(&mut self, node: &Node) -> Vec<Tool> {
        let entries = match &node.value {
            Value::Map(entries) => entries.as_slice(),
            _ if node.is_null() => &[],
            _ => {
                self.wrong_kind(node, "/tools", "`tools`", "a map");
                &[]
            }
        };
        let mut out = Vec::new();
        for (key, value) in entries {
            let name = key.text().unwrap_or_default().to_owned();
            let pointer = below("/tools", &name);
            let Some(fields) = self.fields(value, &pointer, "a tool", &["rules"]) else { continue };
            let mut tool = Tool { name, place: key.place, rules: Vec::new() };
            if let Some(rules) = fields.get("rules") {
                tool.rules = self.rules(rules, &below(&pointer, "rules"), tool.scope());
            }
            out.push(tool);
        }
        out
    }

    fn rules(&mut self, node: &Node, pointer: &str, scope: &str) -> Vec<Rule> {
        let mut out: Vec<Rule> = Vec::new();
        let mut counters: HashMap<String, usize> = HashMap::new();
        for (i, item) in self.items(node, pointer, "`rules`").iter().enumerate() {
            let pointer = format!("{pointer}/{i}");
            let Some(rule) = self.rule(item, &pointer, scope) else { continue };
            if let Some(state) = &rule.state
                && let Some(first) = counters.insert(state.counter.clone(), rule.place.line)
            {
                let message = format!(
                    "duplicate state counter {:?}, also used by the rule in line {first}",
                    state.counter
                );
                let fix = "use another counter name, or another window";
                self.ledger.problem(state.place, &below(&pointer, "state"), message, fix);
            }
            out.push(rule);
        }
        out
    }

    fn rule(&mut self, node: &Node, pointer: &str, scope: &str) -> Option<Rule> {
        let known = ["name", "action", "rate_limit", "conditions", "on_deny", "state"];
        let fields = self.fields(node, pointer, "a rule", &known)?;
        let mut text = |key: &str| -> Option<String> {
            let node = fields.get(key)?;
            self.text(node, &below(pointer, key), &format!("`{key}`")).filter(|text| !text.is_empty())
        };
        let (name, action, rate, on_deny) =
            (text("name"), text("action"), text("rate_limit"), text("on_deny"));
        if name.is_none() && fields.get("name").is_none_or(|node| node.text().is_some()) {
            self.ledger.problem(node.place, pointer, "a rule must have a name", "add name: …");
        }
        let deny = match action.as_deref() {
            Some("deny") => true,
            Some("evaluate") | None => false,
            Some(other) => {
                let message = format!("action must be \"evaluate\" or \"deny\", got {other:?}");
                let place = fields.get("action").map_or(node.place, |n| n.place);
                self.ledger.problem(place, &below(pointer, "action"), message, "write evaluate or deny");
                false
            }
        };
        let conditions_at = below(pointer, "conditions");
        let conditions = fields.get("conditions").map(|node| self.conditions(node, &conditions_at));
        let has_conditions =
            fields.get("conditions").is_some_and(|n| matches!(&n.value, Value::List(l) if !l.is_empty()));
        let mut conditions = conditions.unwrap_or_default();
        let written_state = fields.get("state").filter(|node| !node.is_null());
        let mut state = written_state.and_then(|node| self.state(node, &below(pointer, "state")));
        if let Some(rate) = rate {
            let place = fields.get("rate_limit").map_or(node.place, |n| n.place);
            let at = below(pointer, "rate_limit");
            let rate = self.rate(&rate, place, &at);
            if has_conditions || written_state.is_some() {
                let message = "rate_limit cannot be combined with conditions or state";
                self.ledger.problem(
                    place,
                    &at,
                    message,
                    "make it a rule of its own, or write it out as conditions and state",
                );
            }
            if deny {
                let message = "rate_limit cannot be used with action \"deny\"";
                self.ledger.problem(place, &at, message, "remove rate_limit, or the action");
            }
            let (max, window) = rate?;
            let counter = format!("_rate_{window}");
            conditions.push(SourceCondition {
                place,
                pointer: at,
                subject: ConditionSubject::State(format!("{scope}.{counter}")),
                op: Op::Lte,
                value: Operand::Number(max as f64, max.to_string()),
            });
            state = Some(CounterState { place, counter, window, step: Increment::Fixed(1) });
            let rule =
                Rule { name: name.unwrap_or_default(), place: node.place, deny, conditions, on_deny, state };
            return Some(rule);
        }
        if deny && has_conditions {
            let place = fields.get("conditions").map_or(node.place, |n| n.place);
            let message = "a deny rule must not have conditions";
            self.ledger.problem(place, &conditions_at, message, "remove the conditions, or the action");
        }
        if !deny && !has_conditions {
            let message = "an evaluate rule must have at least one condition";
            self.ledger.problem(
                node.place,
                pointer,
                message,
                "add conditions, a rate_limit, or action: deny",
            );
        }
        Some(Rule { name: name.unwrap_or_default(), place: node.place, deny, conditions, on_deny, state })
    }

    /// `5/hour`
    fn rate(&mut self, text: &str, place: SourcePosition, pointer: &str) -> Option<(i64, &'static str)> {
        let Some((count, window)) = text.split_once('/') else {
            let message = format!("rate_limit must be a count, a slash and a window, got {text:?}");
            self.ledger.problem(place, pointer, message, "write it like 5/hour");
            return None;
        };
        // As Go reads a whole number: a plus is fine, blanks are not.
        let number: Option<i64> = count.parse().ok().filter(|n| *n > 0);
        if number.is_none() {
            let message = format!("the count of a rate_limit must be a positive whole number, got {count:?}");
            self.ledger.problem(place, pointer, message, "write it like 5/hour");
        }
        let known = WINDOWS.iter().find(|w| **w == window);
        if known.is_none() {
            let message = format!("the window of a rate_limit must be minute, hour or day, got {window:?}");
            self.ledger.problem(place, pointer, message, "write it like 5/hour");
        }
        Some((number?, known?))
    }

    fn conditions(&mut self, node: &Node, pointer: &str) -> Vec<SourceCondition> {
        let mut out = Vec::new();
        for (i, item) in self.items(node, pointer, "`conditions`").iter().enumerate() {
            out.extend(self.condition(item, &format!("{pointer}/{i}")));
        }
        out
    }

    fn condition(&mut self, node: &Node, pointer: &str) -> Option<SourceCondition> {
        let fields = self.fields(node, pointer, "a condition", &["path", "op", "value"])?;
        let mut text = |key: &str| match fields.get(key) {
            Some(found) => self.text(found, &below(pointer, key), &format!("`{key}`")),
            None => Some(String::new()),
        };
        let (path, op) = (text("path"), text("op"));
        let place_of = |key: &str| fields.get(key).map_or(node.place, |n| n.place);
        let subject = path.and_then(|path| {
            if let Some(rest) = path.strip_prefix("args.") {
                return Some(ConditionSubject::Args(rest.split('.').map(str::to_owned).collect()));
            }
            if let Some(rest) = path.strip_prefix("state.") {
                return Some(ConditionSubject::State(rest.to_owned()));
            }
            let message = format!("a path must start with \"args.\" or \"state.\", got {path:?}");
            let fix = "write args.<field> or state.<tool>.<counter>";
            self.ledger.problem(place_of("path"), &below(pointer, "path"), message, fix);
            None
        });
        let op = op.and_then(|op| {
            let found = OPS.iter().find(|(word, _)| *word == op).map(|(_, op)| *op);
            if found.is_none() {
                let words: Vec<&str> = OPS.iter().map(|(word, _)| *word).collect();
                let message = format!("unknown operator {op:?}");
                let fix = format!("use one of {}", words.join(", "));
                self.ledger.problem(place_of("op"), &below(pointer, "op"), message, fix);
            }
            found
        })?;
        let value =
            self.operand(fields.get("value").copied(), op, place_of("value"), &below(pointer, "value"));
        Some(SourceCondition {
            place: node.place,
            pointer: pointer.to_owned(),
            subject: subject?,
            op,
            value: value?,
        })
    }

    fn operand(
        &mut self,
        node: Option<&Rc<Node>>,
        op: Op,
        place: SourcePosition,
        pointer: &str,
    ) -> Option<Operand> {
        let mut wrong = |message: String, fix: &str| {
            self.ledger.problem(place, pointer, message, fix);
            None
        };
        let value = match Operand::of(node) {
            Ok(value) => value,
            Err(Unfit::Unsigned) => {
                let message = "Intercept cannot compare whole numbers beyond 9223372036854775807".to_owned();
                return wrong(message, "put it in quotes to compare it as text, or write a smaller number");
            }
            Err(Unfit::NotFinite) => {
                return wrong(
                    "no argument of a call can be infinite or not a number".to_owned(),
                    "write a number",
                );
            }
            Err(Unfit::Time) => {
                let message = "Intercept takes this for a date, and no argument ever equals it".to_owned();
                return wrong(message, "put it in quotes to compare it as text");
            }
        };
        let word = op.word();
        match (op, &value) {
            (Op::In | Op::NotIn, Operand::List(_)) => {}
            (Op::In | Op::NotIn, _) => {
                return wrong(
                    format!("operator {word:?} requires a list value"),
                    "write a list: [\"a\", \"b\"]",
                );
            }
            (Op::Lt | Op::Lte | Op::Gt | Op::Gte, Operand::Number(..)) => {}
            (Op::Lt | Op::Lte | Op::Gt | Op::Gte, _) => {
                return wrong(
                    format!("operator {word:?} requires a numeric value"),
                    "write a number, without quotes",
                );
            }
            (Op::Exists, Operand::Bool(_)) => {}
            (Op::Exists, _) => {
                let message = "operator \"exists\" requires a boolean value".to_owned();
                return wrong(message, "write true or false");
            }
            (Op::Regex, Operand::Text(text)) => {
                if let Some(why) = pattern::difference(text) {
                    return wrong(format!("invalid regex {text:?}: {why}"), "mend the regular expression");
                }
            }
            (Op::Regex, _) => {
                return wrong("the value of regex must be a string".to_owned(), "put the pattern in quotes");
            }
            (Op::Eq | Op::Neq | Op::Contains, _) => {}
        }
        Some(value)
    }

    fn state(&mut self, node: &Node, pointer: &str) -> Option<CounterState> {
        let fields =
            self.fields(node, pointer, "`state`", &["counter", "window", "increment", "increment_from"])?;
        let mut text = |key: &str| match fields.get(key) {
            Some(found) => self.text(found, &below(pointer, key), &format!("`{key}`")),
            None => Some(String::new()),
        };
        let (counter, window, from) = (text("counter"), text("window"), text("increment_from"));
        let place_of = |key: &str| fields.get(key).map_or(node.place, |n| n.place);
        if counter.as_deref() == Some("") {
            self.ledger.problem(
                place_of("counter"),
                &below(pointer, "counter"),
                "counter must not be empty",
                "write a name for the counter",
            );
        }
        let known = window.as_deref().and_then(|window| WINDOWS.into_iter().find(|w| *w == window));
        if let (None, Some(window)) = (known, &window) {
            let message = format!("window must be \"minute\", \"hour\" or \"day\", got {window:?}");
            self.ledger.problem(
                place_of("window"),
                &below(pointer, "window"),
                message,
                "write minute, hour or day",
            );
        }
        let increment = match fields.get("increment") {
            Some(found) => self.increment(found, &below(pointer, "increment")),
            None => Some(1),
        };
        let step = match from.as_deref() {
            Some("") => increment.map(Increment::Fixed),
            Some(path) => match path.strip_prefix("args.") {
                Some(rest) => Some(Increment::From(rest.split('.').map(str::to_owned).collect())),
                None => {
                    let message = format!("increment_from must start with \"args.\", got {path:?}");
                    let place = place_of("increment_from");
                    self.ledger.problem(
                        place,
                        &below(pointer, "increment_from"),
                        message,
                        "write a path like args.amount",
                    );
                    None
                }
            },
            None => None,
        };
        // After a problem nothing is made of it, but conditions that name the counter are not wrong for that.
        let (window, step) = (known.unwrap_or("minute"), step.unwrap_or(Increment::Fixed(1)));
        Some(CounterState { place: node.place, counter: counter?, window, step })
    }

    /// Nothing and zero mean one.
    fn increment(&mut self, node: &Node, pointer: &str) -> Option<i64> {
        let number = match &node.value {
            Value::Scalar { scalar: Scalar::Int(n), .. } => Some(*n),
            Value::Scalar { scalar: Scalar::Float(f), .. } if f.is_finite() && f.abs() < 9e15 => {
                Some(*f as i64)
            }
            Value::Scalar { scalar: Scalar::Null, .. } => Some(0),
            _ => None,
        };
        if number.is_none() {
            let message = format!("increment must be a whole number, not {}", node.kind());
            self.ledger.problem(node.place, pointer, message, "write a whole number, such as 1");
        }
        number.map(|n| if n == 0 { 1 } else { n })
    }
}
