//! Drift: what happened to clients' files and entries since they were put behind the gate.

use callgate_clients::drift::Drift;
use callgate_clients::ledger::Key;

use super::entries::{PROTECT, UNPROTECT, on_entries};
use super::{Area, Code, Finding, Gravity};
use crate::clients::{DriftText, Look};
use crate::view::{DriftFix, Fix};

/// One finding for each thing that happened; several of one kind in one file are one thing to know.
pub(super) fn check<'l>(look: &'l Look<'_>, drifts: impl IntoIterator<Item = &'l Drift>) -> Vec<Finding> {
    let mut alike: Vec<Vec<(&Drift, DriftText)>> = Vec::new();
    for drift in drifts {
        let text = look.drift_text(drift);
        let same = |group: &&mut Vec<(&Drift, DriftText)>| group.iter().any(|(_, one)| one.is_like(&text));
        match alike.iter_mut().find(same) {
            Some(group) => group.push((drift, text)),
            None => alike.push(vec![(drift, text)]),
        }
    }
    alike.iter().filter_map(|group| finding(look, group)).collect()
}

fn finding(look: &Look<'_>, group: &[(&Drift, DriftText)]) -> Option<Finding> {
    let (drift, text) = group.first()?;
    let keys: Vec<&Key> = group.iter().filter_map(|(_, text)| text.entry.as_ref()).collect();
    let names: Vec<String> = keys.iter().map(|key| key.name.clone()).collect();
    let words = match group {
        [_] => text.view.words.clone(),
        _ => look.words_together(text, &keys),
    };
    let client = text.client.as_deref().unwrap_or_default();
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
    let about = look.shown(&text.path);
    let finding = Finding::new(Area::Clients, code, gravity, &about, &words).act(Fix::OpenClients);
    let finding = match text.client {
        Some(_) => finding.on_entries(client, names.clone()),
        None => finding,
    };
    Some(match drift {
        Drift::LostGate { .. } | Drift::Moved { .. } | Drift::Tampered { .. } => {
            finding.command("Put the gate back", &on_entries(PROTECT, client, &names))
        }
        Drift::New { .. } => finding.command("Put the gate in front", &on_entries(PROTECT, client, &names)),
        Drift::CameBack { .. } => {
            finding.command("Take it away again", &on_entries(UNPROTECT, client, &names))
        }
        Drift::Wiped { .. } => match &text.view.fix {
            Some(DriftFix::Restore { backup, .. }) => finding
                .command("Put the file back from its copy", &["callgate", "clients", "restore", backup]),
            _ => finding.by("Add the servers again; no copy with servers in it is kept."),
        },
        Drift::Shadowed { .. } => {
            finding.by("Move the servers into the file that is read, then protect them there.")
        }
        Drift::Unreadable { .. } => finding.by(super::clients::MEND_THE_FILE),
        Drift::Edited { .. } | Drift::Removed { .. } => finding,
    })
}
