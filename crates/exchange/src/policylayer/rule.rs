//! One rule in their words: `require`, `deny_if`, `limits`, and a denial for all that has no words there.

use std::collections::BTreeSet;

use callgate_policy::file::{
    Action, Clause, LimitEntry, LimitKind, Mode, Operator, Predicate, Subject, ToolRule, Value,
};
use callgate_policy::{Place, Scope, Window};

use crate::json::Json;
use crate::note::Difference;

pub(super) type Notes = Vec<(Place, Difference, String)>;

/// The windows that their examples and Intercept have.
const WINDOWS: [(&str, u64); 3] = [("minute", 60), ("hour", 3600), ("day", DAY)];
const DAY: u64 = 86400;

/// What a rule of ours becomes.
#[derive(Debug, Default)]
pub(super) struct Exportable {
    deny: Option<String>,
    require: Vec<Json>,
    deny_if: Vec<Json>,
    limits: Vec<Limit>,
}

#[derive(Debug)]
struct Limit {
    counter: String,
    window: &'static str,
    max: u64,
}

impl Exportable {
    pub(super) fn denied(&self) -> Option<String> {
        self.deny.clone()
    }

    pub(super) fn has_conditions(&self) -> bool {
        !self.require.is_empty() || !self.deny_if.is_empty()
    }

    /// Adds what a rule refuses. Rules only ever add: of two for one tool, both must let a call through. `afterwards`:
    /// whether the tool is refused when the rule has ended.
    pub(super) fn add(&mut self, rule: &ToolRule, label: &str, afterwards: bool, notes: &mut Notes) {
        self.action(rule, notes);
        for clause in &rule.require {
            match said(clause) {
                Ok(json) => self.require.push(json),
                Err(why) => self.cannot(&clause.place, &why, notes),
            }
            self.dialect(clause, notes);
        }
        for clause in &rule.deny_if {
            match said(clause) {
                Ok(json) => self.deny_if.push(json),
                Err(why) => self.cannot(&clause.place, &why, notes),
            }
            self.dialect(clause, notes);
        }
        for clause in &rule.ask_if {
            let text = "what is asked about is denied: PolicyLayer cannot ask".to_owned();
            notes.push((clause.place.clone(), Difference::Stricter, text));
            match said(clause) {
                Ok(json) => self.deny_if.push(json),
                Err(why) => self.cannot(&clause.place, &why, notes),
            }
        }
        for entry in &rule.limits {
            self.limit(entry, label, notes);
        }
        if let Some(rate) = &rule.rate_limit {
            let text = "counted per grant there, not per session".to_owned();
            notes.push((rate.place.clone(), Difference::Stricter, text));
            self.window(
                rate.rate.window,
                u64::from(rate.rate.max.get()),
                format!("{label}_rate_limit"),
                &rate.place,
                notes,
            );
            if rate.on_deny.is_some() {
                notes.push((
                    rate.place.clone(),
                    Difference::NotSaid,
                    "a limit has no `on_deny` there".to_owned(),
                ));
            }
        }
        self.rest(rule, afterwards, notes);
    }

    fn action(&mut self, rule: &ToolRule, notes: &mut Notes) {
        let Some(action) = &rule.action else { return };
        match action.value {
            Action::Allow => {}
            Action::Deny => {
                let reason = rule.reason.clone().unwrap_or_else(|| "denied".to_owned());
                self.deny.get_or_insert(reason);
            }
            Action::Ask => self.cannot(&action.place, "PolicyLayer cannot ask", notes),
        }
    }

