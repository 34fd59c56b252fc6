//! macOS and Windows: the toolkit's own tray, which is always there.
//!
//! A menu that is on the screen stays as it is: what is new is another menu, for the next time. The number of an entry is its
//! act, with the tool and the client that stood there, so a late click means what was read.

use callgate_desk::tray::{MenuItem, TrayAct};
use callgate_desk::view::Place;
use tauri::image::Image;
use tauri::menu::{IsMenuItem, Menu, MenuItem as Entry, PredefinedMenuItem, Submenu};
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Wry};

use super::{Look, icons, perform};
use crate::front;
use crate::stderr::print_line;

/// A handle to the icon; any number of them.
#[derive(Clone)]
pub(super) struct Icon(TrayIcon);

impl std::fmt::Debug for Icon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Icon")
    }
}

impl Icon {
    pub(super) fn make(app: &AppHandle, look: Look) -> Result<Icon, String> {
        Icon::build(app, &look).map_err(|error| error.to_string())
    }

    fn build(app: &AppHandle, look: &Look) -> tauri::Result<Icon> {
        let tray = TrayIconBuilder::with_id("callgate")
            .icon(icon(look)?)
            .icon_as_template(cfg!(target_os = "macos"))
            .tooltip(&look.tip)
            .menu(&drawn(app, &look.menu.items)?)
            .show_menu_on_left_click(cfg!(target_os = "macos"))
            .on_menu_event(|app, event| {
                if let Some(act) = TrayAct::parse(event.id().as_ref()) {
                    perform(app, &act);
                }
            })
            .on_tray_icon_event(|tray, event| {
                let left = matches!(
                    event,
                    TrayIconEvent::Click {
                        button: MouseButton::Left,
                        button_state: MouseButtonState::Up,
                        ..
                    }
                );
                if left && cfg!(windows) {
                    front::show(tray.app_handle(), Place::Window);
                }
            })
            .build(app)?;
        Ok(Icon(tray))
    }

    pub(super) fn update(&self, look: &Look) {
        let app = self.0.app_handle();
        let updated = icon(look)
            .and_then(|icon| self.0.set_icon(Some(icon)))
            .and_then(|()| self.0.set_tooltip(Some(&look.tip)))
            .and_then(|()| drawn(app, &look.menu.items))
            .and_then(|menu| self.0.set_menu(Some(menu)));
        if let Err(error) = updated {
            print_line(&format!("the tray cannot be brought up to date: {error}"));
        }
    }
}

/// The fine one: the system scales it down.
fn icon(look: &Look) -> tauri::Result<Image<'static>> {
    let icons = icons::icons(look.icon)?;
    icons.into_iter().last().ok_or_else(|| tauri::Error::InvalidIcon(std::io::ErrorKind::NotFound.into()))
}

fn drawn(app: &AppHandle, items: &[MenuItem]) -> tauri::Result<Menu<Wry>> {
    let menu = Menu::new(app)?;
    for item in items {
        menu.append(entry(app, item)?.as_ref())?;
    }
    Ok(menu)
}

fn entry(app: &AppHandle, item: &MenuItem) -> tauri::Result<Box<dyn IsMenuItem<Wry>>> {
    Ok(match item {
        MenuItem::Label(text) => Box::new(Entry::new(app, label(text), false, None::<&str>)?),
        MenuItem::Entry { act, text } => {
            Box::new(Entry::with_id(app, act.id(), label(text), true, None::<&str>)?)
        }
        MenuItem::Submenu { text, items } => {
            let below = Submenu::new(app, label(text), true)?;
            for item in items {
                below.append(entry(app, item)?.as_ref())?;
            }
            Box::new(below)
        }
        MenuItem::Separator => Box::new(PredefinedMenuItem::separator(app)?),
    })
}

/// One ampersand would mark a key.
fn label(text: &str) -> String {
    text.replace('&', "&&")
}
