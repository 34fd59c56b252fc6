//! Linux: a StatusNotifierItem over D-Bus, with its menu. Desktops ask before they open the menu, say when nobody shows the
//! icon, and may come later than we do.
//!
//! Nothing in the menu changes while it is open (`callgate_desk::tray::Opening`): it is made when it opens, and brought up to
//! date after it was closed.

#[path = "linux/item.rs"]
mod item;
#[path = "linux/menu.rs"]
mod menu;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_desk::tray::{Clicked, Opening, PublishedMenus};
use tauri::{AppHandle, Manager as _};
use zbus::blocking::fdo::DBusProxy;
use zbus::blocking::{Connection, Proxy, connection};
use zbus::names::BusName;

use super::{Look, look, perform};
use crate::notify;
use crate::state::AppState;

const WATCHER: &str = "org.kde.StatusNotifierWatcher";
const WATCHER_PATH: &str = "/StatusNotifierWatcher";
const NOBODY: &str = "this desktop shows no tray icons";
/// What a click says in a menu that is long gone.
const OUTDATED: &str = "That menu was out of date, so nothing was done. Open it again.";

/// A handle to the icon; any number of them.
#[derive(Clone, Debug)]
pub(super) struct Icon {
    connection: Connection,
    tray: Arc<Shared>,
}

/// What the item and its menu share.
#[derive(Debug)]
struct Shared {
    app: AppHandle,
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    look: Look,
    menus: PublishedMenus,
    opening: Opening,
}

impl Icon {
    pub(super) fn make(app: &AppHandle, look: Look) -> Result<Icon, String> {
        let mut menus = PublishedMenus::default();
        menus.publish(&look.menu);
        let inside = Mutex::new(Inside { look, menus, opening: Opening::default() });
        let tray = Arc::new(Shared { app: app.clone(), inside });
        let made = serve(&tray);
        let connection = made.map_err(|_| "no D-Bus session can be reached".to_owned())?;
        let icon = Icon { connection, tray };
        icon.watch().map_err(|error| error.to_string())?;
        Ok(icon)
    }

    pub(super) fn update(&self, look: &Look) {
        let uptime_ms = self.tray.uptime_ms();
        let mut inside = self.tray.inside();
        let old = std::mem::replace(&mut inside.look, look.clone());
        let changed = inside.opening.may_change(uptime_ms) && inside.menus.publish(&look.menu);
        let revision = changed.then(|| inside.menus.revision());
        drop(inside);
        if old.icon != look.icon {
            self.tell(item::PATH, item::INTERFACE, "NewIcon", &());
        }
        if old.tip != look.tip {
            self.tell(item::PATH, item::INTERFACE, "NewToolTip", &());
        }
        if let Some(revision) = revision {
            self.tell(menu::PATH, menu::INTERFACE, "LayoutUpdated", &(revision, 0_i32));
        }
    }

    /// A bus that is gone is noticed by who watches it.
    fn tell<B>(&self, path: &str, interface: &str, signal: &str, body: &B)
    where
        B: serde::Serialize + zbus::zvariant::DynamicType,
    {
        let _gone = self.connection.emit_signal(None::<BusName<'_>>, path, interface, signal, body);
    }

    /// Gives the icon to whoever shows icons, now and each time that somebody new does.
    fn watch(&self) -> zbus::Result<()> {
        let changes =
            DBusProxy::new(&self.connection)?.receive_name_owner_changed_with_args(&[(0, WATCHER)])?;
        self.tray.seen(self.register());
        let icon = self.clone();
        std::thread::spawn(move || {
            for change in changes {
                let there = change.args().is_ok_and(|args| args.new_owner().is_some());
                icon.tray.seen(there && icon.register());
            }
            icon.tray.seen(false);
        });
        Ok(())
    }

    fn register(&self) -> bool {
        let watcher = Proxy::new(&self.connection, WATCHER, WATCHER_PATH, WATCHER);
        watcher.is_ok_and(|watcher| watcher.call_method("RegisterStatusNotifierItem", &(bus_name(),)).is_ok())
    }
}

/// As panels expect it of an icon.
fn bus_name() -> String {
    format!("org.kde.StatusNotifierItem-{}-1", std::process::id())
}

fn serve(tray: &Arc<Shared>) -> zbus::Result<Connection> {
    connection::Builder::session()?
        .name(bus_name())?
        .serve_at(item::PATH, item::Item(Arc::clone(tray)))?
        .serve_at(menu::PATH, menu::Menu(Arc::clone(tray)))?
        .build()
}

impl Shared {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn uptime_ms(&self) -> u64 {
        self.app.state::<AppState>().clock.now().uptime_ms
    }

    fn seen(&self, shown: bool) {
        self.app.state::<AppState>().tray.seen((!shown).then(|| NOBODY.to_owned()));
    }

    /// The menu is about to open: from now until it is closed it says what is so at this moment. Gives its revision if it is
    /// another one than before.
    fn opens(&self) -> Option<u32> {
        let state = self.app.state::<AppState>();
        // What sessions have on record but not in the history yet; what fails is there a moment later.
        let _later = callgate_journal::catch_up(state.desk.home(), state.clock.as_ref());
        let look = look(&state);
        // Else the next look would be compared with one that is not shown any more.
        state.tray.shows(&look);
        let mut inside = self.inside();
        inside.opening.opens();
        let changed = inside.menus.publish(&look.menu);
        inside.look = look;
        changed.then(|| inside.menus.revision())
    }

    /// Takes up what came while it was open; gives its revision if that was something.
    fn closes(&self) -> Option<u32> {
        let mut inside = self.inside();
        inside.opening.closes();
        let menu = inside.look.menu.clone();
        inside.menus.publish(&menu).then(|| inside.menus.revision())
    }

    fn shows_life(&self) {
        let uptime_ms = self.uptime_ms();
        self.inside().opening.shows_life(uptime_ms);
    }

    /// Does what the entry said when it was read. A menu closes with the click.
    fn clicked(&self, id: i32) {
        let mut inside = self.inside();
        inside.opening.closes();
        let clicked = inside.menus.clicked(id);
        drop(inside);
        match clicked {
            Clicked::Act(act) => perform(&self.app, &act),
            Clicked::Forgotten => notify::tell(&self.app, "Callgate", OUTDATED),
            Clicked::Nothing => {}
        }
    }
}
