//! Loosening is not for agents: it takes a person at a terminal, and their word.
//!
//! Code of the same user cannot be kept out by permissions; this only makes sure that an agent does not loosen its
//! own gate by the way, with a shell tool and one command line. SECURITY.md says what remains possible.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::{Context, bail};

/// Asks a person to type `word`, after saying what it would do (`what`: "let agents call x").
pub(crate) fn loosening(what: &str, word: &str) -> anyhow::Result<()> {
    person(what, ("This loosens the gate: it would", "Loosening"), word)
}

/// The same for what is no loosening, but nothing that an agent should do by the way either.
pub(crate) fn asking(what: &str, word: &str) -> anyhow::Result<()> {
    person(what, ("This would", "This"), word)
}

/// The same for what cannot be brought back; `words` say it, and what goes.
pub(crate) fn forgetting(words: &str, word: &str) -> anyhow::Result<()> {
    typed("forget what is on record", words, "Forgetting", word)
}

/// Nothing is asked, but a server that the gate watches does not do it.
pub(crate) fn not_below_a_session(what: &str) -> anyhow::Result<()> {
    not_below(what, "This")
}

fn not_below(what: &str, subject: &str) -> anyhow::Result<()> {
    if let Some(session) = callgate_supervise::session_above() {
        bail!(
            "refused to {what}; nothing was changed. This command runs below session {session}, which the gate itself \
             watches. {subject} is done by a person: open a terminal of your own and run it there."
        );
    }
    Ok(())
}

fn person(what: &str, (opening, subject): (&str, &str), word: &str) -> anyhow::Result<()> {
    typed(what, &format!("{opening} {what}."), subject, word)
}

fn typed(what: &str, question: &str, subject: &str, word: &str) -> anyhow::Result<()> {
    not_below(what, subject)?;
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        bail!(
            "refused to {what}; nothing was changed. {subject} needs a person at a terminal: run this command in one, \
             without pipes."
        );
    }
    let mut err = io::stderr();
    write!(err, "{question}\nType {word} to go on: ").context("the terminal cannot be written")?;
    err.flush().context("the terminal cannot be written")?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed).context("the terminal cannot be read")?;
    if typed.trim() != word {
        bail!("{:?} is not {word:?}; nothing was changed", typed.trim());
    }
    Ok(())
}
