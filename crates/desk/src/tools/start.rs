//! Whole policies for a server to begin with: each with its caption, what it changes, and what it newly allows.

use callgate_history::History;
use callgate_policy::{Policy, compare};
use callgate_recommend::{Facts, Start, starting_policy};

use super::Server;
use super::facts::Tool;
use crate::tool_changes::{self, line};
use crate::view::StartingPoint;
use crate::{Desk, DeskError};

/// More lines than this say less.
const SHOWN: usize = 60;

pub(super) fn points(
    desk: &Desk,
    history: &History,
    server: &Server,
) -> Result<Vec<StartingPoint>, DeskError> {
    let present = server.policy.as_ref().map(|policy| policy.text()).unwrap_or_default();
    let before = Policy::parse(present).unwrap_or_else(|report| Policy::refuse_all(report.headline()));
    let now_ms = desk.clock.now().wall_ms;
    let facts: Vec<Facts<'_>> = server.tools.iter().map(Tool::facts).collect();
    let point = |start: Start| {
        let text = starting_policy(start, &server.name, &facts);
        let after = Policy::parse(&text).map_err(DeskError::BrokenText)?;
        let changes = tool_changes::between(&desk.home, history, &server.name, present, &after, now_ms)?;
        Ok(StartingPoint {
            id: start.id().to_owned(),
            title: start.title().to_owned(),
            caption: start.caption().to_owned(),
            words: changes.words(),
            changes: changes.all.iter().take(SHOWN).map(line).collect(),
            loosened: compare::loosened(&before, &after),
            text,
        })
    };
    Start::ALL.into_iter().map(point).collect()
}

pub(super) fn recommended(server: &str, tools: &[Tool]) -> String {
    let facts: Vec<Facts<'_>> = tools.iter().map(Tool::facts).collect();
    starting_policy(Start::Recommended, server, &facts)
}
