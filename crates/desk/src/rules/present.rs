//! Whether there is such a server, and the policy that counts for it at this moment.

use callgate_clients::ledger;
use callgate_store::home::DEFAULT_SERVER;
use callgate_store::{History, catalogue, running};

use crate::change::Present;
use crate::servers::listed;
use crate::text::name;
use crate::{Desk, DeskError};

pub(super) fn read(desk: &Desk, server: &str) -> Result<Present, DeskError> {
    if server != DEFAULT_SERVER && !desk.home.policy(server).exists() && !is_known(desk, server)? {
        let shown = name(server);
        return Err(DeskError::NotFound(format!(
            "no server \"{shown}\" is known: it has no policy, no client starts it through Callgate, and no session of it is on record"
        )));
    }
    Present::read(&desk.home, server)
}

/// The policy of a server in a sentence: "the rules of files", "the default policy".
pub(super) fn described(server: &str) -> String {
    match server {
        DEFAULT_SERVER => "the default policy".to_owned(),
        server => format!("the rules of {}", name(server)),
    }
}

/// Servers behind the gate and on our own list, whether they ever ran or not. What cannot be read is told elsewhere.
pub(super) fn configured(desk: &Desk) -> Vec<String> {
    let gated = ledger::read(desk.home.path()).unwrap_or_default().rows.into_iter().map(|row| row.server);
    gated.chain(listed::read(&desk.home).servers.into_iter().map(|(name, _)| name)).collect()
}

fn is_known(desk: &Desk, server: &str) -> Result<bool, DeskError> {
    Ok(matches!(catalogue::read(&desk.home, server), Ok(Some(_)))
        || running(&desk.home).iter().any(|lease| lease.server == server)
        || configured(desk).iter().any(|known| known == server)
        || History::open_reader(&desk.home)?.servers()?.iter().any(|known| known == server))
}
