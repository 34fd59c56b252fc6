//! `policy suggest`: a draft that allows what was used, and little more.

use std::process::ExitCode;

use anyhow::bail;
use callgate_review::{Wish, suggest};
use callgate_store::{Disk, catalogue};
use jiff::Timestamp;

use super::prepared_home;
use crate::args::SuggestArgs;
use crate::commands::log;
use crate::screen;

pub(super) fn run(args: &SuggestArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let history = log::current(&home)?;
    let known = history.servers()?;
    if !known.contains(&args.server) {
        bail!("nothing is on record about {:?} to learn from; known are: {}", args.server, known.join(", "));
    }
    let listed: Option<Vec<String>> = catalogue::read(&home, &args.server)?
        .map(|known| known.tools.into_iter().map(|tool| tool.name).collect());
    let wish = Wish {
        server: &args.server,
        catalogue: listed.as_deref(),
        files: &Disk::new(),
        since_ms: args.since.0,
        now_ms: Timestamp::now().as_millisecond(),
        margin: args.margin,
    };
    let draft = suggest(&history, &wish)?;
    let records = listed.iter().flatten().any(|tool| tool == "start_codegen_session");
    super::hand_out(&draft.text, args.out.as_deref())?;
    for note in &draft.notes {
        screen::hint(note);
    }
    let name = args.out.as_deref().map_or("FILE".to_owned(), |out| screen::quoted(&out.to_string_lossy()));
    let server = screen::quoted(&args.server);
    screen::hint(&format!("what it would have refused: callgate policy simulate {name} --server {server}"));
    if records {
        screen::hint("ready-made rules for its codegen sessions: docs/policy.md, or Rules in the window");
    }
    screen::hint("it knows what was let through, not the rules in force: those are not in it");
    screen::hint(&format!(
        "put it in force instead of them: callgate policy apply {server} {name} --replace"
    ));
    screen::hint(&format!("or on top of them: callgate policy apply {server} {name} --merge"));
    Ok(ExitCode::SUCCESS)
}
