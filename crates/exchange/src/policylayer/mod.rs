//! A policy of ours in PolicyLayer's hosted JSON.
//!
//! Their language is smaller: exact names, argument predicates, caps per grant. What it cannot say is listed; where
//! leaving it out would let more through, the tool is denied, or every tool that is not listed.

mod rule;

use std::collections::BTreeSet;

use callgate_policy::file::{Action, Body, ClientOverlay, DefaultAction, Mode, PolicyFile, ToolRule};
use callgate_policy::{Place, Policy, Report};

use crate::glob;
use crate::json::Json;
use crate::ledger::{Ledger, Places};
use crate::note::{Difference, Note};
use rule::Exportable;

/// PolicyLayer's JSON, and what is to be known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Plain JSON; it is also a policy of ours.
    pub text: String,
    pub notes: Vec<Note>,
}

/// Says a policy of ours in PolicyLayer's language, nowhere looser.
pub fn export(text: &str) -> Result<Exported, Report> {
    // A policy that Callgate does not take is not exported either: counters are checked only when it is compiled.
    Policy::parse(text)?;
    let file = PolicyFile::parse(text)?;
    let mut exporter = Exporter {
        places: Places::new(text),
        ledger: Ledger::default(),
        default_deny: false,
        unlisted_refused: false,
        hide: Vec::new(),
        everything: None,
        all: Exportable::default(),
        tools: Vec::new(),
    };
    exporter.file(&file);
    let document = exporter.document();
    Ok(Exported { text: document.document(None), notes: exporter.ledger.into_notes() })
}

struct Exporter<'t> {
    places: Places<'t>,
    ledger: Ledger,
    default_deny: bool,
    /// Someone is refused tools that no rule lists: what a rule that has ended leaves behind.
    unlisted_refused: bool,
    hide: Vec<String>,
    /// Why every tool is denied, if it is.
    everything: Option<String>,
    /// What holds for every tool.
    all: Exportable,
    tools: Vec<(String, Exportable)>,
}

