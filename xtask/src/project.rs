//! Where things are in this project.

use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Where cargo builds: the project's own `target`, unless the person says otherwise.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// A built program.
pub(crate) fn built(profile: &str, name: &str) -> PathBuf {
    target().join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Servers from npm and PyPI that the tests run.
pub(crate) fn servers() -> PathBuf {
    target().join("servers")
}
