//! How the page is drawn on Linux.
//!
//! Without a graphics processor the web engine's compositor is a program of the processor as well: every frame then costs
//! a copy of the whole window, and the layers that it keeps cost tens of megabytes. There the page is drawn directly.

use std::fs::OpenOptions;
use std::path::Path;

use tauri::WebviewWindow;
use webkit2gtk::{HardwareAccelerationPolicy, SettingsExt as _, WebViewExt as _};

use crate::say::say;

/// Where the kernel offers what can draw.
const DEVICES: &str = "/dev/dri";

/// Each time that a page begins, before it has drawn anything. Not between its being asked for and its beginning: a web
/// engine (2.50) whose compositor is taken away then leaves the mouse wheel without effect.
pub(super) fn suit(window: &WebviewWindow) {
    if can_draw(Path::new(DEVICES)) {
        return;
    }
    let told = window.with_webview(|webview| {
        if let Some(settings) = webview.inner().settings() {
            settings.set_hardware_acceleration_policy(HardwareAccelerationPolicy::Never);
        }
    });
    if let Err(error) = told {
        say(&format!("the window is drawn as if there were a graphics processor: {error}"));
    }
}

/// Is there a device that draws, and may we use it?
fn can_draw(devices: &Path) -> bool {
    let mut found = std::fs::read_dir(devices).into_iter().flatten().flatten();
    found.any(|entry| {
        entry.file_name().to_string_lossy().starts_with("renderD")
            && OpenOptions::new().read(true).write(true).open(entry.path()).is_ok()
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn only_a_device_that_renders_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!can_draw(&folder.path().join("dri")), "none at all");
        // A screen without one: a virtual machine, a server.
        std::fs::write(folder.path().join("card0"), "").unwrap();
        assert!(!can_draw(folder.path()));
        std::fs::write(folder.path().join("renderD128"), "").unwrap();
        assert!(can_draw(folder.path()));
    }
}
