//! What a person has to know about an act besides what it did: calls that the gate does not see, names that nobody could check.

use std::collections::BTreeSet;

use callgate_clients::ledger::{self, Ledger};
use callgate_clients::survey::{Entry, State, entries, everything};
use callgate_controls::catalogue;
use callgate_home::running;
use callgate_policy::{fits, same_client};
use callgate_text::{harmless, name, quoted};
use callgate_wiring::client_name;

use crate::Desk;
use crate::view::{Done, Target};

impl Desk {
    /// One sentence each. Reads clients' files: to be asked when the act is done, which must not wait for it.
    pub(super) fn caveats(&self, target: &Target) -> Vec<String> {
        let mut told = Vec::new();
        let server = target.server.as_str();
        let is_unchecked = |tool: &String| {
            // A name that was called is none that somebody mistyped here.
            matches!(catalogue::read(&self.home, server), Ok(None))
                && !self.inventory().called(server).iter().any(|called| fits(tool, called))
        };
        if target.tool.as_ref().is_some_and(is_unchecked) {
            let server = name(server);
            told.push(format!("the tools of {server} are not known yet, so the name could not be checked"));
        }
        let ledger = ledger::read(self.home.path()).unwrap_or_default();
        let surveyed = everything(self.wiring.machine(), &[], &ledger);
        let of_client = |entry: &&Entry| {
            target.client.as_deref().is_none_or(|client| same_client(&entry.key.client, client))
        };
        let open: BTreeSet<String> = entries(&surveyed)
            .filter(|entry| is_of(entry, server, &ledger))
            .filter(of_client)
            .filter_map(unseen)
            .collect();
        told.extend(open);
        told
    }

    /// With what the disk said, if what was done just now is in force and may not outlive a power loss.
    pub(crate) fn with_unconfirmed(&self, done: Done) -> Done {
        let Some(error) = self.home.take_unconfirmed() else { return done };
        let mut caveats = done.caveats;
        caveats.push(format!(
            "the disk did not confirm it ({}): it is in force, and may be gone after a power loss; look at the disk, then do it once more",
            harmless(&error.to_string())
        ));
        Done { caveats, ..done }
    }

    /// That a pause of everything refuses nothing, since the gate is in front of nothing.
    pub(super) fn nothing_gated(&self) -> Option<String> {
        if !running(&self.home).is_empty() {
            return None;
        }
        let ledger = ledger::read(self.home.path()).unwrap_or_default();
        let surveyed = everything(self.wiring.machine(), &[], &ledger);
        let gated = entries(&surveyed).any(|entry| matches!(entry.state, State::Protected { .. }));
        (!gated).then(|| {
            "no server of any client is behind the gate, so no call is seen or refused. callgate clients protect --all"
                .to_owned()
        })
    }
}

/// Is it this server: by its own name, or by the one that it had at the gate before it lost it?
fn is_of(entry: &Entry, server: &str, ledger: &Ledger) -> bool {
    entry.key.name == server || ledger.rows.iter().any(|row| row.key == entry.key && row.server == server)
}

fn unseen(entry: &Entry) -> Option<String> {
    let (server, client) = (name(&entry.key.name), client_name(&entry.key.client));
    let told = format!("{server} is not behind the gate in {client}: its calls there are not seen");
    match &entry.state {
        State::Protected { .. } => None,
        State::Open => Some(format!(
            "{told}. callgate clients protect {} {}",
            quoted(&entry.key.client),
            quoted(&entry.key.name)
        )),
        State::NotCoverable(why) => Some(format!("{told}, and cannot be ({})", name(why))),
    }
}
