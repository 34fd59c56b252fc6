//! The menu, as `com.canonical.dbusmenu` wants it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use callgate_desk::tray::Node;
use zbus::interface;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::{StructureBuilder, Value};

use super::Shared;

pub(super) const PATH: &str = "/MenuBar";
pub(super) const INTERFACE: &str = "com.canonical.dbusmenu";

/// What a panel knows of an entry, by name.
type Properties = HashMap<&'static str, Value<'static>>;
/// Number, properties, and what is below.
type Layout = (i32, Properties, Vec<Value<'static>>);

#[derive(Debug)]
pub(super) struct Menu(pub(super) Arc<Shared>);

#[interface(name = "com.canonical.dbusmenu")]
impl Menu {
    /// A depth below nought means all of it.
    fn get_layout(&self, parent: i32, depth: i32, names: Vec<String>) -> zbus::fdo::Result<(u32, Layout)> {
        let names = names.into_iter().collect();
        let mut inside = self.0.inside();
        let revision = inside.menus.revision();
        let depth = usize::try_from(depth).unwrap_or(usize::MAX);
        let below = |nodes: &[Node]| match depth {
            0 => Vec::new(),
            depth => nodes.iter().map(|node| nested(node, depth - 1, &names)).collect(),
        };
        if parent == 0 {
            return Ok((revision, (0, wanted(root(), &names), below(inside.menus.read()))));
        }
        let node = inside.menus.node_of(parent).ok_or_else(unknown)?;
        Ok((revision, (parent, wanted(properties(node), &names), below(&node.children))))
    }

    fn get_group_properties(&self, ids: Vec<i32>, names: Vec<String>) -> Vec<(i32, Properties)> {
        let names = names.into_iter().collect();
        let inside = self.0.inside();
        let found = ids.into_iter().filter_map(|id| match id {
            0 => Some((0, wanted(root(), &names))),
            id => inside.menus.node_of(id).map(|node| (id, wanted(properties(node), &names))),
        });
        found.collect()
    }

    fn get_property(&self, id: i32, name: &str) -> zbus::fdo::Result<Value<'static>> {
        let inside = self.0.inside();
        let mut known = match id {
            0 => root(),
            id => properties(inside.menus.node_of(id).ok_or_else(unknown)?),
        };
        known.remove(name).ok_or_else(unknown)
    }

    async fn event(
        &self,
        id: i32,
        event: &str,
        _data: Value<'_>,
        _timestamp: u32,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<()> {
        self.happened(id, event, &emitter).await
    }

    /// Gives the numbers that nobody knows: none, since a click on one of those is answered in words.
    async fn event_group(
        &self,
        events: Vec<(i32, String, Value<'_>, u32)>,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<Vec<i32>> {
        for (id, event, _, _) in events {
            self.happened(id, &event, &emitter).await?;
        }
        Ok(Vec::new())
    }

    /// Whether the panel has to read the menu again.
    async fn about_to_show(
        &self,
        id: i32,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<bool> {
        if id != 0 {
            self.0.shows_life();
            return Ok(false);
        }
        let revision = self.0.opens();
        self.say_new(revision, &emitter).await?;
        Ok(revision.is_some())
    }

    /// Those to be read again, and those that nobody knows.
    async fn about_to_show_group(
        &self,
        ids: Vec<i32>,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<(Vec<i32>, Vec<i32>)> {
        let revision = if ids.contains(&0) { self.0.opens() } else { None };
        self.say_new(revision, &emitter).await?;
        Ok((revision.map(|_| 0).into_iter().collect(), Vec::new()))
    }

    #[zbus(property)]
    fn version(&self) -> u32 {
        3
    }

    #[zbus(property)]
    fn text_direction(&self) -> &str {
        "ltr"
    }

    #[zbus(property)]
    fn status(&self) -> &str {
        "normal"
    }

    #[zbus(property)]
    fn icon_theme_path(&self) -> Vec<String> {
        Vec::new()
    }

    #[zbus(signal)]
    async fn layout_updated(emitter: &SignalEmitter<'_>, revision: u32, parent: i32) -> zbus::Result<()>;
}

impl Menu {
    async fn happened(&self, id: i32, event: &str, emitter: &SignalEmitter<'_>) -> zbus::fdo::Result<()> {
        match event {
            "clicked" => self.0.clicked(id),
            "closed" if id == 0 => self.say_new(self.0.closes(), emitter).await?,
            _ => self.0.shows_life(),
        }
        Ok(())
    }

    async fn say_new(&self, revision: Option<u32>, emitter: &SignalEmitter<'_>) -> zbus::fdo::Result<()> {
        match revision {
            Some(revision) => Ok(Menu::layout_updated(emitter, revision, 0).await?),
            None => Ok(()),
        }
    }
}

fn unknown() -> zbus::fdo::Error {
    zbus::fdo::Error::InvalidArgs("there is no such entry".to_owned())
}

fn root() -> Properties {
    HashMap::from([("children-display", Value::from("submenu"))])
}

/// What differs from the ordinary.
fn properties(node: &Node) -> Properties {
    let mut known = HashMap::new();
    if node.separator {
        known.insert("type", Value::from("separator"));
        return known;
    }
    known.insert("label", Value::from(label(&node.text)));
    if !node.enabled {
        known.insert("enabled", Value::from(false));
    }
    if !node.children.is_empty() {
        known.insert("children-display", Value::from("submenu"));
    }
    known
}

/// No names: all of them.
fn wanted(mut known: Properties, names: &BTreeSet<String>) -> Properties {
    known.retain(|name, _| names.is_empty() || names.contains(*name));
    known
}

fn nested(node: &Node, depth: usize, names: &BTreeSet<String>) -> Value<'static> {
    let below: Vec<Value<'static>> = match depth {
        0 => Vec::new(),
        depth => node.children.iter().map(|child| nested(child, depth - 1, names)).collect(),
    };
    let fields = StructureBuilder::new()
        .add_field(node.id)
        .add_field(wanted(properties(node), names))
        .add_field(below);
    // It fails only without fields.
    fields.build().map_or_else(|_| Value::from(0), Value::from)
}

/// One underscore would mark a key.
fn label(text: &str) -> String {
    text.replace('_', "__")
}
