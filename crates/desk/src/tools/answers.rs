//! What a person asks about a tool, answered for this one: the same words in the window and in the terminal.

use callgate_recommend::{Act, Recommendation};
use callgate_risk::{DataFlags, KnownServer, RiskClass};
use callgate_text::{clip, harmless, name, quoted};

use super::facts::Tool;
use crate::view::ToolQuestion;

/// Of a description in an answer, in characters.
const SENTENCE: usize = 240;

pub(super) fn of(
    server: &str,
    known: Option<&KnownServer>,
    tool: &Tool,
    rule: &Recommendation,
) -> Vec<ToolQuestion> {
    let shown = name(&tool.name);
    let class = tool.assessment.class;
    let severity = tool.assessment.severity.name().to_lowercase();
    let words = format!("{} {}", quoted(server), quoted(&tool.name));
    let rate = if class == RiskClass::Write { 30 } else { 10 };
    let answer = |question: String, answer: String| ToolQuestion { question, answer };
    vec![
        answer(format!("What does {shown} do?"), does(tool)),
        answer(
            format!("How do I set a rule for {shown}?"),
            format!(
                "Apply the recommended one here, or change it in Rules. In a terminal: callgate block, ask, hide or cap {words}. It holds from the next call on, for every client behind the gate."
            ),
        ),
        answer(
            format!("What risk level is {shown}?"),
            format!(
                "{shown} is {} {} tool with {severity} risk. {}",
                article(class),
                class.name(),
                advice(class)
            ),
        ),
        answer(
            format!("Can I rate-limit {shown}?"),
            format!(
                "Yes: callgate cap {words} {rate}/minute. Calls are counted for each client, over all its sessions with this server; the window slides, so nothing resets on the full minute."
            ),
        ),
        answer(
            format!("How do I block {shown} completely?"),
            format!(
                "callgate block {words} --reason \"…\" refuses every call and tells the agent why; callgate hide {words} takes it off the agent's list, too. {}",
                match rule.act {
                    Act::Hide => "Hiding is what is recommended here.",
                    _ => "Either can be undone.",
                }
            ),
        ),
        answer(format!("What provides {shown}?"), provider(server, known)),
    ]
}

fn does(tool: &Tool) -> String {
    let said = harmless(tool.text("description").trim());
    let said = clip(&said, SENTENCE);
    let stop = if said.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    let class = meaning(tool.assessment.class);
    match said.is_empty() {
        true => format!("Its server does not say. By its name it {class}."),
        false => format!("Its server says: {said}{stop} It {class}."),
    }
}

fn article(class: RiskClass) -> &'static str {
    if class == RiskClass::Execute { "an" } else { "a" }
}

/// After "it".
pub(super) fn meaning(class: RiskClass) -> &'static str {
    match class {
        RiskClass::Read => "retrieves and changes nothing",
        RiskClass::Write => "creates or changes data, in a way that can be undone or repeated",
        RiskClass::Execute => "runs or drives something: what happens depends on its arguments",
        RiskClass::Destructive => "removes or ends something for good",
        RiskClass::Financial => "moves money, or commits to paying",
    }
}

fn advice(class: RiskClass) -> &'static str {
    match class {
        RiskClass::Read => "Tools that read can be left allowed; what they return can still steer the agent.",
        RiskClass::Write => {
            "Tools that write get a limit, so that a loop does not change hundreds of things."
        }
        RiskClass::Execute => "Tools that execute get a limit, and their arguments are checked.",
        RiskClass::Destructive => "Tools that destroy are asked about or hidden.",
        RiskClass::Financial => "Tools that pay are asked about.",
    }
}

/// How far a call reaches, and whether it can be taken back.
pub(super) fn undo(class: RiskClass, flags: DataFlags) -> String {
    let undo = match class {
        RiskClass::Read => "There is nothing to undo: it changes nothing.",
        RiskClass::Write => {
            "What it makes or changes can be made or changed again, by hand or by another call; Callgate itself undoes nothing that a server did."
        }
        RiskClass::Execute => "That depends on what it was told to run: take it that it cannot be undone.",
        RiskClass::Destructive => "No. What it removes or ends does not come back.",
        RiskClass::Financial => "No. Money that has moved comes back only if whoever has it returns it.",
    };
    let reach = match (flags.sends_outside, flags.reads_private_data) {
        (true, true) => " It reaches beyond this machine, and what it reads may be private.",
        (true, false) => " It reaches beyond this machine.",
        (false, true) => " What it reads may be private.",
        (false, false) => "",
    };
    format!("{undo}{reach}")
}

pub(super) fn flags(flags: DataFlags) -> Vec<String> {
    let all = [
        (flags.reads_private_data, "reads private data"),
        (flags.returns_text_of_others, "returns text of others"),
        (flags.sends_outside, "sends outside"),
    ];
    all.into_iter().filter(|(set, _)| *set).map(|(_, words)| words.to_owned()).collect()
}

pub(super) fn provider(server: &str, known: Option<&KnownServer>) -> String {
    let server = name(server);
    match known {
        Some(known) => format!(
            "The server {server}: by its command it is {} ({}; the catalogue has version {}).",
            known.server,
            known.packages.first().map(String::as_str).unwrap_or_default(),
            known.version
        ),
        None => format!(
            "The server {server}, which is none of those in the catalogue: its tools are judged by their definitions alone."
        ),
    }
}
