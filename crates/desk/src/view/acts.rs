//! What a person does: restricting at once, loosening after a question.

use serde::{Deserialize, Serialize};

use callgate_text::name;

use super::{ShownDefinition, ShownGone};

/// Whom a rule is for: one tool, those of a pattern or the whole server; one client or everyone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Target {
    pub server: String,
    /// A name, or a pattern (`write_*`); none: the whole server.
    pub tool: Option<String>,
    /// None: every client.
    pub client: Option<String>,
}

/// Acts at once and can be undone for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Restriction {
    Block {
        target: Target,
        reason: Option<String>,
    },
    /// A person decides about every call, from now on.
    Ask {
        target: Target,
        reason: Option<String>,
    },
    /// `window` as in policies: "minute", "hour", "day", "90s".
    Cap {
        target: Target,
        max: u32,
        window: String,
    },
    /// A cap beside every other that ends by itself after so long.
    CapFor {
        target: Target,
        max: u32,
        window: String,
        minutes: u32,
    },
    Hide {
        target: Target,
        /// For the record only: no agent is told.
        #[serde(default)]
        note: Option<String>,
    },
    /// From an argument: "refuse when `url` starts with `file:`".
    Refuse {
        target: Target,
        rule: ArgumentRule,
        reason: Option<String>,
    },
    Pause {
        /// None: every server.
        server: Option<String>,
        /// None: every client.
        #[serde(default)]
        client: Option<String>,
        reason: Option<String>,
    },
    /// What was allowed for a while is over now.
    EndAllowance {
        id: String,
    },
    /// *Only watch* is over now: rules refuse again.
    Enforce {
        server: String,
        /// None: whoever it was for.
        client: Option<String>,
    },
    /// Clients do not get this capability or key of `_meta` of the server any more.
    TakeOut {
        server: String,
        key: String,
    },
    /// Codegen sessions that hold actions are not cleared before they have ended.
    KeepRecordings {
        server: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ArgumentRule {
    /// Refuse when the argument at this path (`args.url`, as in policies) starts with this text.
    StartsWith { path: String, prefix: String },
    /// Refuse when it is exactly this (JSON text).
    Equals { path: String, value: String },
    /// Refuse unless the path that it names is inside this folder.
    OnlyInside { path: String, folder: String },
}

/// Takes a second step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Loosening {
    /// The next call of the same client that is identical to this refused one, once, within 10 minutes or so many seconds.
    AllowNext {
        call: String,
        #[serde(default)]
        seconds: Option<u32>,
    },
    /// To one client, or to every one if none is named.
    AllowFor {
        server: String,
        tool: String,
        client: Option<String>,
        seconds: u32,
    },
    /// Rules refuse one client, or every one, nothing for a while; what they would have refused is on record.
    Observe {
        server: String,
        client: Option<String>,
        seconds: u32,
    },
    Allow {
        target: Target,
    },
    /// The same of one tool, with a cap from the start.
    AllowCapped {
        target: Target,
        max: u32,
        window: String,
    },
    Uncap {
        target: Target,
    },
    /// A cap that is higher than the present one; asks only if it is.
    Cap {
        target: Target,
        max: u32,
        window: String,
    },
    /// Neither server nor client: every pause.
    Resume {
        server: Option<String>,
        #[serde(default)]
        client: Option<String>,
    },
    /// Takes back one change of the rules; asks only if that loosens.
    Revert {
        server: String,
        change: i64,
    },
    /// Puts the default policy back as it is shipped; only if it is missing or broken.
    RestoreDefault,
    /// Puts the newest version on record back in the place of a policy that cannot be used.
    LastGood {
        server: String,
    },
    /// These definitions of tools are what the person wants the server to have: exactly these.
    AcceptDefinitions {
        server: String,
        shown: Vec<ShownDefinition>,
    },
    /// Gives up what is accepted of a server: what it lists next is.
    ForgetDefinitions {
        server: String,
    },
    /// What the server lists no more is gone: what comes back under the name is new.
    RemoveDefinitions {
        server: String,
        gone: Vec<ShownGone>,
    },
    /// Clients get this capability or key of `_meta` of the server from now on.
    LetThrough {
        server: String,
        key: String,
    },
}

