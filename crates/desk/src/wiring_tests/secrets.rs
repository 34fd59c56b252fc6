//! Secrets named, moved into a keychain in memory, and put back.

use std::rc::Rc;

use callgate_secrets::{Item, Keychain, KeychainError, MemoryKeychain, Reference, SCHEME};
use callgate_wiring::view::{SecretPlace, SecretsAct, SecretsChange};

use super::*;
use crate::view::ErrorCode;

const TOKEN: &str = "sk-1234567890abcdef";

/// One that a test can look into.
#[derive(Clone, Default)]
struct Shared(Rc<MemoryKeychain>);

impl Keychain for Shared {
    fn read(&self, reference: &Reference) -> Result<Item, KeychainError> {
        self.0.read(reference)
    }

    fn write(&self, reference: &Reference, item: &Item) -> Result<(), KeychainError> {
        self.0.write(reference, item)
    }

    fn remove(&self, reference: &Reference) -> Result<(), KeychainError> {
        self.0.remove(reference)
    }
}

/// A keychain, and Cursor's servers behind the gate.
struct Safe {
    world: World,
    keychain: Shared,
    gated: String,
}

impl Safe {
    fn new() -> Safe {
        let world = world();
        world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
        let gated = fs::read_to_string(&world.cursor).unwrap();
        Safe { world, keychain: Shared::default(), gated }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.world.cursor).unwrap()
    }

    fn play(&self) -> ClientEntry {
        self.world.entries("cursor").remove(0)
    }

    fn change(&self, act: SecretsAct) -> Result<SecretsChange, callgate_wiring::WiringError> {
        self.world.desk.wiring().change_secrets_in(
            &|| Ok(self.keychain.clone()),
            act,
            &self.play().key,
            None,
            false,
        )
    }
}

#[test]
fn secrets_are_named_moved_and_put_back_byte_for_byte_and_never_shown() {
    let safe = Safe::new();
    assert_eq!(safe.play().secrets.plain, ["API_TOKEN"]);
    let preview = safe.world.desk.wiring().preview_secrets(SecretsAct::Move, &safe.play().key, None).unwrap();
    let [secret] = &preview.secrets[..] else { panic!("{preview:?}") };
    assert_eq!(
        (secret.name.as_str(), secret.place, secret.length),
        ("API_TOKEN", SecretPlace::Variable, Some(19))
    );
    assert!(preview.diff.contains(&format!("\"{SCHEME}…/API_TOKEN\"")), "{}", preview.diff);
    assert!(!format!("{preview:?}").contains(TOKEN), "{preview:?}");
    assert_eq!(safe.text(), safe.gated, "nothing was written");

    assert_eq!(safe.change(SecretsAct::Move).unwrap().names, ["API_TOKEN"]);
    assert!(!safe.text().contains(TOKEN));
    let secrets = safe.play().secrets;
    assert_eq!(
        (secrets.plain.len(), secrets.kept, secrets.unbound),
        (0, vec!["API_TOKEN".to_owned()], false)
    );
    assert!(safe.world.desk.overview().unwrap().needs.is_empty(), "our own edit is no drift");

    let preview =
        safe.world.desk.wiring().preview_secrets(SecretsAct::PutBack, &safe.play().key, None).unwrap();
    assert!(
        preview.diff.contains("+") && preview.diff.contains("\"API_TOKEN\": \"[masked]\""),
        "{}",
        preview.diff
    );
    assert!(preview.diff.contains(SCHEME), "what goes is shown: {}", preview.diff);
    assert_eq!(safe.change(SecretsAct::PutBack).unwrap().names, ["API_TOKEN"]);
    assert_eq!(safe.text(), safe.gated);
    assert!(safe.keychain.0.is_empty());
}

#[test]
fn what_is_not_behind_the_gate_keeps_its_secrets_and_says_what_to_do() {
    let world = world();
    let play = world.entries("claude-desktop").remove(0).key;
    let told = world.desk.wiring().preview_secrets(SecretsAct::Move, &play, None).unwrap_err();
    assert!(told.to_string().ends_with("Protect it first"), "{told}");
    let keychain = Shared::default();
    let told = world
        .desk
        .wiring()
        .change_secrets_in(&|| Ok(keychain.clone()), SecretsAct::Move, &play, None, false)
        .unwrap_err();
    assert!(told.to_string().ends_with("Protect it first"), "{told}");
    assert_eq!(fs::read_to_string(&world.claude).unwrap(), FILE);
    assert!(keychain.0.is_empty());
}

#[test]
fn a_header_of_a_remote_server_is_told_and_stays() {
    let world = world();
    let text = FILE.replace(
        r#""https://example.com/mcp""#,
        r#""https://example.com/mcp", "headers": { "Authorization": "Bearer sk-1234567890abcdef" }"#,
    );
    fs::write(&world.cursor, text).unwrap();
    let far = world.entries("cursor").remove(1);
    assert_eq!((far.state, far.secrets.plain), (EntryState::NotCoverable, vec!["Authorization".to_owned()]));
    assert!(world.desk.wiring().preview_secrets(SecretsAct::Move, &far.key, None).is_err());
}

