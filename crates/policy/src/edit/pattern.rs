//! Edits of patterns: the rules that one reaches besides its own.

use crate::file::{Body, ToolRule};
use crate::glob::Glob;
use crate::name;

/// The names under which an edit of this tool or pattern has to be written: its own, and every rule that the pattern
/// covers, or the tools of that rule would be left out.
pub(super) fn reached<'b>(body: &'b Body, tool: &'b str) -> impl Iterator<Item = &'b str> {
    let glob = name::is_pattern(tool).then(|| Glob::new(tool));
    let covered = move |rule: &&ToolRule| {
        rule.name != tool && glob.as_ref().is_some_and(|glob| glob.covers(&Glob::new(&rule.name)))
    };
    std::iter::once(tool).chain(body.tools.iter().filter(covered).map(|rule| rule.name.as_str()))
}

/// Does this entry of a list of names speak only of what the edit is about?
pub(super) fn covers(tool: &str, entry: &str) -> bool {
    tool == entry || (name::is_pattern(tool) && Glob::new(tool).covers(&Glob::new(entry)))
}

/// What to say of rules that take some of the pattern's tools away from it.
pub(super) fn out_of_reach(body: &Body, tool: &str, done: &str) -> Vec<String> {
    if !name::is_pattern(tool) {
        return Vec::new();
    }
    let glob = Glob::new(tool);
    let takes = |rule: &&ToolRule| {
        let other = Glob::new(&rule.name);
        name::is_pattern(&rule.name)
            && other.meets(&glob)
            && !glob.covers(&other)
            && other.rank() < glob.rank()
    };
    let words = |rule: &ToolRule| {
        format!("but tools that fit {:?} too have a rule of their own, and are not {done} by this", rule.name)
    };
    body.tools.iter().filter(takes).map(words).collect()
}
