//! Whole policies for a server to begin with: each with its caption, what it changes, and what it newly allows; for one that is
//! there, and for one that is put behind the gate or added. One that a person chose is put in force as any other change.

use std::collections::BTreeSet;
use std::time::Duration;

use callgate_clients::own;
use callgate_controls::catalogue;
use callgate_history::History;
use callgate_policy::{DEFAULT_POLICY, Policy, compare, edit};
use callgate_recommend::{Facts, Start, starting_policy};
use callgate_text::name;
use callgate_wiring::view::{EntryKey, ServerDraft};

use super::facts::Tool;
use super::installed::Installed;
use super::{Server, surface};
use crate::change::{self, CurrentPolicy};
use crate::tool_changes::{self, line};
use crate::view::{Answer, Done, ServerStart, StartingPoint, ToolsFrom};
use crate::{Desk, DeskError};

/// More lines than this say less.
const SHOWN: usize = 60;

impl Desk {
    /// Whole policies for a server to begin with, each with what it would change.
    pub fn starting_points(&self, server: &str) -> Result<Vec<StartingPoint>, DeskError> {
        let history = History::open_reader(&self.home)?;
        let (corrected, _) = self.corrected();
        let read = self.server_tools(&history, &Installed::read(self), &corrected, server, Duration::ZERO)?;
        points(self, &history, &read)
    }

    /// What these entries can begin with when they are put behind the gate, by the names that they get there. Starts nothing:
    /// what they can do is told by what they listed before, or by the catalogue.
    pub fn server_starts(&self, entries: &[EntryKey]) -> Result<Vec<ServerStart>, DeskError> {
        let history = History::open_reader(&self.home)?;
        let (corrected, _) = self.corrected();
        let launches = self.wiring.look_at_clients()?.launches();
        let mut starts = Vec::new();
        for (entry, server) in self.wiring.names_at_gate(entries)? {
            let mut installed = Installed::default();
            let launch = launches.iter().find(|launch| launch.key == entry);
            installed.add(&server, launch.map(|launch| launch.words.clone()).unwrap_or_default());
            let listed = catalogue::read(&self.home, &server).ok().flatten();
            // It is not told of this program what another of the name listed.
            let listed = listed.filter(|_| launch.is_some_and(|one| one.server == server && !one.is_shared));
            let read = self.server_from(&history, &installed, &corrected, &server, listed, Duration::ZERO)?;
            starts.push(ServerStart { entry: Some(entry), ..self.start(&history, &read)? });
        }
        Ok(starts)
    }

    /// What a server that a person is about to add can begin with; none while what was typed is no command.
    pub fn draft_start(&self, draft: &ServerDraft) -> Result<Option<ServerStart>, DeskError> {
        let Some(words) = self.wiring.words_of(draft).filter(|words| !words.is_empty()) else {
            return Ok(None);
        };
        if draft.name.is_empty() {
            return Ok(None);
        }
        self.start_of(&draft.name, words).map(Some)
    }

    /// The same by its name and the words that start it. What an earlier server of the name listed counts only if it is on our
    /// own list by this name: else it may have been another.
    pub fn start_of(&self, server: &str, words: Vec<String>) -> Result<ServerStart, DeskError> {
        let history = History::open_reader(&self.home)?;
        let (corrected, _) = self.corrected();
        let own = own::commands(self.home.path()).unwrap_or_default();
        let is_same = own.iter().any(|(name, command)| name == server && *command == words);
        let listed = catalogue::read(&self.home, server).ok().flatten().filter(|_| is_same);
        let mut installed = Installed::default();
        installed.add(server, words);
        let read = self.server_from(&history, &installed, &corrected, server, listed, Duration::ZERO)?;
        self.start(&history, &read)
    }

