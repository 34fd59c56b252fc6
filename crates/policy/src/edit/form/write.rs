//! From a form to the text: what is different is changed, entry by entry; what is not stays as it is written.

use super::read::{self, Read, own_overlay, read};
use super::{Form, FormAction, FormClause, FormCondition, FormError, FormLimit, Whose};
use crate::edit::Edited;
use crate::edit::merge::edited;
use crate::edit::scope::Scope;
use crate::file::{
    Action, DefaultAction, LimitEntry, LimitKind, Operator, PolicyFile, Subject, ToolRule, Unlisted, Value,
};
use crate::name;
use crate::policy::Policy;
use callgate_document::{Draft, NewEntry, NewValue};

/// The text with this rule as the form says.
pub fn write(text: &str, whose: Whose<'_>, form: &Form) -> Result<Edited, FormError> {
    let policy = Policy::parse(text).map_err(FormError::Broken)?;
    let file = PolicyFile::parse(text).map_err(FormError::Broken)?;
    if let Some(tool) = whose.tool.filter(|tool| name::unusable(tool).is_some()) {
        return Err(FormError::NotATool(tool.to_owned()));
    }
    if whose.tool.is_none() && form.action == FormAction::Hide {
        return Err(FormError::HidesAll);
    }
    let mut draft = Draft::new(text);
    let shown = read(&file, whose);
    if shown.form.is_none() {
        return Err(FormError::Custom(whose.tool.unwrap_or("all tools").to_owned()));
    }
    if shown.form.as_ref() != Some(form) {
        let above = above(&mut draft, &policy, &file, whose)?;
        let above: Vec<&str> = above.iter().map(String::as_str).collect();
        let file = PolicyFile::parse(draft.text()).map_err(FormError::Outcome)?;
        let now = read(&file, whose);
        if let Some(tool) = whose.tool {
            hide(&mut draft, &file, &above, whose, tool, &now, form.action)?;
        }
        if !says(draft.text(), whose, form) {
            rule(&mut draft, &above, whose, &now, form);
        }
    }
    Policy::parse(draft.text()).map_err(FormError::Outcome)?;
    if !says(draft.text(), whose, form) {
        return Err(FormError::NotPossible(whose.tool.unwrap_or("all tools").to_owned()));
    }
    Ok(edited(text, draft.into_text()))
}

/// The text with this for tools that no rule names. Hidden are those that are denied: `unlisted`, beside the default.
pub fn write_default(text: &str, action: FormAction) -> Result<Edited, FormError> {
    let file = PolicyFile::parse(text).map_err(FormError::Broken)?;
    let mut draft = Draft::new(text);
    let (word, default) = match action {
        FormAction::Allow => ("allow", DefaultAction::Allow),
        FormAction::Deny | FormAction::Hide => ("deny", DefaultAction::Deny),
        FormAction::Ask => ("ask", DefaultAction::Ask),
    };
    if file.body.default.as_ref().map(|default| default.value) != Some(default) {
        draft.set(&["default"], NewValue::text(word));
    }
    let hides = file.body.unlisted.as_ref().is_some_and(|said| said.value == Unlisted::Hide);
    match (action == FormAction::Hide, hides) {
        (true, false) => draft.set(&["unlisted"], NewValue::text("hide")),
        (false, true) => draft.remove(&["unlisted"]),
        _ => {}
    }
    Policy::parse(draft.text()).map_err(FormError::Outcome)?;
    Ok(edited(text, draft.into_text()))
}

fn says(text: &str, whose: Whose<'_>, form: &Form) -> bool {
    PolicyFile::parse(text).is_ok_and(|file| read(&file, whose).form.as_ref() == Some(form))
}

