//! The page of one tool.

use callgate_policy::excerpt;
use callgate_recommend::{Act, Recommendation, shown};

use super::facts::Tool;
use super::{Server, answers, arguments, attacks};
use crate::DeskError;
use crate::rules::ready::{self, Listed};
use crate::view::{
    RecommendedRule, RelatedTool, RuleAct, ToolEvidence, ToolFinding, ToolOperation, ToolPage, ToolState,
};

/// Of a description, in characters.
const DESCRIPTION: usize = 4_000;
/// Related tools.
const RELATED: usize = 12;

pub(super) fn of(server: &Server, tool: &Tool) -> Result<ToolPage, DeskError> {
    let row = server.row(tool);
    let assessment = &tool.assessment;
    let rule = tool.recommended();
    let written = server.rules.get(&tool.name);
    let reason = match tool.told {
        Some(told) => {
            format!("You say so; told from its definition it would be {}. {}", told.name(), assessment.reason)
        }
        None => assessment.reason.clone(),
    };
    let title = Some(tool.text("title")).filter(|title| !title.is_empty()).map(str::to_owned);
    Ok(ToolPage {
        title,
        description: tool.text("description").chars().take(DESCRIPTION).collect(),
        provider: answers::provider(&server.name, server.known),
        told: tool.told,
        reason,
        evidence: assessment
            .evidence
            .iter()
            .map(|one| ToolEvidence {
                place: one.place.name().to_owned(),
                quote: one.quote.clone(),
                suggests: one.suggests,
            })
            .collect(),
        uncertain: assessment.uncertain.clone(),
        flags: answers::flags(assessment.flags),
        operations: assessment
            .operations
            .iter()
            .map(|one| ToolOperation {
                argument: one.argument.clone(),
                value: one.value.clone(),
                class: one.class,
            })
            .collect(),
        findings: tool
            .findings
            .iter()
            .map(|one| ToolFinding {
                code: one.code.to_owned(),
                place: one.place.clone(),
                quote: one.quote.clone(),
                explanation: one.explanation.to_owned(),
            })
            .collect(),
        undo: answers::undo(assessment.class, assessment.flags),
        recommended: recommended(server, tool, &rule, row.state),
        from: written.map_or_else(String::new, |rule| rule.from.clone()),
        current: own_rule(server, &tool.name),
        arguments: arguments::of(&tool.definition),
        related: related(server, &tool.name),
        attacks: attacks::of(tool),
        questions: answers::of(&server.name, server.known, tool, &rule),
        counted_since_ms: server.seen.since_ms,
        row,
    })
}

fn recommended(
    server: &Server,
    tool: &Tool,
    rule: &Recommendation,
    state: Option<ToolState>,
) -> RecommendedRule {
    let (act, label) = match rule.act {
        Act::Keep => (RuleAct::Keep, "Keep allowed"),
        Act::Limit => (RuleAct::Limit, "Limit"),
        Act::Ask => (RuleAct::Ask, "Ask"),
        Act::Hide => (RuleAct::Hide, "Hide"),
        Act::Nothing => (RuleAct::Nothing, "No rule"),
    };
    let mut notes = Vec::new();
    match (rule.act, state) {
        (Act::Keep | Act::Limit, Some(ToolState::Deny | ToolState::Hide)) => notes.push(
            "It is refused now. Where no rule of its own refuses it, naming it lets it through: you are asked before."
                .to_owned(),
        ),
        (Act::Ask, Some(ToolState::Deny | ToolState::Hide)) => {
            notes.push("It is refused now, without a question.".to_owned());
        }
        _ => {}
    }
    let listed: Vec<Listed> = server.entries.iter().map(Listed::from).collect();
    for title in ready::folder_rules(&listed, &tool.name) {
        notes.push(format!("Rules has a ready-made rule for it that takes a folder: {title}."));
    }
    let in_force = server.policy.as_ref().is_some_and(|policy| is_in_force(policy.text(), rule, state));
    RecommendedRule {
        act,
        label: label.to_owned(),
        words: rule.words.clone(),
        reason: rule.reason.to_owned(),
        text: if rule.act == Act::Nothing { String::new() } else { shown(&rule.part) },
        in_force,
        notes,
    }
}

/// Would applying it change anything that counts?
fn is_in_force(text: &str, rule: &Recommendation, state: Option<ToolState>) -> bool {
    match (rule.act, state) {
        (Act::Nothing, _) => true,
        (Act::Keep, Some(ToolState::Allow)) | (Act::Hide, Some(ToolState::Hide)) => true,
        // Whatever its own rule says, something refuses it.
        (Act::Keep | Act::Limit | Act::Ask, Some(ToolState::Deny | ToolState::Hide)) => false,
        _ => callgate_policy::edit::merge(text, &rule.part.to_string()).is_ok_and(|edited| !edited.changed),
    }
}

fn own_rule(server: &Server, tool: &str) -> Option<String> {
    let text = server.policy.as_ref()?.text();
    excerpt(text, &format!("/tools/{}", tool.replace('~', "~0").replace('/', "~1")))
}

/// Those whose names differ in the verb alone: before or after what they are about.
fn related(server: &Server, tool: &str) -> Vec<RelatedTool> {
    let (own, mut found) = (Stem::of(tool), Vec::new());
    for other in &server.tools {
        if other.name != tool && found.len() < RELATED && own.is_that_of(&Stem::of(&other.name)) {
            found.push(RelatedTool { name: other.name.clone(), class: other.assessment.class });
        }
    }
    found
}

/// The words of a name, in lower case.
struct Stem(Vec<String>);

impl Stem {
    fn of(name: &str) -> Stem {
        let mut words: Vec<String> = vec![String::new()];
        let mut was_lower = false;
        for letter in name.chars() {
            if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
                word.extend(letter.to_lowercase());
            }
            was_lower = letter.is_lowercase();
        }
        words.retain(|word| !word.is_empty());
        Stem(words)
    }

    fn is_that_of(&self, other: &Stem) -> bool {
        let without_first = |stem: &Stem| stem.0.get(1..).unwrap_or_default().to_vec();
        let without_last =
            |stem: &Stem| stem.0.split_last().map(|(_, rest)| rest.to_vec()).unwrap_or_default();
        let (one, two) = (without_first(self), without_first(other));
        let (three, four) = (without_last(self), without_last(other));
        (!one.is_empty() && one == two) || (three.len() > 1 && three == four)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_one_thing_belong_together_and_a_common_prefix_is_no_thing() {
        let same = |one: &str, other: &str| Stem::of(one).is_that_of(&Stem::of(other));
        assert!(same("start_codegen_session", "clear_codegen_session"));
        assert!(same("createIssue", "delete_issue"));
        assert!(same("code_session_start", "code_session_end"));
        assert!(!same("playwright_click", "playwright_navigate"));
        assert!(!same("start", "end"));
    }
}
