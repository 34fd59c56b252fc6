//! Changes to a policy file that leave everything else as it stands: comments, order, indentation, line ends.
//!
//! Owns the changes that a person makes with one click or one command. An edit that cannot be made cleanly is not
//! made. Blocking and hiding never open anything: an edit of theirs that would is refused. A cap opens no tool that is
//! refused now; raising or taking back one loosens, and so does allowing: whoever makes these edits asks a person.
//! The same holds for whole texts that are merged, put in place of the old one, or reverted: here they are only written.

mod comments;
mod difference;
mod draft;
mod effect;
mod layout;
mod merge;
mod observing;
mod revert;
mod server;
mod shape;
mod source;

use std::num::NonZeroU32;

use crate::call::{Call, Circumstances, Judgement};
use crate::compare;
use crate::file::{Action, DefaultAction, LimitEntry, PolicyFile};
use crate::glob::Glob;
use crate::limit::Scope;
use crate::name;
use crate::policy::Policy;
use crate::problem::Report;
use crate::window::{Rate, Window};
use draft::{Draft, New};

pub use difference::difference;
pub use merge::{merge, replace};
pub use revert::{RevertError, revert};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Deny every call of the tool.
    Block { tool: String, reason: Option<String> },
    /// Deny it and leave it out of lists.
    Hide { tool: String },
    /// At most so many calls a window, counted per client with this server. A second time it may be a higher cap:
    /// `compare::loosened` tells, and then a person has to confirm it.
    Cap { tool: String, max: NonZeroU32, window: Window },
    /// Take back what denies or hides the tool; its limits and conditions stay.
    Allow { tool: String },
    /// Take back the cap that `Cap` has set; other limits stay.
    Uncap { tool: String },
    /// Deny every call of every tool.
    BlockServer { reason: Option<String> },
    /// Take back what `BlockServer` has set, and everything else that denies all tools at once. What denies or hides one
    /// tool stays.
    AllowServer,
}

impl Edit {
    /// The tool that it is about; none if it is about all of them.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Edit::Block { tool, .. }
            | Edit::Hide { tool }
            | Edit::Cap { tool, .. }
            | Edit::Allow { tool }
            | Edit::Uncap { tool } => Some(tool),
            Edit::BlockServer { .. } | Edit::AllowServer => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    /// What changed, in words; empty when nothing did.
    pub summary: Vec<String>,
    pub changed: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("the policy is broken and has to be mended by hand first: {}", .0.headline())]
    Broken(Report),
    #[error("what is to be written is no policy: {}", .0.headline())]
    Pasted(Report),
    #[error("together they would make no policy: {}", .0.headline())]
    Outcome(Report),
    #[error("{0:?} is not the name of one tool")]
    NotATool(String),
    #[error("{tool:?} is not allowed now ({reason}); a cap on it would let it through")]
    NotAllowed { tool: String, reason: String },
    #[error("this would loosen the policy: {}", .0.join("; "))]
    WouldLoosen(Vec<String>),
    #[error("{tool:?} would still be refused by {rule}: {reason}")]
    StillRefused { tool: String, rule: String, reason: String },
    #[error("{tool:?} would not be refused at every time{who}: deny it by hand")]
    NotRefused { tool: String, who: String },
}

/// The name of the counter that `Cap` sets, so that the next `Cap` finds it again.
pub fn cap_counter(tool: &str) -> String {
    format!("{tool}_cap")
}