/// The way to the rules that are to be changed. A client that shares its overlay gets one of its own, which begins as a
/// copy: otherwise it would be out of the reach of all that the shared one refuses.
fn above(
    draft: &mut Draft,
    policy: &Policy,
    file: &PolicyFile,
    whose: Whose<'_>,
) -> Result<Vec<String>, FormError> {
    let Some(client) = whose.client else { return Ok(Vec::new()) };
    let key = match own_overlay(file, client) {
        Some(own) => own.client.clone(),
        None => {
            let scope = Scope::open(draft, policy, Some(client), &mut Vec::new())
                .map_err(|_| FormError::NotAClient(client.to_owned()))?;
            scope.client().unwrap_or(client).to_owned()
        }
    };
    Ok(vec!["clients".to_owned(), key])
}

/// The tool's own entry in `hide`.
fn hide(
    draft: &mut Draft,
    file: &PolicyFile,
    above: &[&str],
    whose: Whose<'_>,
    tool: &str,
    now: &Read<'_>,
    action: FormAction,
) -> Result<(), FormError> {
    let at = [above, &["hide"]].concat();
    match (action == FormAction::Hide, now.hidden_by) {
        (true, None) => draft.append(&at, NewValue::text(tool)),
        (true, Some(_)) | (false, None) => {}
        (false, Some(pattern)) if pattern != tool => {
            let (tool, pattern) = (tool.to_owned(), pattern.to_owned());
            return Err(FormError::HiddenByPattern { tool, pattern });
        }
        (false, Some(_)) => {
            let body = match whose.client {
                None => Some(&file.body),
                Some(client) => own_overlay(file, client).map(|overlay| &overlay.body),
            };
            let hidden = body.map(|body| body.hide.as_slice()).unwrap_or_default();
            // From the back, so that the positions of those before stay true.
            for (i, _) in hidden.iter().enumerate().rev().filter(|(_, hidden)| hidden.value == tool) {
                draft.remove(&[&at[..], &[&i.to_string()]].concat());
            }
        }
    }
    Ok(())
}

fn rule(draft: &mut Draft, above: &[&str], whose: Whose<'_>, now: &Read<'_>, form: &Form) {
    let at = match whose.tool {
        Some(tool) => [above, &["tools", tool]].concat(),
        None => [above, &["all_tools"]].concat(),
    };
    let own = now.rule.filter(|rule| whose.tool.is_none_or(|tool| rule.name == tool));
    let Some(own) = own else {
        draft.set(&at, NewValue::Map(members(form)));
        return;
    };
    let below = |key| [&at[..], &[key]].concat();
    match (form.action, own.action.as_ref().map(|action| action.value)) {
        (FormAction::Deny, Some(Action::Deny)) | (FormAction::Ask, Some(Action::Ask)) => {}
        (FormAction::Deny, _) => draft.set(&below("action"), NewValue::text("deny")),
        (FormAction::Ask, _) => draft.set(&below("action"), NewValue::text("ask")),
        (FormAction::Allow, Some(Action::Deny | Action::Ask)) => draft.remove(&below("action")),
        // What is hidden is refused whatever its rule says.
        (FormAction::Allow | FormAction::Hide, _) => {}
    }
    match &form.reason {
        Some(reason) if own.reason.as_ref() != Some(reason) => {
            draft.set(&below("reason"), NewValue::text(reason))
        }
        Some(_) => {}
        None => draft.remove(&below("reason")),
    }
    limits(draft, &at, own, &form.limits);
    let present: Vec<Option<Vec<FormCondition>>> = own.require.iter().map(read::required).collect();
    List { draft, at: &below("require"), write: written_condition, change: None }
        .bring(&present, &form.require);
    for (key, own, wanted) in
        [("deny_if", &own.deny_if, &form.deny_if), ("ask_if", &own.ask_if, &form.ask_if)]
    {
        let present: Vec<Option<Vec<FormClause>>> =
            own.iter().map(|clause| Some(vec![read::clause(clause)])).collect();
        List { draft, at: &below(key), write: written_clause, change: None }.bring(&present, wanted);
    }
}

