//! Rules held against what is known of the server: what can never be used, never match, never be reached.
//!
//! A rule that misses in silence is worse than none, because somebody relies on it. Everything here is a warning with a fix.
//! Nothing is said that is not certain: where a server's schema leaves something open, so does this. It never changes a
//! decision.

mod arguments;
mod contradictions;
mod fit;
mod limits;
mod names;

use std::collections::BTreeMap;

use crate::compile::until;
use crate::edit::quoted;
use crate::file::{Body, PolicyFile, Spot, ToolRule};
use crate::layer::Layer;
use crate::moment;
use crate::policy::Policy;
use crate::problem::{Problem, Problems};
use crate::schema::ArgumentSchema;

/// What a server listed last: its tools, each with what is said of its arguments.
#[derive(Clone, Debug, Default)]
pub struct ServerTools {
    tools: BTreeMap<String, Option<ArgumentSchema>>,
    /// There are no others.
    complete: bool,
}

impl ServerTools {
    /// `complete`: the server has no tools beside these.
    pub fn new(
        tools: impl IntoIterator<Item = (String, Option<ArgumentSchema>)>,
        complete: bool,
    ) -> ServerTools {
        ServerTools { tools: tools.into_iter().collect(), complete }
    }

    /// Of one tool, if the server describes its arguments.
    pub fn schema(&self, tool: &str) -> Option<&ArgumentSchema> {
        self.tools.get(tool).and_then(Option::as_ref)
    }

    /// A server that listed nothing may not have been asked.
    fn are_all_known(&self) -> bool {
        self.complete && !self.tools.is_empty()
    }
}

/// What is odd about a policy for a server with these tools, at this moment, beside [`Policy::warnings`]. Without tools only
/// what can be told from the text. Nothing of a text that is no policy: it has errors.
pub fn lint(text: &str, tools: Option<&ServerTools>, now_ms: i64) -> Vec<Problem> {
    let (Ok(file), Ok(policy)) = (PolicyFile::parse(text), Policy::parse(text)) else { return Vec::new() };
    let mut problems = Problems::new(text);
    let linter = Linter { file: &file, policy: &policy, tools, now_ms };
    for stratum in linter.strata() {
        linter.ended(&stratum, &mut problems);
        linter.names(&stratum, &mut problems);
        for rule in stratum.body.classes.iter().filter(|rule| !linter.is_over(rule.until.as_ref())) {
            contradictions::look(rule, &mut problems);
        }
        for rule in stratum.rules().filter(|rule| !linter.is_over(rule.until.as_ref())) {
            linter.arguments(&stratum, rule, &mut problems);
            contradictions::look(rule, &mut problems);
        }
        linter.limits(&stratum, &mut problems);
    }
    problems.into_sorted()
}

/// [`Policy::warnings`] and [`lint`] together, in the order of the file; the errors of a text that is no policy.
pub fn diagnose(text: &str, tools: Option<&ServerTools>, now_ms: i64) -> Vec<Problem> {
    match Policy::parse(text) {
        Ok(policy) => {
            let mut problems = policy.warnings;
            problems.extend(lint(text, tools, now_ms));
            problems.sort_by_key(|problem| (problem.line, problem.column));
            problems
        }
        Err(report) => report.problems,
    }
}

struct Linter<'a> {
    file: &'a PolicyFile,
    policy: &'a Policy,
    tools: Option<&'a ServerTools>,
    now_ms: i64,
}

/// What is written for everyone, or for one client: the text and what became of it.
struct Stratum<'a> {
    body: &'a Body,
    layer: &'a Layer,
    /// It comes on top of what is written for everyone.
    is_overlay: bool,
}

impl<'a> Stratum<'a> {
    fn rules(&self) -> impl Iterator<Item = &'a ToolRule> {
        self.body.tools.iter().chain(&self.body.all_tools)
    }
}

impl<'a> Linter<'a> {
    fn strata(&self) -> Vec<Stratum<'a>> {
        let base = Stratum { body: &self.file.body, layer: &self.policy.base, is_overlay: false };
        let overlays = self.file.clients.iter().zip(self.policy.overlays.iter());
        let overlays = overlays.map(|(file, compiled)| Stratum {
            body: &file.body,
            layer: &compiled.layer,
            is_overlay: true,
        });
        std::iter::once(base).chain(overlays).collect()
    }

    fn is_over(&self, end: Option<&Spot<String>>) -> bool {
        until(end).is_some_and(|end| end <= self.now_ms)
    }

    fn ended(&self, stratum: &Stratum<'_>, problems: &mut Problems<'_>) {
        let ends = stratum.rules().chain(&stratum.body.classes).flat_map(|rule| {
            let limits = rule.limits.iter().filter_map(|limit| limit.until.as_ref());
            rule.until.iter().map(|end| (end, "rule")).chain(limits.map(|end| (end, "limit")))
        });
        for (end, what) in ends.filter(|(end, _)| self.is_over(Some(end))) {
            let moment = until(Some(end)).map(moment::shown).unwrap_or_default();
            let message = format!("this {what} ended on {moment}: it is as if it were not written");
            problems.warn(&end.place, message, format!("remove the {what}, or write a later moment"));
        }
    }

    /// The tools that this rule of this layer speaks of now, with what is known of their arguments.
    fn governed(&self, stratum: &Stratum<'_>, rule: &ToolRule) -> Vec<(&'a str, Option<&'a ArgumentSchema>)> {
        let Some(tools) = self.tools else { return Vec::new() };
        let for_all = stratum.body.all_tools.as_ref().is_some_and(|all| std::ptr::eq(all, rule));
        let speaks = |tool: &str| {
            for_all
                || stratum
                    .layer
                    .find(tool, self.now_ms)
                    .rule
                    .is_some_and(|found| found.pointer == rule.place.pointer)
        };
        let all = tools.tools.iter().filter(|(name, _)| speaks(name));
        all.map(|(name, schema)| (name.as_str(), schema.as_ref())).collect()
    }
}

/// `"a", "b" and 3 more`
fn shown<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    const MOST: usize = 5;
    let names: Vec<&str> = names.into_iter().collect();
    let some: Vec<String> = names.iter().take(MOST).map(|name| quoted(name)).collect();
    match names.len().saturating_sub(MOST) {
        0 => match some.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => String::new(),
        },
        more => format!("{} and {more} more", some.join(", ")),
    }
}
