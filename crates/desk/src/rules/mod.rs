//! The rules of one server: looked at, checked, tried, built, saved, taken back.

mod complete;
mod diagnose;
mod drafts;
mod effect;
mod last_good;
mod present;
pub(crate) mod ready;
mod save;
mod suggest;
mod summary;
pub(crate) mod table;
mod trial;
mod versions;

use callgate_controls::catalogue;
use callgate_home::DEFAULT_SERVER;
use callgate_policy::edit::form::{self, Whose};
use callgate_policy::edit::{Edited, difference};
use callgate_policy::{Policy, compare};
use callgate_review::Suggestion;
use callgate_wiring::unified;
use ready::Listed;

use crate::view::{
    Action, Completion, Diagnostic, Effect, PolicyVersionView, Proposal, RuleDraft, RuleSuggestion,
    RulesSummary, RulesView, SaveAnswer, Target, Tried,
};
use crate::{Desk, DeskError};

impl Desk {
    pub fn rules(&self, server: &str) -> Result<RulesView, DeskError> {
        table::of(self, server)
    }

    /// Everything that is wrong or odd in a text, as the gate sees it; with a server, held against its tools.
    pub fn check_policy(&self, server: Option<&str>, text: &str) -> Vec<Diagnostic> {
        let known = server.and_then(|server| catalogue::read(&self.home, server).ok().flatten());
        let tools = known.map(|known| known.server_tools());
        diagnose::check(text, tools.as_ref(), self.clock.now().wall_ms)
    }

    /// The default policy, then every server that is known, with what its rules come to.
    pub fn rules_summary(&self) -> Result<Vec<RulesSummary>, DeskError> {
        summary::of(self)
    }

    /// What could stand at this UTF-16 offset.
    pub fn complete(&self, server: &str, text: &str, offset: u32) -> Vec<Completion> {
        complete::at(&complete::Known::of(self, server), text, offset)
    }

    /// The text with one tool's rule (for everyone or one client) as the form says, all else untouched.
    pub fn draft_rule(&self, text: &str, target: &Target, draft: &RuleDraft) -> Result<Proposal, DeskError> {
        let whose = Whose { tool: target.tool.as_deref(), client: target.client.as_deref() };
        let mut wanted = drafts::form(draft)?;
        drafts::name_counters(&mut wanted, text, whose);
        let Edited { text: new, summary, .. } = form::write(text, whose, &wanted)?;
        proposal(text, new, summary)
    }

    /// The text with another action for tools that no rule names, all else untouched.
    pub fn draft_default(&self, text: &str, action: Action) -> Result<Proposal, DeskError> {
        let Edited { text: new, summary, .. } = form::write_default(text, drafts::action(action))?;
        proposal(text, new, summary)
    }

    /// The text with a ready-made rule for the tools of this server in it, all else untouched. `folder`: for those that
    /// take one.
    pub fn draft_ready(
        &self,
        server: &str,
        text: &str,
        id: &str,
        folder: Option<&str>,
    ) -> Result<Proposal, DeskError> {
        let listed = catalogue::read(&self.home, server)?.map(|known| known.tools).unwrap_or_default();
        let listed: Vec<Listed> = listed.iter().map(Listed::from).collect();
        let Edited { text: new, summary, .. } = ready::apply(text, &listed, id, folder)?;
        proposal(text, new, summary)
    }

    /// What saving this text would change.
    pub fn propose(&self, server: &str, text: &str) -> Result<Proposal, DeskError> {
        let present = present::read(self, server)?;
        Ok(Proposal {
            text: text.to_owned(),
            diff: unified(present.text(), text, ("now", "new")),
            summary: difference(present.text(), text),
            loosened: loosened(present.text(), text)?,
        })
    }

    /// What this text would make of one call, counting nothing.
    pub fn try_call(
        &self,
        server: &str,
        text: &str,
        client: Option<&str>,
        tool: &str,
        args: &str,
    ) -> Result<Tried, DeskError> {
        trial::of(self, server, text, client.unwrap_or_default(), tool, args)
    }

    /// What this text would have done to the calls of the last days; the default policy, to those of the servers that follow it.
    pub fn effect(
        &self,
        server: &str,
        text: &str,
        days: u32,
        cancelled: &(dyn Fn() -> bool + Send + Sync),
    ) -> Result<Effect, DeskError> {
        match server {
            DEFAULT_SERVER => effect::of_default(self, text, days, cancelled),
            server => effect::of(self, server, text, days, cancelled),
        }
    }

    /// Rules drawn from what was used in the last days, on top of those in force, with what they would have decided
    /// otherwise. Nothing is written.
    pub fn suggest_rules(
        &self,
        server: &str,
        days: u32,
        cancelled: &(dyn Fn() -> bool + Send + Sync),
    ) -> Result<RuleSuggestion, DeskError> {
        suggest::of(self, server, days, cancelled)
    }

    /// The same as a policy of its own, for a file: since a time, with caps so many times what was seen.
    pub fn suggest_policy(&self, server: &str, since_ms: i64, margin: u32) -> Result<Suggestion, DeskError> {
        suggest::draft(self, server, since_ms, margin)
    }

    /// Saves a text that was made out of `base_text`. If that is not what counts any more, somebody else changed it
    /// meanwhile: a conflict, which is shown. The text tells more than its version, which a broken one has not.
    pub fn save_policy(&self, server: &str, base_text: &str, text: &str) -> Result<SaveAnswer, DeskError> {
        save::of(self, server, base_text, text)
    }

    /// The changes of the rules, newest first, at most 200.
    pub fn versions(&self, server: &str) -> Result<Vec<PolicyVersionView>, DeskError> {
        versions::of(self, server)
    }

    /// What one change did, as a unified diff.
    pub fn version_diff(&self, server: &str, change: i64) -> Result<String, DeskError> {
        versions::diff(self, server, change)
    }
}

fn proposal(text: &str, new: String, summary: Vec<String>) -> Result<Proposal, DeskError> {
    let diff = unified(text, &new, ("before", "after"));
    Ok(Proposal { diff, loosened: loosened(text, &new)?, summary, text: new })
}

/// A text that is to be judged, compared or written has to be a policy.
fn parsed(text: &str) -> Result<Policy, DeskError> {
    Policy::parse(text).map_err(DeskError::BrokenText)
}

/// A broken policy refuses everything: whatever takes its place opens what it does not refuse.
fn loosened(before: &str, after: &str) -> Result<Vec<String>, DeskError> {
    let before = Policy::parse(before).unwrap_or_else(|report| Policy::refuse_all(report.headline()));
    Ok(compare::loosened(&before, &parsed(after)?))
}