/// Either it is done, or a person has to say yes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Answer {
    Done(Done),
    Ask(Question),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// For `confirm`; good for two minutes and for what was asked, nothing else.
    pub token: String,
    /// "Let Claude Desktop call delete_file on files for 15 minutes?"
    pub words: String,
    /// What it is about, one line each, where that is too long for a question.
    pub details: Vec<String>,
    /// What becomes looser, or what goes for good, one line each.
    pub loosened: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// What was done, with its scope: "Blocked delete_file on files, for Claude Desktop".
    pub words: String,
    /// The text of this restriction's reason can be set with `give_reason` while undo is possible.
    pub undo: Option<Undo>,
    /// To ask `enforcement` with.
    pub server: Option<String>,
    pub version: Option<String>,
    /// When it ends by itself.
    pub ends_ms: Option<i64>,
    /// Other servers of this name (`files@cursor`), which it does not cover.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub siblings: Vec<String>,
    /// What has to be known besides, a sentence each: calls that the gate does not see, a name that nobody could check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// The command that takes exactly this back, also when `undo` is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<String>,
}

impl Restriction {
    /// Whom it is for; none if that is no single server.
    pub(crate) fn about(&self) -> Option<Target> {
        let whole = |server: &str, client: &Option<String>| {
            Some(Target { server: server.to_owned(), tool: None, client: client.clone() })
        };
        match self {
            Restriction::Block { target, .. }
            | Restriction::Ask { target, .. }
            | Restriction::Cap { target, .. }
            | Restriction::CapFor { target, .. }
            | Restriction::Hide { target, .. }
            | Restriction::Refuse { target, .. } => Some(target.clone()),
            Restriction::Pause { server: Some(server), client, .. }
            | Restriction::Enforce { server, client } => whole(server, client),
            Restriction::KeepRecordings { server } | Restriction::TakeOut { server, .. } => {
                whole(server, &None)
            }
            Restriction::Pause { server: None, .. } | Restriction::EndAllowance { .. } => None,
        }
    }
}

impl Done {
    /// The words, with the servers of this name that are not covered and what has to be known besides: where nothing else
    /// can show them.
    pub fn in_full(&self) -> String {
        let mut words = self.words.clone();
        if !self.siblings.is_empty() {
            let others: Vec<String> = self.siblings.iter().map(|server| name(server)).collect();
            words.push_str(&format!("; not covered, though of the same name: {}", others.join(", ")));
        }
        for caveat in &self.caveats {
            words.push_str(&format!("; but {caveat}"));
        }
        words
    }

    /// Nothing but words, about one server or about all.
    pub fn said(words: String, server: Option<&str>) -> Done {
        Done { words, server: server.map(str::to_owned), ..Done::default() }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Undo {
    pub token: String,
    pub until_ms: i64,
}

/// "enforced in 2 of 2 sessions".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Enforcement {
    pub in_force: u32,
    pub sessions: u32,
}

/// Caps to choose from, from this person's own use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CapAdvice {
    /// Most calls in any minute of the last 30 days.
    pub peak_per_minute: u32,
    /// "your peak is 22/min".
    pub words: String,
    pub choices: Vec<CapChoice>,
    /// "10 per minute", if it is capped already.
    pub present: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CapChoice {
    pub max: u32,
    pub window: String,
    /// "30/min".
    pub words: String,
    /// From own use, not one of the fixed ones.
    pub advised: bool,
}

/// Something that is let through for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct AllowanceView {
    pub id: String,
    pub server: String,
    pub tool: Option<String>,
    /// None: every client.
    pub client: Option<String>,
    pub words: String,
    pub ends_ms: i64,
}
