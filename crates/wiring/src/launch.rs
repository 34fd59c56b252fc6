//! What a server's command says about the code that it starts, for people: looked at where a server is protected or added, never
//! changed.

use std::path::Path;

use callgate_clients::entry::Local;
use callgate_clients::plan::Plan;
use callgate_clients::survey::Entry;
use callgate_risk::{LaunchGravity, launch};
use callgate_secrets::{Influence, influence};
use callgate_text::{harmless, name};

use crate::masker_of;
use crate::view::LaunchNote;

/// Of one entry, in the order of its words.
pub fn launch_notes(entry: &str, local: &Local) -> Vec<LaunchNote> {
    let args: Vec<&str> = local.args.iter().map(|word| word.value.as_str()).collect();
    let env = local.env.iter().map(|(name, text)| (name.as_str(), text.value.as_str()));
    let mut found = launch(&local.program.value, &args, env);
    // The words alone cannot tell that a folder in it is somebody's own.
    found.retain(|one| one.code != "world-writable-folder" || !is_of_one_owner(Path::new(&one.quote)));
    if found.is_empty() {
        return Vec::new();
    }
    // What such a variable says is what has to be seen; the others' values are nobody's business, wherever they stand.
    let mut others = local.clone();
    others.env.retain(|(name, _)| influence(name).is_none_or(|one| one == Influence::Source));
    let masker = masker_of([&others]);
    let note = |one: callgate_risk::LaunchFinding| LaunchNote {
        entry: name(entry),
        code: one.code.to_owned(),
        grave: one.gravity == LaunchGravity::Warning,
        place: harmless(&one.place),
        quote: harmless(&masker.keep_text(&one.quote)),
        words: one.words.to_owned(),
        fix: one.fix.to_owned(),
    };
    found.into_iter().map(note).collect()
}

/// Of all entries that a plan edits.
pub fn launch_notes_of(plan: &Plan) -> Vec<LaunchNote> {
    let edited = |entry: &&Entry| plan.edits.iter().any(|edit| edit.key == entry.key);
    let entries = plan.contents.entries.iter().filter(edited);
    entries.filter_map(|entry| Some(launch_notes(&entry.key.name, entry.local()?))).flatten().collect()
}

/// Whether the first folder below one that is everybody's belongs to who looks, and lets no other write in it: then nobody else
/// can put another program there.
#[cfg(unix)]
fn is_of_one_owner(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let Some(own) = std::env::home_dir().and_then(|home| home.metadata().ok()).map(|home| home.uid()) else {
        return false;
    };
    let is_open = |folder: &Path| folder.metadata().is_ok_and(|at| at.mode() & 0o002 != 0);
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    let Some(everybodys) = above.iter().position(|folder| is_open(folder)) else { return false };
    let below = everybodys.checked_sub(1).and_then(|at| above.get(at));
    below
        .and_then(|folder| folder.symlink_metadata().ok())
        .is_some_and(|folder| folder.is_dir() && folder.uid() == own && folder.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_of_one_owner(_: &Path) -> bool {
    false
}

/// One entry may stand in the files of several clients, and is spoken of once.
pub(crate) fn add_notes(to: &mut Vec<LaunchNote>, notes: Vec<LaunchNote>) {
    for note in notes {
        if !to.contains(&note) {
            to.push(note);
        }
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_of_ones_own_below_one_of_everybody_is_ones_own() {
        let open = tempfile::tempdir().unwrap();
        set_permissions(open.path(), Permissions::from_mode(0o1777)).unwrap();
        let (own, shared) = (open.path().join("own"), open.path().join("shared"));
        for (folder, mode) in [(&own, 0o755), (&shared, 0o775)] {
            create_dir(folder).unwrap();
            set_permissions(folder, Permissions::from_mode(mode)).unwrap();
        }
        assert!(is_of_one_owner(&own.join("server")) && is_of_one_owner(&own.join("a/server")));
        assert!(!is_of_one_owner(&shared.join("server")));
        assert!(
            !is_of_one_owner(&open.path().join("server"))
                && !is_of_one_owner(&open.path().join("none/server"))
        );
    }
}