/// Makes the edit, or says why not and leaves everything as it was. Making it twice changes nothing more.
pub fn apply(text: &str, edit: &Edit) -> Result<Edited, EditError> {
    if let Some(tool) = edit.tool()
        && (name::unusable(tool).is_some() || name::is_pattern(tool))
    {
        return Err(EditError::NotATool(tool.to_owned()));
    }
    let mut draft = Draft::new(text);
    let mut summary = Vec::new();
    if draft.is_empty_object() {
        // The only file that is made whole on the way: it refuses everything, and still does so afterwards.
        draft.set(&["version"], New::text("1"));
        draft.set(&["default"], New::text("deny"));
        summary.push("wrote \"version\" and \"default\": \"deny\" into the empty policy".to_owned());
    }
    let old = Policy::parse(draft.text()).map_err(EditError::Broken)?;
    let file = PolicyFile::parse(draft.text()).map_err(EditError::Broken)?;
    match edit {
        Edit::Block { tool, reason } => block(&mut draft, &file, tool, reason.as_deref(), &mut summary),
        Edit::Hide { tool } => hide(&mut draft, &file, &old, tool, &mut summary),
        Edit::Cap { tool, max, window } => {
            may_be_capped(&draft, &file, &old, tool)?;
            cap(&mut draft, &file, tool, Rate { max: *max, window: *window }, &mut summary);
        }
        Edit::Allow { tool } => allow(&mut draft, &file, tool, &mut summary),
        Edit::Uncap { tool } => uncap(&mut draft, &file, tool, &mut summary),
        Edit::BlockServer { reason } => server::block(&mut draft, &file, reason.as_deref(), &mut summary),
        Edit::AllowServer => server::allow(&mut draft, &file, &mut summary),
    }
    let new = Policy::parse(draft.text()).map_err(EditError::Broken)?;
    match edit {
        Edit::Block { .. } | Edit::Hide { .. } | Edit::BlockServer { .. } => {
            let looser = compare::loosened(&old, &new);
            if !looser.is_empty() {
                return Err(EditError::WouldLoosen(looser));
            }
        }
        Edit::Allow { tool } => still_refused(&new, tool)?,
        Edit::Cap { .. } | Edit::Uncap { .. } | Edit::AllowServer => {}
    }
    let changed = draft.text() != text;
    let but = match edit {
        Edit::Block { tool, .. } | Edit::Hide { tool } => {
            effect::refused_always(&new, tool)?;
            effect::only_observed(&new, tool)
        }
        Edit::BlockServer { .. } => effect::server_only_observed(&new, &file),
        _ => Vec::new(),
    };
    if changed {
        summary.extend(but);
    }
    Ok(Edited { text: draft.into_text(), summary, changed })
}

fn block(draft: &mut Draft, file: &PolicyFile, tool: &str, reason: Option<&str>, summary: &mut Vec<String>) {
    let rule = file.body.tools.iter().find(|rule| rule.name == tool);
    let Some(rule) = rule else {
        let mut members = vec![("action".to_owned(), New::text("deny"))];
        members.extend(reason.map(|reason| ("reason".to_owned(), New::text(reason))));
        draft.set(&["tools", tool], New::Object(members));
        summary.push(format!("{tool:?} is now denied"));
        return;
    };
    if rule.action.as_ref().map(|a| a.value) != Some(Action::Deny) {
        draft.set(&["tools", tool, "action"], New::text("deny"));
        summary.push(format!("{tool:?} is now denied"));
    }
    effect::make_lasting(draft, &["tools", tool], rule, summary);
    if let Some(reason) = reason
        && rule.reason.as_deref() != Some(reason)
    {
        draft.set(&["tools", tool, "reason"], New::text(reason));
        summary.push(format!("the reason is now {reason:?}"));
    }
}

fn hide(draft: &mut Draft, file: &PolicyFile, old: &Policy, tool: &str, summary: &mut Vec<String>) {
    if !old.hides(tool) {
        draft.append(&["hide"], New::text(tool));
        summary.push(format!("{tool:?} is now hidden"));
    }
    // What is only observed is listed and passes.
    if let Some(rule) = file.body.tools.iter().find(|rule| rule.name == tool) {
        effect::enforce(draft, &["tools", tool], rule, summary);
    }
}

/// A cap lists the tool, and listed is allowed: so it must not be what lets the tool through. At no time, whatever rules
/// have ended by then, and not when a block of the whole server is taken back either.
fn may_be_capped(draft: &Draft, file: &PolicyFile, old: &Policy, tool: &str) -> Result<(), EditError> {
    if old.rule_of(tool).is_some() {
        return Ok(());
    }
    let mut open = draft.clone();
    server::allow(&mut open, file, &mut Vec::new());
    let open = Policy::parse(open.text()).map_err(EditError::Broken)?;
    // Hidden by its own name it stays hidden; as a look-alike of a hidden one it would be let out.
    if open.hides(tool) {
        return Ok(());
    }
    for now_ms in effect::moments(&open, None) {
        if let Judgement::Refuse(refusal) = judged(&open, tool, now_ms) {
            return Err(EditError::NotAllowed { tool: tool.to_owned(), reason: refusal.reason });
        }
    }
    Ok(())
}

/// What the rules say at this moment about a call of the tool without arguments.
fn judged<'p>(policy: &'p Policy, tool: &str, now_ms: i64) -> Judgement<'p> {
    policy.judge(&Call::tool("", tool, None), &Circumstances { now_ms, ..Circumstances::timeless() })
}

