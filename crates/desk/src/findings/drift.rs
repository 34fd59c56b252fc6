//! Drift: what happened to clients' files and entries since they were put behind the gate.

use callgate_clients::drift::Drift;
use callgate_wiring::DriftGroup;
use callgate_wiring::view::DriftFix;

use super::entries::{PROTECT, UNPROTECT, on_entries};
use super::{Area, Checkup, Code, Finding, Gravity};
use crate::view::Fix;

pub(super) fn finding(checkup: &Checkup<'_>, group: &DriftGroup) -> Finding {
    let DriftGroup { drift, client, names, .. } = group;
    let (code, gravity) = match drift {
        Drift::Wiped { .. } => (Code::ClientWiped, Gravity::Problem),
        Drift::LostGate { .. } => (Code::EntryLostGate, Gravity::Problem),
        Drift::Moved { .. } => (Code::EntryMovedGate, Gravity::Problem),
        Drift::Tampered { .. } => (Code::EntryTampered, Gravity::Problem),
        Drift::Shadowed { .. } => (Code::ClientShadowed, Gravity::Problem),
        Drift::Unreadable { .. } => (Code::ClientUnreadable, Gravity::Problem),
        Drift::CameBack { .. } => (Code::EntryGateCameBack, Gravity::Warning),
        Drift::New { .. } => (Code::EntryOpen, Gravity::Warning),
        // Theirs to do.
        Drift::Edited { .. } => (Code::EntryEdited, Gravity::Note),
        Drift::Removed { .. } => (Code::EntryRemoved, Gravity::Note),
    };
    let finding = checkup.finding(Area::Clients, code, gravity, &group.path, &group.words);
    let mut finding = finding.act(Fix::OpenClients);
    if let Some(client) = client {
        finding = finding.on_entries(client, names.clone());
    }
    let client = client.as_deref().unwrap_or_default();
    match drift {
        Drift::LostGate { .. } | Drift::Moved { .. } | Drift::Tampered { .. } => {
            finding.command("Put the gate back", &on_entries(PROTECT, client, names))
        }
        Drift::New { .. } => finding.command("Put the gate in front", &on_entries(PROTECT, client, names)),
        Drift::CameBack { .. } => {
            finding.command("Take it away again", &on_entries(UNPROTECT, client, names))
        }
        Drift::Wiped { .. } => match &group.fix {
            Some(DriftFix::Restore { backup, .. }) => finding
                .command("Put the file back from its copy", &["callgate", "clients", "restore", backup]),
            _ => finding.by("Add the servers again; no copy with servers in it is kept."),
        },
        Drift::Shadowed { .. } => {
            finding.by("Move the servers into the file that is read, then protect them there.")
        }
        Drift::Unreadable { .. } => finding.by(super::clients::MEND_THE_FILE),
        Drift::Edited { .. } | Drift::Removed { .. } => finding,
    }
}