    /// The keys that are about more than conditions and limits.
    fn rest(&mut self, rule: &ToolRule, afterwards: bool, notes: &mut Notes) {
        if let Some(validate) = rule.validate.as_ref().filter(|v| v.value) {
            self.cannot(
                &validate.place,
                "arguments cannot be checked against the tool's schema there",
                notes,
            );
        }
        if let Some(until) = &rule.until {
            if afterwards {
                self.cannot(
                    &until.place,
                    "nothing ends by itself there, and then the tool is refused",
                    notes,
                );
            } else {
                let text = "the rule does not end by itself there".to_owned();
                notes.push((until.place.clone(), Difference::Stricter, text));
            }
        }
        if let Some(mode) = rule.mode.as_ref().filter(|m| m.value == Mode::Observe) {
            let text = "the rule is enforced, not only observed".to_owned();
            notes.push((mode.place.clone(), Difference::Stricter, text));
        }
        let mut out: Vec<(&Place, &str)> = Vec::new();
        out.extend(rule.record.iter().map(|r| {
            (&r.place, "`record` has no place there: their log keeps the names of arguments and no values")
        }));
        out.extend(rule.pin.iter().map(|p| (&p.place, "`pin` has no place there")));
        out.extend(rule.loops.iter().map(|l| (&l.place, "`loop` has no place there")));
        out.extend(rule.ask.iter().map(|a| (&a.place, "`ask` has no place there")));
        notes.extend(
            out.into_iter().map(|(place, text)| (place.clone(), Difference::NotSaid, text.to_owned())),
        );
    }

    fn cannot(&mut self, place: &Place, why: &str, notes: &mut Notes) {
        notes.push((place.clone(), Difference::Stricter, format!("{why}: the tool is denied")));
        self.deny.get_or_insert_with(|| "this rule could not be exported".to_owned());
    }

    /// How a clause that can be said may still be judged differently.
    fn dialect(&self, clause: &Clause, notes: &mut Notes) {
        for predicate in &clause.conditions {
            let differs = match predicate.op {
                Operator::Regex => {
                    "patterns are read by another engine there: \\w, \\d and \\s may be ASCII only"
                }
                Operator::Exists => "null may count as absent there",
                _ => continue,
            };
            notes.push((predicate.place.clone(), Difference::Differs, differs.to_owned()));
        }
    }

    fn limit(&mut self, entry: &LimitEntry, label: &str, notes: &mut Notes) {
        let place = &entry.place;
        let (LimitKind::Calls, Some(window)) = (entry.kind.value, entry.window) else {
            let why = format!("limits of kind {} cannot be said there", entry.kind.value.word());
            return self.cannot(place, &why, notes);
        };
        match entry.scope {
            Scope::Grant => {}
            Scope::Session => {
                notes.push((
                    place.clone(),
                    Difference::Stricter,
                    "counted per grant there, not per session".to_owned(),
                ));
            }
            Scope::Client | Scope::Server | Scope::All => {
                let why = format!(
                    "limits count per grant there, which would be looser than the scope {:?}",
                    entry.scope.word()
                );
                return self.cannot(place, &why, notes);
            }
        }
        if entry.until.is_some() {
            notes.push((
                place.clone(),
                Difference::Stricter,
                "the limit does not end by itself there".to_owned(),
            ));
        }
        if entry.on_deny.is_some() {
            notes.push((place.clone(), Difference::NotSaid, "a limit has no `on_deny` there".to_owned()));
        }
        let counter = entry.counter.clone().unwrap_or_else(|| format!("{label}_per_{window}"));
        self.window(window, u64::from(entry.max.get()), counter, place, notes);
    }

    /// The next longer window with the same number, or so few a day that no longer window has more.
    fn window(&mut self, window: Window, max: u64, counter: String, place: &Place, notes: &mut Notes) {
        let seconds = window.duration().as_secs();
        if let Some((word, length)) = WINDOWS.iter().find(|(_, length)| *length >= seconds) {
            if *length != seconds {
                let text = format!("{max} per {window} cannot be said there; it is {max} per {word}");
                notes.push((place.clone(), Difference::Stricter, text));
            }
            if *word == "day" {
                let text = "their examples have no window \"day\"; Intercept has it".to_owned();
                notes.push((place.clone(), Difference::Differs, text));
            }
            self.limits.push(Limit { counter, window: word, max });
            return;
        }
        // A window that slides over n days touches n + 1 days of the calendar.
        let days = seconds.div_ceil(DAY) + 1;
        let a_day = max / days;
        if a_day == 0 {
            let why = format!("{max} per {window} cannot be said there, and is less than one a day");
            return self.cannot(place, &why, notes);
        }
        let text = format!("{max} per {window} cannot be said there; it is {a_day} per day");
        notes.push((place.clone(), Difference::Stricter, text));
        self.limits.push(Limit { counter, window: "day", max: a_day });
    }

