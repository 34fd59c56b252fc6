//! The page of one server: what it is, who starts it and how, what its tools can do, and what they cost.

use std::time::Duration;

use callgate_history::History;

use super::installed::Installed;
use super::surface;
use crate::view::{ServerLaunch, ServerPage, ToolsFrom};
use crate::{Desk, DeskError};

impl Desk {
    /// All that is told of one server.
    pub fn server_page(&self, server: &str) -> Result<ServerPage, DeskError> {
        let launches = self.wiring.look_at_clients()?.launches();
        let installed = Installed::of_launches(self, &launches);
        let (history, (corrected, _)) = (History::open_reader(&self.home)?, self.corrected());
        let read = self.server_tools(&history, &installed, &corrected, server, Duration::ZERO)?;
        let starts = launches
            .into_iter()
            .filter(|launch| launch.server == server && !launch.command.is_empty())
            .map(|launch| ServerLaunch { client: launch.client_name, command: launch.command })
            .collect();
        let cost = match read.from() {
            ToolsFrom::Listed => self.costs(Some(server))?.pop(),
            ToolsFrom::Catalogue | ToolsFrom::Nothing => None,
        };
        let waiting =
            self.pins(Some(server)).map_or(0, |all| all.iter().map(|pins| pins.waiting.len()).sum());
        Ok(ServerPage {
            server: server.to_owned(),
            known: read.known.map(|known| known.server.clone()),
            about: read.known.map(|known| known.about.clone()),
            package: read.known.and_then(|known| known.packages.first().cloned()),
            read_version: read.known.map(|known| known.version.clone()),
            from: read.from(),
            classes: surface::classes(&read.tools),
            starts,
            waiting: u32::try_from(waiting).unwrap_or(u32::MAX),
            cost,
        })
    }
}
