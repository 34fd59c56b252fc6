//! The other side of notifications: shows none, keeps them all, and clicks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use zbus::blocking::{Connection, connection};
use zbus::zvariant::{OwnedValue, Value};

const PATH: &str = "/org/freedesktop/Notifications";
const NAME: &str = "org.freedesktop.Notifications";

/// One notification, as it came; as it was said anew, if it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    id: u32,
    pub title: String,
    pub body: String,
    /// Keys and texts in turn.
    actions: Vec<String>,
}

impl Shown {
    /// The texts of its buttons.
    pub fn buttons(&self) -> Vec<&str> {
        self.actions
            .chunks_exact(2)
            .filter(|pair| pair[0] != "default")
            .map(|pair| pair[1].as_str())
            .collect()
    }
}

#[derive(Debug)]
pub struct Desk {
    connection: Connection,
    shown: Arc<Mutex<Vec<Shown>>>,
    inhibited: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Server {
    shown: Arc<Mutex<Vec<Shown>>>,
    inhibited: Arc<AtomicBool>,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Server {
    #[expect(clippy::too_many_arguments, reason = "the interface is what it is")]
    fn notify(
        &self,
        _app: &str,
        replaces: u32,
        _icon: &str,
        title: String,
        body: String,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _timeout: i32,
    ) -> u32 {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = shown.iter_mut().find(|one| one.id == replaces) {
            *old = Shown { id: replaces, title, body, actions };
            return replaces;
        }
        let id = u32::try_from(shown.len()).unwrap_or(u32::MAX - 1) + 1;
        shown.push(Shown { id, title, body, actions });
        id
    }

    fn get_capabilities(&self) -> Vec<String> {
        vec!["actions".to_owned(), "body".to_owned(), "body-markup".to_owned()]
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        let of = |text: &str| text.to_owned();
        (of("test"), of("test"), of("1"), of("1.2"))
    }

    fn close_notification(&self, _id: u32) {}

    /// As KDE has it.
    #[zbus(property)]
    fn inhibited(&self) -> bool {
        self.inhibited.load(Ordering::SeqCst)
    }
}

impl Desk {
    pub fn start(bus: &str) -> anyhow::Result<Desk> {
        let (shown, inhibited) = (Arc::default(), Arc::default());
        let server = Server { shown: Arc::clone(&shown), inhibited: Arc::clone(&inhibited) };
        let connection = connection::Builder::address(bus)?.serve_at(PATH, server)?.name(NAME)?.build()?;
        Ok(Desk { connection, shown, inhibited })
    }

    /// The person turns on, or off, that nothing is to be shown.
    pub fn inhibit(&self, inhibited: bool) -> anyhow::Result<()> {
        self.inhibited.store(inhibited, Ordering::SeqCst);
        let changed = HashMap::from([("Inhibited", Value::from(inhibited))]);
        let body = (NAME, changed, Vec::<&str>::new());
        let properties = "org.freedesktop.DBus.Properties";
        Ok(self.connection.emit_signal(None::<&str>, PATH, properties, "PropertiesChanged", &body)?)
    }

    pub fn shown(&self) -> Vec<Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Those about this, in the order in which they were raised.
    pub fn about(&self, words: &str) -> Vec<Shown> {
        self.shown().into_iter().filter(|one| one.title.contains(words) || one.body.contains(words)).collect()
    }

    /// Clicks a button by its text; without one, the notification itself.
    pub fn click(&self, shown: &Shown, button: Option<&str>) -> anyhow::Result<()> {
        let key = match button {
            None => "default",
            Some(text) => shown
                .actions
                .chunks_exact(2)
                .find(|pair| pair[1] == text)
                .map(|pair| pair[0].as_str())
                .ok_or_else(|| anyhow::anyhow!("no button {text:?}: {:?}", shown.actions))?,
        };
        self.connection.emit_signal(None::<&str>, PATH, NAME, "ActionInvoked", &(shown.id, key))?;
        Ok(())
    }
}
