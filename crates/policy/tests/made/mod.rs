//! Policies made up by chance, in pieces small enough that one of them can be changed.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::Index;

pub(crate) const NAMES: [&str; 7] = ["alpha", "Alpha", "beta", "gamma", "g/~x", "größe", "zeta"];
const CODEGEN: [&str; 5] = [
    r#"{"one_open_session":true}"#,
    r#"{"own_sessions_only":true}"#,
    r#"{"keep_unfinished":true}"#,
    r#"{"one_open_session":true,"own_sessions_only":true,"keep_unfinished":true}"#,
    r#"{"one_open_session":false}"#,
];
const CLASSES: [&str; 7] = [
    r#"{"read":{}}"#,
    r#"{"read":{"action":"deny"},"execute":{}}"#,
    r#"{"write":{"action":"hide"}}"#,
    r#"{"execute":{"action":"ask"},"write":{"deny_if":[{"path":"args.a","op":"eq","value":1}]}}"#,
    r#"{"write":{"mode":"enforce","record":"keys","limits":[{"counter":"cw","window":"minute","max":3}]}}"#,
    r#"{"read":{"action":"hide","until":"2026-03-01T18:00:00Z"},"write":{"validate":true}}"#,
    r#"{"execute":{"until":"2026-03-01T19:00:00Z"},"read":{"require":[{"path":"args.b","op":"exists"}]}}"#,
];
const GLOBS: [&str; 6] = ["*", "g*", "?eta", "*a", "G*", "*et*"];

pub(crate) const FIRST_END_MS: i64 = 1_772_388_000_000;
pub(crate) const LAST_END_MS: i64 = FIRST_END_MS + 3_600_000;
const ENDS: [&str; 2] = ["\"2026-03-01T18:00:00Z\"", "\"2026-03-01T19:00:00Z\""];

/// The members of one object, as JSON.
pub(crate) type Fields = BTreeMap<&'static str, String>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) top: Fields,
    pub(crate) hide: BTreeSet<String>,
    pub(crate) all_tools: Fields,
    pub(crate) tools: BTreeMap<String, Fields>,
}

#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) base: Body,
    pub(crate) clients: BTreeMap<String, Body>,
    /// What stands between members, and what stands before everything.
    pub(crate) layout: (&'static str, &'static str),
    pub(crate) trailing_comma: bool,
}

