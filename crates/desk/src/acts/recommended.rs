//! The recommended rule of one tool, put in force: it says nothing of other tools and never touches the default.

use callgate_policy::Policy;
use callgate_policy::edit::merge;
use callgate_recommend::Act as Rule;
use callgate_text::name;

use super::restrict::broken_where;
use super::undo::{Act, Undoable};
use super::words;
use crate::change::{self, CurrentPolicy};
use crate::view::{Answer, Done, Restriction, Target};
use crate::{Desk, DeskError, allowing};

impl Desk {
    /// What restricts is done at once and can be undone; what would let more through than now is asked about.
    pub fn apply_recommended(&self, server: &str, tool: &str) -> Result<Answer, DeskError> {
        let rule = self.recommended_rule(server, tool)?;
        let target = Target { server: server.to_owned(), tool: Some(tool.to_owned()), client: None };
        let (shown, on) = (name(tool), name(server));
        match rule.act {
            Rule::Nothing => return Err(DeskError::BadInput(rule.reason.to_owned())),
            Rule::Hide => return self.restrict(&Restriction::Hide { target, note: None }).map(Answer::Done),
            Rule::Keep | Rule::Limit | Rule::Ask => {}
        }
        let now = self.clock.now();
        let held = change::lock(&self.home)?;
        let present = CurrentPolicy::read(&self.home, server)?;
        let edited =
            merge(present.text(), &rule.part.to_string()).map_err(|error| broken_where(error, &present))?;
        let change = present.to(edited)?;
        let mut words = format!("{shown} on {on} is {} now", rule.words);
        let mut unchanged = format!("Nothing to change: {shown} on {on} is {} already", rule.words);
        let policy = Policy::parse(&change.edited().text).map_err(DeskError::BrokenText)?;
        let own = format!("/tools/{}/", tool.replace('~', "~0").replace('/', "~1"));
        let refused = allowing::always_refused(&policy, "", tool, now.wall_ms);
        // What its own rule asks about is what is wanted.
        let refused = refused.filter(|(pointer, _)| rule.act != Rule::Ask || !pointer.starts_with(&own));
        if let Some((_, reason)) = refused {
            let but = format!("; but it stays refused, because {}", words::sentence(&reason));
            words.push_str(&but);
            unchanged.push_str(&but);
        }
        if !change.edited().changed {
            return Ok(Answer::Done(Done::said(unchanged, Some(server))));
        }
        if !change.loosened().is_empty() {
            drop(held);
            let question = format!("Put the recommended rule for {shown} on {on} in force: {}?", rule.words);
            return self.ask_to_change(change, question, words).map(Answer::Ask);
        }
        let ended = match rule.act {
            Rule::Ask => allowing::end_for_block(&self.home, &now, (server, None), Some(tool))?,
            _ => allowing::end_observing(&self.home, &now, (server, None))?,
        };
        let version = match change.commit(&held, &self.edit_context(), Some("recommended")) {
            Ok(version) => version,
            Err(error) => {
                // Nothing was done, so nothing is over either.
                let _restored = callgate_controls::allowance::restore(&self.home, &now, &ended);
                return Err(error);
            }
        };
        drop(held);
        self.note_ended(&now, &ended);
        let act = Act::Save {
            server: server.to_owned(),
            before: change.before().text().to_owned(),
            after: change.edited().text.clone(),
        };
        let undo = Some(self.keep(&now, Undoable { words: words.clone(), act, ended })?);
        let back = Some(self.revert_command(server, &version));
        let siblings = self.siblings(server, None);
        let done = Done { undo, version: Some(version), back, siblings, ..Done::said(words, Some(server)) };
        Ok(Answer::Done(Done { caveats: self.caveats(&target), ..done }))
    }
}