#[test]
fn without_a_keychain_nothing_is_moved_and_the_reason_is_told() {
    let safe = Safe::new();
    for error in
        [KeychainError::Absent("no bus".to_owned()), KeychainError::Busy(std::time::Duration::from_secs(20))]
    {
        let words = error.to_string();
        let open = || Err::<Shared, _>(error.clone());
        let told = safe
            .world
            .desk
            .wiring()
            .change_secrets_in(&open, SecretsAct::Move, &safe.play().key, None, false)
            .unwrap_err();
        assert_eq!(crate::error::wiring_code(&told), ErrorCode::Failed);
        assert_eq!(told.to_string(), format!("{words}. Nothing was changed."));
        assert_eq!(safe.text(), safe.gated);
    }
}

#[test]
fn an_entry_that_was_edited_gets_its_secrets_only_if_a_person_says_so() {
    let safe = Safe::new();
    safe.change(SecretsAct::Move).unwrap();
    fs::write(&safe.world.cursor, safe.text().replace("@playwright/mcp", "@evil/mcp")).unwrap();
    assert!(safe.play().secrets.unbound);
    let drift = safe.world.desk.wiring().clients().unwrap().remove(1).files.remove(0).drift;
    assert!(
        drift[0].words.contains("was edited") && drift[0].fix.is_none(),
        "not to be forgotten: {drift:?}"
    );
    let told = safe.change(SecretsAct::Move).unwrap_err();
    assert!(told.to_string().contains("stored for another command"), "{told}");

    let preview =
        safe.world.desk.wiring().preview_secrets(SecretsAct::Rebind, &safe.play().key, None).unwrap();
    assert_eq!((preview.command.as_str(), preview.diff.as_str()), ("npx -y @evil/mcp", ""));
    assert_eq!(preview.secrets.len(), 1);
    assert_eq!(safe.change(SecretsAct::Rebind).unwrap(), SecretsChange { names: vec![], left: vec![] });
    assert!(!safe.play().secrets.unbound);
    assert_eq!(safe.change(SecretsAct::Move).unwrap().names.len(), 0, "it is its own now");
}

#[test]
fn a_renamed_entry_says_that_its_secrets_are_to_be_stored_anew_and_then_they_come_back() {
    let safe = Safe::new();
    safe.change(SecretsAct::Move).unwrap();
    let name = safe.play().key.name;
    fs::write(&safe.world.cursor, safe.text().replacen(&format!("\"{name}\":"), "\"renamed\":", 1)).unwrap();
    assert!(safe.play().key.name == "renamed" && safe.play().secrets.unbound);
    let told = safe.change(SecretsAct::PutBack).unwrap_err();
    assert!(told.to_string().contains("If you renamed this entry"), "{told}");
    safe.change(SecretsAct::Rebind).unwrap();
    assert!(!safe.play().secrets.unbound);
    assert_eq!(safe.change(SecretsAct::PutBack).unwrap().names, ["API_TOKEN"]);
}

#[test]
fn what_is_not_ticked_stays_in_the_file() {
    let safe = Safe::new();
    let (desk, key) = (&safe.world.desk, safe.play().key);
    let none = Some(&[][..]);
    assert_eq!(desk.wiring().preview_secrets(SecretsAct::Move, &key, none).unwrap().diff, "");
    let open = || Ok(safe.keychain.clone());
    let moved = desk.wiring().change_secrets_in(&open, SecretsAct::Move, &key, none, false).unwrap();
    assert_eq!((moved.names.len(), safe.text()), (0, safe.gated.clone()));
    let token = ["API_TOKEN".to_owned()];
    let moved = desk.wiring().change_secrets_in(&open, SecretsAct::Move, &key, Some(&token), false).unwrap();
    assert_eq!(moved.names, token);
}

#[test]
fn what_moved_into_the_keychain_is_purged_from_the_backups_by_one_press() {
    let safe = Safe::new();
    safe.change(SecretsAct::Move).unwrap();
    let copies = || safe.world.desk.wiring().client_backups().unwrap().len();
    // Claude has the same token, in a file of its own that nobody moved it out of.
    let holding = |client: &str| {
        let files = walk(&safe.world.place.home.path().join("backups"));
        let of_client = files.iter().filter(|path| path.to_string_lossy().contains(client));
        of_client.filter(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(TOKEN))).count()
    };
    let (before, others) = (copies(), holding("claude-desktop"));
    assert!(holding("cursor") > 0, "a copy is as the file was");
    let purged = safe.world.desk.wiring().purge_copies_in(&|| Ok(safe.keychain.clone())).unwrap();
    assert!(purged.rewritten > 0 && purged.problems.is_empty(), "{purged:?}");
    assert_eq!((holding("cursor"), copies()), (0, before), "as many copies, none with the value");
    assert_eq!(holding("claude-desktop"), others);
    let again = safe.world.desk.wiring().purge_copies_in(&|| Ok(safe.keychain.clone())).unwrap();
    assert_eq!(again.rewritten, 0);
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
