//! Building the app: what it needs from the system, the page that it embeds, and the three programs side by side.

use anyhow::{Context, Result};

use crate::packages::{self, C_COMPILER, NPM, Need, WEBVIEW};
use crate::shell::{cargo, run};
use crate::{project, ui};

/// What the app is built with; its tray speaks D-Bus by itself.
const NEEDS: [Need; 3] = [C_COMPILER, NPM, WEBVIEW];

/// Installs what is missing on this system, and the page's packages.
pub(crate) fn install() -> Result<()> {
    // On macOS and Windows the webview is part of the system.
    let needs: &[Need] = if cfg!(target_os = "linux") { &NEEDS } else { &[C_COMPILER, NPM] };
    packages::ensure(needs)?;
    ui::install()
}

/// That, and the page.
pub(crate) fn prepare() -> Result<()> {
    install()?;
    ui::build()
}

/// Optimised, but without the release's slow last mile: see Cargo.toml.
pub(crate) const PROFILE: &str = "app";
pub(crate) const RELEASE: &str = "release";

/// Builds the gate, its partner and the app in the same folder: the app installs the two that lie beside it.
pub(crate) fn build(profile: &str) -> Result<()> {
    build_with_gate(profile, &["callgate-cli", "callgate-app"])
}

/// The gate and its partner, without a window.
pub(crate) fn build_gate(profile: &str) -> Result<()> {
    build_with_gate(profile, &["callgate-cli"])
}

fn build_with_gate(profile: &str, others: &[&str]) -> Result<()> {
    if profile != RELEASE {
        // At once, so that nothing is compiled twice.
        return build_packages(profile, &[&["callgate"], others].concat());
    }
    // The gate apart: no feature is switched on in it that it does not ask for. What it has in common with the others is
    // little, and compiled again only where they ask for more of it.
    build_packages(profile, &["callgate"])?;
    build_packages(profile, others)
}

fn build_packages(profile: &str, packages: &[&str]) -> Result<()> {
    let mut build = cargo(&["build", "--profile", profile]);
    build.args(packages.iter().flat_map(|package| ["--package", package]));
    run(build).with_context(|| {
        format!("{} cannot be built in {}", packages.join(", "), project::target().display())
    })
}