impl Exporter<'_> {
    fn note(&mut self, at: &Place, severity: Difference, text: impl Into<String>) {
        let line = self.places.at(at.offset).line;
        self.ledger.note(line, severity, text);
    }

    fn file(&mut self, file: &PolicyFile) {
        let body = &file.body;
        self.default_deny = body.default.as_ref().is_none_or(|d| d.value == DefaultAction::Deny);
        if let Some(default) = body.default.as_ref().filter(|d| d.value == DefaultAction::Ask) {
            self.default_deny = true;
            self.note(
                &default.place,
                Difference::Stricter,
                "tools that are not listed are denied: PolicyLayer cannot ask",
            );
        }
        self.unlisted_refused = self.default_deny;
        // What rules leave behind when they end, and what a client's rules may list, hangs on all defaults and patterns.
        self.unlisted(body);
        for overlay in &file.clients {
            if let Some(default) = overlay.body.default.as_ref().filter(|d| d.value != DefaultAction::Allow) {
                self.deny_unlisted(&default.place, "there are no clients there");
                self.unlisted_refused = true;
            }
            self.unlisted(&overlay.body);
        }
        self.body(body);
        for rule in body.tools.iter().filter(|rule| !glob::is_pattern(&rule.name)) {
            let mut exportable = Exportable::default();
            let afterwards = self.unlisted_refused || refused_by_pattern(body, &rule.name);
            self.rule(&mut exportable, rule, &rule.name, afterwards);
            self.tools.push((rule.name.clone(), exportable));
        }
        for overlay in &file.clients {
            self.overlay(overlay);
        }
        self.hidden_patterns(body);
        self.left_out(file);
    }

    /// What a file or an overlay says of tools whose names it does not spell out.
    fn unlisted(&mut self, body: &Body) {
        if let Some(class) = body.classes.first() {
            self.deny_unlisted(&class.place, "there are no risk classes there");
            self.unlisted_refused = true;
        }
        for rule in body.tools.iter().filter(|rule| glob::is_pattern(&rule.name)) {
            self.pattern(rule);
        }
        for entry in body.hide.iter().filter(|h| h.value != "*" && glob::is_pattern(&h.value)) {
            let why =
                format!("{:?} in hide is a pattern, and only exact names can be said there", entry.value);
            self.deny_unlisted(&entry.place, &why);
        }
    }

    /// What a file and an overlay for a client say in the same way, tools aside.
    fn body(&mut self, body: &Body) {
        for entry in &body.hide {
            if (entry.value == "*" || !glob::is_pattern(&entry.value)) && !self.hide.contains(&entry.value) {
                self.hide.push(entry.value.clone());
            }
        }
        if let Some(rule) = &body.all_tools {
            let mut all = std::mem::take(&mut self.all);
            // Nothing is let through by a rule for all tools, so nothing ends with it but refusals.
            self.rule(&mut all, rule, "all", false);
            self.all = all;
        }
        if let Some(validate) = body.validate.as_ref().filter(|v| v.value) {
            self.deny_everything(
                &validate.place,
                "arguments cannot be checked against the tools' schemas there",
            );
        }
        if let Some(mode) = body.mode.as_ref().filter(|m| m.value == Mode::Observe) {
            self.note(&mode.place, Difference::Stricter, "rules are enforced, not only observed");
        }
    }

    fn deny_everything(&mut self, at: &Place, why: &str) {
        self.note(at, Difference::Stricter, format!("{why}: every tool is denied"));
        self.everything.get_or_insert_with(|| why.to_owned());
    }

    fn deny_unlisted(&mut self, at: &Place, why: &str) {
        let severity = if self.default_deny { Difference::NotSaid } else { Difference::Stricter };
        self.note(at, severity, format!("{why}: tools that are not listed are denied"));
        self.default_deny = true;
    }

    /// `afterwards`: would the tool be refused when the rule has ended?
    fn rule(&mut self, into: &mut Exportable, rule: &ToolRule, label: &str, afterwards: bool) {
        let mut notes = Vec::new();
        into.add(rule, label, afterwards, &mut notes);
        for (place, severity, text) in notes {
            self.note(&place, severity, text);
        }
    }

    /// Names that fit a pattern are not known, so all that are not listed are denied.
    fn pattern(&mut self, rule: &ToolRule) {
        let denies = rule.action.as_ref().is_some_and(|a| a.value != Action::Allow);
        let why = format!("{:?} is a pattern, and only exact names can be said there", rule.name);
        if self.default_deny && !denies {
            self.note(&rule.place, Difference::Stricter, format!("{why}: the tools that fit it are denied"));
        } else {
            self.deny_unlisted(&rule.place, &why);
        }
    }

    /// Their policies belong to a grant, not to a client: what holds for one holds for all.
    fn overlay(&mut self, overlay: &ClientOverlay) {
        let text = format!("what is said of the client {:?} is said of every client", overlay.client);
        self.note(&overlay.place, Difference::Stricter, text);
        let body = &overlay.body;
        self.body(body);
        for rule in &body.tools {
            if glob::is_pattern(&rule.name) {
                // A pattern of an overlay also holds for tools that are listed.
                let fitting: Vec<usize> = (0..self.tools.len())
                    .filter(|i| glob::matches(&rule.name, &self.tools[*i].0))
                    .filter(|i| !body.tools.iter().any(|other| other.name == self.tools[*i].0))
                    .collect();
                for i in fitting {
                    let mut exportable = std::mem::take(&mut self.tools[i].1);
                    // Its limits count all its tools together, so they share a counter there too.
                    self.rule(&mut exportable, rule, &rule.name, false);
                    self.tools[i].1 = exportable;
                }
                continue;
            }
            let at = self.tools.iter().position(|(name, _)| *name == rule.name);
            // A tool that only this client may call stays denied for the others, so for all.
            let denies = rule.action.as_ref().is_some_and(|a| a.value == Action::Deny);
            if at.is_none() && self.default_deny && !denies {
                let text = format!("{:?} is listed only for this client, so it is denied", rule.name);
                self.note(&rule.place, Difference::Stricter, text);
                continue;
            }
            let mut exportable = at.map(|i| std::mem::take(&mut self.tools[i].1)).unwrap_or_default();
            self.rule(&mut exportable, rule, &rule.name, refused_by_pattern(body, &rule.name));
            match at {
                Some(i) => self.tools[i].1 = exportable,
                None => self.tools.push((rule.name.clone(), exportable)),
            }
        }
        self.hidden_patterns(body);
    }

    /// Listed tools that fit are hidden by name.
    fn hidden_patterns(&mut self, body: &Body) {
        for entry in body.hide.iter().filter(|h| h.value != "*" && glob::is_pattern(&h.value)) {
            let fitting: Vec<String> = self
                .tools
                .iter()
                .map(|(name, _)| name.clone())
                .filter(|name| glob::matches(&entry.value, name))
                .collect();
            for name in fitting {
                if !self.hide.contains(&name) {
                    self.hide.push(name);
                }
            }
        }
    }

    fn left_out(&mut self, file: &PolicyFile) {
        let body = &file.body;
        let mut out: Vec<(&Place, String)> = Vec::new();
        if file.description.is_some() {
            self.ledger.note(None, Difference::NotSaid, "`description` has no place there");
        }
        if !file.tests.is_empty() {
            self.ledger.note(None, Difference::NotSaid, "`tests` have no place there");
        }
        out.extend(
            file.process
                .iter()
                .map(|p| (&p.place, "`process` is about a local program; there is none there".to_owned())),
        );
        let record = "`record` has no place there: their log keeps the names of arguments and no values";
        out.extend(body.record.iter().map(|r| (&r.place, record.to_owned())));
        out.extend(body.pin.iter().map(|p| (&p.place, "`pin` has no place there".to_owned())));
        out.extend(body.loops.iter().map(|l| (&l.place, "`loop` has no place there".to_owned())));
        let unlisted = "`unlisted` has no place there: what is not allowed is listed";
        out.extend(body.unlisted.iter().map(|u| (&u.place, unlisted.to_owned())));
        let codegen = "`codegen` is lost: their policies know nothing of sessions";
        out.extend(body.codegen.iter().map(|c| (&c.place, codegen.to_owned())));
        out.extend(body.ask.iter().map(|a| (&a.place, "`ask` has no place there".to_owned())));
        let others = [
            ("resources", body.resources.as_ref().map(|r| &r.place)),
            ("prompts", body.prompts.as_ref().map(|r| &r.place)),
            ("completion", body.completion.as_ref().map(|r| &r.place)),
            ("sampling", body.sampling.as_ref().map(|r| &r.place)),
            ("elicitation", body.elicitation.as_ref().map(|r| &r.place)),
            ("other_methods", body.other_methods.as_ref().map(|r| &r.place)),
        ];
        for (key, place) in others {
            out.extend(place.map(|p| {
                (
                    p,
                    format!(
                        "`{key}` is lost: their policies rule tools only, so such requests may pass there"
                    ),
                )
            }));
        }
        for (place, text) in out {
            self.note(place, Difference::NotSaid, text);
        }
        let shape = "PolicyLayer publishes no schema: conditions are written as Intercept has them, \
            limits with the windows minute, hour and day";
        self.ledger.note(None, Difference::Differs, shape);
    }

    fn document(&mut self) -> Json {
        let mut out = Json::object([("version", Json::text("1"))]);
        if let Some(reason) = self.everything.take().or_else(|| self.all.denied()) {
            // With nothing listed, the default denies everything; the reason is for those who read the file.
            self.ledger.note(None, Difference::NotSaid, format!("every tool is denied: {reason}"));
            self.default_deny = true;
            self.tools.clear();
            self.all = Exportable::default();
        }
        if self.all.has_conditions() {
            let text = "conditions for all tools can only be said tool by tool there: each listed \
                tool has them, the others are denied";
            let severity = if self.default_deny { Difference::Same } else { Difference::Stricter };
            self.ledger.note(None, severity, text);
            self.default_deny = true;
        }
        out = out.with("default", Json::text(if self.default_deny { "deny" } else { "allow" }));
        if !self.hide.is_empty() {
            out = out
                .with("hide", Json::List(self.hide.iter().map(|name| Json::text(name.as_str())).collect()));
        }
        let all_limits = self.all.limits(&mut BTreeSet::new());
        let taken: BTreeSet<String> = all_limits.iter().map(|(counter, _)| counter.clone()).collect();
        if !all_limits.is_empty() {
            let limits = all_limits.into_iter().map(|(_, limit)| limit).collect();
            out = out.with("all_tools", Json::object([("limits", Json::List(limits))]));
        }
        let tools: Vec<(String, Json)> =
            self.tools.iter().map(|(name, rule)| (name.clone(), rule.to_json(&self.all, &taken))).collect();
        if !tools.is_empty() {
            out = out.with("tools", Json::Object(tools));
        }
        out
    }
}

/// Does a pattern of the same layer refuse anything of this tool, once its own rule has ended?
fn refused_by_pattern(body: &Body, name: &str) -> bool {
    let fits = |rule: &&ToolRule| glob::is_pattern(&rule.name) && glob::matches(&rule.name, name);
    body.tools.iter().filter(fits).any(|rule| {
        rule.action.as_ref().is_some_and(|a| a.value != Action::Allow)
            || !(rule.require.is_empty() && rule.deny_if.is_empty() && rule.ask_if.is_empty())
            || !rule.limits.is_empty()
            || rule.rate_limit.is_some()
            || rule.validate.as_ref().is_some_and(|v| v.value)
    })
}
