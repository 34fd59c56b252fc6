//! Conditions on arguments that the server's tools do not have, or that are of another type.

use super::fit::{self, Fit};
use super::{Linter, Stratum, quoted, shown};
use crate::file::suggest::nearest;
use crate::file::{ArgumentKind, Clause, LimitKind, Operator, Path, Predicate, Subject, ToolRule, Value};
use crate::kinds;
use crate::problem::{Place, Problems};
use crate::schema::{Lookup, Part, Types};

/// What follows from a condition that can never hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Require,
    DenyIf,
    AskIf,
}

/// How the tools of a rule stand to one path into their arguments.
struct Standing<'a> {
    /// Those that have it, with what is said of it.
    found: Vec<(&'a str, &'a Part)>,
    /// Those that certainly have not, with what stands where it was looked for.
    absent: Vec<(&'a str, &'a Part)>,
    /// There are tools of which nothing is known.
    unsaid: bool,
}

impl<'a> Linter<'a> {
    pub(super) fn arguments(&self, stratum: &Stratum<'_>, rule: &ToolRule, problems: &mut Problems<'_>) {
        let tools = self.governed(stratum, rule);
        if tools.is_empty() {
            return;
        }
        let standing = |path: &Path| {
            let mut standing = Standing { found: Vec::new(), absent: Vec::new(), unsaid: false };
            for (tool, schema) in &tools {
                match schema.map_or(Lookup::Unsaid, |schema| schema.look_up(path)) {
                    Lookup::Found(part) => standing.found.push((*tool, part)),
                    Lookup::Absent(at) => standing.absent.push((*tool, at)),
                    Lookup::Unsaid => standing.unsaid = true,
                }
            }
            standing
        };
        let lists =
            [(List::Require, &rule.require), (List::DenyIf, &rule.deny_if), (List::AskIf, &rule.ask_if)];
        for (list, clauses) in lists {
            for clause in clauses {
                for predicate in &clause.conditions {
                    if let Subject::Argument(path) = &predicate.subject
                        && !path.steps.is_empty()
                    {
                        condition(list, clause, predicate, path, &standing(path), problems);
                    }
                }
            }
        }
        for entry in rule.limits.iter().filter(|entry| entry.kind.value == LimitKind::Sum) {
            if let Some(path) = &entry.amount_from {
                amount(path, &entry.place, &standing(path), problems);
            }
        }
    }
}

fn condition(
    list: List,
    clause: &Clause,
    predicate: &Predicate,
    path: &Path,
    standing: &Standing<'_>,
    problems: &mut Problems<'_>,
) {
    let text = &path.text;
    let wants_absence = predicate.op == Operator::Exists && predicate.value == Value::Bool(false);
    let alone = clause.conditions.len() == 1;
    let everywhere = standing.found.is_empty() && !standing.unsaid;
    let names = || shown(standing.absent.iter().map(|(tool, _)| *tool));
    if !standing.absent.is_empty() && !wants_absence {
        let lacking = if standing.absent.len() == 1 { "has no argument" } else { "have no argument" };
        let refused =
            format!("so every call of {} is refused", if standing.absent.len() == 1 { "it" } else { "them" });
        let nothing = match list {
            List::DenyIf => "so this never denies anything",
            _ => "so this never asks about anything",
        };
        match list {
            List::Require => {
                let message = format!("{} {lacking} {text}, {refused}", names());
                problems.warn(&predicate.place, message, instead(predicate, path, &standing.absent));
            }
            _ if everywhere => {
                let message = format!("{} {lacking} {text}, {nothing}", names());
                problems.warn(&predicate.place, message, instead(predicate, path, &standing.absent));
            }
            // Some tools have it, and others call it something else.
            _ => {
                let kind = kind_of(predicate, path);
                let kin: Vec<&str> = standing
                    .absent
                    .iter()
                    .filter(|(_, at)| kind.is_some_and(|kind| kinds::takes(at, kind)))
                    .map(|(tool, _)| *tool)
                    .collect();
                if let Some(kind) = kind.filter(|_| !kin.is_empty()) {
                    let message =
                        format!("this misses {}: other {} than {text} are there", shown(kin), kind.word());
                    problems.warn(&predicate.place, message, for_kind(kind, path));
                }
            }
        }
    }
    let fits = |wanted: Fit| {
        !standing.unsaid
            && !standing.found.is_empty()
            && standing.found.iter().all(|(_, part)| fit::of(part, predicate) == wanted)
    };
    let Some((_, first)) = standing.found.first() else { return };
    let is = match &first.choices {
        Some(choices) => format!("{text} is one of {}", listed(choices)),
        None => format!("{text} is {}", first.types.words()),
    };
    let op = predicate.op.word();
    let (message, fix) = if fits(Fit::Never) {
        let consequence = match list {
            List::Require => "so every call is refused",
            List::DenyIf => "so this never denies anything",
            List::AskIf => "so this never asks about anything",
        };
        (format!("{is}, for which this never holds, {consequence}"), fitting(first, predicate))
    } else if fits(Fit::Unclear) {
        let consequence =
            if alone { "calls that have it are refused" } else { "it refuses where the rest holds" };
        (format!("{is}, which `{op}` cannot judge: {consequence}"), fitting(first, predicate))
    } else if fits(Fit::Always) && list != List::Require && alone {
        (format!("{is}, for which this always holds: every call that has it is refused"), None)
    } else {
        return;
    };
    problems.warn(&predicate.place, message, fix);
}