    /// The limits with their counters; no two of them are taken for one.
    pub(super) fn limits(&self, taken: &mut BTreeSet<String>) -> Vec<(String, Json)> {
        let mut out = Vec::new();
        for limit in &self.limits {
            let names =
                std::iter::once(limit.counter.clone()).chain((2..).map(|n| format!("{}_{n}", limit.counter)));
            let Some(counter) = names.into_iter().find(|name| !taken.contains(name)) else { continue };
            taken.insert(counter.clone());
            let json = Json::object([
                ("counter", Json::text(counter.as_str())),
                ("window", Json::text(limit.window)),
                ("max", Json::number(limit.max)),
                ("scope", Json::text("grant")),
            ]);
            out.push((counter, json));
        }
        out
    }

    /// The rule of a tool, with the conditions of all tools in it.
    pub(super) fn to_json(&self, all: &Exportable, taken: &BTreeSet<String>) -> Json {
        let mut out = Json::Object(Vec::new());
        if let Some(reason) = &self.deny {
            let always = Json::object([
                ("conditions", Json::List(Vec::new())),
                ("on_deny", Json::text(reason.as_str())),
            ]);
            return out.with("deny_if", Json::List(vec![always]));
        }
        for (key, own, shared) in
            [("require", &self.require, &all.require), ("deny_if", &self.deny_if, &all.deny_if)]
        {
            let entries: Vec<Json> = own.iter().chain(shared).cloned().collect();
            if !entries.is_empty() {
                out = out.with(key, Json::List(entries));
            }
        }
        let limits = self.limits(&mut taken.clone());
        if !limits.is_empty() {
            out = out.with("limits", Json::List(limits.into_iter().map(|(_, limit)| limit).collect()));
        }
        out
    }
}

fn said(clause: &Clause) -> Result<Json, String> {
    let conditions: Vec<Json> = clause.conditions.iter().map(predicate).collect::<Result<_, _>>()?;
    Ok(Json::object([("conditions", Json::List(conditions))]).with_some("on_deny", clause.on_deny.as_deref()))
}

fn predicate(predicate: &Predicate) -> Result<Json, String> {
    if matches!(predicate.op, Operator::Inside | Operator::NotInside) {
        return Err(format!("the operator {} is not known there", predicate.op.word()));
    }
    let path = match &predicate.subject {
        Subject::Argument(path) => path,
        Subject::Every(kind) => {
            return Err(format!(
                "a condition on every argument of a kind (\"args\": {:?}) is not known there",
                kind.word()
            ));
        }
    };
    let plain = |name: &str| !name.is_empty() && !name.contains(['.', '[']);
    if path.steps.is_empty() || path.steps.iter().any(|step| step.index.is_some() || !plain(&step.name)) {
        return Err(format!("the path {:?} cannot be written there", path.text));
    }
    let names: Vec<&str> = path.steps.iter().map(|step| step.name.as_str()).collect();
    Ok(Json::object([
        ("path", Json::text(format!("args.{}", names.join(".")))),
        ("op", Json::text(predicate.op.word())),
        ("value", value(&predicate.value)),
    ]))
}

fn value(written: &Value) -> Json {
    match written {
        Value::Null => Json::Raw("null".to_owned()),
        Value::Bool(b) => Json::Raw(b.to_string()),
        Value::Number(n) => Json::Raw(n.clone()),
        Value::Text(text) => Json::text(text.as_str()),
        Value::List(values) => Json::List(values.iter().map(value).collect()),
    }
}