pub(crate) fn name() -> impl Strategy<Value = String> {
    prop::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

fn name_or_glob() -> impl Strategy<Value = String> {
    prop_oneof![3 => name(), 2 => prop::sample::select(&GLOBS[..]).prop_map(str::to_owned)]
}

fn one_of(choices: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
    prop::sample::select(choices).prop_map(str::to_owned)
}

fn clause() -> impl Strategy<Value = String> {
    let op = one_of(&[
        r#""op":"eq","value":1"#,
        r#""op":"neq","value":"x""#,
        r#""op":"in","value":[1,"x"]"#,
        r#""op":"not_in","value":[2]"#,
        r#""op":"lt","value":2"#,
        r#""op":"gte","value":1.5"#,
        r#""op":"regex","value":"^x""#,
        r#""op":"contains","value":"x""#,
        r#""op":"exists""#,
        r#""op":"exists","value":false"#,
    ]);
    let path = one_of(&["args.a", "args.b", "args.b.c", "args.b.c.0", "args"]);
    let one = (path, op.clone()).prop_map(|(path, op)| format!("{{\"path\":\"{path}\",{op}}}"));
    let every =
        (one_of(&["paths", "urls"]), op).prop_map(|(kind, op)| format!("{{\"args\":\"{kind}\",{op}}}"));
    let predicate = prop_oneof![5 => one, 1 => every];
    prop_oneof![
        4 => predicate.clone(),
        2 => prop::collection::vec(predicate, 0..3)
            .prop_map(|all| format!("{{\"conditions\":[{}],\"on_deny\":\"no\"}}", all.join(","))),
    ]
}

fn clauses() -> impl Strategy<Value = String> {
    prop::collection::vec(clause(), 1..3).prop_map(|all| format!("[{}]", all.join(",")))
}

/// Each with a counter of its own within the rule; layers may share one, and then the file is broken.
fn limits(counter: &'static str) -> impl Strategy<Value = String> {
    let kind = one_of(&[
        r#""window":"minute""#,
        r#""window":"hour""#,
        r#""kind":"concurrent""#,
        r#""kind":"total""#,
        r#""kind":"sum","window":"day","amount_from":"args.a""#,
    ]);
    let until = prop::option::weighted(0.2, prop::sample::select(&ENDS[..]));
    let scope = prop::option::weighted(0.2, Just("session"));
    (1u32..5, kind, until, scope, any::<bool>()).prop_map(move |(max, kind, until, scope, named)| {
        let counter = if named { format!("\"counter\":\"{counter}\",") } else { String::new() };
        let until = until.map(|until| format!(",\"until\":{until}")).unwrap_or_default();
        let scope = scope.map(|scope| format!(",\"scope\":\"{scope}\"")).unwrap_or_default();
        format!("[{{{counter}{kind},\"max\":{max}{until}{scope}}}]")
    })
}

/// A rule. `counter` keeps those apart that may apply together.
fn rule(counter: &'static str) -> impl Strategy<Value = Fields> {
    let maybe = |chance: f64, value: BoxedStrategy<String>| prop::option::weighted(chance, value);
    (
        maybe(0.4, one_of(&["\"deny\"", "\"allow\"", "\"ask\""]).boxed()),
        maybe(0.25, clauses().boxed()),
        maybe(0.25, clauses().boxed()),
        maybe(0.15, clauses().boxed()),
        maybe(0.3, limits(counter).boxed()),
        maybe(0.2, one_of(&ENDS).boxed()),
        maybe(0.15, one_of(&["\"observe\"", "\"enforce\""]).boxed()),
        maybe(0.1, one_of(&["\"keys\"", "\"none\""]).boxed()),
        maybe(0.15, one_of(&["true", "false"]).boxed()),
    )
        .prop_map(|(action, require, deny_if, ask_if, limits, until, mode, record, validate)| {
            let reason = (action.as_deref() == Some("\"deny\"")).then(|| "\"r\"".to_owned());
            let fields = [
                ("action", action),
                ("reason", reason),
                ("require", require),
                ("deny_if", deny_if),
                ("ask_if", ask_if),
                ("limits", limits),
                ("until", until),
                ("mode", mode),
                ("record", record),
                ("validate", validate),
            ];
            fields.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
        })
}

fn body(counters: [&'static str; 2]) -> impl Strategy<Value = Body> {
    let default = one_of(&["\"allow\"", "\"deny\"", "\"allow\"", "\"ask\""]);
    let top = (
        default,
        prop::option::weighted(0.15, one_of(&["\"observe\"", "\"enforce\""])),
        prop::option::weighted(0.1, one_of(&["\"keys\"", "\"none\""])),
        prop::option::weighted(0.1, one_of(&["true", "false"])),
        prop::option::weighted(0.3, one_of(&CLASSES)),
        prop::option::weighted(0.25, one_of(&CODEGEN)),
        prop::option::weighted(0.25, one_of(&["\"hide\"", "\"show\""])),
    )
        .prop_map(|(default, mode, record, validate, classes, codegen, unlisted)| {
            let fields = [
                ("unlisted", unlisted),
                ("mode", mode),
                ("record", record),
                ("validate", validate),
                ("classes", classes),
                ("codegen", codegen),
            ];
            let fields = fields.into_iter().filter_map(|(key, value)| Some((key, value?)));
            fields.chain([("default", default)]).collect()
        });
    (
        top,
        prop::collection::btree_set(name_or_glob(), 0..3),
        prop::option::weighted(0.3, rule(counters[0])),
        prop::collection::btree_map(name_or_glob(), rule(counters[1]), 0..4),
    )
        .prop_map(|(top, hide, all_tools, tools)| Body {
            top,
            hide,
            all_tools: all_tools.unwrap_or_default(),
            tools,
        })
}

/// What a client's overlay may say without opening anything but what it lists.
pub(crate) fn overlay() -> impl Strategy<Value = Body> {
    body(["oa", "ot"]).prop_map(|mut body| {
        for fields in body.tools.values_mut().chain([&mut body.all_tools, &mut body.top]) {
            fields.remove("mode");
        }
        body.top.remove("default");
        body
    })
}

pub(crate) fn made() -> impl Strategy<Value = Made> {
    let client = one_of(&["cursor", "c*", "*"]);
    let overlaid = body(["oa", "ot"]).prop_flat_map(|body| {
        // Most overlays say no default.
        prop::bool::weighted(0.8).prop_map(move |silent| {
            let mut body = body.clone();
            if silent {
                body.top.remove("default");
            }
            body
        })
    });
    let layout = prop::sample::select(vec![
        ("\n  ", ""),
        ("\r\n\t", "// note\r\n"),
        (" ", ""),
        ("\n", "/* { */\n"),
        ("\n    ", ""),
    ]);
    (body(["ba", "bt"]), prop::collection::btree_map(client, overlaid, 0..3), layout, any::<bool>())
        .prop_map(|(base, clients, layout, trailing_comma)| Made { base, clients, layout, trailing_comma })
}

/// A policy in one of several layouts.
pub(crate) fn policy() -> impl Strategy<Value = String> {
    made().prop_map(|made| made.text())
}

/// A policy, and the same with one piece changed.
pub(crate) fn change() -> impl Strategy<Value = (Made, Made)> {
    (made(), made(), any::<[Index; 4]>()).prop_map(|(before, other, picks)| {
        let mut after = before.clone();
        let clients: Vec<String> = before.clients.keys().cloned().collect();
        match picks[0].index(5) {
            0 => match other.clients.into_iter().next() {
                Some((client, body)) => drop(after.clients.insert(client, body)),
                None => drop(after.clients.pop_first()),
            },
            1 if !clients.is_empty() => {
                let client = &clients[picks[1].index(clients.len())];
                let body = other.clients.into_values().next().unwrap_or(other.base);
                if let Some(overlay) = after.clients.get_mut(client) {
                    change_body(overlay, &body, picks[2], picks[3]);
                }
            }
            _ => change_body(&mut after.base, &other.base, picks[2], picks[3]),
        }
        (before, after)
    })
}

fn change_body(body: &mut Body, other: &Body, which: Index, what: Index) {
    let key = |fields: &Fields| fields.keys().nth(what.index(fields.len().max(1))).copied();
    let change_fields = |fields: &mut Fields, other: &Fields| match (key(fields), key(other)) {
        (Some(gone), Some(new)) if gone == new => drop(fields.insert(new, other[new].clone())),
        (Some(gone), _) if gone != "default" => drop(fields.remove(gone)),
        (_, Some(new)) => drop(fields.insert(new, other[new].clone())),
        _ => {}
    };
    match which.index(6) {
        0 => change_fields(&mut body.top, &other.top),
        1 => change_fields(&mut body.all_tools, &other.all_tools),
        2 => match other.hide.first() {
            Some(name) => drop(body.hide.insert(name.clone())),
            None => drop(body.hide.pop_first()),
        },
        3 => match other.tools.first_key_value() {
            Some((name, rule)) => drop(body.tools.insert(name.clone(), rule.clone())),
            None => drop(body.tools.pop_first()),
        },
        _ => {
            let count = body.tools.len().max(1);
            let none = Fields::new();
            let rule = other.tools.values().next().unwrap_or(&none);
            if let Some(fields) = body.tools.values_mut().nth(what.index(count)) {
                change_fields(fields, rule);
            }
        }
    }
}

impl Made {
    pub(crate) fn text(&self) -> String {
        let (gap, note) = self.layout;
        let mut parts = vec!["\"version\": \"1\"".to_owned()];
        parts.extend(self.base.members(gap));
        if !self.clients.is_empty() {
            let clients: Vec<String> = self
                .clients
                .iter()
                .map(|(client, body)| format!("{}: {{{}}}", quoted(client), body.members(" ").join(", ")))
                .collect();
            parts.push(format!("\"clients\": {{{}}}", clients.join(", ")));
        }
        let comma = if self.trailing_comma { "," } else { "" };
        let end = gap.trim_end_matches([' ', '\t']);
        format!("{note}{{{gap}{}{comma}{end}}}\n", parts.join(&format!(",{gap}")))
    }
}

impl Body {
    fn members(&self, gap: &str) -> Vec<String> {
        let mut parts: Vec<String> =
            self.top.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
        if !self.hide.is_empty() {
            let names: Vec<String> = self.hide.iter().map(|name| quoted(name)).collect();
            parts.push(format!("\"hide\": [{}]", names.join(", ")));
        }
        if !self.all_tools.is_empty() {
            parts.push(format!("\"all_tools\": {}", object(&self.all_tools)));
        }
        if !self.tools.is_empty() {
            let rules: Vec<String> = self
                .tools
                .iter()
                .map(|(name, fields)| format!("{gap}{}: {}", quoted(name), object(fields)))
                .collect();
            parts.push(format!("\"tools\": {{{}{gap}}}", rules.join(",")));
        }
        parts
    }
}

fn object(fields: &Fields) -> String {
    let members: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", members.join(", "))
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
