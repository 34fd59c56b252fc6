//! Codegen sessions: what agents let browser servers record, from the history. A server that was killed, or told to clear a
//! session, has lost it; the history has not.

use std::io::Write;
use std::path::Path;

use callgate_codegen::{CallOutcome, RetainedArguments, Source, State, Verb, playwright_test};
use callgate_codegen_history::CodegenSession;
use callgate_controls::catalogue::Catalogue;
use callgate_home::{CallId, lease};
use callgate_journal::catch_up;
use callgate_text::local;

use crate::log::export::{
    Trouble,
    file::{next_name, write_at, write_new},
};
use crate::view::{CodegenAction, CodegenDetail, CodegenState, CodegenView, Exported};
use crate::{Desk, DeskError, gist};

/// How far back they are looked for.
const DAYS_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// How the name of a Playwright test ends.
const ENDING: &str = "spec.ts";
/// The longest part of a file's name that a server chose.
const NAMED: usize = 40;
/// Actions that are shown of one; a test has all of them.
const SHOWN: usize = 500;

/// Has this server codegen sessions?
pub(crate) fn offers(list: &Catalogue) -> bool {
    list.tools.iter().any(|tool| tool.name == Verb::Start.tool())
}

impl Desk {
    /// Those of one server, or of all, the newest first.
    pub fn codegen(&self, server: Option<&str>) -> Result<Vec<CodegenView>, DeskError> {
        let found = self.codegen_sessions(server)?;
        Ok(found.iter().rev().map(|one| self.codegen_view(one)).collect())
    }

    /// One of them with its actions, by its id or by the server's own name for it.
    pub fn codegen_session(&self, id: &str) -> Result<CodegenDetail, DeskError> {
        let found = self.codegen_named(id)?;
        let actions = found.session.actions.iter().take(SHOWN).map(|action| CodegenAction {
            call: CallId { session: found.gate(), seq: action.call }.to_string(),
            at_ms: action.at_ms,
            tool: action.tool.clone(),
            gist: match &action.args {
                RetainedArguments::Absent => String::new(),
                RetainedArguments::Names(names) => gist(Some(names), true),
                args => gist(Some(args.text()), false),
            },
            failed: action.outcome == CallOutcome::Failed,
        });
        Ok(CodegenDetail { session: self.codegen_view(&found), actions: actions.collect() })
    }

    /// A session as a Playwright test.
    pub fn codegen_test(&self, id: &str) -> Result<String, DeskError> {
        Ok(test(&self.codegen_named(id)?))
    }

    /// The same in a new file in this folder, which is made if it is missing.
    pub fn export_codegen(&self, id: &str, folder: &Path) -> Result<Exported, DeskError> {
        let found = self.codegen_named(id)?;
        std::fs::create_dir_all(folder).map_err(|error| {
            DeskError::disk(format!("the folder {} cannot be made", folder.display()), error)
        })?;
        let path = write_new(folder, &self.test_name(&found), ENDING, &mut |out| write_test(&found, out))?;
        Ok(exported(&found, &path))
    }

    /// Where a person may want the test of a session, if they keep their files in this folder: a name that is free.
    pub fn codegen_file(&self, id: &str, folder: &Path) -> Result<String, DeskError> {
        let found = self.codegen_named(id)?;
        Ok(next_name(folder, &self.test_name(&found), ENDING).to_string_lossy().into_owned())
    }

