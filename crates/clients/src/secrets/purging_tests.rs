//! Copies with values in them, in every syntax, and what is left of them.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;

use callgate_secrets::SCHEME;

use super::moving_tests::{FILES, TOKEN, World};
use super::purging::{Purged, purge};
use crate::backup::{Backup, Backups};
use crate::survey::{Surveyed, look};

fn copies(world: &World) -> Vec<Backup> {
    Backups::of(&world.home()).list().unwrap()
}

fn purged(world: &World) -> Purged {
    let surveyed = [Surveyed { found: world.found.clone(), read: look(&world.found) }];
    purge(&world.home(), &surveyed, &world.keychain).unwrap()
}

fn text(copy: &Backup) -> String {
    String::from_utf8(copy.read().unwrap()).unwrap()
}

#[test]
fn a_token_that_was_moved_does_not_stay_in_the_copies_for_good() {
    for (client, name, file) in FILES {
        let world = World::new(client, name, file);
        world.protect();
        world.move_in(&world.keychain).unwrap();
        let before = copies(&world);
        assert!(before.len() == 2 && before.iter().all(|copy| text(copy).contains(TOKEN)), "{name}");
        let done = purged(&world);
        assert_eq!(
            (done.rewritten.len(), done.stuck.len(), done.unread.len()),
            (2, 0, 0),
            "{name}: {done:?}"
        );
        let after = copies(&world);
        // As many as before and as old, whole but for the values.
        assert_eq!(
            after.iter().map(|copy| copy.at_ms).collect::<Vec<_>>(),
            before.iter().map(|copy| copy.at_ms).collect::<Vec<_>>()
        );
        for copy in &after {
            let text = text(copy);
            assert!(!text.contains(TOKEN) && !text.contains("nter22"), "{text}");
            assert_eq!(text.matches(SCHEME).count(), 2);
        }
        assert!(purged(&world).rewritten.is_empty(), "once more there is nothing to do");
        // A copy that is put back leads to the same values.
        fs::write(&world.found.path, text(after.last().unwrap())).unwrap();
        world.put_back().unwrap();
        assert!(world.text().contains(TOKEN));
    }
}

#[test]
fn a_copy_that_holds_the_value_elsewhere_is_told_and_left_whole() {
    let file = "{ // ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n\"mcpServers\":{\"gh\":{\"command\":\"npx\",\"env\":{\"T_TOKEN\":\"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\"}}}}";
    let world = World::new("cursor", "mcp.json", file);
    world.protect();
    world.move_in(&world.keychain).unwrap();
    let before = copies(&world);
    let done = purged(&world);
    assert_eq!((done.rewritten.len(), done.stuck.len()), (0, before.len()), "{done:?}");
    assert!(done.stuck[0].1.contains("in another place as well") && !done.stuck[0].1.contains(TOKEN));
    assert_eq!(copies(&world), before);
}

#[test]
fn what_is_not_in_the_keychain_stays_in_the_copies() {
    let world = World::new(FILES[0].0, FILES[0].1, FILES[0].2);
    world.protect();
    let before = copies(&world);
    assert!(purged(&world).rewritten.is_empty());
    assert_eq!(copies(&world), before);
}
