//! Published programs that the tests run: servers, SDKs and clients. See `servers/README.md`.

use std::path::{Path, PathBuf};

/// Something below the folder that `cargo xtask test` installs into.
///
/// # Panics
/// If it is not there: a test that skipped itself would look like one that passed.
pub fn installed(what: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = package.parent().unwrap_or(package);
    let base =
        std::env::var_os("CALLGATE_TEST_SERVERS").map_or(workspace.join("target/servers"), PathBuf::from);
    let path = base.join(what);
    assert!(
        path.exists(),
        "{} is missing: `cargo xtask test` installs the real servers (or name their directory in CALLGATE_TEST_SERVERS)",
        path.display()
    );
    path
}

/// A server of our own on a published SDK.
pub fn ours(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("servers").join(name)
}
