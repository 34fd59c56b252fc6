//! What the window may ask for. Each command is a few lines: take the question, ask the desk, hand on the answer.

pub(crate) mod acts;
pub(crate) mod app;
pub(crate) mod approvals;
pub(crate) mod clients;
pub(crate) mod codegen;
pub(crate) mod log;
pub(crate) mod own;
pub(crate) mod pins;
pub(crate) mod rules;
pub(crate) mod servers;
pub(crate) mod tools;

use callgate_desk::view::UiError;

/// How every command answers.
pub(crate) type Reply<T> = Result<T, UiError>;
