//! The servers of a document, by the shape that its client gives it.

use std::collections::HashMap;
use std::time::Duration;

use super::gate_recognition::recognise;
use super::{Gated, How, Listing, Local, Server, ServerId, SpannedText};
use crate::table::{CallTimeout, CommandShape, Entries, Shape};
use callgate_document::{Document, Member, Node, Odd, Oddity, Value};

/// Every entry, in the order of the file.
pub fn servers(document: &Document, shape: &Shape) -> Listing {
    let mut walk = Walk { shape, listing: Listing::default() };
    walk.section(&document.root, shape.section, &mut NodePath::default());
    let mut listing = walk.listing;
    refuse_twins(&mut listing.servers);
    listing
}

#[derive(Default)]
struct NodePath {
    path: Vec<usize>,
    keys: Vec<String>,
    within: Option<String>,
    /// Something above is anchored: an edit here would show up elsewhere.
    anchored: bool,
}

struct Walk<'a> {
    shape: &'a Shape,
    listing: Listing,
}

impl Walk<'_> {
    fn section(&mut self, node: &Node, rest: &[&str], place: &mut NodePath) {
        let Some((step, rest)) = rest.split_first() else {
            return self.entries(node, place);
        };
        let Some(members) = node.map() else {
            return self.leave_out(node, place, "a map");
        };
        for (index, member) in members.iter().enumerate().filter(|(_, m)| *step == "*" || m.key == *step) {
            if *step == "*" {
                place.within = Some(member.key.clone());
            }
            self.descend(node, index, &member.key, place, |walk, place| {
                walk.section(&member.value, rest, place)
            });
        }
    }

    fn entries(&mut self, node: &Node, place: &mut NodePath) {
        match (self.shape.entries, &node.value) {
            (Entries::ByName, Value::Map(members)) => {
                for (index, member) in members.iter().enumerate() {
                    self.descend(node, index, &member.key, place, |walk, place| {
                        walk.entry(member.key.clone(), &member.value, place);
                    });
                }
            }
            (Entries::List, Value::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let name = item.member("name").and_then(|m| m.value.text()).map(str::to_owned);
                    self.descend(node, index, &index.to_string(), place, |walk, place| match name {
                        Some(name) => walk.entry(name, item, place),
                        None => walk.listing.left_out.push(format!("`{}` has no name", place.keys.join("."))),
                    });
                }
            }
            (Entries::ByName, _) => self.leave_out(node, place, "a map"),
            (Entries::List, _) => self.leave_out(node, place, "a list"),
        }
    }

    fn descend(
        &mut self,
        node: &Node,
        index: usize,
        key: &str,
        place: &mut NodePath,
        step: impl FnOnce(&mut Self, &mut NodePath),
    ) {
        let anchored = place.anchored;
        place.anchored |= node.oddity().is_some_and(|o| o != Oddity::DottedInBraces);
        place.path.push(index);
        place.keys.push(key.to_owned());
        step(self, place);
        place.path.pop();
        place.keys.pop();
        place.anchored = anchored;
    }

    fn leave_out(&mut self, node: &Node, place: &NodePath, wanted: &str) {
        // Nothing at all (`mcpServers:` in YAML, `null`) is no servers, not a mistake.
        let place =
            if place.keys.is_empty() { "the file".to_owned() } else { format!("`{}`", place.keys.join(".")) };
        if matches!(node.value, Value::Text(_) | Value::List(_) | Value::Map(_)) || node.oddity().is_some() {
            self.listing.left_out.push(format!("{place} is not {wanted}"));
        }
    }

    fn entry(&mut self, name: String, node: &Node, place: &NodePath) {
        let (how, gated) = match judge(self.shape, node, place.anchored) {
            Ok((how, gated)) => (how, gated),
            Err(odd) => (How::Odd(odd), None),
        };
        let keys = node.map().unwrap_or_default().iter().map(|m| m.key.clone()).collect();
        let id = ServerId { within: place.within.clone(), name };
        let call_timeout = self.shape.call_timeout.and_then(|timeout| timeout.read(node));
        self.listing.servers.push(Server { id, how, gated, keys, call_timeout, path: place.path.clone() });
    }
}

