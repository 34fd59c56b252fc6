//! Linux: a StatusNotifierItem over D-Bus. The desktop asks before it opens the menu, says when nobody shows the icon,
//! and may come later than we do.

use std::fmt;

use callgate_desk::tray::{MenuItem, TrayAct};
use callgate_desk::view::Place;
use gtk::prelude::*;
use ksni::blocking::TrayMethods as _;
use ksni::menu::{StandardItem, SubMenu};
use tauri::{AppHandle, Manager as _};

use super::{Look, icons, look, perform};
use crate::front;
use crate::state::AppState;

/// A handle to the icon; any number of them.
#[derive(Clone)]
pub(super) struct Icon(ksni::blocking::Handle<Item>);

impl fmt::Debug for Icon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Icon")
    }
}

impl Icon {
    pub(super) fn make(app: &AppHandle, look: Look) -> Result<Icon, String> {
        let item = Item { app: app.clone(), look, dark_panel: dark_panel() };
        // A desktop that is still starting may show it later.
        let made = item.assume_sni_available(true).spawn();
        made.map(Icon).map_err(|error| why(&error))
    }

    pub(super) fn update(&self, look: &Look) {
        self.0.update(|item| item.look = look.clone());
    }
}

fn why(error: &ksni::Error) -> String {
    match error {
        ksni::Error::Dbus(_) => "no D-Bus session can be reached".to_owned(),
        ksni::Error::Watcher(_) | ksni::Error::WontShow => "this desktop shows no tray icons".to_owned(),
        other => other.to_string(),
    }
}

/// Panels are dark nearly everywhere, whatever the theme of windows is; KDE's follows the theme.
fn dark_panel() -> bool {
    let desktop = std::env::var("XDG_CURRENT_DESKTOP").unwrap_or_default();
    let follows_theme = desktop.split(':').any(|name| name.eq_ignore_ascii_case("kde"));
    !follows_theme || gtk::Settings::default().is_some_and(|settings| is_dark(&settings))
}

fn is_dark(settings: &gtk::Settings) -> bool {
    let theme = settings.gtk_theme_name().unwrap_or_default();
    settings.is_gtk_application_prefer_dark_theme() || theme.to_ascii_lowercase().ends_with("-dark")
}

struct Item {
    app: AppHandle,
    look: Look,
    dark_panel: bool,
}

impl ksni::Tray for Item {
    fn id(&self) -> String {
        "callgate".to_owned()
    }

    fn title(&self) -> String {
        "Callgate".to_owned()
    }

    fn icon_pixmap(&self) -> Vec<ksni::Icon> {
        // Sent in both sizes, so that the panel need not scale it.
        let icons = icons::icons(self.look.icon, self.dark_panel).unwrap_or_default();
        icons.iter().map(pixmap).collect()
    }

    fn tool_tip(&self) -> ksni::ToolTip {
        let title = format!("Callgate: {}", self.look.tip);
        ksni::ToolTip { title, ..ksni::ToolTip::default() }
    }

    fn activate(&mut self, _x: i32, _y: i32) {
        front::show(&self.app, Place::Window);
    }

    fn menu(&self) -> Vec<ksni::MenuItem<Item>> {
        items(&self.look.menu.items)
    }

    fn menu_about_to_show(&mut self) {
        let state = self.app.state::<AppState>();
        // What sessions have on record but not in the history yet; what fails is there a moment later.
        let _later = callgate_store::catch_up(state.desk.home(), state.clock.as_ref());
        self.look = look(&state);
        // Else the next look would be compared with one that is not shown any more.
        state.tray.shows(&self.look);
    }

    fn watcher_online(&self) {
        self.app.state::<AppState>().tray.seen(None);
    }

    fn watcher_offline(&self, _reason: ksni::OfflineReason) -> bool {
        self.app.state::<AppState>().tray.seen(Some("this desktop shows no tray icons".to_owned()));
        true
    }
}

fn items(items: &[MenuItem]) -> Vec<ksni::MenuItem<Item>> {
    items.iter().map(item).collect()
}

fn item(item: &MenuItem) -> ksni::MenuItem<Item> {
    match item {
        MenuItem::Label(text) => {
            StandardItem { label: label(text), enabled: false, ..StandardItem::default() }.into()
        }
        MenuItem::Entry { act, text, enabled } => {
            let act: TrayAct = act.clone();
            StandardItem {
                label: label(text),
                enabled: *enabled,
                activate: Box::new(move |item: &mut Item| perform(&item.app, &act)),
                ..StandardItem::default()
            }
            .into()
        }
        MenuItem::Submenu { text, items: below } => {
            SubMenu { label: label(text), submenu: items(below), ..SubMenu::default() }.into()
        }
        MenuItem::Separator => ksni::MenuItem::Separator,
    }
}

/// One underscore would mark a key.
fn label(text: &str) -> String {
    text.replace('_', "__")
}

/// D-Bus wants alpha first.
fn pixmap(image: &tauri::image::Image<'_>) -> ksni::Icon {
    let data = image.rgba().chunks_exact(4).flat_map(|p| [p[3], p[0], p[1], p[2]]).collect();
    ksni::Icon { width: image.width().cast_signed(), height: image.height().cast_signed(), data }
}
