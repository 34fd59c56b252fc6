//! How the page is drawn: macOS and Windows know best.

use tauri::WebviewWindow;

pub(super) fn suit(_window: &WebviewWindow) {}
