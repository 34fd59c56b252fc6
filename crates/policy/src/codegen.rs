//! Rules about codegen sessions: one at a time, nobody else's, none thrown away.
//!
//! What is open, and who started what, is not for the policy to know: it is asked for ([`Recordings`]). What cannot be
//! told is refused.

use std::borrow::Cow;
use std::fmt;

use callgate_protocol::NextStep;
use callgate_protocol::json::Raw;

use crate::applying::Applying;
use crate::call::{Refusal, RefusalKind};
use crate::file::{CodegenSettings, Path, Spot};

/// A codegen session, as far as rules ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Unknown while its start is not answered.
    pub id: Option<String>,
    /// Recorded actions.
    pub actions: usize,
    /// Neither ended nor cleared.
    pub open: bool,
}

/// The codegen sessions of a server at the moment of a judgement. An error says why they are not known.
pub trait Recordings: fmt::Debug {
    /// One that the server holds open.
    fn open(&self) -> Result<Option<Recording>, String>;
    /// The one of this id, if this client started it.
    fn started_by(&self, client: &str, id: &str) -> Result<Option<Recording>, String>;
}

/// Nothing was started.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecordings;

impl Recordings for NoRecordings {
    fn open(&self) -> Result<Option<Recording>, String> {
        Ok(None)
    }

    fn started_by(&self, _client: &str, _id: &str) -> Result<Option<Recording>, String> {
        Ok(None)
    }
}

/// What one layer asks for.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
    /// Where a call names its session.
    named: Option<Path>,
}

#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) kind: Kind,
    pub(crate) pointer: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    OneOpenSession,
    OwnSessionsOnly,
    KeepUnfinished,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::OneOpenSession, Kind::OwnSessionsOnly, Kind::KeepUnfinished];

    /// The tools that it is about.
    pub(crate) fn tools(self) -> &'static [&'static str] {
        match self {
            Kind::OneOpenSession => &["start_codegen_session"],
            Kind::OwnSessionsOnly => &["end_codegen_session", "clear_codegen_session"],
            Kind::KeepUnfinished => &["clear_codegen_session"],
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Kind::OneOpenSession => "only one codegen session is open at a time",
            Kind::OwnSessionsOnly => "the client started the codegen session itself",
            Kind::KeepUnfinished => "no recorded actions are thrown away",
        }
    }
}

impl Rules {
    pub(crate) fn compile(said: &CodegenSettings) -> Option<Rules> {
        let rule = |kind: Kind, said: &Option<Spot<bool>>| {
            let wanted = said.as_ref().filter(|said| said.value)?;
            Some(Rule { kind, pointer: wanted.place.pointer.clone() })
        };
        let rules: Vec<Rule> = [
            rule(Kind::OwnSessionsOnly, &said.own_sessions_only),
            rule(Kind::KeepUnfinished, &said.keep_unfinished),
            rule(Kind::OneOpenSession, &said.one_open_session),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!rules.is_empty()).then(|| Rules { rules, named: Path::parse("args.sessionId").ok() })
    }

    /// Those about this tool.
    pub(crate) fn about(&self, tool: &str) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.kind.tools().contains(&tool))
    }

    /// What this rule reads of the arguments.
    pub(crate) fn reads(&self, rule: &Rule) -> Option<&Path> {
        self.named.as_ref().filter(|_| rule.kind != Kind::OneOpenSession)
    }

    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.rules.iter().any(|rule| rule.kind == kind)
    }
}

pub(crate) fn judge(
    applying: &Applying<'_>,
    client: &str,
    tool: &str,
    args: Option<Raw<'_>>,
    recordings: &dyn Recordings,
) -> Result<(), Refusal> {
    for rule in applying.codegen().flat_map(|rules| rules.about(tool)) {
        let named = args.and_then(session_named);
        rule.kind.allows(client, named.as_deref(), recordings).map_err(|why| {
            let reason = format!("{tool:?} is refused because {why}");
            let next = match rule.kind {
                // Other words for the same session do not help.
                Kind::OneOpenSession | Kind::KeepUnfinished => NextStep::AsSaid,
                Kind::OwnSessionsOnly => NextStep::OtherArguments,
            };
            Refusal { next, ..Refusal::new(RefusalKind::Denied, &rule.pointer, reason) }
        })?;
    }
    Ok(())
}

impl Kind {
    fn allows(self, client: &str, named: Option<&str>, recordings: &dyn Recordings) -> Result<(), String> {
        let untold = |why: String| format!("it cannot be told which codegen sessions there are: {why}");
        if self == Kind::OneOpenSession {
            return match recordings.open().map_err(untold)? {
                None => Ok(()),
                Some(Recording { id: Some(id), actions, .. }) => {
                    let actions = counted(actions);
                    Err(format!("a codegen session is open already: {id}, with {actions}; end it first"))
                }
                Some(_) => Err("a codegen session is being started already; end it first".to_owned()),
            };
        }
        let Some(id) = named else { return Err("it names no codegen session".to_owned()) };
        let started = recordings.started_by(client, id).map_err(untold)?;
        let Some(session) = started else {
            return Err(format!("this client started no codegen session {id:?}"));
        };
        if self == Kind::KeepUnfinished && session.open && session.actions > 0 {
            let actions = counted(session.actions);
            return Err(format!("codegen session {id:?} holds {actions}; end it to keep them"));
        }
        Ok(())
    }
}

/// The session that arguments name. Two names are none: nobody knows which of them a server takes.
fn session_named(args: Raw<'_>) -> Option<Cow<'_, str>> {
    match (args.get("sessionId"), args.get("session_id")) {
        (Some(id), None) | (None, Some(id)) => id.as_str(),
        (Some(_), Some(_)) | (None, None) => None,
    }
}

fn counted(actions: usize) -> String {
    if actions == 1 { "1 recorded action".to_owned() } else { format!("{actions} recorded actions") }
}