fn limits(draft: &mut Draft, at: &[&str], own: &ToolRule, wanted: &[FormLimit]) {
    let mut wanted = wanted;
    if let Some(short) = &own.rate_limit {
        // It reads as the last limit, and stays if it still is that.
        match (read::rate_limit(short), wanted.split_last()) {
            (Some(short), Some((last, before))) if short == *last => wanted = before,
            _ => draft.remove(&[at, &["rate_limit"]].concat()),
        }
    }
    let present: Vec<Option<Vec<FormLimit>>> =
        own.limits.iter().map(|entry| read::limit(entry).map(|limit| vec![limit])).collect();
    let at = [at, &["limits"]].concat();
    let change: Change<'_, FormLimit> =
        (&|i, limit| own.limits.get(i).is_some_and(|entry| is_same(entry, limit)), &|draft, i, limit| {
            if let Some(entry) = own.limits.get(i) {
                change_limit(draft, &[&at[..], &[&i.to_string()]].concat(), entry, limit);
            }
        });
    List { draft, at: &at, write: written_limit, change: Some(change) }.bring(&present, wanted);
}

/// Is it the same limit, perhaps with other numbers? Then what it has counted so far goes on counting.
fn is_same(entry: &LimitEntry, limit: &FormLimit) -> bool {
    entry.counter == limit.counter
        && entry.kind.value == limit.kind
        && (entry.counter.is_some() || entry.scope == limit.scope)
}

fn change_limit(draft: &mut Draft, at: &[&str], before: &LimitEntry, limit: &FormLimit) {
    let below = |key| [at, &[key]].concat();
    if before.window != limit.window {
        match limit.window {
            Some(window) => draft.set(&below("window"), NewValue::text(&window.to_string())),
            None => draft.remove(&below("window")),
        }
    }
    if before.max != limit.max {
        draft.set(&below("max"), NewValue::word(&limit.max.get()));
    }
    if before.scope != limit.scope {
        draft.set(&below("scope"), NewValue::text(limit.scope.word()));
    }
    draft.remove(&below("until"));
    draft.remove(&below("on_deny"));
}

/// Whether the entry at this position can become that one, and how.
type Change<'c, T> = (&'c dyn Fn(usize, &T) -> bool, &'c dyn Fn(&mut Draft, usize, &T));

/// A list that is to say something else.
struct List<'l, T> {
    draft: &'l mut Draft,
    at: &'l [&'l str],
    write: fn(&T) -> NewValue,
    change: Option<Change<'l, T>>,
}

impl<T: PartialEq> List<'_, T> {
    /// `present`: what each entry says now, in parts; none if that is more than a form can hold.
    fn bring(&mut self, present: &[Option<Vec<T>>], wanted: &[T]) {
        if present.is_empty() {
            if !wanted.is_empty() {
                self.draft.set(self.at, NewValue::List(wanted.iter().map(self.write).collect()));
            }
            return;
        }
        let kept = self.kept(present, wanted);
        // From the back, so that the positions of those before stay true.
        let mut end = wanted.len();
        for (i, entry) in present.iter().enumerate().rev() {
            let Some((_, start)) = kept.iter().find(|(entry, _)| *entry == i).copied() else {
                self.draft.remove(&[self.at, &[&i.to_string()]].concat());
                continue;
            };
            let parts = entry.as_ref().map_or(1, Vec::len);
            self.insert(i + 1, &wanted[start + parts..end]);
            if entry.as_deref() != Some(&wanted[start..start + parts])
                && let Some((_, change)) = self.change
            {
                change(self.draft, i, &wanted[start]);
            }
            end = start;
        }
        self.insert(0, &wanted[..end]);
        self.draft.remove_empty(self.at);
    }

    fn insert(&mut self, position: usize, items: &[T]) {
        let fresh: Vec<NewEntry> = items.iter().map(|item| NewEntry::new(None, (self.write)(item))).collect();
        self.draft.insert(self.at, position, &fresh);
    }

    /// The most entries that can stay where they are, in order: each with the place of what it says among the wanted.
    fn kept(&self, present: &[Option<Vec<T>>], wanted: &[T]) -> Vec<(usize, usize)> {
        let (rows, columns) = (present.len(), wanted.len());
        let worth = |i: usize, j: usize| -> Option<(usize, u32)> {
            if let Some(parts) = &present[i]
                && wanted[j..].starts_with(parts)
            {
                return Some((parts.len(), 1 + 2 * u32::try_from(parts.len()).unwrap_or(1)));
            }
            let (may, _) = self.change?;
            wanted.get(j).filter(|item| may(i, item)).map(|_| (1, 1))
        };
        let mut best = vec![vec![0u32; columns + 1]; rows + 1];
        for i in (0..rows).rev() {
            for j in (0..=columns).rev() {
                let mut most = best[i + 1][j];
                if j < columns {
                    most = most.max(best[i][j + 1]);
                    if let Some((parts, worth)) = worth(i, j) {
                        most = most.max(worth + best[i + 1][j + parts]);
                    }
                }
                best[i][j] = most;
            }
        }
        let (mut i, mut j, mut kept) = (0, 0, Vec::new());
        while i < rows && j < columns {
            match worth(i, j) {
                Some((parts, worth)) if best[i][j] == worth + best[i + 1][j + parts] => {
                    kept.push((i, j));
                    (i, j) = (i + 1, j + parts);
                }
                _ if best[i][j] == best[i + 1][j] => i += 1,
                _ => j += 1,
            }
        }
        kept
    }
}