    fn start(&self, history: &History, server: &Server) -> Result<ServerStart, DeskError> {
        let has_rules = server.policy.as_ref().is_none_or(|policy| {
            let begun = [DEFAULT_POLICY.to_owned(), self.default_text()];
            policy.is_own() && !begun.iter().any(|text| text == policy.text())
        });
        Ok(ServerStart {
            entry: None,
            server: server.name.clone(),
            known: server.known.map(|known| known.server.clone()),
            from: server.from(),
            classes: surface::classes(&server.tools),
            has_rules,
            points: points(self, history, server)?,
        })
    }

    fn default_text(&self) -> String {
        let default = CurrentPolicy::read(&self.home, callgate_home::DEFAULT_SERVER);
        default.map(|default| default.text().to_owned()).unwrap_or_default()
    }

    /// Puts a starting point in place of the rules of a server. What opens something is asked about first.
    pub fn begin_with(&self, server: &str, point: &StartingPoint) -> Result<Answer, DeskError> {
        Policy::parse(&point.text).map_err(DeskError::BrokenText)?;
        let held = change::lock(&self.home)?;
        let present = CurrentPolicy::read(&self.home, server)?;
        let edited = edit::replace(present.text(), &point.text)?;
        let change = present.to(edited)?;
        let words = format!("{} begins with “{}”", name(server), point.title);
        if !change.edited().changed {
            let words = format!("Nothing to change: {} has these rules already", name(server));
            return Ok(Answer::Done(Done::said(words, Some(server))));
        }
        if !change.loosened().is_empty() {
            drop(held);
            let question =
                format!("Let {} begin with “{}”? More is let through than now.", name(server), point.title);
            return self.ask_to_change(change, question, words).map(Answer::Ask);
        }
        let version = change.commit(&held, &self.edit_context(), Some("starting-point"))?;
        drop(held);
        let undo = Some(self.keep_saved(&words, &change)?);
        let done = Done { undo, version: Some(version), ..Done::said(words, Some(server)) };
        Ok(Answer::Done(self.with_unconfirmed(done)))
    }
}

fn points(desk: &Desk, history: &History, server: &Server) -> Result<Vec<StartingPoint>, DeskError> {
    let present = server.policy.as_ref().map(|policy| policy.text()).unwrap_or_default();
    let before = Policy::parse(present).unwrap_or_else(|report| Policy::refuse_all(report.headline()));
    let now_ms = desk.clock.now().wall_ms;
    let facts: Vec<Facts<'_>> = server.tools.iter().map(Tool::facts).collect();
    let names: BTreeSet<String> = server.tools.iter().map(|tool| tool.name.clone()).collect();
    let point = |start: Start| {
        let text = starting_policy(start, &server.name, &facts);
        let after = Policy::parse(&text).map_err(DeskError::BrokenText)?;
        let changes =
            tool_changes::of_tools((&desk.home, history), &server.name, &names, present, &after, now_ms)?;
        Ok(StartingPoint {
            id: start.id().to_owned(),
            title: start.title().to_owned(),
            caption: start.caption().to_owned(),
            words: changes.words(),
            changes: changes.all.iter().take(SHOWN).map(line).collect(),
            loosened: compare::loosened(&before, &after),
            in_force: text == present,
            text,
        })
    };
    let is_true = |start: &Start| match server.from() {
        ToolsFrom::Listed | ToolsFrom::Catalogue => true,
        // "Tools that read pass": of a server whose tools nobody knows none would.
        ToolsFrom::Nothing => matches!(start, Start::WatchOnly | Start::Locked),
    };
    Start::ALL.into_iter().filter(is_true).map(point).collect()
}

pub(super) fn text(start: &str, server: &str, tools: &[Tool]) -> Result<String, DeskError> {
    let start = Start::from_id(start)
        .ok_or_else(|| DeskError::BadInput(format!("there is no starting point {start:?}")))?;
    let facts: Vec<Facts<'_>> = tools.iter().map(Tool::facts).collect();
    Ok(starting_policy(start, server, &facts))
}
