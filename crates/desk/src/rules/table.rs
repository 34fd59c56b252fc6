//! Every tool of a server and what its rules make of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use callgate_controls::catalogue::{self, Catalogue, KnownTool};
use callgate_history::{History, ToolHits, ToolsSeen};
use callgate_home::{DEFAULT_SERVER, running};
use callgate_policy::edit::form::{
    Form, FormAction, FormClause, Read, Source, Whose, read, read_as, read_class,
};
use callgate_policy::file::{
    Action as Said, Body, ClientOverlay, DefaultAction, Mode, PolicyFile, ToolRule as Written, Unlisted,
};
use callgate_policy::{Policy, ToolClass, rule_words};
use callgate_protocol::json::Raw;

use super::ready::{self, Listed};
use super::{diagnose, drafts, last_good, present};
use crate::view::{
    Action, ClassRule, ClientRule, Diagnostic, RuleForAll, RuleSource, RulesView, Severity, ToolRule,
    ToolState,
};
use crate::{Desk, DeskError};

/// Somebody waits for the table; what is older than this reaches is not counted.
const PATIENCE: Duration = Duration::from_millis(250);
/// Tools that are in the table only because they were called. An agent can make up names without end.
const MOST_CALLED: usize = 500;
/// Of a description, in characters.
const LONGEST_DESCRIPTION: usize = 2000;

pub(super) fn of(desk: &Desk, server: &str) -> Result<RulesView, DeskError> {
    let is_default = server == DEFAULT_SERVER;
    let own = is_default || desk.home.policy(server).exists();
    let (text, unreadable) = match present::read(desk, server) {
        Ok(present) => (present.text().to_owned(), None),
        // The gate refuses every call then, and says the same.
        Err(error @ DeskError::Disk { .. }) => (String::new(), Some(unreadable(&error))),
        Err(error) => return Err(error),
    };
    let path = if own && !is_default { desk.home.policy(server) } else { desk.home.default_policy() };
    let mut view = RulesView {
        server: server.to_owned(),
        is_default,
        own,
        path: path.display().to_string(),
        text,
        version: None,
        broken: None,
        diagnostics: Vec::new(),
        default_action: Action::Deny,
        observing: false,
        for_all: None,
        classes: Vec::new(),
        tools: Vec::new(),
        counted_since_ms: None,
        clients: Vec::new(),
        ready: Vec::new(),
    };
    let history = History::open_reader(&desk.home)?;
    if let Some(diagnostic) = unreadable {
        view.diagnostics.push(diagnostic);
        view.broken = Some(last_good::told(desk, &history, server)?);
        return Ok(view);
    }
    let seen = history.tools_seen(server, PATIENCE)?;
    // What a server listed is for people; without it the table is only shorter.
    let known = catalogue::read(&desk.home, server).ok().flatten();
    let server_tools = known.as_ref().map(Catalogue::server_tools);
    let listed = known.map(|known| known.tools).unwrap_or_default();
    let running = running(&desk.home);
    let connected =
        running.iter().filter(|lease| lease.server == server).filter_map(|lease| lease.client.clone());
    let mut clients: BTreeSet<String> = seen.clients.iter().cloned().chain(connected).collect();
    view.counted_since_ms = seen.since_ms;
    match (Policy::parse(&view.text), PolicyFile::parse(&view.text)) {
        (Ok(mut policy), Ok(file)) => {
            catalogue::describe(&desk.home, server, &mut policy);
            clients.extend(file.clients.iter().map(|overlay| overlay.client.clone()));
            view.diagnostics = diagnose::check(&view.text, server_tools.as_ref(), desk.clock.now().wall_ms);
            view.version = Some(policy.version().to_owned());
            view.default_action = default_action(&file.body);
            view.observing = file.body.mode.as_ref().is_some_and(|mode| mode.value == Mode::Observe);
            view.for_all = Some(for_all(&file));
            let known = classes_of(&policy, &listed);
            view.classes = classes(&file, &known);
            view.tools = tools(&file, &listed, &seen, &known);
            let mut badges = desk.badges.look();
            for tool in &mut view.tools {
                tool.class = badges.badge(server, &tool.name);
            }
            drop(badges);
            let listed: Vec<Listed> = listed.iter().map(Listed::from).collect();
            view.ready = ready::list(&view.text, &listed);
        }
        (Err(report), _) | (_, Err(report)) => {
            view.diagnostics = diagnose::of(&view.text, &report.problems);
            view.broken = Some(last_good::told(desk, &history, server)?);
        }
    }
    view.clients = clients.into_iter().collect();
    Ok(view)
}

fn unreadable(error: &DeskError) -> Diagnostic {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Diagnostic {
        from: 0,
        to: 0,
        line: 1,
        severity: Severity::Error,
        message: format!("{error}{cause}"),
        pointer: None,
    }
}

