//! Changes to a policy file that leave everything else as it stands: comments, order, indentation, line ends.
//!
//! Owns the changes that a person makes with one click or one command, for everyone or for one client. An edit that
//! cannot be made cleanly is not made. Blocking, hiding, refusing by an argument and keeping recordings never open
//! anything: an edit of theirs that would is refused. A cap opens no tool that is refused now; raising or taking back one
//! loosens, and so does allowing: whoever makes these edits asks a person.
//! The same holds for whole texts that are merged, put in place of the old one, or reverted: here they are only written.

mod allow;
mod argument;
mod block;
mod cap;
mod difference;
mod effect;
pub mod form;
mod header;
mod merge;
mod observing;
mod pattern;
mod recordings;
mod revert;
mod scope;
mod server;
mod shape;

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::call::{Call, Circumstances, Judgement};
use crate::class::ToolClasses;
use crate::compare;
use crate::file::PolicyFile;
use crate::name;
use crate::policy::{Policy, version_of};
use crate::problem::Report;
use crate::window::{Rate, Window};
use callgate_document::{Draft, NewValue};
use scope::Scope;

pub use argument::When;
pub(crate) use argument::is_scheme;
pub use cap::{cap_counter, present_cap};
pub use difference::difference;
pub(crate) use difference::quoted;
pub use header::truthful;
pub use merge::{merge, replace};
pub use revert::{RevertError, revert};

/// `tool` is a name or, but for `Refuse`, a pattern (`write_*`). An edit of a pattern is about every rule that it covers, too:
/// a rule for a name of its own takes the tool out of the pattern's reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Deny every call of the tool.
    Block { tool: String, reason: Option<String> },
    /// Have a person asked about every call of the tool.
    Ask { tool: String, reason: Option<String> },
    /// Deny it and leave it out of lists.
    Hide { tool: String },
    /// At most so many calls a window, counted per client with this server. A second time it may be a higher cap:
    /// `compare::loosened` tells, and then a person has to confirm it.
    Cap { tool: String, max: NonZeroU32, window: Window },
    /// Take back what denies or hides the tool, for everyone also where it does so for single clients; its limits and
    /// conditions stay.
    Allow { tool: String },
    /// Take back the cap that `Cap` has set; other limits stay.
    Uncap { tool: String },
    /// Deny every call of every tool.
    BlockServer { reason: Option<String> },
    /// Take back what `BlockServer` has set, and everything else that denies all tools at once. What denies or hides one
    /// tool stays.
    AllowServer,
    /// At most so many calls of all tools together a window, counted as for `Cap`.
    CapServer { max: NonZeroU32, window: Window },
    /// Take back the cap that `CapServer` has set.
    UncapServer,
    /// A cap that ends by itself, beside every other: a limit of its own with an `until`. A second time it takes the place of
    /// the first.
    CapUntil { tool: Option<String>, max: NonZeroU32, window: Window, until: String },
    /// Deny calls of the tool, or of all, by one of their arguments.
    Refuse { tool: Option<String>, when: When, reason: Option<String> },
    /// What a caller is told by the cap that `Cap` or `CapServer` has set.
    ExplainCap { tool: Option<String>, reason: String },
    /// No codegen session that holds actions is cleared before it has ended.
    KeepUnfinished,
}

impl Edit {
    /// The tool that it is about; none if it is about all of them.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Edit::Block { tool, .. }
            | Edit::Ask { tool, .. }
            | Edit::Hide { tool }
            | Edit::Cap { tool, .. }
            | Edit::Allow { tool }
            | Edit::Uncap { tool } => Some(tool),
            Edit::Refuse { tool, .. } | Edit::ExplainCap { tool, .. } | Edit::CapUntil { tool, .. } => {
                tool.as_deref()
            }
            Edit::BlockServer { .. }
            | Edit::AllowServer
            | Edit::CapServer { .. }
            | Edit::UncapServer
            | Edit::KeepUnfinished => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    /// What changed, in words, and what is to be known with it (`but …`), which is said if nothing changed, too.
    pub summary: Vec<String>,
    pub changed: bool,
    tightened: Option<Tightened>,
}

/// Two versions of a policy that were compiled and compared: the second opens nothing that the first refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tightened {
    pub before: String,
    pub after: String,
}

impl Edited {
    /// What making this edit has shown already of these texts, so that a person who blocks something does not wait for it again.
    pub fn tightened(&self, before: &str) -> Option<&Tightened> {
        let same = |one: &&Tightened| one.before == version_of(before) && one.after == version_of(&self.text);
        self.tightened.as_ref().filter(same)
    }

