//! Names and patterns that no tool of the server has, and rules that others leave nothing to.

use super::{Linter, ServerTools, Stratum, quoted, shown};
use crate::file::suggest::nearest;
use crate::file::{Spot, ToolRule};
use crate::glob::Glob;
use crate::name;
use crate::problem::{Place, Problems};

impl Linter<'_> {
    pub(super) fn names(&self, stratum: &Stratum<'_>, problems: &mut Problems<'_>) {
        if let Some(tools) = self.tools.filter(|tools| tools.are_all_known()) {
            for Spot { value, place } in &stratum.body.hide {
                unknown(value, place, "so this hides nothing", tools, problems);
            }
            for rule in &stratum.body.tools {
                let known = !unknown(&rule.name, &rule.place, "so this rule is never used", tools, problems);
                if known && !self.is_over(rule.until.as_ref()) {
                    self.left_nothing(stratum, rule, tools, problems);
                }
            }
        }
        if stratum.is_overlay {
            stratum.body.tools.iter().for_each(|rule| self.settled_for_everyone(stratum, rule, problems));
        }
    }

    /// A pattern whose every tool has a rule that counts first.
    fn left_nothing(
        &self,
        stratum: &Stratum<'_>,
        rule: &ToolRule,
        tools: &ServerTools,
        problems: &mut Problems<'_>,
    ) {
        if !name::is_pattern(&rule.name) || !self.governed(stratum, rule).is_empty() {
            return;
        }
        let glob = Glob::new(&rule.name);
        let fits: Vec<&str> =
            tools.tools.keys().map(String::as_str).filter(|tool| glob.matches(tool)).collect();
        // A rule that ends leaves its tools to this one.
        let ends = fits.iter().any(|tool| {
            stratum.layer.find(tool, self.now_ms).rule.is_some_and(|first| first.ends_ms.is_some())
        });
        if !ends {
            let message = format!(
                "this rule is never used: of the server's tools it fits {}, and a rule that names more of them counts first",
                shown(fits)
            );
            problems.warn(&rule.place, message, "remove it, or say there what it says".to_owned());
        }
    }

    /// What a client's rules can never undo.
    fn settled_for_everyone(&self, stratum: &Stratum<'_>, rule: &ToolRule, problems: &mut Problems<'_>) {
        // Where something is only observed, nothing is settled.
        let observes = |layer: &crate::layer::Layer| layer.says.mode;
        if observes(&self.policy.base) || observes(stratum.layer) || self.is_over(rule.until.as_ref()) {
            return;
        }
        let base = &self.policy.base;
        let tools: Vec<&str> = match name::is_pattern(&rule.name) {
            true => self.governed(stratum, rule).into_iter().map(|(tool, _)| tool).collect(),
            false => vec![&rule.name],
        };
        let found: Vec<_> = tools.iter().map(|tool| base.find(tool, self.now_ms)).collect();
        let Some(first) = found.first() else { return };
        let hidden = |found: &crate::lookup::Found<'_>| found.hidden.is_some();
        let denial = |found: &crate::lookup::Found<'_>| {
            let rule = found.rule.filter(|rule| rule.ends_ms.is_none())?;
            rule.denied.as_ref().map(|denial| denial.pointer.clone())
        };
        let (word, by) = match (first.hidden, denial(first)) {
            (Some(pointer), _) if found.iter().all(hidden) => ("hidden", pointer.to_owned()),
            (None, Some(pointer)) if found.iter().all(|one| denial(one).is_some()) => ("denied", pointer),
            _ => return,
        };
        let what = quoted(&rule.name);
        let message = format!("{what} is {word} for everyone ({by}), so this rule changes nothing");
        problems.warn(&rule.place, message, "change that one, or remove this one".to_owned());
    }
}

/// Says so if no tool has this name, or fits this pattern.
fn unknown(
    name: &str,
    place: &Place,
    consequence: &str,
    tools: &ServerTools,
    problems: &mut Problems<'_>,
) -> bool {
    let names: Vec<&str> = tools.tools.keys().map(String::as_str).collect();
    let message = if name::is_pattern(name) {
        let glob = Glob::new(name);
        if names.iter().any(|tool| glob.matches(tool)) {
            return false;
        }
        format!("no tool of the server fits {}, {consequence}", quoted(name))
    } else {
        if tools.tools.contains_key(name) {
            return false;
        }
        format!("the server has no tool {}, {consequence}", quoted(name))
    };
    let near = nearest(name, &names).filter(|_| !name::is_pattern(name));
    let fix = match near {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => format!("its tools are {}", shown(names)),
    };
    problems.warn(place, message, fix);
    true
}
