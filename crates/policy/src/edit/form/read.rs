//! From a policy to the form of one tool.

use super::{Form, FormAction, FormClause, FormCondition, FormLimit, Whose};
use crate::class::ToolClass;
use crate::file::{
    Action, Body, Clause, ClientOverlay, DefaultAction, LimitEntry, LimitKind, PolicyFile, Predicate,
    RateLimit, ToolRule, Unlisted,
};
use crate::glob::Glob;
use crate::limit::Scope;
use crate::name;

/// Where what counts for a tool is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// By its own name.
    Own,
    /// Under a pattern that it matches.
    Pattern(String),
    /// Under the class that it is of.
    Class(ToolClass),
    /// Nowhere: the default counts.
    Default,
    /// Nowhere, and nothing needs to be: an overlay that does not speak of it adds nothing.
    Nothing,
}

#[derive(Clone, Debug)]
pub struct Read<'f> {
    /// None if it says more than a form can hold.
    pub form: Option<Form>,
    pub source: Source,
    /// The rule that counts, if there is one.
    pub rule: Option<&'f ToolRule>,
    /// The entry of `hide` that hides it.
    pub hidden_by: Option<&'f str>,
}

impl Read<'_> {
    /// The form as far as it decides on calls: what of them is kept on record aside. Never to be written back, since that
    /// would be lost.
    pub fn deciding(&self) -> Option<Form> {
        self.form.clone().or_else(|| {
            let mut form = of_rule(&ToolRule { record: None, ..self.rule?.clone() })?;
            if self.hidden_by.is_some() {
                form.action = FormAction::Hide;
            }
            Some(form)
        })
    }
}

/// What the policy says for everyone, or what an overlay adds for one client.
pub fn read<'f>(file: &'f PolicyFile, whose: Whose<'_>) -> Read<'f> {
    read_as(file, whose, None)
}

/// The same of a tool that is of this class, if that is known.
pub fn read_as<'f>(file: &'f PolicyFile, whose: Whose<'_>, class: Option<ToolClass>) -> Read<'f> {
    let nothing = Body::default();
    let (body, base) = match whose.client {
        None => (Some(&file.body), None),
        Some(client) => (overlay(file, client).map(|overlay| &overlay.body), Some(&file.body)),
    };
    let Some(tool) = whose.tool else { return all_tools(body) };
    let classed = |body: &'f Body| class.and_then(|class| of_class(body, class));
    let named = body.and_then(|body| ruling(body, tool));
    let rule = named.or_else(|| body.and_then(classed));
    let hidden_by = body.and_then(|body| hiding(body, tool));
    let source = match (hidden_by, rule) {
        (Some(pattern), _) if pattern != tool => Source::Pattern(pattern.to_owned()),
        (Some(_), _) => Source::Own,
        (None, Some(rule)) if named.is_none() => class_source(rule),
        (None, Some(rule)) if rule.name != tool => Source::Pattern(rule.name.clone()),
        (None, Some(_)) => Source::Own,
        (None, None) => match base {
            // What the policy itself lists needs no word of the overlay.
            Some(base) if ruling(base, tool).or_else(|| classed(base)).is_some() => Source::Nothing,
            _ => Source::Default,
        },
    };
    let mut form = match rule {
        Some(rule) => of_rule(rule),
        None => Some(Form::plain(match source {
            Source::Default => default(body.unwrap_or(&nothing), base),
            _ => FormAction::Allow,
        })),
    };
    if let Some(form) = form.as_mut().filter(|_| hidden_by.is_some()) {
        form.action = FormAction::Hide;
    }
    Read { form, source, rule, hidden_by }
}

/// What the rule of a class says, for everyone.
pub fn read_class(file: &PolicyFile, class: ToolClass) -> Option<Read<'_>> {
    let rule = of_class(&file.body, class)?;
    Some(Read { form: of_rule(rule), source: Source::Class(class), rule: Some(rule), hidden_by: None })
}

fn of_class(body: &Body, class: ToolClass) -> Option<&ToolRule> {
    body.classes.iter().find(|rule| rule.name == class.key())
}

fn class_source(rule: &ToolRule) -> Source {
    ToolClass::from_key(&rule.name).map_or(Source::Default, Source::Class)
}

fn all_tools(body: Option<&Body>) -> Read<'_> {
    let rule = body.and_then(|body| body.all_tools.as_ref());
    Read {
        form: rule.map_or(Some(Form::plain(FormAction::Allow)), of_rule),
        source: if rule.is_some() { Source::Own } else { Source::Nothing },
        rule,
        hidden_by: None,
    }
}

/// The one of its name, however that is spelled; else that of the pattern which spells out most of it.
fn overlay<'f>(file: &'f PolicyFile, client: &str) -> Option<&'f ClientOverlay> {
    own_overlay(file, client).or_else(|| {
        let folded = name::client_key(client);
        let mut globs: Vec<(Glob, &ClientOverlay)> = file
            .clients
            .iter()
            .filter(|overlay| name::is_pattern(&overlay.client) && !name::is_pattern(client))
            .map(|overlay| (Glob::new(&name::client_key(&overlay.client)), overlay))
            .filter(|(glob, _)| glob.matches(&folded))
            .collect();
        globs.sort_by(|(a, _), (b, _)| a.rank().cmp(&b.rank()));
        globs.first().map(|(_, overlay)| *overlay)
    })
}