fn members(form: &Form) -> Vec<(String, NewValue)> {
    let mut members = Vec::new();
    let mut add = |key: &str, value: NewValue| members.push((key.to_owned(), value));
    match form.action {
        FormAction::Deny => add("action", NewValue::text("deny")),
        FormAction::Ask => add("action", NewValue::text("ask")),
        FormAction::Allow | FormAction::Hide => {}
    }
    if let Some(reason) = &form.reason {
        add("reason", NewValue::text(reason));
    }
    if !form.limits.is_empty() {
        add("limits", NewValue::List(form.limits.iter().map(written_limit).collect()));
    }
    if !form.require.is_empty() {
        add("require", NewValue::List(form.require.iter().map(written_condition).collect()));
    }
    for (key, clauses) in [("deny_if", &form.deny_if), ("ask_if", &form.ask_if)] {
        if !clauses.is_empty() {
            add(key, NewValue::List(clauses.iter().map(written_clause).collect()));
        }
    }
    members
}

fn written_limit(limit: &FormLimit) -> NewValue {
    let mut members = Vec::new();
    let mut add = |key: &str, value: NewValue| members.push((key.to_owned(), value));
    if let Some(counter) = &limit.counter {
        add("counter", NewValue::text(counter));
    }
    if limit.kind != LimitKind::Calls {
        add("kind", NewValue::text(limit.kind.word()));
    }
    if let Some(window) = limit.window {
        add("window", NewValue::text(&window.to_string()));
    }
    add("max", NewValue::word(&limit.max.get()));
    add("scope", NewValue::text(limit.scope.word()));
    NewValue::Map(members)
}

fn written_condition(condition: &FormCondition) -> NewValue {
    NewValue::Map(condition_members(condition))
}

fn written_clause(clause: &FormClause) -> NewValue {
    let mut members = match clause.conditions.as_slice() {
        [only] => condition_members(only),
        conditions => {
            let conditions = conditions.iter().map(written_condition).collect();
            vec![("conditions".to_owned(), NewValue::List(conditions))]
        }
    };
    members.extend(clause.on_deny.iter().map(|words| ("on_deny".to_owned(), NewValue::text(words))));
    NewValue::Map(members)
}

fn condition_members(condition: &FormCondition) -> Vec<(String, NewValue)> {
    let key = Subject::parse(&condition.path).map_or("path", |subject| subject.key());
    let mut members = vec![
        (key.to_owned(), NewValue::text(&condition.path)),
        ("op".to_owned(), NewValue::text(condition.op.word())),
    ];
    // Present is what is meant when nothing is said.
    if condition.op != Operator::Exists || condition.value != Value::Bool(true) {
        let value = condition.value.to_json();
        members.push(("value".to_owned(), NewValue::Word(value)));
    }
    members
}
