//! Whether there is such a server, and the policy that counts for it at this moment.

use callgate_store::{History, catalogue, running};

use crate::change::Present;
use crate::text::name;
use crate::{Desk, DeskError};

pub(super) fn read(desk: &Desk, server: &str) -> Result<Present, DeskError> {
    if !desk.home.policy(server).exists() && !is_known(desk, server)? {
        let shown = name(server);
        return Err(DeskError::NotFound(format!(
            "no server \"{shown}\" is known: it has no policy, and no session of it is on record"
        )));
    }
    Present::read(&desk.home, server)
}

fn is_known(desk: &Desk, server: &str) -> Result<bool, DeskError> {
    Ok(matches!(catalogue::read(&desk.home, server), Ok(Some(_)))
        || running(&desk.home).iter().any(|lease| lease.server == server)
        || History::open_reader(&desk.home)?.servers()?.iter().any(|known| known == server))
}
