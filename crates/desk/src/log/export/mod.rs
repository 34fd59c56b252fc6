//! What the filter shows, as a file to take along: for programs (JSONL), for tables (CSV), for people (HTML, Markdown).
//!
//! Calls stream from the history into the file, however many they are. All of it was written by agents and servers, so
//! each format makes it harmless in its own way.

mod csv;
pub(crate) mod file;
mod html;
mod markdown;
mod report;

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use callgate_history::{CallFilter, CallRow, History, LineRow, Toward};
use jiff::Zoned;

use super::object::CallObject;
use crate::view::{ExportFormat, Exported};
use crate::{Desk, DeskError};

pub(super) fn export(
    desk: &Desk,
    history: &History,
    filter: &CallFilter,
    format: ExportFormat,
    folder: &Path,
) -> Result<Exported, DeskError> {
    let name = format!("callgate-{}", now(desk).strftime("%Y-%m-%d"));
    let mut count = 0;
    let path = file::write_new(folder, &name, extension(format), &mut |out| {
        count = write(desk, history, filter, format, out)?;
        Ok(())
    })?;
    Ok(Exported { path: path.to_string_lossy().into_owned(), calls: count })
}

/// At this very place; what is there is replaced only by `force`.
pub(super) fn export_as(
    desk: &Desk,
    history: &History,
    (filter, format): (&CallFilter, ExportFormat),
    path: &Path,
    force: bool,
) -> Result<Exported, DeskError> {
    if desk.home().holds(path) {
        return Err(DeskError::BadInput(format!(
            "{} is in Callgate's own folder, where rules and records are: write it elsewhere",
            path.display()
        )));
    }
    let mut count = 0;
    let place = if force { file::write_over } else { file::write_at };
    let path = place(path, &mut |out| {
        count = write(desk, history, filter, format, out)?;
        Ok(())
    })?;
    Ok(Exported { path: path.to_string_lossy().into_owned(), calls: count })
}

/// Returns how many calls there were.
pub(super) fn write(
    desk: &Desk,
    history: &History,
    filter: &CallFilter,
    format: ExportFormat,
    out: &mut dyn io::Write,
) -> Result<u64, Trouble> {
    let calls = Calls { history, filter };
    match format {
        ExportFormat::Jsonl => calls.each_row(&mut |row| writeln!(out, "{}", CallObject::of(row).line())),
        ExportFormat::Csv => {
            out.write_all(csv::HEAD.as_bytes()).map_err(Trouble::Write)?;
            calls.each_row(&mut |row| out.write_all(csv::line(row).as_bytes()))
        }
        ExportFormat::Html => report::write(&calls, &now(desk), &html::Html, out),
        ExportFormat::Markdown => report::write(&calls, &now(desk), &markdown::Markdown, out),
    }
}

fn now(desk: &Desk) -> Zoned {
    callgate_text::local(desk.clock.now().wall_ms)
}

fn extension(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Jsonl => "jsonl",
        ExportFormat::Csv => "csv",
        ExportFormat::Html => "html",
        ExportFormat::Markdown => "md",
    }
}

/// Why an export was not finished.
#[derive(Debug)]
pub(crate) enum Trouble {
    Desk(DeskError),
    Write(io::Error),
}

impl From<DeskError> for Trouble {
    fn from(error: DeskError) -> Self {
        Trouble::Desk(error)
    }
}

impl From<callgate_home::StoreError> for Trouble {
    fn from(error: callgate_home::StoreError) -> Self {
        Trouble::Desk(error.into())
    }
}

/// The calls that are asked for, oldest first.
struct Calls<'c> {
    history: &'c History,
    filter: &'c CallFilter,
}

impl Calls<'_> {
    /// In short. Returns how many there were.
    fn each_line(&self, each: &mut dyn FnMut(&LineRow) -> io::Result<()>) -> Result<u64, Trouble> {
        let mut count = 0;
        self.history.query(self.filter)?.each::<Trouble>(Toward::Newer, &mut |line| {
            count += 1;
            each(line).map_err(Trouble::Write)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// In full.
    fn each_row(&self, each: &mut dyn FnMut(&CallRow) -> io::Result<()>) -> Result<u64, Trouble> {
        let mut count = 0;
        self.history.query(self.filter)?.each::<Trouble>(Toward::Newer, &mut |line| {
            if let Some(row) = self.history.row_at(line.rev)? {
                count += 1;
                each(&row).map_err(Trouble::Write)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
