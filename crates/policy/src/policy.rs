//! A policy, compiled: what is asked on the hot path, in the form in which it is asked.
//!
//! Pure: no clock, no disk. It is built in `compile` and answers in `judge`.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::class::ToolClasses;
use crate::file::{Mode, Pin, PolicyFile, ProcessSettings};
use crate::home::HomeGuard;
use crate::layer::{Default, Layer, Rule};
use crate::lint::ServerTools;
use crate::loops::LoopRule;
use crate::overlay::Overlays;
use crate::problem::{Problem, Problems, Report};
use crate::{compile, file, methods, warnings};

#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) version: String,
    pub(crate) warnings: Vec<Problem>,
    /// Why every call is refused, when the policy could not be used.
    pub(crate) broken: Option<String>,
    /// The rules for everyone.
    pub(crate) base: Layer,
    pub(crate) overlays: Overlays,
    /// The rules for requests that call no tool.
    pub(crate) requests: methods::Layer,
    pub(crate) homes: Vec<HomeGuard>,
    /// How the server's process is kept; nothing of it decides about a call.
    pub(crate) process: ProcessSettings,
    /// What is known of the server's tools, for calls that do not come with it.
    pub(crate) tools: Option<ServerTools>,
    /// Who knows what they can do.
    pub(crate) classes: Option<Arc<dyn ToolClasses>>,
}

impl Policy {
    /// Compiles a policy file; on failure every error at once.
    pub fn parse(text: &str) -> Result<Policy, Report> {
        Policy::parse_both(text).map(|(policy, _)| policy)
    }

    /// The same, with the file as it was read.
    pub(crate) fn parse_both(text: &str) -> Result<(Policy, PolicyFile), Report> {
        let mut problems = Problems::new(text);
        let file = file::read(text, &mut problems);
        let policy = file.as_ref().map(|file| compile::policy(file, version_of(text), &mut problems));
        match (policy, file) {
            (Some(mut policy), Some(file)) if !problems.has_errors() => {
                warnings::look(&file, policy.watch_only(), &mut problems);
                policy.warnings = problems.into_sorted();
                Ok((policy, file))
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
            base: Layer::default(),
            overlays: Overlays::default(),
            requests: methods::Layer::default(),
            homes: Vec::new(),
            process: ProcessSettings::default(),
            tools: None,
            classes: None,
        }
    }

    /// Refuses calls whose arguments name this folder. Callgate's own files must not be edited through its own gate.
    /// May be called again for other spellings of the same place (a symlink's target). `working_in` is where the server
    /// runs, if that is known: relative paths start there.
    pub fn guard_home(&mut self, home: &str, working_in: Option<&str>) {
        if let Some(guard) = HomeGuard::new(home, working_in) {
            self.homes.push(guard);
        }
    }

    /// For whoever judges calls beside the server: what it listed last, which tells kinds of arguments.
    pub fn know_tools(&mut self, tools: ServerTools) {
        self.tools = Some(tools);
    }

    /// Twelve hex digits of the text's SHA-256.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// How the server's process is to be kept.
    pub fn process(&self) -> &ProcessSettings {
        &self.process
    }

    /// Why every call is refused, if this is no usable policy.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Does a judgement get better with the tool's schema ([`Call::described_by`](crate::Call::described_by))?
    pub fn asks_for_kinds(&self) -> bool {
        std::iter::once(&self.base)
            .chain(self.overlays.iter().map(|o| &o.layer))
            .any(|layer| layer.says.kinds)
    }

    /// Does this policy refuse nothing except by caps (and Callgate's own built-in rules)?
    pub fn watch_only(&self) -> bool {
        let layers = || std::iter::once(&self.base).chain(self.overlays.iter().map(|o| &o.layer));
        let requests = || std::iter::once(&self.requests).chain(self.overlays.iter().map(|o| &o.requests));
        let refuses_nothing = |layer: &Layer| {
            let allows = layer.default.as_ref().is_none_or(|default| default.action == Default::Allow);
            let validates = layer.validate.as_ref().is_some_and(|validate| validate.wanted);
            allows
                && !validates
                && !layer.names.hide_anything()
                && layer.pin != Some(Pin::Enforce)
                && layer.codegen.is_none()
                && !layer.loops.as_ref().is_some_and(LoopRule::insists)
                && layer.every_rule().all(Rule::only_limits)
        };
        let enforces = |layer: &Layer| {
            layer.mode == Some(Mode::Enforce)
                || layer.every_rule().any(|rule| rule.mode == Some(Mode::Enforce))
        };
        let only_observed = self.base.mode == Some(Mode::Observe) && !layers().any(enforces);
        self.broken.is_none()
            && (only_observed
                || (layers().all(refuses_nothing) && requests().all(methods::Layer::refuses_nothing)))
    }

    /// The rule of this exact name, in force or not.
    pub(crate) fn rule_of(&self, tool: &str) -> Option<&Rule> {
        self.base.names.exact.get(tool).and_then(|named| named.rule).and_then(|at| self.base.rules.get(at))
    }
}

pub(crate) fn version_of(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
