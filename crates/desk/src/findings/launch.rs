//! How entries start their servers, where their commands say more than one would think.

use callgate_clients::survey::Surveyed;
use callgate_text::{clip, quoted};
use callgate_wiring::launch_notes;
use callgate_wiring::view::LaunchNote;

use super::{Area, Code, Finding, Gravity, Visit};

/// Of a word in a sentence.
const QUOTED: usize = 80;
/// Entries in one sentence.
const NAMED: usize = 6;

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    visit.clients.surveyed.iter().flat_map(|file| of_file(visit, file)).collect()
}

/// What is grave, one by one; what nearly every entry has, together.
fn of_file(visit: &Visit<'_>, file: &Surveyed) -> Vec<Finding> {
    let client = file.found.client;
    let shown = visit.checkup.shown(&file.found.path);
    let told = |code, gravity, what: &str, names, fix: &str| {
        Finding::new(Area::Clients, code, gravity, &shown, what).on_entries(client.id, names).by(fix)
    };
    let mut found = Vec::new();
    let mut mild: Vec<(LaunchNote, Vec<String>)> = Vec::new();
    for entry in file.entries() {
        let Some(local) = entry.local() else { continue };
        for note in launch_notes(&entry.key.name, local) {
            let name = entry.key.name.clone();
            if note.grave {
                let quote = clip(&quoted(&note.quote), QUOTED);
                let what =
                    format!("{}: {}, {quote} ({}): {}", client.name, note.entry, note.place, note.words);
                // It was said when the entry was protected, and works as it is: no warning that never ends.
                found.push(told(Code::LaunchRisky, Gravity::Note, &what, vec![name], &note.fix));
            } else if let Some((_, names)) = mild.iter_mut().find(|(known, _)| known.words == note.words) {
                names.push(name);
            } else {
                mild.push((note, vec![name]));
            }
        }
    }
    for (note, mut names) in mild {
        names.dedup();
        let some: Vec<_> = names.iter().take(NAMED).map(|one| callgate_text::name(one)).collect();
        let more = if names.len() > NAMED { " and others" } else { "" };
        let what = format!("{}: {}{more}: {}", client.name, some.join(", "), note.words);
        found.push(told(Code::LaunchLoose, Gravity::Note, &what, names, &note.fix));
    }
    found
}
