//! The other side of the tray: a host that knows the icon, reads its menu and clicks, all over D-Bus.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use zbus::blocking::{Connection, Proxy, connection};
use zbus::zvariant::{OwnedValue, Structure, Value};

const PATIENCE: Duration = Duration::from_secs(30);
const PATH: &str = "/StatusNotifierWatcher";
const NAME: &str = "org.kde.StatusNotifierWatcher";

/// One entry of a menu, as a person sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    id: i32,
    pub text: String,
    pub enabled: bool,
    pub separator: bool,
    pub below: Vec<Entry>,
}

impl Entry {
    /// The whole menu in lines: `[…]` is greyed.
    pub fn drawn(&self) -> String {
        let mut out = String::new();
        self.draw(0, &mut out);
        out
    }

    fn draw(&self, depth: usize, out: &mut String) {
        for entry in &self.below {
            let text = if entry.separator { "--" } else { &entry.text };
            let text = if entry.enabled { text.to_owned() } else { format!("[{text}]") };
            out.push_str(&format!("{}{text}\n", "  ".repeat(depth)));
            entry.draw(depth + 1, out);
        }
    }

    /// The numbers of all that is in it.
    fn ids(&self) -> Vec<i32> {
        self.below.iter().flat_map(|entry| std::iter::once(entry.id).chain(entry.ids())).collect()
    }

    /// All that it says.
    pub fn texts(&self) -> Vec<String> {
        self.below.iter().flat_map(|entry| std::iter::once(entry.text.clone()).chain(entry.texts())).collect()
    }

    /// The entry with this text, at any depth.
    pub fn named(&self, text: &str) -> Option<&Entry> {
        self.below.iter().find_map(|entry| if entry.text == text { Some(entry) } else { entry.named(text) })
    }
}

/// Id, properties, and what is below.
type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

/// The host of tray icons on one bus.
#[derive(Debug)]
pub struct Host {
    connection: Connection,
    registered: Arc<Mutex<Vec<String>>>,
}

#[derive(Debug)]
struct Watcher {
    registered: Arc<Mutex<Vec<String>>>,
}

#[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    fn register_status_notifier_item(&self, service: &str) {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner).push(service.to_owned());
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

impl Host {
    pub fn start(bus: &str) -> anyhow::Result<Host> {
        let registered = Arc::default();
        let watcher = Watcher { registered: Arc::clone(&registered) };
        let connection = connection::Builder::address(bus)?.serve_at(PATH, watcher)?.name(NAME)?.build()?;
        Ok(Host { connection, registered })
    }

    /// Waits for the app's icon.
    pub fn icon(&self) -> anyhow::Result<Icon> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let last = self.registered.lock().unwrap_or_else(PoisonError::into_inner).last().cloned();
            if let Some(service) = last {
                return Ok(Icon { connection: self.connection.clone(), service });
            }
            anyhow::ensure!(Instant::now() < deadline, "no icon came into the tray");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
}

/// The app's icon in the tray.
#[derive(Debug)]
pub struct Icon {
    connection: Connection,
    service: String,
}