fn judge(shape: &Shape, node: &Node, anchored: bool) -> Result<(How, Option<Gated>), Odd> {
    let Some(members) = node.map() else {
        return Err(Odd::new("the entry is not a map"));
    };
    let remote = members.iter().any(|m| {
        shape.remote.contains(&m.key.as_str()) && m.value.text().is_some_and(|t| !t.trim().is_empty())
    });
    let command = members.iter().any(|m| m.key == shape.command());
    match (remote, command) {
        (true, false) => return Ok((How::Remote, None)),
        (true, true) => return Err(Odd::new("it has both a program to start and an address")),
        (false, _) => {}
    }
    if anchored {
        return Err(Odd::new("it is part of something that other places may use too"));
    }
    if let Some(oddity) = shared(node) {
        return Err(Odd::new(format!("it is written with {}", oddity.words())));
    }
    if members.iter().any(|m| m.key == "<<") {
        return Err(Odd::new("it takes members from another place (`<<`)"));
    }
    if !command {
        let kind = node.member("type").and_then(|m| m.value.text());
        return Err(Odd::new(match kind {
            Some(kind) => format!("it is of type `{kind}` and starts no program (no `{}`)", shape.command()),
            None => format!("it starts no program (no `{}`)", shape.command()),
        }));
    }
    let parts = CommandParts::of(shape, node)?;
    let mut words = parts.words()?;
    let binary = words.remove(0);
    let plain: Vec<&str> = words.iter().map(|w| w.value.as_str()).collect();
    let gated = recognise(&binary.value, &plain).transpose().map_err(|()| {
        Odd::new("it starts Callgate in a way that Callgate does not write: nothing stands behind `--`")
    })?;
    let (program, args) = match &gated {
        Some(gate) => {
            let mut behind = words.split_off(gate.words);
            (behind.remove(0), behind)
        }
        None => (binary, words),
    };
    let env = parts.env.map(texts).unwrap_or_default();
    Ok((How::Local(Local { program, args, env }), gated))
}

/// An anchor, alias or tag anywhere in the entry: its meaning does not end where the entry ends.
fn shared(node: &Node) -> Option<Oddity> {
    let own = node.oddity().filter(|o| !matches!(o, Oddity::BlockText | Oddity::ManyLines));
    own.filter(|o| *o != Oddity::DottedInBraces).or_else(|| match &node.value {
        Value::List(items) => items.iter().find_map(shared),
        Value::Map(members) => members.iter().find_map(|m| shared(&m.value)),
        _ => None,
    })
}

fn texts(env: &Node) -> Vec<(String, SpannedText)> {
    let members = env.map().unwrap_or_default().iter();
    members
        .filter(|m| m.value.oddity().is_none())
        .filter_map(|m| Some((m.key.clone(), text(&m.value)?)))
        .collect()
}

fn text(node: &Node) -> Option<SpannedText> {
    Some(SpannedText { value: node.text()?.to_owned(), span: node.span.clone() })
}

/// The members of an entry that say what is started.
pub(super) struct CommandParts<'a> {
    /// The map that holds `command` and `args`: the entry, or Zed's older map inside of it.
    pub(super) map: &'a Node,
    pub(super) command: &'a Member,
    pub(super) args: Option<&'a Member>,
    pub(super) args_key: &'static str,
    pub(super) split: bool,
    pub(super) env: Option<&'a Node>,
}

