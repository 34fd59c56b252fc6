//! `callgate export`: calls as a file to take along, as the window exports them.

use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use callgate_desk::DeskError;
use callgate_desk::view::ExportFormat;

use crate::act::desk;
use crate::args::ExportCallsArgs;
use crate::commands::log::{INDEXING, current};
use crate::screen::{self, Screen};

pub(crate) fn run(args: &ExportCallsArgs) -> anyhow::Result<ExitCode> {
    let filter = args.filter.parse()?;
    let desk = desk()?;
    drop(current(desk.home())?);
    if filter.text.is_some() {
        desk.index_for(INDEXING);
    }
    let format = match (args.csv, args.html, args.md) {
        (true, ..) => ExportFormat::Csv,
        (_, true, _) => ExportFormat::Html,
        (.., true) => ExportFormat::Markdown,
        _ => ExportFormat::Jsonl,
    };
    let Some(path) = args.out.as_deref().filter(|path| *path != Path::new("-")) else {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = desk.export_to(&filter, format, &mut out).and_then(|_| {
            out.flush()
                .map_err(|error| DeskError::Disk { what: "the export cannot be written".into(), error })
        });
        return match written {
            // Whoever read it has enough, as `| head` has.
            Err(DeskError::Disk { error, .. }) if error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(ExitCode::SUCCESS)
            }
            other => other.map(|()| ExitCode::SUCCESS).map_err(Into::into),
        };
    };
    let path = std::path::absolute(path).with_context(|| format!("{} is no path", path.display()))?;
    let exported = desk.export_as(&filter, format, &path, args.force).map_err(|error| match error {
        DeskError::Conflict(words) => anyhow::anyhow!("{words}, or say --force"),
        other => other.into(),
    })?;
    let calls = screen::count(usize::try_from(exported.calls).unwrap_or(usize::MAX), "call");
    Screen::new().line(&format!("Wrote {calls} to {}", screen::harmless(&exported.path)));
    Ok(ExitCode::SUCCESS)
}
