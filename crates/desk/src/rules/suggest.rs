//! Rules drawn from what was used: a draft, laid over the rules in force, with what it would have decided otherwise.

use callgate_controls::{Disk, catalogue};
use callgate_history::History;
use callgate_policy::edit::merge;
use callgate_review::{Suggestion, SuggestionRequest, suggest};
use callgate_text::name;

use super::{effect, present, proposal};
use crate::view::{RuleSuggestion, SuggestedRule};
use crate::{Desk, DeskError};

/// The draft itself, which knows what was let through and not the rules in force.
pub(super) fn draft(desk: &Desk, server: &str, since_ms: i64, margin: u32) -> Result<Suggestion, DeskError> {
    let history = History::open_reader(&desk.home)?;
    let known = history.servers()?;
    if !known.iter().any(|one| one == server) {
        let known = if known.is_empty() { "nothing yet".to_owned() } else { known.join(", ") };
        return Err(DeskError::NotFound(format!(
            "nothing is on record about \"{}\" to learn from; known are: {known}",
            name(server)
        )));
    }
    // What cannot be read is as good as not known: the draft then hides nothing.
    let listed: Option<Vec<String>> = catalogue::read(&desk.home, server)
        .ok()
        .flatten()
        .map(|known| known.tools.into_iter().map(|tool| tool.name).collect());
    let now_ms = desk.clock.now().wall_ms;
    let (files, asks) = (Disk::new(), desk.worth_asking(server)?);
    let (margin, catalogue) = (margin.max(1), listed.as_deref());
    let wish = SuggestionRequest { server, since_ms, now_ms, margin, catalogue, asks: &asks, files: &files };
    suggest(&history, &wish).map_err(effect::failure)
}

/// The draft on top of the rules in force: what a person wrote there stays.
pub(super) fn of(
    desk: &Desk,
    server: &str,
    days: u32,
    cancelled: &(dyn Fn() -> bool + Send + Sync),
) -> Result<RuleSuggestion, DeskError> {
    let present = present::read(desk, server)?;
    let since_ms = effect::since(desk, days);
    let Suggestion { text, enough, calls, head, notes, rules } =
        match draft(desk, server, since_ms, callgate_review::MARGIN) {
            // Known by its policy or its list, and never used.
            Err(DeskError::NotFound(_)) => return Ok(RuleSuggestion::default()),
            drafted => drafted?,
        };
    if cancelled() {
        return Err(DeskError::Cancelled);
    }
    let edited = merge(present.text(), &text)?;
    let effect = effect::of(desk, server, &edited.text, days, cancelled)?;
    let rules = rules
        .into_iter()
        .map(|rule| SuggestedRule { tool: rule.tool, words: rule.words, why: rule.why })
        .collect();
    let proposal = proposal(present.text(), edited.text, edited.summary)?;
    Ok(RuleSuggestion {
        calls,
        enough,
        words: head,
        notes,
        rules,
        proposal: Some(proposal),
        effect: Some(effect),
    })
}
