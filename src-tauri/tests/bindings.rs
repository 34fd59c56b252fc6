//! The window's TypeScript is what Rust says it is.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::path::Path;

/// Run with `CALLGATE_BLESS=1` to write it anew.
#[test]
fn typescript_of_the_window_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/lib/backend/bindings.ts");
    let folder = tempfile::tempdir().unwrap();
    let fresh = folder.path().join("bindings.ts");
    callgate_app::bindings::write_typescript(&fresh).unwrap();
    let generated = std::fs::read_to_string(&fresh).unwrap();
    if std::env::var_os("CALLGATE_BLESS").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == generated,
        "{} is out of date: CALLGATE_BLESS=1 cargo test -p callgate-app --test bindings",
        path.display()
    );
}
