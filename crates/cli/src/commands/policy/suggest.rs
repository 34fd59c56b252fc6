//! `policy suggest`: a draft that allows what was used, and little more.

use std::process::ExitCode;
use std::sync::Arc;

use callgate_controls::catalogue;
use callgate_desk::Desk;
use callgate_home::clock::SystemClock;
use callgate_journal::Origin;

use super::prepared_home;
use crate::args::SuggestArgs;
use crate::commands::log;
use crate::screen;

pub(super) fn run(args: &SuggestArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    // What was recorded until now belongs to it.
    drop(log::current(&home)?);
    let desk = Desk::new(home.clone(), Arc::new(SystemClock::default()), Origin::Cli);
    let draft = desk.suggest_policy(&args.server, args.since.0, args.margin)?;
    let records = matches!(catalogue::read(&home, &args.server), Ok(Some(known))
        if known.tools.iter().any(|tool| tool.name == "start_codegen_session"));
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