fn default_action(body: &Body) -> Action {
    let hides = body.unlisted.as_ref().is_some_and(|said| said.value == Unlisted::Hide);
    match body.default.as_ref().map(|default| default.value) {
        Some(DefaultAction::Deny) if hides => Action::Hide,
        Some(DefaultAction::Allow) => Action::Allow,
        Some(DefaultAction::Ask) => Action::Ask,
        Some(DefaultAction::Deny) | None => Action::Deny,
    }
}

fn for_all(file: &PolicyFile) -> RuleForAll {
    let read = |client| read(file, Whose { tool: None, client });
    let words_of = |read: &Read<'_>| read.rule.map_or_else(|| "nothing more".to_owned(), rule_words);
    let all = read(None);
    let clients = file.clients.iter().map(|overlay| overlay.client.as_str());
    let clients = clients.filter_map(|client| {
        let read = read(Some(client));
        read.rule?;
        Some(ClientRule {
            client: client.to_owned(),
            state: state(&read),
            words: words_of(&read),
            draft: read.form.as_ref().map(drafts::draft),
        })
    });
    RuleForAll {
        said: all.rule.is_some(),
        state: state(&all),
        words: words_of(&all),
        draft: all.form.as_ref().map(drafts::draft),
        clients: clients.collect(),
    }
}

/// Of the tools that the server listed, what each can do; nothing, where no rule asks.
pub(super) fn classes_of<'t>(policy: &Policy, listed: &'t [KnownTool]) -> BTreeMap<&'t str, ToolClass> {
    let known = listed.iter().filter_map(|tool| Some((tool.name.as_str(), policy.known_class(&tool.name)?)));
    known.collect()
}

/// Every class, with what its rule says and how many of the server's tools are of it.
fn classes(file: &PolicyFile, known: &BTreeMap<&str, ToolClass>) -> Vec<ClassRule> {
    if file.body.classes.is_empty() {
        return Vec::new();
    }
    let rule = |class| {
        let read = read_class(file, class);
        let of_class = || known.iter().filter(move |(_, of)| **of == class).map(|(tool, _)| *tool);
        let ruled = |tool: &&str| {
            matches!(
                read_as(file, Whose { tool: Some(tool), client: None }, Some(class)).source,
                Source::Class(_)
            )
        };
        ClassRule {
            name: class.name().to_owned(),
            state: read.as_ref().map(state),
            words: read.as_ref().map_or_else(|| "as tools that no rule names".to_owned(), words),
            tools: count(of_class()),
            ruled: count(of_class().filter(ruled)),
        }
    };
    ToolClass::ALL.into_iter().map(rule).collect()
}

fn count<T>(all: impl Iterator<Item = T>) -> u32 {
    u32::try_from(all.count()).unwrap_or(u32::MAX)
}

pub(crate) fn tools(
    file: &PolicyFile,
    listed: &[KnownTool],
    seen: &ToolsSeen,
    classes: &BTreeMap<&str, ToolClass>,
) -> Vec<ToolRule> {
    let definitions: BTreeMap<&str, &KnownTool> =
        listed.iter().map(|tool| (tool.name.as_str(), tool)).collect();
    let written = names(file);
    let known = |name: &str| definitions.contains_key(name) || written.contains(name);
    let mut called: Vec<(&String, &ToolHits)> = seen.tools.iter().filter(|(name, _)| !known(name)).collect();
    called.sort_by_key(|(_, hits)| std::cmp::Reverse(hits.last_ms));
    let called = called.into_iter().take(MOST_CALLED).map(|(name, _)| name.as_str());
    let all: BTreeSet<&str> =
        definitions.keys().copied().chain(written.iter().copied()).chain(called).collect();
    let none = ToolHits::default();
    let mut table: Vec<ToolRule> = all
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| {
            let hits = seen.tools.get(name).unwrap_or(&none);
            row(file, (name, classes.get(name).copied()), definitions.get(name).copied(), hits)
        })
        .collect();
    table.sort_by(|a, b| (!a.pattern, &a.name).cmp(&(!b.pattern, &b.name)));
    table
}

/// Every name and pattern that the policy holds, for everyone or for single clients.
fn names(file: &PolicyFile) -> BTreeSet<&str> {
    let bodies = std::iter::once(&file.body).chain(file.clients.iter().map(|overlay| &overlay.body));
    bodies
        .flat_map(|body| {
            let hidden = body.hide.iter().map(|hidden| hidden.value.as_str());
            hidden.chain(body.tools.iter().map(|rule| rule.name.as_str()))
        })
        .collect()
}