    /// This and an edit of its text, as one.
    #[must_use]
    pub fn followed_by(mut self, next: Edited) -> Edited {
        self.summary.extend(next.summary);
        Edited {
            text: next.text,
            summary: self.summary,
            changed: self.changed || next.changed,
            tightened: None,
        }
    }
}

/// A text with what it says, which an edit asks for again and again.
struct Reading {
    text: String,
    policy: Policy,
    file: PolicyFile,
}

impl Reading {
    fn of(text: &str) -> Result<Reading, Report> {
        let (policy, file) = Policy::parse_both(text)?;
        Ok(Reading { text: text.to_owned(), policy, file })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("the policy is broken and has to be mended by hand first: {}", .0.headline())]
    Broken(Report),
    #[error("what is to be written is no policy: {}", .0.headline())]
    Pasted(Report),
    #[error("together they would make no policy: {}", .0.headline())]
    Outcome(Report),
    #[error("{0:?} is no name of a tool that this can be written for")]
    NotATool(String),
    #[error("{0:?} is not the name of one client")]
    NotAClient(String),
    #[error("{0}")]
    NotARule(String),
    #[error("{tool:?} is not allowed now ({reason}); a cap on it would let it through")]
    NotAllowed { tool: String, reason: String },
    #[error("this would loosen the policy: {}", .0.join("; "))]
    WouldLoosen(Vec<String>),
    #[error("{tool:?} would still be refused by {rule}: {reason}")]
    StillRefused { tool: String, rule: String, reason: String },
    #[error("every tool would still be refused by {rule}: {reason}")]
    StillBlocked { rule: String, reason: String },
    #[error("{tool:?} would not be refused at every time{who}: deny it by hand")]
    NotRefused { tool: String, who: String },
}

/// Makes the edit in the rules for everyone, or says why not and leaves everything as it was. Making it twice changes
/// nothing more.
pub fn apply(text: &str, edit: &Edit) -> Result<Edited, EditError> {
    apply_for(text, None, edit)
}

/// The same in what the policy adds for one client, if one is named. That only ever adds to the rules for everyone:
/// allowing takes back what is denied for this client alone.
pub fn apply_for(text: &str, client: Option<&str>, edit: &Edit) -> Result<Edited, EditError> {
    apply_knowing(text, client, edit, None)
}

/// The same by whoever knows what the server's tools can do: rules by class may stand in the way of an edit.
pub fn apply_knowing(
    text: &str,
    client: Option<&str>,
    edit: &Edit,
    classes: Option<&Arc<dyn ToolClasses>>,
) -> Result<Edited, EditError> {
    if let Some(tool) = edit.tool()
        && (name::unusable(tool).is_some() || (name::is_pattern(tool) && matches!(edit, Edit::Refuse { .. })))
    {
        return Err(EditError::NotATool(tool.to_owned()));
    }
    let mut draft = Draft::new(text);
    let mut summary = Vec::new();
    if draft.is_empty_map() {
        // The only file that is made whole on the way: it refuses everything, and still does so afterwards.
        draft.set(&["version"], NewValue::text("1"));
        draft.set(&["default"], NewValue::text("deny"));
        summary.push("wrote \"version\" and \"default\": \"deny\" into the empty policy".to_owned());
    }
    let reading = |text: &str| {
        let mut reading = Reading::of(text)?;
        reading.policy.classes = classes.cloned();
        Ok(reading)
    };
    let old = reading(draft.text()).map_err(EditError::Broken)?;
    let bare = (draft.clone(), summary.len());
    let scope = Scope::open(&mut draft, &old.policy, client, &mut summary)?;
    let opened = match draft.text() == old.text {
        true => None,
        false => Some(reading(draft.text()).map_err(EditError::Broken)?),
    };
    let ready = opened.as_ref().unwrap_or(&old);
    make(&mut draft, &scope, ready, edit, &mut summary)?;
    let made = edit.tool().and_then(|tool| effect::keep_private(&mut draft, &scope, ready, tool));
    if draft.text() == ready.text {
        // Rules of a client's own for nothing are not wanted.
        draft = bare.0;
        summary.truncate(bare.1);
    }
    let new = match made.filter(|made| made.text == draft.text()) {
        Some(made) => made,
        None => reading(draft.text()).map_err(|report| match edit {
            Edit::Refuse { .. } => EditError::NotARule(report.headline()),
            _ => EditError::Broken(report),
        })?,
    };
    let (old, Reading { policy: new, file, .. }) = (old.policy, new);
    let mut tightened = None;
    match edit {
        Edit::Block { .. }
        | Edit::Ask { .. }
        | Edit::Hide { .. }
        | Edit::BlockServer { .. }
        | Edit::Refuse { .. }
        | Edit::KeepUnfinished => {
            let looser = compare::loosened(&old, &new);
            if !looser.is_empty() {
                return Err(EditError::WouldLoosen(looser));
            }
            tightened = Some(Tightened { before: old.version().to_owned(), after: new.version().to_owned() });
        }
        Edit::Allow { tool } => allow::still_refused(&new, &scope, tool)?,
        Edit::AllowServer => allow::server_still_blocked(&new, &scope)?,
        Edit::Cap { .. }
        | Edit::Uncap { .. }
        | Edit::CapServer { .. }
        | Edit::UncapServer
        | Edit::CapUntil { .. }
        | Edit::ExplainCap { .. } => {}
    }
    let changed = draft.text() != text;
    let but = match edit {
        Edit::Block { tool, .. } | Edit::Hide { tool } => {
            effect::refused_always(&new, &scope, tool)?;
            let mut but = effect::only_observed(&new, &scope, tool);
            if matches!(edit, Edit::Block { .. }) {
                but.extend(pattern::out_of_reach(scope.body(&file), tool, "denied"));
            }
            but
        }
        Edit::BlockServer { .. } => effect::server_only_observed(&new, &scope, &file),
        _ => Vec::new(),
    };
    // Whoever hears that it is refused already has to hear this, too.
    summary.extend(but);
    Ok(Edited { text: draft.into_text(), summary, changed, tightened })
}

