//! Servers of one's own: added to `servers.json`, placed in clients, listed, and taken away again.

pub(crate) mod add;
pub(crate) mod list;
pub(crate) mod remove;

use std::sync::Arc;

use callgate_clients::System;
use callgate_clients::own::{self, placing};
use callgate_clients::secrets::lazy_keychain::Lazily;
use callgate_home::Home;
use callgate_home::clock::SystemClock;
use callgate_wiring::Wiring;

use super::clients::person;
use crate::screen::{self, Screen};

fn wiring(home: &Home) -> anyhow::Result<Wiring> {
    Ok(Wiring::new(home.clone(), Arc::new(SystemClock::default()), System::here(person()?)))
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