impl<'a> CommandParts<'a> {
    pub(super) fn of(shape: &Shape, entry: &'a Node) -> Result<CommandParts<'a>, Odd> {
        let no_command = || Odd::new(format!("it has no `{}`", shape.command()));
        let command = entry.member(shape.command()).ok_or_else(no_command)?;
        let env = |map: &'a Node, key| map.member(key).map(|m| &m.value);
        let CommandShape::Split { args, .. } = shape.start else {
            let env = env(entry, shape.env);
            return Ok(CommandParts {
                map: entry,
                command,
                args: Some(command),
                args_key: "",
                split: false,
                env,
            });
        };
        if command.value.map().is_some() {
            let map = &command.value;
            let command = map.member("path").ok_or_else(|| Odd::new("its `command` has no `path`"))?;
            let env = env(map, "env").or_else(|| env(entry, shape.env));
            return Ok(CommandParts {
                map,
                command,
                args: map.member("args"),
                args_key: "args",
                split: true,
                env,
            });
        }
        let env = env(entry, shape.env);
        Ok(CommandParts { map: entry, command, args: entry.member(args), args_key: args, split: true, env })
    }

    /// What is started, the program first.
    fn words(&self) -> Result<Vec<SpannedText>, Odd> {
        let mut words = Vec::new();
        if self.split {
            words.push(word(&self.command.value, &format!("its `{}`", self.command.key))?);
        }
        if let Some(args) = self.args {
            let list = args.value.list();
            let list = list.ok_or_else(|| Odd::new(format!("its `{}` is not a list", args.key)))?;
            for item in list {
                words.push(word(item, &format!("an element of its `{}`", args.key))?);
            }
        }
        match words.first() {
            None => Err(Odd::new(format!("its `{}` is empty", self.command.key))),
            Some(program) if program.value.trim().is_empty() => {
                Err(Odd::new(format!("its `{}` names no program", self.command.key)))
            }
            Some(_) => Ok(words),
        }
    }
}

fn word(node: &Node, what: &str) -> Result<SpannedText, Odd> {
    if let Some(oddity) = node.oddity() {
        return Err(Odd::new(format!("{what} is written with {}", oddity.words())));
    }
    text(node).ok_or_else(|| Odd::new(format!("{what} is not a text")))
}

impl CallTimeout {
    /// Nothing for what is no length of time.
    fn read(self, entry: &Node) -> Option<Duration> {
        let (key, unit) = match self {
            CallTimeout::Seconds(key) => (key, 1.0),
            CallTimeout::Milliseconds(key) => (key, 1e-3),
        };
        let Value::Number(number) = &entry.member(key)?.value.value else { return None };
        let length: f64 = number.parse().ok()?;
        Duration::try_from_secs_f64(length * unit).ok().filter(|length| !length.is_zero())
    }
}

impl Shape {
    /// The member that says what to start.
    fn command(&self) -> &'static str {
        match self.start {
            CommandShape::Split { command, .. } | CommandShape::Array(command) => command,
        }
    }
}

/// The node of an entry, if the document is the one that it was read from.
pub(super) fn locate<'a>(document: &'a Document, server: &Server) -> Result<&'a Node, Odd> {
    let child = |node: &'a Node, index: usize| match &node.value {
        Value::List(items) => items.get(index),
        Value::Map(members) => members.get(index).map(|m| &m.value),
        _ => None,
    };
    let found = server.path.iter().try_fold(&document.root, |node, index| child(node, *index));
    found.ok_or_else(|| Odd::new("it is not in this file any more"))
}

/// The text of an entry as it stands in the file.
pub(crate) fn source_of<'a>(document: &'a Document, server: &Server) -> Option<&'a str> {
    locate(document, server).ok().map(|node| document.source(&node.span))
}

/// The headers that a client sends to a server that it reaches over the network.
pub fn headers(document: &Document, server: &Server) -> Vec<(String, SpannedText)> {
    let Ok(entry) = locate(document, server) else { return Vec::new() };
    let maps = ["headers", "http_headers"].into_iter().filter_map(|key| entry.member(key));
    maps.flat_map(|member| texts(&member.value)).collect()
}

/// Where a server is that a client reaches over the network.
pub fn address(document: &Document, shape: &Shape, server: &Server) -> Option<String> {
    let entry = locate(document, server).ok()?;
    let said = shape.remote.iter().filter_map(|key| entry.member(key)?.value.text());
    said.map(str::to_owned).find(|text| !text.trim().is_empty())
}

fn refuse_twins(servers: &mut [Server]) {
    let mut count: HashMap<ServerId, usize> = HashMap::new();
    for server in servers.iter() {
        *count.entry(server.id.clone()).or_default() += 1;
    }
    for server in servers.iter_mut().filter(|s| count.get(&s.id) > Some(&1)) {
        server.how = How::Odd(Odd::new(format!("several entries are called `{}`", server.id.name)));
        server.gated = None;
    }
}
