//! Whether there is such a server, and the policy that counts for it at this moment.

use callgate_home::DEFAULT_SERVER;

use crate::change::Present;
use crate::inventory::Purpose;
use crate::text::name;
use crate::{Desk, DeskError};

pub(super) fn read(desk: &Desk, server: &str) -> Result<Present, DeskError> {
    if server != DEFAULT_SERVER && !desk.home.policy(server).exists() {
        desk.inventory().check_server(server, Purpose::Look)?;
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
