//! The demonstration, started from the window: the real `callgate demo`, watched there instead of in a terminal.

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use callgate_desk::Program;

/// The demonstration that runs, if one does. It ends with the app.
#[derive(Debug, Default)]
pub(crate) struct Demo(Mutex<Option<Child>>);

impl Demo {
    /// Starts it; one at a time.
    pub(crate) fn start(&self, what: &Program) -> Result<(), String> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None))) {
            return Ok(());
        }
        let child = Command::new(&what.program)
            .args(&what.args)
            .env("CALLGATE_HOME", &what.home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", what.program.display()))?;
        *running = Some(child);
        Ok(())
    }

    pub(crate) fn end(&self) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut child) = running {
            let _ended = child.kill();
            let _fetched = child.wait();
        }
    }
}
