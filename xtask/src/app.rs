//! Building the app: what it needs from the system, the page that it embeds, and the two programs side by side.

use anyhow::{Context, Result};

use crate::packages::{self, C_COMPILER, NPM, Need, WEBVIEW};
use crate::shell::{cargo, run};
use crate::{project, ui};

/// What the app is built with; its tray speaks D-Bus by itself.
const NEEDS: [Need; 3] = [C_COMPILER, NPM, WEBVIEW];

/// Installs what is missing and builds the page.
pub(crate) fn prepare() -> Result<()> {
    // On macOS and Windows the webview is part of the system.
    let needs: &[Need] = if cfg!(target_os = "linux") { &NEEDS } else { &[C_COMPILER, NPM] };
    packages::ensure(needs)?;
    ui::install()?;
    ui::build()
}

/// Builds the gate and the app in the same folder: the app installs the gate that lies beside it.
pub(crate) fn build(profile: &str) -> Result<()> {
    // Apart, so that no feature of one is switched on in the other: the gate stays small.
    for package in ["callgate", "callgate-app"] {
        run(cargo(&["build", "--profile", profile, "--package", package]))
            .with_context(|| format!("{package} cannot be built in {}", project::target().display()))?;
    }
    Ok(())
}