/// An amount has to be a number that is there.
fn amount(path: &Path, place: &Place, standing: &Standing<'_>, problems: &mut Problems<'_>) {
    let text = &path.text;
    if standing.unsaid {
        return;
    }
    let names = |all: &[(&str, &Part)]| shown(all.iter().map(|(tool, _)| *tool));
    if !standing.absent.is_empty() {
        let message = format!(
            "{} {} no argument {text} to add up, so every such call is refused",
            names(&standing.absent),
            if standing.absent.len() == 1 { "has" } else { "have" }
        );
        problems.warn(place, message, members(&standing.absent));
    }
    let no_number = |(_, part): &(&str, &Part)| !part.is_unsaid() && !part.types.has(Types::NUMBER);
    if !standing.found.is_empty() && standing.found.iter().all(no_number) {
        let types = standing.found.first().map(|(_, part)| part.types.words()).unwrap_or_default();
        let message = format!("{text} is {types}, which cannot be added up, so every call is refused");
        problems.warn(place, message, "name an argument that is a number".to_owned());
    }
}

/// What the argument could be meant as, if it is of a kind.
fn kind_of(predicate: &Predicate, path: &Path) -> Option<ArgumentKind> {
    let last = path.steps.last().map(|step| step.name.as_str()).unwrap_or_default();
    if matches!(predicate.op, Operator::Inside | Operator::NotInside) {
        return Some(ArgumentKind::Paths);
    }
    [ArgumentKind::Paths, ArgumentKind::Urls].into_iter().find(|kind| kinds::is_named_so(*kind, last))
}

fn for_kind(kind: ArgumentKind, path: &Path) -> String {
    let (word, one) = (kind.word(), if kind == ArgumentKind::Paths { "path" } else { "URL" });
    format!(
        "write \"args\": \"{word}\" in place of \"path\": {:?}: that is every {one}, whatever it is called",
        path.text
    )
}

fn instead(predicate: &Predicate, path: &Path, absent: &[(&str, &Part)]) -> Option<String> {
    let kind = kind_of(predicate, path).filter(|kind| absent.iter().any(|(_, at)| kinds::takes(at, *kind)));
    if let Some(kind) = kind {
        let named: Vec<&str> = absent
            .iter()
            .flat_map(|(_, at)| at.members.keys())
            .map(String::as_str)
            .filter(|name| kinds::is_named_so(kind, name))
            .collect();
        let has = match named.first() {
            Some(name) => format!("there is {}; ", quoted(name)),
            None => String::new(),
        };
        return Some(format!("{has}{}", for_kind(kind, path)));
    }
    let wanted = path.steps.last().map(|step| step.name.as_str()).unwrap_or_default();
    let names: Vec<&str> = absent.iter().flat_map(|(_, at)| at.members.keys()).map(String::as_str).collect();
    match nearest(wanted, &names) {
        Some(near) => Some(format!("did you mean {}?", quoted(near))),
        None => members(absent),
    }
}

/// The arguments that there are.
fn members(absent: &[(&str, &Part)]) -> Option<String> {
    let names: std::collections::BTreeSet<&str> =
        absent.iter().flat_map(|(_, at)| at.members.keys()).map(String::as_str).collect();
    Some(match names.is_empty() {
        true => "there are no arguments at all in that place".to_owned(),
        false => format!("there {} {}", if names.len() == 1 { "is" } else { "are" }, shown(names)),
    })
}

fn listed(choices: &[String]) -> String {
    const MOST: usize = 6;
    let some: Vec<&str> = choices.iter().take(MOST).map(String::as_str).collect();
    match choices.len() > MOST {
        true => format!("{}, …", some.join(", ")),
        false => some.join(", "),
    }
}

/// What could be asked of an argument like this.
fn fitting(part: &Part, predicate: &Predicate) -> Option<String> {
    let example = match part.types {
        _ if part.choices.is_some() => return Some("write one of these values".to_owned()),
        Types::BOOL => "\"op\": \"eq\" with true or false",
        Types::NUMBER => "a number, as in \"op\": \"lte\", \"value\": 10",
        Types::LIST if predicate.op != Operator::Contains => "\"op\": \"contains\" with one of its values",
        _ => return None,
    };
    Some(format!("write {example}"))
}
