//! `policy import`: from the formats of other programs.

use std::process::ExitCode;

use anyhow::{Context, bail};
use callgate_exchange::{Format, Note, claude, detect, intercept};

use crate::args::{ForeignFormat, ImportArgs};
use crate::screen;

pub(super) fn import(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let text = super::read(&args.file)?;
    let format = match args.format {
        Some(ForeignFormat::Intercept) => Some(Format::Intercept),
        Some(ForeignFormat::ClaudePermissions) => Some(Format::Claude),
        None => detect(&text),
    };
    let shown = args.file.display();
    match format {
        Some(Format::Intercept) => {
            let imported = intercept::import(&text).with_context(|| format!("{shown} cannot be imported"))?;
            super::hand_out(&imported.text, args.out.as_deref())?;
            tell(&imported.notes);
        }
        Some(Format::Claude) => {
            let imported = claude::import(&text, args.server.as_deref())
                .with_context(|| format!("{shown} cannot be imported"))?;
            let one = match imported.policies.as_slice() {
                [one] => one,
                [] => bail!("{shown} says nothing about tools of an MCP server"),
                several => {
                    let names: Vec<&str> = several.iter().map(|policy| policy.server.as_str()).collect();
                    bail!("{shown} speaks of several servers; say which with --server: {}", names.join(", "))
                }
            };
            super::hand_out(&one.text, args.out.as_deref())?;
            tell(&one.notes);
            tell(&imported.skipped);
        }
        Some(Format::Policy) => bail!(
            "{shown} is a policy already (PolicyLayer's JSON is one, too): `callgate policy apply SERVER {shown} --replace` takes it \
             as it is"
        ),
        None => bail!(
            "{shown} is none of the formats that can be imported (Intercept's YAML, Claude Code's permissions); if it is one, say \
             which with --format"
        ),
    }
    Ok(ExitCode::SUCCESS)
}

/// What means something else there than here, beside the text itself.
fn tell(notes: &[Note]) {
    for note in notes {
        let place = note.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        screen::hint(&format!("{place}{}: {}", note.severity.word(), screen::harmless(&note.text)));
    }
}