fn row(
    file: &PolicyFile,
    (name, class): (&str, Option<ToolClass>),
    listed: Option<&KnownTool>,
    hits: &ToolHits,
) -> ToolRule {
    let read = read_as(file, Whose { tool: Some(name), client: None }, class);
    let draft = read.form.as_ref().map(drafts::draft);
    let mut state = state(&read);
    let mut words = words(&read);
    let (mut source, mut from) = match &read.source {
        Source::Own => (RuleSource::Own, "its own rule".to_owned()),
        Source::Pattern(pattern) => (RuleSource::Pattern, format!("the pattern {pattern}")),
        Source::Class(class) => (RuleSource::Class, format!("its class, {class}")),
        Source::Default | Source::Nothing => (RuleSource::Default, "the default".to_owned()),
    };
    if let Some(all) = file.body.all_tools.as_ref().filter(|all| denies(all) && state != ToolState::Hide) {
        (state, words) = (ToolState::Deny, rule_words(all));
        (source, from) = (RuleSource::AllTools, "the rule for all tools".to_owned());
    } else if let Some(all) = file.body.all_tools.as_ref().filter(|all| asks(all) && passes(state)) {
        (state, words) = (ToolState::Ask, rule_words(all));
        (source, from) = (RuleSource::AllTools, "the rule for all tools".to_owned());
    }
    ToolRule {
        name: name.to_owned(),
        pattern: name.contains(['*', '?']),
        listed: listed.is_some(),
        description: listed.and_then(|tool| description(&tool.definition)),
        class: None,
        state,
        words,
        source,
        from,
        draft,
        clients: for_clients(file, name, class),
        calls: hits.calls,
        hits: hits.refused,
        last_hit_ms: hits.last_refused_ms,
        last_call_ms: hits.last_ms,
    }
}

/// What overlays say about this tool: by its name, by a pattern, or for everything at once.
fn for_clients(file: &PolicyFile, name: &str, class: Option<ToolClass>) -> Vec<ClientRule> {
    let rules = file.clients.iter().filter_map(|ClientOverlay { client, body, .. }| {
        let read = read_as(file, Whose { tool: Some(name), client: Some(client) }, class);
        let (mut state, mut words) = (state(&read), words(&read));
        let all = body.all_tools.as_ref().filter(|all| denies(all) && state != ToolState::Hide);
        match (all, &read.source) {
            (Some(all), _) => (state, words) = (ToolState::Deny, rule_words(all)),
            (None, Source::Own | Source::Pattern(_) | Source::Class(_)) => {}
            (None, Source::Default) if body.default.is_some() && state != ToolState::Allow => {}
            (None, Source::Default | Source::Nothing) => return None,
        }
        Some(ClientRule {
            client: client.clone(),
            state,
            words,
            draft: read.form.as_ref().map(drafts::draft),
        })
    });
    rules.collect()
}

fn state(read: &Read<'_>) -> ToolState {
    if read.hidden_by.is_some() {
        return ToolState::Hide;
    }
    match (read.deciding(), read.rule) {
        (Some(form), _) => state_of(&form),
        // It says more than fits into a form; that it refuses all the same is what counts.
        (None, Some(rule)) if rule.until.is_none() && denies(rule) => ToolState::Deny,
        (None, Some(rule)) if asks(rule) => ToolState::Ask,
        (None, _) => ToolState::Custom,
    }
}

fn state_of(form: &Form) -> ToolState {
    let always = |clauses: &[FormClause]| clauses.iter().any(|clause| clause.conditions.is_empty());
    match form.action {
        FormAction::Hide => ToolState::Hide,
        FormAction::Deny => ToolState::Deny,
        _ if always(&form.deny_if) => ToolState::Deny,
        FormAction::Ask => ToolState::Ask,
        FormAction::Allow if always(&form.ask_if) => ToolState::Ask,
        FormAction::Allow
            if !form.require.is_empty() || !form.deny_if.is_empty() || !form.ask_if.is_empty() =>
        {
            ToolState::Custom
        }
        FormAction::Allow if !form.limits.is_empty() => ToolState::Cap,
        FormAction::Allow => ToolState::Allow,
    }
}

/// Do calls get through without anybody's word, if they fit?
fn passes(state: ToolState) -> bool {
    matches!(state, ToolState::Allow | ToolState::Cap | ToolState::Custom)
}

fn words(read: &Read<'_>) -> String {
    match (read.hidden_by, read.rule) {
        (Some(_), _) => "hidden".to_owned(),
        (None, Some(rule)) => rule_words(rule),
        (None, None) => match read.form.as_ref().map(|form| form.action) {
            Some(FormAction::Deny) => "denied".to_owned(),
            Some(FormAction::Hide) => "hidden: no rule allows it".to_owned(),
            Some(FormAction::Ask) => "asked about".to_owned(),
            _ => "allowed".to_owned(),
        },
    }
}

fn asks(rule: &Written) -> bool {
    let lasts = rule.until.is_none() && rule.mode.is_none();
    lasts && rule.action.as_ref().is_some_and(|action| action.value == Said::Ask)
}

fn denies(rule: &Written) -> bool {
    let observed = rule.mode.as_ref().is_some_and(|mode| mode.value == Mode::Observe);
    let always = rule.deny_if.iter().any(|clause| clause.conditions.is_empty());
    !observed && (always || rule.action.as_ref().is_some_and(|action| action.value == Said::Deny))
}

fn description(definition: &str) -> Option<String> {
    let text = Raw::parse(definition).ok()?.get("description")?.as_str()?;
    Some(text.chars().take(LONGEST_DESCRIPTION).collect())
}