/// The limit that `Cap` has set, by its place among the tool's limits.
fn own_cap<'f>(file: &'f PolicyFile, tool: &str) -> Option<(usize, &'f LimitEntry)> {
    let counter = cap_counter(tool);
    let rule = file.body.tools.iter().find(|rule| rule.name == tool)?;
    rule.limits.iter().enumerate().find(|(_, limit)| limit.counter.as_deref() == Some(&counter))
}

fn uncap(draft: &mut Draft, file: &PolicyFile, tool: &str, summary: &mut Vec<String>) {
    if let Some((place, _)) = own_cap(file, tool) {
        draft.remove(&["tools", tool, "limits", &place.to_string()]);
        summary.push(format!("{tool:?} is no longer capped by \"callgate cap\""));
    }
}

fn cap(draft: &mut Draft, file: &PolicyFile, tool: &str, rate: Rate, summary: &mut Vec<String>) {
    let counter = cap_counter(tool);
    let Some((place, before)) = own_cap(file, tool) else {
        let members = [
            ("counter", New::text(&counter)),
            ("window", New::text(&rate.window.to_string())),
            ("max", New::Number(rate.max.get())),
            ("scope", New::text(Scope::Grant.word())),
        ];
        let limit = New::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        draft.append(&["tools", tool, "limits"], limit);
        summary.push(format!("{tool:?} is now capped at {rate}"));
        return;
    };
    let index = place.to_string();
    let at = |key| ["tools", tool, "limits", index.as_str(), key];
    if before.window != Some(rate.window) {
        draft.set(&at("window"), New::text(&rate.window.to_string()));
    }
    if before.max != rate.max {
        draft.set(&at("max"), New::Number(rate.max.get()));
    }
    if draft.text_changed() {
        summary.push(format!("{tool:?} is now capped at {rate}"));
    }
}

fn allow(draft: &mut Draft, file: &PolicyFile, tool: &str, summary: &mut Vec<String>) {
    // From the back, so that the positions of those before stay true.
    for (i, _) in file.body.hide.iter().enumerate().rev().filter(|(_, name)| name.value == tool) {
        draft.remove(&["hide", &i.to_string()]);
        summary.push(format!("{tool:?} is no longer hidden"));
    }
    let Some(rule) = file.body.tools.iter().find(|rule| rule.name == tool) else {
        let not_allowed = file.body.default.as_ref().map(|d| d.value) != Some(DefaultAction::Allow);
        if not_allowed || denied_by_pattern(file, tool) {
            draft.set(&["tools", tool], New::Object(Vec::new()));
            summary.push(format!("{tool:?} is now on the list of allowed tools"));
        }
        return;
    };
    for (i, clause) in
        rule.deny_if.iter().enumerate().rev().filter(|(_, clause)| clause.conditions.is_empty())
    {
        draft.remove(&["tools", tool, "deny_if", &i.to_string()]);
        let words = clause.on_deny.as_ref().map(|words| format!(" ({words:?})")).unwrap_or_default();
        summary.push(format!("{tool:?} is no longer always denied{words}"));
    }
    if matches!(rule.action.as_ref().map(|a| a.value), Some(Action::Deny | Action::Ask)) {
        draft.remove(&["tools", tool, "action"]);
        if rule.reason.is_some() {
            draft.remove(&["tools", tool, "reason"]);
        }
        summary.push(format!("{tool:?} is no longer denied by its own rule"));
    }
}

/// Does a rule for names like this one deny it? Then a rule of its own takes it out of that one's reach.
fn denied_by_pattern(file: &PolicyFile, tool: &str) -> bool {
    file.body.tools.iter().any(|rule| {
        name::is_pattern(&rule.name)
            && Glob::new(&rule.name).matches(tool)
            && (rule.action.as_ref().map(|a| a.value) == Some(Action::Deny)
                || rule.deny_if.iter().any(|clause| clause.conditions.is_empty()))
    })
}

fn still_refused(new: &Policy, tool: &str) -> Result<(), EditError> {
    match judged(new, tool, i64::MIN) {
        // Conditions may refuse a call without arguments; that is theirs to say, call by call.
        Judgement::Refuse(refusal)
            if !refusal.rule.contains("/require/") && !refusal.rule.contains("/deny_if/") =>
        {
            Err(EditError::StillRefused { tool: tool.to_owned(), rule: refusal.rule, reason: refusal.reason })
        }
        _ => Ok(()),
    }
}
