//! The terminal: raw keys in, whole screens out, and as it was when this is over: also after a panic, and when it is
//! asked to end by a signal.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::Print;
use crossterm::terminal::{
    self, BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen,
};
use crossterm::{execute, queue};

use super::list::KeyPress;

#[derive(Debug)]
pub(super) struct Terminal {
    /// What is on the screen: equal screens are not drawn again.
    shown: Vec<String>,
    /// Somebody sent a signal that ends programs.
    ended: Arc<AtomicBool>,
}

impl Terminal {
    pub(super) fn enter() -> anyhow::Result<Terminal> {
        let ended = Arc::default();
        end_on_signals(&ended).context("signals cannot be listened to")?;
        // A panic may end the program on the spot, without anything being dropped.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave();
            before(info);
        }));
        terminal::enable_raw_mode().context("the terminal cannot be used key by key")?;
        let terminal = Terminal { shown: Vec::new(), ended };
        execute!(io::stdout(), EnterAlternateScreen, Hide).context("the terminal cannot be written")?;
        Ok(terminal)
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        terminal::size().map_or((80, 24), |(columns, rows)| (usize::from(columns), usize::from(rows)))
    }

    pub(super) fn show(&mut self, lines: &[String]) -> io::Result<()> {
        if self.shown == lines {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        queue!(out, BeginSynchronizedUpdate)?;
        for (row, line) in lines.iter().enumerate() {
            let row = u16::try_from(row).unwrap_or(u16::MAX);
            queue!(out, MoveTo(0, row), Print(line), Clear(ClearType::UntilNewLine))?;
        }
        queue!(out, Clear(ClearType::FromCursorDown), EndSynchronizedUpdate)?;
        out.flush()?;
        self.shown = lines.to_vec();
        Ok(())
    }

    /// The next key within this time.
    pub(super) fn key(&mut self, within: Duration) -> io::Result<Option<KeyPress>> {
        let came = event::poll(within)?;
        if self.ended.load(Ordering::Relaxed) {
            return Ok(Some(KeyPress::Interrupt));
        }
        if !came {
            return Ok(None);
        }
        Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => known(key),
            Event::Resize(..) => {
                self.shown.clear();
                None
            }
            _ => None,
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave();
    }
}

fn leave() {
    // Nothing is left to be done when even that cannot be written.
    let _left = execute!(io::stdout(), Show, LeaveAlternateScreen);
    let _left = terminal::disable_raw_mode();
}

#[cfg(unix)]
fn end_on_signals(ended: &Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGTERM, SIGHUP, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(ended))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn end_on_signals(_ended: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}

fn known(key: KeyEvent) -> Option<KeyPress> {
    Some(match key.code {
        KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => KeyPress::Interrupt,
        KeyCode::Char(c) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
            KeyPress::Char(c)
        }
        KeyCode::Up => KeyPress::Up,
        KeyCode::Down => KeyPress::Down,
        KeyCode::PageUp => KeyPress::PageUp,
        KeyCode::PageDown => KeyPress::PageDown,
        KeyCode::Home => KeyPress::Home,
        KeyCode::End => KeyPress::End,
        KeyCode::Enter => KeyPress::Enter,
        KeyCode::Esc => KeyPress::Escape,
        KeyCode::Backspace => KeyPress::Backspace,
        _ => return None,
    })
}
