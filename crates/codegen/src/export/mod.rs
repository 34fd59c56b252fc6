//! A session as a Playwright test in TypeScript.
//!
//! What an agent typed, perhaps read from a page, must never become code: every text of a call stands in the test as a
//! literal that it cannot leave ([`literal`]). Secrets are not in the record; where one was, the test reads a variable
//! of the environment. What no call of Playwright stands for is a comment.

mod literal;
mod step;
mod value;

use std::fmt::Write as _;

use crate::session::{Arguments, Outcome, Session};
use literal::{in_comment, literal};
use step::Step;
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
    let mut steps = step::Steps::default();
    let lines: Vec<String> = session
        .actions
        .iter()
        .enumerate()
        .map(|(index, action)| {
            let step = steps.of(index + 1, action);
            match (step, action.outcome) {
                (Step::Code(code), Outcome::Failed) => format!("// Failed when it was recorded: {code}"),
                (Step::Code(code), Outcome::Done | Outcome::Unknown) => code,
                (Step::Comment(comment), _) => format!("// {comment}"),
            }
        })
        .collect();
    let mut out = String::new();
    head(&mut out, session, source, &steps.variables);
    let expects = lines.iter().any(|line| line.starts_with("expect("));
    let imports = if expects { "test, expect" } else { "test" };
    let _ = write!(out, "import {{ {imports} }} from \"@playwright/test\";\n\n");
    if let Some(agent) = steps.user_agent {
        let _ = write!(out, "test.use({{ userAgent: {agent} }});\n\n");
    }
    let _ = writeln!(out, "test({}, async ({{ page }}) => {{", literal(&title(session)));
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
    out.push_str("});\n");
    out
}

fn head(out: &mut String, session: &Session, source: &Source<'_>, variables: &Variables) {
    let _ = writeln!(
        out,
        "// Recorded by Callgate: {} actions on {} by {}, started {}.",
        session.recorded,
        in_comment(source.server),
        in_comment(&session.client),
        in_comment(source.started),
    );
    let lacking = |args: &Arguments| matches!(args, Arguments::Cut(_) | Arguments::Names(_));
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
