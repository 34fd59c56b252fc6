//! Everything there is to choose from in the filters.

use std::collections::BTreeSet;

use callgate_controls::catalogue;
use callgate_history::History;
use callgate_home::Home;

use crate::DeskError;
use crate::view::{Choices, ToolChoice};

/// Names that are offered at most: hostile servers can make up as many as they like.
const MOST: usize = 2_000;

pub(super) fn choices(home: &Home, history: &History) -> Result<Choices, DeskError> {
    let servers = history.servers()?;
    // What a server lists can be blocked before anybody has called it. Its list only informs: without it there are fewer names.
    let listed = servers.iter().take(MOST).flat_map(|server| {
        let known = catalogue::read(home, server).ok().flatten().map(|known| known.tools).unwrap_or_default();
        known.into_iter().map(move |tool| (server.clone(), tool.name))
    });
    let tools: BTreeSet<(String, String)> = history.tools()?.into_iter().chain(listed).collect();
    let tools = tools.into_iter().take(MOST).map(|(server, tool)| ToolChoice { server, tool }).collect();
    let mut choices = Choices { servers, clients: history.clients()?, tools };
    choices.servers.truncate(MOST);
    choices.clients.truncate(MOST);
    Ok(choices)
}
