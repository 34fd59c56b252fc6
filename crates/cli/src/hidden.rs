//! A secret from a person: typed without being seen, or a line of what is piped in.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use callgate_secrets::Secret;
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal;

/// Asks for each of these in turn. Piped in, each is a line, in the order in which they are named.
pub(crate) fn ask_all(names: &[String]) -> anyhow::Result<Vec<(String, Secret)>> {
    names.iter().map(|name| Ok((name.clone(), ask(name)?))).collect()
}

fn ask(name: &str) -> anyhow::Result<Secret> {
    let value = match io::stdin().is_terminal() {
        true => typed(name)?,
        false => piped(name)?,
    };
    if value.expose().is_empty() {
        bail!("{name} has no value; nothing was added");
    }
    Ok(value)
}

fn piped(name: &str) -> anyhow::Result<Secret> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    if read.with_context(|| format!("{name} cannot be read from standard input"))? == 0 {
        bail!("standard input has no line for {name}; nothing was added");
    }
    let end = line.trim_end_matches(['\n', '\r']).len();
    line.truncate(end);
    Ok(Secret::new(line))
}

/// The terminal as it was, whatever happens meanwhile.
struct Raw;

impl Raw {
    fn enter() -> anyhow::Result<Raw> {
        terminal::enable_raw_mode().context("the terminal cannot be kept from showing what is typed")?;
        Ok(Raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Nothing is left to be done when even that fails.
        let _left = terminal::disable_raw_mode();
    }
}

/// Key by key: so nothing of it is shown, and an interrupt does not leave a terminal that stays silent.
fn typed(name: &str) -> anyhow::Result<Secret> {
    let raw = Raw::enter()?;
    let mut err = io::stderr();
    write!(err, "{name} (is not shown): ")
        .and_then(|()| err.flush())
        .context("the terminal cannot be written")?;
    // As large as any secret: a text that grows leaves parts of itself behind.
    let mut text = String::with_capacity(16 * 1024);
    let given = loop {
        let Event::Key(KeyEvent { code, modifiers, kind, .. }) =
            event::read().context("the terminal cannot be read")?
        else {
            continue;
        };
        match code {
            _ if kind == KeyEventKind::Release => {}
            KeyCode::Enter => break true,
            KeyCode::Char('j' | 'm') if modifiers.contains(KeyModifiers::CONTROL) => break true,
            KeyCode::Char('c' | 'd') if modifiers.contains(KeyModifiers::CONTROL) => break false,
            KeyCode::Esc => break false,
            KeyCode::Char('u') if modifiers.contains(KeyModifiers::CONTROL) => text.clear(),
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(c) if !modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                text.push(c)
            }
            _ => {}
        }
    };
    drop(raw);
    let text = Secret::new(text);
    drop(writeln!(err));
    match given {
        true => Ok(text),
        false => bail!("no value for {name}; nothing was added"),
    }
}
