//! A file that is left alone for its byte order mark, without it.

use std::path::Path;

use callgate_clients::byte_order_mark::{RepairError, carry_out};

use crate::change::would_write_over;
use crate::{Wiring, WiringError};

impl Wiring {
    /// Takes the mark away. What a running client would write over is left, unless `now`.
    pub fn repair_file(&self, client: &str, path: &str, now: bool) -> Result<(), WiringError> {
        let look = self.look_at_clients()?;
        let meant = |found: &callgate_clients::discover::Found| {
            found.client.id == client && found.path == Path::new(path)
        };
        let Some(file) = look.surveyed.iter().find(|file| meant(&file.found)) else {
            return Err(WiringError::NotFound("the file is not there any more".to_owned()));
        };
        let known = file.found.client;
        if !now && would_write_over(known, &self.machine.home) {
            return Err(WiringError::Conflict(format!(
                "{} runs and would write its own copy over it. {}",
                known.name, known.reload
            )));
        }
        carry_out(self.home.path(), &file.found, self.clock.now().wall_ms).map_err(|error| match error {
            RepairError::File(error) => WiringError::ClientFile(error.into()),
            error => WiringError::Conflict(error.to_string()),
        })?;
        self.guard()
    }
}
