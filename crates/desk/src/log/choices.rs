//! Everything there is to choose from in the filters.

use callgate_store::{History, Home};

use crate::DeskError;
use crate::view::{Choices, ToolChoice};

/// Names that are offered at most: hostile servers can make up as many as they like.
const MOST: usize = 2_000;

pub(super) fn choices(home: &Home, history: &History) -> Result<Choices, DeskError> {
    let tools = history.tools(home)?.into_iter().take(MOST);
    let mut choices = Choices {
        servers: history.servers()?,
        clients: history.clients()?,
        tools: tools.map(|(server, tool)| ToolChoice { server, tool }).collect(),
    };
    choices.servers.truncate(MOST);
    choices.clients.truncate(MOST);
    Ok(choices)
}
