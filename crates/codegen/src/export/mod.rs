//! A session as a Playwright test in TypeScript.
//!
//! What an agent typed, perhaps read from a page, must never become code: every text of a call stands in the test as a
//! literal that it cannot leave ([`literal`]). Secrets are not in the record; where one was, the test reads a variable
//! of the environment. What no call of Playwright stands for is a comment.

mod expectation;
mod literal;
mod page;
mod request;
mod step;
mod value;

use std::fmt::Write as _;

use crate::session::{Action, CallOutcome, RetainedArguments, Session};
use literal::{in_comment, literal};
use step::{Step, Steps, braced};
use value::Variables;

/// Where a session comes from, for the head of the test.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub server: &'a str,
    /// When it was started, as a person's clock shows it.
    pub started: &'a str,
}

/// The whole file.
pub fn playwright_test(session: &Session, source: &Source<'_>) -> String {
    let mut steps = Steps::new(&session.actions);
    let lines = lines(&mut steps, &session.actions);
    let mut out = String::new();
    head(&mut out, session, source, &steps.variables);
    // A word in somebody's text brings in a name too many, which does no harm.
    let uses = |word: &str| lines.iter().any(|line| !line.starts_with("//") && line.contains(word));
    let named = |names: &[(&str, bool)]| -> String {
        let used: Vec<&str> = names.iter().filter(|(_, used)| *used).map(|(name, _)| *name).collect();
        used.join(", ")
    };
    let imports = named(&[
        ("test", true),
        ("expect", uses("expect(") || uses("expect.poll(")),
        ("devices", uses("devices[")),
    ]);
    let _ = write!(out, "import {{ {imports} }} from \"@playwright/test\";\n\n");
    let settings = [("userAgent", &steps.user_agent), ("viewport", &steps.viewport)];
    let settings: Vec<String> =
        settings.iter().filter_map(|(name, value)| Some(format!("{name}: {}", value.as_ref()?))).collect();
    if !settings.is_empty() {
        let _ = write!(out, "test.use({});\n\n", braced(&settings));
    }
    let fixtures =
        named(&[("browser", uses("await browser.")), ("page", true), ("request", uses("await request."))]);
    let _ = writeln!(out, "test({}, async ({{ {fixtures} }}) => {{", literal(&title(session)));
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
    out.push_str("});\n");
    out
}

fn lines(steps: &mut Steps, actions: &[Action]) -> Vec<String> {
    let (mut before, mut after) = (vec![Vec::new(); actions.len()], vec![Vec::new(); actions.len()]);
    let mut own: Vec<Vec<String>> = Vec::with_capacity(actions.len());
    for (index, action) in actions.iter().enumerate() {
        let step = steps.step(index + 1, action);
        own.push(match (step, action.outcome) {
            (Step::Code(lines), CallOutcome::Failed) => failed(&lines),
            (Step::Watch { begin, end }, CallOutcome::Failed) => failed(&[begin, end]),
            (Step::Comment(comment), CallOutcome::Failed) => failed(&[comment]),
            (Step::Comment(comment), CallOutcome::Done | CallOutcome::Unknown) => {
                vec![format!("// {comment}")]
            }
            (Step::Code(lines), CallOutcome::Done | CallOutcome::Unknown) => lines,
            (Step::Watch { begin, end }, CallOutcome::Done | CallOutcome::Unknown) => {
                let (first, last) = beside(actions, index);
                before[first].push(begin);
                after[last].push(end);
                Vec::new()
            }
        });
    }
    let of_all = before.into_iter().zip(own).zip(after);
    of_all.flat_map(|((before, own), after)| before.into_iter().chain(own).chain(after)).collect()
}

/// What was not done then is not done again; it can be read what it was.
fn failed(lines: &[String]) -> Vec<String> {
    let words = ["// Failed when it was recorded: ", "//   "];
    lines.iter().enumerate().map(|(at, line)| format!("{}{line}", words[at.min(1)])).collect()
}

/// The first and the last of the actions that ran while this one did, or itself: an agent that waits for a dialog has
/// something else open it.
fn beside(actions: &[Action], index: usize) -> (usize, usize) {
    let Some(one) = actions.get(index) else { return (index, index) };
    let overlaps = |other: &Action| {
        other.at_ms < one.ended_ms.unwrap_or(one.at_ms) && one.at_ms < other.ended_ms.unwrap_or(other.at_ms)
    };
    let run = |other: &&Action| overlaps(other);
    let earlier = actions[..index].iter().rev().take_while(run).count();
    let later = actions[index + 1..].iter().take_while(run).count();
    (index - earlier, index + later)
}

fn head(out: &mut String, session: &Session, source: &Source<'_>, variables: &Variables) {
    let _ = writeln!(
        out,
        "// Recorded by Callgate: {} on {} by {}, started {}.",
        if session.recorded == 1 { "1 action".to_owned() } else { format!("{} actions", session.recorded) },
        in_comment(source.server),
        in_comment(&session.client),
        in_comment(source.started),
    );
    let lacking =
        |args: &RetainedArguments| matches!(args, RetainedArguments::Cut(_) | RetainedArguments::Names(_));
    if session.actions.iter().any(|action| lacking(&action.args)) {
        out.push_str("// Of some actions not everything is on record: they are comments.\n");
    }
    if !variables.is_empty() {
        out.push_str("// Values that are masked in the record come from the environment. Set these first:\n");
        for variable in variables.iter() {
            let _ = writeln!(out, "//   {} ({})", variable.name, variable.what);
        }
    }
}

fn title(session: &Session) -> String {
    let prefix = session.options.prefix.as_deref().unwrap_or("Recorded session");
    session.id.as_deref().map_or_else(|| prefix.to_owned(), |id| format!("{prefix} {id}"))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