    /// The same in this very file, which a person named. Nothing that is there is replaced, and it is a test by its name: the
    /// window must not write anything else anywhere.
    pub fn export_codegen_as(&self, id: &str, path: &str) -> Result<Exported, DeskError> {
        let path = Path::new(path.trim());
        let bad = |why: &str| DeskError::BadInput(format!("{}: {why}", path.display()));
        if !path.is_absolute() {
            return Err(bad("say the whole path, from the root on"));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.strip_suffix(ENDING).and_then(|name| name.strip_suffix('.')).is_none_or(str::is_empty) {
            return Err(bad(&format!("a Playwright test is called something.{ENDING}")));
        }
        let found = self.codegen_named(id)?;
        let path = write_at(path, &mut |out| write_test(&found, out))?;
        Ok(exported(&found, &path))
    }

    /// `playwright-3f2a9c11-2026-11-18`: without its ending.
    fn test_name(&self, found: &CodegenSession) -> String {
        let own = found.start.to_string();
        let session = found.session.id.as_deref().map(in_file_name).filter(|name| !name.is_empty());
        // The first group of an id of the servers tells enough, and keeps the name readable.
        let session = session.unwrap_or(own);
        let session = session.split('-').next().filter(|part| part.len() >= 8).unwrap_or(&session);
        let server = Some(in_file_name(&found.server)).filter(|name| !name.is_empty());
        let day = local(self.clock.now().wall_ms).strftime("%Y-%m-%d");
        format!("{}-{session}-{day}", server.as_deref().unwrap_or("callgate"))
    }

    pub(crate) fn codegen_sessions(&self, server: Option<&str>) -> Result<Vec<CodegenSession>, DeskError> {
        // What a killed session left may be all that there is of a recording. A home that cannot be written can still be
        // read.
        let _behind = catch_up(&self.home, self.clock.as_ref());
        Ok(callgate_codegen_history::sessions(&self.home, server, self.clock.now().wall_ms - DAYS_MS)?)
    }

    fn codegen_named(&self, id: &str) -> Result<CodegenSession, DeskError> {
        let all = self.codegen_sessions(None)?;
        let is_meant =
            |one: &CodegenSession| one.start.to_string() == id || one.session.id.as_deref() == Some(id);
        all.into_iter().rev().find(is_meant).ok_or_else(|| {
            DeskError::NotFound(format!("there is no codegen session {id:?} on record of the last 30 days"))
        })
    }

    fn codegen_view(&self, found: &CodegenSession) -> CodegenView {
        let session = &found.session;
        let (state, ended_ms, file) = match &session.state {
            State::Ended { at_ms, file } => (CodegenState::Ended, Some(*at_ms), file.clone()),
            State::Cleared { at_ms } => (CodegenState::Cleared, Some(*at_ms), None),
            State::Lost { at_ms } => (CodegenState::Lost, Some(*at_ms), None),
            State::Open | State::Starting | State::NotStarted if lease::is_live(&self.home, found.gate()) => {
                (CodegenState::Open, None, None)
            }
            // Killed without a word, and not closed in the record yet.
            State::Open | State::Starting | State::NotStarted => (CodegenState::Lost, None, None),
        };
        CodegenView {
            id: found.start.to_string(),
            session: session.id.clone(),
            server: found.server.clone(),
            client: session.client.clone(),
            state,
            started_ms: session.started_ms,
            ended_ms,
            output: session.options.output.clone(),
            file,
            actions: session.recorded as u64,
            thrown_away: session.recorded > 0 && matches!(state, CodegenState::Cleared | CodegenState::Lost),
            clearing: if state == CodegenState::Open { self.clearing(found) } else { None },
        }
    }
}

/// What of a server's words can stand in the name of a file anywhere.
fn in_file_name(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' });
    let plain: String = plain.take(NAMED).collect();
    plain.trim_matches('-').to_owned()
}

fn write_test(found: &CodegenSession, out: &mut dyn Write) -> Result<(), Trouble> {
    out.write_all(test(found).as_bytes()).map_err(Trouble::Write)
}

fn exported(found: &CodegenSession, path: &Path) -> Exported {
    Exported { path: path.to_string_lossy().into_owned(), calls: found.session.recorded as u64 }
}

fn test(found: &CodegenSession) -> String {
    let started = local(found.session.started_ms).strftime("%Y-%m-%d %H:%M").to_string();
    playwright_test(&found.session, &Source { server: &found.server, started: &started })
}

#[cfg(test)]
#[path = "codegen_tests.rs"]
mod tests;
