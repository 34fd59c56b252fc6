//! Servers of one's own: added to `servers.json`, placed in clients, listed, and taken away again.

pub(crate) mod add;
pub(crate) mod list;
pub(crate) mod remove;

use callgate_clients::ledger::{self, Ledger};
use callgate_clients::names::Names;
use callgate_clients::own::{self, placing};
use callgate_clients::secrets::lazily::Lazily;
use callgate_clients::survey::{Surveyed, entries};
use callgate_home::Home;

use super::clients::look;
use crate::screen::{self, Screen};

/// How things stand with clients and what was done to them.
struct Around {
    surveyed: Vec<Surveyed>,
    ledger: Ledger,
}

impl Around {
    fn of(home: &Home) -> anyhow::Result<Around> {
        Ok(Around { surveyed: look(home, &[])?, ledger: ledger::read(home.path())? })
    }

    fn names(&self) -> Names {
        Names::of(entries(&self.surveyed), &self.ledger)
    }
}

/// What could not be done: to whom, and why.
fn refused(screen: &Screen, who: &str, why: &str) {
    screen.line(&screen.paint(screen::BAD, &screen::harmless(&format!("{who}: {why}"))));
}

/// Takes what `servers.json` refers to out of the keychain: without that file nobody would know of it.
pub(super) fn forget_secrets(screen: &Screen, home: &Home) {
    let keychain = Lazily::at(home.path());
    let open = || keychain.open();
    for server in own::read(home.path()).unwrap_or_default().servers {
        if let Some(local) = server.local() {
            left_behind(screen, &placing::forget_own_secrets(home.path(), &server.id.name, local, &open));
        }
    }
}

/// What is still in the keychain and leads nowhere.
fn left_behind(screen: &Screen, left: &[String]) {
    for account in left {
        let text = format!("{account} is still in the keychain; remove it there");
        screen.line(&screen.paint(screen::WARN, &screen::harmless(&text)));
    }
}
