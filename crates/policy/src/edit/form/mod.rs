//! One tool's rule as a form: what a person can set without writing text, read out of a policy and written back.
//!
//! A form holds a whole rule or nothing: a rule that says more than the form can hold has no form, so that writing a
//! form back never drops what was not shown. Writing leaves everything else as it stands; a form that says what the policy
//! says already changes no byte.

mod read;
mod write;

use std::num::NonZeroU32;

use crate::file::{LimitKind, Operator, Value};
use crate::limit::Scope;
use crate::problem::Report;
use crate::window::Window;

pub use read::{Read, Source, read, read_as, read_class};
pub use write::{write, write_default};

/// Whose rule it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whose<'a> {
    /// A tool's name or a pattern; none: the rule for all tools.
    pub tool: Option<&'a str>,
    /// A client's overlay; none: the rule for everyone.
    pub client: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub action: FormAction,
    pub reason: Option<String>,
    pub limits: Vec<FormLimit>,
    /// All of them must hold.
    pub require: Vec<FormCondition>,
    pub deny_if: Vec<FormClause>,
    pub ask_if: Vec<FormClause>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormAction {
    Allow,
    Deny,
    Hide,
    Ask,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormLimit {
    /// None: the gate makes up a name for it.
    pub counter: Option<String>,
    pub kind: LimitKind,
    pub max: NonZeroU32,
    pub window: Option<Window>,
    pub scope: Scope,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormCondition {
    /// `args.url`; or `paths`, `urls`: every argument of that kind.
    pub path: String,
    pub op: Operator,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormClause {
    pub conditions: Vec<FormCondition>,
    pub on_deny: Option<String>,
}

impl Form {
    /// A form that says nothing but this.
    pub fn plain(action: FormAction) -> Form {
        Form {
            action,
            reason: None,
            limits: Vec::new(),
            require: Vec::new(),
            deny_if: Vec::new(),
            ask_if: Vec::new(),
        }
    }

    /// Nothing but the action is said.
    pub fn is_plain(&self) -> bool {
        *self == Form::plain(self.action)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum FormError {
    #[error("the policy is broken and has to be mended as text first: {}", .0.headline())]
    Broken(Report),
    #[error("this would make no policy: {}", outcome(.0))]
    Outcome(Report),
    #[error("{0:?} is not the name of a tool")]
    NotATool(String),
    #[error("all tools at once cannot be hidden here: hide the pattern \"*\" instead")]
    HidesAll,
    #[error("{0:?} is not the name of a client")]
    NotAClient(String),
    #[error("{tool:?} would still be hidden by the pattern {pattern:?}: change that one")]
    HiddenByPattern { tool: String, pattern: String },
    #[error("the rule of {0:?} says more than a form can hold, which would be lost: edit it as text")]
    Custom(String),
    #[error("this cannot be said for {0:?} without changing other rules: change the text instead")]
    NotPossible(String),
}

/// Without the place: the text that it speaks of is not there yet.
fn outcome(report: &Report) -> String {
    report.problems.first().map_or_else(
        || "something is wrong".to_owned(),
        |problem| match &problem.fix {
            Some(fix) => format!("{}; {fix}", problem.message),
            None => problem.message.clone(),
        },
    )
}
