//! A policy, compiled: what is asked on the hot path, in the form in which it is asked.
//!
//! Pure: no clock, no disk. It is built in `compile` and answers in `judge`.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use crate::evaluate::Clause;
use crate::home::HomeGuard;
use crate::limit::Limit;
use crate::name;
use crate::problem::{Problem, Problems, Report};
use crate::unbuilt::Unbuilt;
use crate::{compile, file, warnings};

#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) version: String,
    pub(crate) warnings: Vec<Problem>,
    /// Why every call is refused, when the policy could not be used.
    pub(crate) broken: Option<String>,
    pub(crate) default: Default,
    /// The pointer of a `"*"` in `hide`.
    pub(crate) hide_all: Option<String>,
    pub(crate) names: FxHashMap<Box<str>, Named>,
    /// Ruled and hidden names by their folded form.
    pub(crate) spellings: FxHashMap<Box<str>, Box<str>>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) all_tools: Rule,
    pub(crate) not_built: NotBuilt,
    pub(crate) methods: Vec<MethodRefusal>,
    pub(crate) other_methods_denied: Option<String>,
    pub(crate) homes: Vec<HomeGuard>,
}

/// What happens to a tool that has no rule of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    Allow,
    Deny,
    Ask,
}

/// What the file says about one exact name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    /// Pointer of the `hide` entry.
    pub(crate) hidden: Option<String>,
    /// Position in `rules`.
    pub(crate) rule: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    pub(crate) pointer: String,
    pub(crate) denied: Option<Denial>,
    pub(crate) require: Vec<Clause>,
    pub(crate) deny_if: Vec<Clause>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) unbuilt: Option<Unbuilt>,
}

/// A refusal without conditions.
#[derive(Clone, Debug)]
pub(crate) struct Denial {
    pub(crate) pointer: String,
    pub(crate) reason: Option<String>,
}

/// Parts of the file that are not acted on yet, by what they touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct NotBuilt {
    /// Every call.
    pub(crate) everything: Option<Unbuilt>,
    /// Calls of tools whose names match, from `hide`.
    pub(crate) hide_patterns: Vec<Pattern>,
    /// Calls of tools that have no exact rule and whose names match.
    pub(crate) tool_patterns: Vec<Pattern>,
    /// Calls of tools that have no exact rule.
    pub(crate) classes: Option<Unbuilt>,
    /// Calls of one client.
    pub(crate) clients: Vec<Pattern>,
}

#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) text: String,
    pub(crate) unbuilt: Unbuilt,
}

/// A family of methods that is refused because its rules are not built yet.
#[derive(Clone, Debug)]
pub(crate) struct MethodRefusal {
    /// `resources/` for a family, `completion/complete` for one.
    pub(crate) prefix: &'static str,
    pub(crate) unbuilt: Unbuilt,
}

/// Two policies with equal visibility list the same tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    nothing: bool,
    hidden: BTreeSet<Box<str>>,
}

impl Policy {
    /// Compiles a policy file; on failure every error at once.
    pub fn parse(text: &str) -> Result<Policy, Report> {
        let mut problems = Problems::new(text);
        let file = file::read(text, &mut problems);
        let policy = file.as_ref().map(|file| compile::policy(file, version_of(text), &mut problems));
        match (policy, file) {
            (Some(mut policy), Some(file)) if !problems.has_errors() => {
                warnings::look(&file, &mut problems);
                policy.warnings = problems.into_sorted();
                Ok(policy)
            }
            _ => Err(Report { problems: problems.into_sorted() }),
        }
    }

    /// The broken or missing policy as a value: every request is refused but the harmless ones, so that lists
    /// and the handshake work.
    pub fn refuse_all(reason: impl Into<String>) -> Policy {
        let reason = reason.into();
        Policy { version: version_of(&reason), broken: Some(reason), ..Policy::empty() }
    }

    pub(crate) fn empty() -> Policy {
        Policy {
            version: String::new(),
            warnings: Vec::new(),
            broken: None,
            default: Default::Deny,
            hide_all: None,
            names: FxHashMap::default(),
            spellings: FxHashMap::default(),
            rules: Vec::new(),
            all_tools: Rule::default(),
            not_built: NotBuilt::default(),
            methods: Vec::new(),
            other_methods_denied: None,
            homes: Vec::new(),
        }
    }

    /// Refuses calls whose arguments name this folder. Callgate's own files must not be edited through its own gate.
    /// May be called again for other spellings of the same place (a symlink's target).
    pub fn guard_home(&mut self, home: &str) {
        if let Some(guard) = HomeGuard::new(home) {
            self.homes.push(guard);
        }
    }

    /// Twelve hex digits of the text's SHA-256.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Why every call is refused, if this is no usable policy.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Is this tool to be left out of lists? (`client`: for overlays, which are not built yet.)
    pub fn is_hidden(&self, _client: &str, tool: &str) -> bool {
        self.hide_all.is_some() || self.names.get(tool).is_some_and(|named| named.hidden.is_some())
    }

    pub fn hides_anything(&self) -> bool {
        self.hide_all.is_some() || self.names.values().any(|named| named.hidden.is_some())
    }

    pub fn visibility(&self) -> Visibility {
        let nothing = self.hide_all.is_some();
        let hidden = self.names.iter().filter(|(_, named)| named.hidden.is_some() && !nothing);
        Visibility { nothing, hidden: hidden.map(|(name, _)| name.clone()).collect() }
    }

    /// Does this policy refuse nothing except by caps (and Callgate's own built-in rules)?
    pub fn watch_only(&self) -> bool {
        let refuses_nothing = |rule: &Rule| {
            rule.denied.is_none()
                && rule.require.is_empty()
                && rule.deny_if.is_empty()
                && rule.unbuilt.is_none()
        };
        let not_built = &self.not_built;
        self.broken.is_none()
            && self.default == Default::Allow
            && !self.hides_anything()
            && self.rules.iter().all(refuses_nothing)
            && refuses_nothing(&self.all_tools)
            && not_built.everything.is_none()
            && not_built.hide_patterns.is_empty()
            && not_built.tool_patterns.is_empty()
            && not_built.classes.is_none()
            && not_built.clients.is_empty()
            && self.methods.is_empty()
            && self.other_methods_denied.is_none()
    }

    /// The rule of this exact name.
    pub(crate) fn rule_of(&self, tool: &str) -> Option<&Rule> {
        self.names.get(tool).and_then(|named| named.rule).map(|i| &self.rules[i])
    }

    /// A ruled or hidden name that a careless reader might take this one for.
    pub(crate) fn look_alike(&self, tool: &str) -> Option<&str> {
        self.spellings.get(name::folded(tool).as_ref()).map(|name| &**name)
    }
}

fn version_of(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
