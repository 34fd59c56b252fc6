//! How the page is drawn on Linux.
//!
//! Without a graphics processor the web engine's compositor is a program of the processor as well: every frame then costs
//! a copy of the whole window, and the layers that it keeps cost tens of megabytes. There the page is drawn directly.

use std::fs::OpenOptions;
use std::path::Path;

use gtk::glib;

use crate::stderr::print_line;

/// Where the kernel offers what can draw.
const DEVICES: &str = "/dev/dri";
/// What the web engine reads when it starts.
const NO_COMPOSITOR: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// Before the process has a second thread or a toolkit. The policy of a web view would be the finer tool, but a view that is
/// told after its page was asked for (there is no earlier moment in the toolkit) leaves the mouse wheel without effect.
pub(super) fn prepare() {
    if can_draw(Path::new(DEVICES)) {
        return;
    }
    if let Err(error) = glib::setenv(NO_COMPOSITOR, "1", false) {
        print_line(&format!("the window is drawn as if there were a graphics processor: {error}"));
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