impl Icon {
    fn item(&self) -> anyhow::Result<Proxy<'_>> {
        let path = "/StatusNotifierItem";
        Ok(Proxy::new(&self.connection, self.service.as_str(), path, "org.kde.StatusNotifierItem")?)
    }

    fn menu_proxy(&self) -> anyhow::Result<Proxy<'_>> {
        let path: zbus::zvariant::OwnedObjectPath = self.item()?.get_property("Menu")?;
        Ok(Proxy::new(&self.connection, self.service.clone(), path, "com.canonical.dbusmenu")?)
    }

    /// What the pointer reads that rests on it.
    pub fn tip(&self) -> anyhow::Result<String> {
        let tip: OwnedValue = self.item()?.get_property("ToolTip")?;
        let Value::Structure(parts) = &*tip else { anyhow::bail!("not a tool tip: {tip:?}") };
        text_of(&parts.fields()[2])
    }

    /// The picture, as it is sent.
    pub fn pixels(&self) -> anyhow::Result<Vec<u8>> {
        let pictures: Vec<(i32, i32, Vec<u8>)> = self.item()?.get_property("IconPixmap")?;
        Ok(pictures.into_iter().next().context("an icon without a picture")?.2)
    }

    /// A click on the icon itself.
    pub fn activate(&self) -> anyhow::Result<()> {
        Ok(self.item()?.call("Activate", &(0, 0))?)
    }

    /// Opens the menu as a panel does: announces it, then reads it.
    pub fn menu(&self) -> anyhow::Result<Entry> {
        let _changed: bool = self.menu_proxy()?.call("AboutToShow", &(0i32,))?;
        self.layout()
    }

    /// What the entries of a menu that is on the screen say by now, as a panel that reads them again has it.
    pub fn read_again(&self, menu: &Entry) -> anyhow::Result<Vec<String>> {
        let ids: Vec<i32> = menu.ids();
        let known: Vec<(i32, HashMap<String, OwnedValue>)> =
            self.menu_proxy()?.call("GetGroupProperties", &(ids, Vec::<String>::new()))?;
        let text = |known: HashMap<String, OwnedValue>| {
            let label = known.get("label").map(|label| text_of(label)).transpose()?;
            anyhow::Ok(label.unwrap_or_default().replace("__", "_"))
        };
        known.into_iter().map(|(_, known)| text(known)).collect()
    }

    /// The menu as a panel has it that was told of no change.
    pub fn layout(&self) -> anyhow::Result<Entry> {
        let (_revision, layout): (u32, Layout) =
            self.menu_proxy()?.call("GetLayout", &(0i32, -1i32, Vec::<String>::new()))?;
        let (id, properties, below) = layout;
        entry(id, &properties.into_iter().map(|(key, value)| (key, Value::from(value))).collect(), below)
    }

    /// Opens the menu and clicks what is called so.
    pub fn click(&self, text: &str) -> anyhow::Result<()> {
        self.click_in(&self.menu()?, text)
    }

    /// Clicks what is called so in a menu that was opened before.
    pub fn click_in(&self, menu: &Entry, text: &str) -> anyhow::Result<()> {
        let entry = menu.named(text).with_context(|| format!("no entry {text:?} in:\n{}", menu.drawn()))?;
        anyhow::ensure!(entry.enabled, "{text:?} is greyed");
        self.happens(entry.id, "clicked")
    }

    /// Closes the menu as a panel does.
    pub fn close(&self) -> anyhow::Result<()> {
        self.happens(0, "closed")
    }

    fn happens(&self, id: i32, event: &str) -> anyhow::Result<()> {
        Ok(self.menu_proxy()?.call("Event", &(id, event, Value::from(0i32), 0u32))?)
    }
}

fn entry(
    id: i32,
    properties: &HashMap<String, Value<'static>>,
    below: Vec<OwnedValue>,
) -> anyhow::Result<Entry> {
    let text = properties.get("label").map(text_of).transpose()?.unwrap_or_default();
    let kind = properties.get("type").map(text_of).transpose()?.unwrap_or_default();
    let below = below.into_iter().map(|value| nested(Value::from(value))).collect::<anyhow::Result<_>>()?;
    Ok(Entry {
        id,
        // Two underscores are one that marks no key.
        text: text.replace("__", "_"),
        enabled: !matches!(properties.get("enabled"), Some(Value::Bool(false))),
        separator: kind == "separator",
        below,
    })
}

fn nested(value: Value<'static>) -> anyhow::Result<Entry> {
    let value = if let Value::Value(inner) = value { *inner } else { value };
    let parts = Structure::try_from(value)?.into_fields();
    let [id, properties, below] = <[Value<'static>; 3]>::try_from(parts)
        .map_err(|parts| anyhow::anyhow!("not an entry of a menu: {parts:?}"))?;
    let properties: HashMap<String, Value<'static>> = properties.try_into()?;
    let Value::Array(below) = below else { anyhow::bail!("not a list of entries") };
    let below =
        below.iter().map(|one| Ok(OwnedValue::try_from(one.try_clone()?)?)).collect::<anyhow::Result<_>>()?;
    entry(i32::try_from(id)?, &properties, below)
}

fn text_of(value: &Value<'_>) -> anyhow::Result<String> {
    match value {
        Value::Str(text) => Ok(text.to_string()),
        Value::Value(inner) => text_of(inner),
        other => anyhow::bail!("not a text: {other:?}"),
    }
}