pub(super) fn own_overlay<'f>(file: &'f PolicyFile, client: &str) -> Option<&'f ClientOverlay> {
    let folded = name::client_key(client);
    file.clients.iter().find(|overlay| name::client_key(&overlay.client) == folded)
}

/// The rule of this name, else of the pattern that spells out most of it.
fn ruling<'b>(body: &'b Body, tool: &str) -> Option<&'b ToolRule> {
    let own = body.tools.iter().find(|rule| rule.name == tool);
    own.or_else(|| {
        let mut globs: Vec<(Glob, &ToolRule)> = body
            .tools
            .iter()
            .filter(|rule| name::is_pattern(&rule.name) && !name::is_pattern(tool))
            .map(|rule| (Glob::new(&rule.name), rule))
            .filter(|(glob, _)| glob.matches(tool))
            .collect();
        globs.sort_by(|(a, _), (b, _)| a.rank().cmp(&b.rank()));
        globs.first().map(|(_, rule)| *rule)
    })
}

fn hiding<'b>(body: &'b Body, tool: &str) -> Option<&'b str> {
    let names = || body.hide.iter().map(|hidden| hidden.value.as_str());
    let by_pattern = |pattern: &&str| {
        let glob = name::is_pattern(pattern).then(|| Glob::new(pattern));
        glob.is_some_and(|glob| match name::is_pattern(tool) {
            true => glob.covers(&Glob::new(tool)),
            false => glob.matches(tool),
        })
    };
    // A pattern hides it whatever else is written.
    names().filter(|name| *name != tool).find(by_pattern).or_else(|| names().find(|name| *name == tool))
}

fn default(body: &Body, base: Option<&Body>) -> FormAction {
    let said = body.default.as_ref().or_else(|| base.and_then(|base| base.default.as_ref()));
    let hides = |body: &Body| body.unlisted.as_ref().is_some_and(|said| said.value == Unlisted::Hide);
    match said.map(|said| said.value) {
        Some(DefaultAction::Deny) if hides(body) || base.is_some_and(hides) => FormAction::Hide,
        Some(DefaultAction::Allow) => FormAction::Allow,
        Some(DefaultAction::Ask) => FormAction::Ask,
        Some(DefaultAction::Deny) | None => FormAction::Deny,
    }
}

fn of_rule(rule: &ToolRule) -> Option<Form> {
    let says_more = rule.ask.is_some()
        || rule.until.is_some()
        || rule.mode.is_some()
        || rule.record.is_some()
        || rule.pin.is_some()
        || rule.loops.is_some()
        || rule.validate.is_some();
    if says_more {
        return None;
    }
    let entries = rule.limits.iter().map(limit);
    let limits: Option<Vec<FormLimit>> = entries.chain(rule.rate_limit.iter().map(rate_limit)).collect();
    let require: Option<Vec<Vec<FormCondition>>> = rule.require.iter().map(required).collect();
    Some(Form {
        action: match rule.action.as_ref().map(|action| action.value) {
            Some(Action::Deny) => FormAction::Deny,
            Some(Action::Ask) => FormAction::Ask,
            _ if rule.hides.is_some() => FormAction::Hide,
            Some(Action::Allow) | None => FormAction::Allow,
        },
        reason: rule.reason.clone(),
        limits: limits?,
        require: require?.into_iter().flatten().collect(),
        deny_if: rule.deny_if.iter().map(clause).collect(),
        ask_if: rule.ask_if.iter().map(clause).collect(),
    })
}

pub(super) fn limit(entry: &LimitEntry) -> Option<FormLimit> {
    let plain = entry.kind.value != LimitKind::Sum && entry.until.is_none() && entry.on_deny.is_none();
    plain.then(|| FormLimit {
        counter: entry.counter.clone(),
        kind: entry.kind.value,
        max: entry.max,
        window: entry.window,
        scope: entry.scope,
    })
}

pub(super) fn rate_limit(short: &RateLimit) -> Option<FormLimit> {
    short.on_deny.is_none().then_some(FormLimit {
        counter: None,
        kind: LimitKind::Calls,
        max: short.rate.max,
        window: Some(short.rate.window),
        scope: Scope::Session,
    })
}

/// The conditions of an entry of `require`, which all have to hold.
pub(super) fn required(clause: &Clause) -> Option<Vec<FormCondition>> {
    let plain = clause.on_deny.is_none() && !clause.conditions.is_empty();
    plain.then(|| clause.conditions.iter().map(condition).collect())
}

pub(super) fn clause(clause: &Clause) -> FormClause {
    FormClause {
        conditions: clause.conditions.iter().map(condition).collect(),
        on_deny: clause.on_deny.clone(),
    }
}

fn condition(predicate: &Predicate) -> FormCondition {
    FormCondition {
        path: predicate.subject.text().to_owned(),
        op: predicate.op,
        value: predicate.value.clone(),
    }
}
