//! The icon, as `org.kde.StatusNotifierItem` wants it.

use std::sync::Arc;

use callgate_desk::view::Place;
use tauri::image::Image;
use zbus::interface;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::{ObjectPath, OwnedObjectPath};

use super::{Shared, menu};
use crate::front;
use crate::tray::icons;

pub(super) const PATH: &str = "/StatusNotifierItem";
pub(super) const INTERFACE: &str = "org.kde.StatusNotifierItem";

/// Width, height, and the points with alpha first.
type Pixmap = (i32, i32, Vec<u8>);
/// The name and the pictures of an icon, a title, a text.
type ToolTip = (String, Vec<Pixmap>, String, String);

#[derive(Debug)]
pub(super) struct Item(pub(super) Arc<Shared>);

#[interface(name = "org.kde.StatusNotifierItem")]
impl Item {
    fn activate(&self, _x: i32, _y: i32) {
        front::show(&self.0.app, Place::Window);
    }

    fn secondary_activate(&self, _x: i32, _y: i32) {}

    fn scroll(&self, _delta: i32, _orientation: &str) {}

    /// Panels that know no menus over the bus ask for one; there is none but that.
    fn context_menu(&self, _x: i32, _y: i32) -> zbus::fdo::Result<()> {
        Err(zbus::fdo::Error::UnknownMethod("the menu is at /MenuBar".to_owned()))
    }

    fn provide_xdg_activation_token(&self, _token: &str) {}

    #[zbus(property)]
    fn category(&self) -> &str {
        "ApplicationStatus"
    }

    #[zbus(property)]
    fn id(&self) -> &str {
        "callgate"
    }

    #[zbus(property)]
    fn title(&self) -> &str {
        "Callgate"
    }

    #[zbus(property)]
    fn status(&self) -> &str {
        "Active"
    }

    #[zbus(property)]
    fn window_id(&self) -> i32 {
        0
    }

    #[zbus(property)]
    fn icon_theme_path(&self) -> &str {
        ""
    }

    #[zbus(property)]
    fn icon_name(&self) -> &str {
        ""
    }

    /// In all sizes, so that the panel need not scale it.
    #[zbus(property)]
    fn icon_pixmap(&self) -> Vec<Pixmap> {
        let state = self.0.inside().look.icon;
        icons::icons(state).unwrap_or_default().iter().map(pixmap).collect()
    }

    #[zbus(property)]
    fn overlay_icon_name(&self) -> &str {
        ""
    }

    #[zbus(property)]
    fn overlay_icon_pixmap(&self) -> Vec<Pixmap> {
        Vec::new()
    }

    #[zbus(property)]
    fn attention_icon_name(&self) -> &str {
        ""
    }

    #[zbus(property)]
    fn attention_icon_pixmap(&self) -> Vec<Pixmap> {
        Vec::new()
    }

    #[zbus(property)]
    fn attention_movie_name(&self) -> &str {
        ""
    }

    #[zbus(property)]
    fn tool_tip(&self) -> ToolTip {
        (String::new(), Vec::new(), self.0.inside().look.tip.clone(), String::new())
    }

    #[zbus(property)]
    fn item_is_menu(&self) -> bool {
        false
    }

    #[zbus(property)]
    fn menu(&self) -> OwnedObjectPath {
        ObjectPath::from_static_str_unchecked(menu::PATH).into()
    }

    #[zbus(signal)]
    async fn new_icon(emitter: &SignalEmitter<'_>) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn new_tool_tip(emitter: &SignalEmitter<'_>) -> zbus::Result<()>;
}

/// D-Bus wants alpha first.
fn pixmap(image: &Image<'_>) -> Pixmap {
    let data = image.rgba().chunks_exact(4).flat_map(|p| [p[3], p[0], p[1], p[2]]).collect();
    (image.width().cast_signed(), image.height().cast_signed(), data)
}