/// What was empty before is not of this edit's making, and stays.
fn tidy_if_changed(draft: &mut Draft, client: &Scope, before: &str, tool: Option<&str>) {
    if draft.text() != before {
        client.tidy(draft, tool);
    }
}

fn make(
    draft: &mut Draft,
    scope: &Scope,
    Reading { policy, file, .. }: &Reading,
    edit: &Edit,
    summary: &mut Vec<String>,
) -> Result<(), EditError> {
    let body = scope.body(file);
    match edit {
        Edit::Block { tool, reason } => block::block(draft, scope, body, tool, reason.as_deref(), summary),
        Edit::Ask { tool, reason } => block::ask(draft, scope, body, tool, reason.as_deref(), summary),
        Edit::Hide { tool } => block::hide(draft, scope, file, policy, tool, summary),
        Edit::Cap { tool, max, window } => {
            cap::may_be_listed(draft, scope, file, policy, tool)?;
            cap::cap(draft, scope, body, Some(tool), Rate { max: *max, window: *window }, summary);
        }
        Edit::CapServer { max, window } => {
            cap::cap(draft, scope, body, None, Rate { max: *max, window: *window }, summary);
        }
        Edit::Allow { tool } => {
            allow::allow(draft, scope, file, tool, summary);
            // Whoever lets everyone call it means those, too, for whom alone it was blocked.
            for client in scope.clients(file) {
                let before = draft.text().to_owned();
                allow::take_back(draft, &client, client.body(file), tool, summary);
                tidy_if_changed(draft, &client, &before, Some(tool));
            }
        }
        Edit::CapUntil { tool, max, window, until } => {
            if let Some(tool) = tool {
                cap::may_be_listed(draft, scope, file, policy, tool)?;
            }
            let rate = Rate { max: *max, window: *window };
            cap::cap_until(draft, scope, body, tool.as_deref(), rate, until, summary);
        }
        Edit::Uncap { tool } => cap::uncap(draft, scope, body, Some(tool), summary),
        Edit::UncapServer => cap::uncap(draft, scope, body, None, summary),
        Edit::BlockServer { reason } => server::block(draft, scope, body, reason.as_deref(), summary),
        Edit::AllowServer => {
            server::allow(draft, scope, body, summary);
            for client in scope.clients(file) {
                let before = draft.text().to_owned();
                server::allow(draft, &client, client.body(file), summary);
                tidy_if_changed(draft, &client, &before, None);
            }
        }
        Edit::Refuse { tool, when, reason } => {
            if let Some(tool) = tool {
                cap::may_be_listed(draft, scope, file, policy, tool)?;
            }
            argument::refuse(draft, scope, body, tool.as_deref(), when, reason.as_deref(), summary)?;
        }
        Edit::ExplainCap { tool, reason } => {
            cap::explain(draft, scope, body, tool.as_deref(), reason, summary);
        }
        Edit::KeepUnfinished => recordings::keep(draft, scope, body, summary),
    }
    if matches!(edit, Edit::Allow { .. } | Edit::AllowServer | Edit::Uncap { .. } | Edit::UncapServer) {
        scope.tidy(draft, edit.tool());
    }
    Ok(())
}

/// What the rules say at this moment about a call of the tool without arguments.
fn judged<'p>(policy: &'p Policy, client: &str, tool: &str, now_ms: i64) -> Judgement<'p> {
    policy.judge(&Call::tool(client, tool, None), &Circumstances { now_ms, ..Circumstances::timeless() })
}
