//! One change of one server's policy file at the terminal: confirmed where it loosens, and told. The change itself is the
//! desk's.

use std::path::PathBuf;
use std::process::ExitCode;

use callgate_desk::DeskError;
use callgate_desk::change::{self as desk, Change, CurrentPolicy, EditContext};
use callgate_home::clock::SystemClock;
use callgate_home::{Home, Locked};
use callgate_journal::Origin;
use callgate_policy::edit::{EditError, Edited};

use crate::confirm;
use crate::screen::{self, Screen};

/// What makes the new text out of the present one.
pub(crate) type Edit<'e> = &'e dyn Fn(&str) -> anyhow::Result<Edited>;

/// Makes a change that may loosen; `question` says what, if this one does, and a person types `word` to confirm it.
pub(crate) fn loosen(
    home: &Home,
    server: &str,
    edit: Edit<'_>,
    word: &str,
    question: impl Fn(&Change) -> anyhow::Result<Option<String>>,
) -> anyhow::Result<ExitCode> {
    let held = desk::lock(home)?;
    let change = plan(home, server, edit)?;
    let Some(what) = question(&change)? else { return make(home, &held, &change) };
    // Not held while a person thinks: nobody else could restrict anything meanwhile.
    drop(held);
    confirm::loosening(&what, word)?;
    let held = desk::lock(home)?;
    // Made only if the policy is still what the person was asked about.
    make(home, &held, &change)
}

pub(crate) fn plan(home: &Home, server: &str, edit: Edit<'_>) -> anyhow::Result<Change> {
    let present = CurrentPolicy::read(home, server)?;
    let edited = edit(present.text()).map_err(|error| match error.downcast() {
        Ok(EditError::Broken(report)) => {
            let source = present.source().display();
            let first = format!("{source} is broken; `callgate policy check` says all of it");
            anyhow::Error::new(report).context(first)
        }
        Ok(other) => other.into(),
        Err(other) => other,
    })?;
    Ok(present.to(edited)?)
}

fn make(home: &Home, held: &Locked, change: &Change) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let path = change.path().display();
    if !change.edited().changed {
        screen.line(&format!("Nothing to change: {path} says so already."));
        // It may say so and still let calls pass.
        for line in change.edited().summary.iter().filter(|line| line.starts_with("but ")) {
            screen.line(&screen.paint(screen::WARN, &screen::harmless(line)));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let clock = SystemClock::default();
    let context = EditContext { home, clock: &clock, origin: Origin::Cli };
    let version = change.commit(held, &context, None).map_err(advised)?;
    for line in &change.edited().summary {
        screen.line(&format!("{}  {}", screen.paint(screen::GOOD, "changed"), screen::harmless(line)));
    }
    if change.is_first() {
        screen.line(&format!(
            "         {} now has a policy of its own; it had the default one before",
            change.server()
        ));
    }
    screen.line(&format!("in       {path}"));
    if let Some(error) = home.take_unconfirmed() {
        let said =
            format!("but      the disk did not confirm it ({error}): it may be gone after a power loss");
        screen.line(&screen.paint(screen::WARN, &screen::harmless(&said)));
    }
    screen.line(&format!("undo     {}", desk::revert_command(&context, change.server(), &version)));
    Ok(ExitCode::SUCCESS)
}

fn advised(error: DeskError) -> anyhow::Error {
    match error {
        DeskError::ChangedMeanwhile { .. } => anyhow::anyhow!("{error}. Run the command again."),
        other => other.into(),
    }
}

/// The policy file that counts for a server, and its text: its own, else the default.
pub(crate) fn current(home: &Home, server: &str) -> anyhow::Result<(PathBuf, String)> {
    let present = CurrentPolicy::read(home, server)?;
    Ok((present.source().to_owned(), present.text().to_owned()))
}
