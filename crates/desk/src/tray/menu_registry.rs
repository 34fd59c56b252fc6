//! The menus that a desktop was given, each entry under a number of its own.
//!
//! A desktop clicks by number, perhaps long after it read the menu. A number is never given to another entry, so a click does
//! what was written where it was clicked, or nothing; it never does what stands there by now.

use std::collections::VecDeque;

use super::{Menu, MenuItem, TrayAct};

/// Menus that were read and may still be on a screen.
const REMEMBERED: usize = 16;
/// A desktop that never says when its menu opens or closes has closed it after so long without a sign of it.
const SILENCE_MS: u64 = 30_000;

/// One entry with its number. The root is not one: it is always 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub id: i32,
    pub text: String,
    pub enabled: bool,
    pub separator: bool,
    pub act: Option<TrayAct>,
    pub children: Vec<Node>,
}

impl Node {
    fn find(&self, id: i32) -> Option<&Node> {
        if self.id == id { Some(self) } else { find(&self.children, id) }
    }
}

fn find(nodes: &[Node], id: i32) -> Option<&Node> {
    nodes.iter().find_map(|node| node.find(id))
}

/// What a click on a number means.
#[derive(Clone, Debug, PartialEq)]
pub enum Clicked {
    Act(TrayAct),
    /// A line to read, a submenu, the root.
    Nothing,
    /// So old that nobody knows any more what stood there.
    Forgotten,
}

/// The menu of now, and those before it.
#[derive(Clone, Debug, Default)]
pub struct PublishedMenus {
    last_id: i32,
    revision: u32,
    menu: Menu,
    nodes: Vec<Node>,
    /// Somebody has read it.
    read: bool,
    past: VecDeque<Vec<Node>>,
}

impl PublishedMenus {
    /// Makes this the menu of now; `false` if it says what the last one said.
    pub fn publish(&mut self, menu: &Menu) -> bool {
        if self.menu == *menu {
            return false;
        }
        let nodes = self.numbered(&menu.items);
        let old = std::mem::replace(&mut self.nodes, nodes);
        if std::mem::take(&mut self.read) {
            self.past.push_back(old);
            self.past.drain(..self.past.len().saturating_sub(REMEMBERED));
        }
        self.menu = menu.clone();
        self.revision = self.revision.wrapping_add(1);
        true
    }

    fn numbered(&mut self, items: &[MenuItem]) -> Vec<Node> {
        items.iter().map(|item| self.node(item)).collect()
    }

    fn node(&mut self, item: &MenuItem) -> Node {
        // After two thousand million entries it begins anew: nobody remembers the first ones.
        self.last_id = self.last_id.checked_add(1).unwrap_or(1);
        let plain = Node {
            id: self.last_id,
            text: String::new(),
            enabled: true,
            separator: false,
            act: None,
            children: Vec::new(),
        };
        match item {
            MenuItem::Label(text) => Node { text: text.clone(), enabled: false, ..plain },
            MenuItem::Entry { act, text } => Node { text: text.clone(), act: Some(act.clone()), ..plain },
            MenuItem::Submenu { text, items } => {
                Node { text: text.clone(), children: self.numbered(items), ..plain }
            }
            MenuItem::Separator => Node { separator: true, ..plain },
        }
    }

    /// Counts menus.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// The menu of now, for somebody who shows it.
    pub fn read(&mut self) -> &[Node] {
        self.read = true;
        &self.nodes
    }

    /// An entry, of now or of before.
    pub fn node_of(&self, id: i32) -> Option<&Node> {
        find(&self.nodes, id).or_else(|| self.past.iter().rev().find_map(|nodes| find(nodes, id)))
    }

    pub fn clicked(&self, id: i32) -> Clicked {
        match self.node_of(id) {
            Some(Node { act: Some(act), .. }) => Clicked::Act(act.clone()),
            None if id != 0 => Clicked::Forgotten,
            _ => Clicked::Nothing,
        }
    }
}

/// Is the menu on the screen? Then nothing in it may change.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// This desktop says when it opens the menu.
    announces: bool,
    open: bool,
    /// Uptime of the last sign that somebody is in the menu.
    sign_ms: Option<u64>,
}

impl Opening {
    pub fn opens(&mut self) {
        self.announces = true;
        self.open = true;
    }

    pub fn closes(&mut self) {
        self.open = false;
        self.sign_ms = None;
    }

    /// A submenu opens, the pointer moves over an entry.
    pub fn shows_life(&mut self, uptime_ms: u64) {
        self.sign_ms = Some(uptime_ms);
    }

    /// May the menu be changed without anybody having it under their pointer? One that is announced is made anew when it
    /// opens, so it can wait for as long as nobody says that it is closed.
    pub fn may_change(&self, uptime_ms: u64) -> bool {
        let quiet = self.sign_ms.is_none_or(|at| uptime_ms.saturating_sub(at) >= SILENCE_MS);
        !self.open && (self.announces || quiet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Target;

    fn target(tool: &str) -> Target {
        Target { server: "tickets".to_owned(), tool: Some(tool.to_owned()), client: None }
    }

    /// The newest call with what can be done about it, as the tray has it.
    fn of_call(tool: &str) -> Menu {
        let block = MenuItem::entry(TrayAct::Block { target: target(tool) }, format!("Block {tool}"));
        Menu { items: vec![MenuItem::Submenu { text: tool.to_owned(), items: vec![block] }] }
    }

    fn block_of(nodes: &[Node]) -> i32 {
        nodes[0].children[0].id
    }

    #[test]
    fn a_click_blocks_the_tool_that_stood_there_whatever_came_meanwhile() {
        let mut menus = PublishedMenus::default();
        menus.publish(&of_call("get_ticket"));
        let seen = block_of(menus.read());
        for tool in ["create_ticket", "delete_ticket", "get_ticket"] {
            assert!(menus.publish(&of_call(tool)));
            assert_ne!(block_of(menus.read()), seen, "a number is used once");
            assert_eq!(menus.clicked(seen), Clicked::Act(TrayAct::Block { target: target("get_ticket") }));
        }
    }

    #[test]
    fn a_click_in_a_menu_that_is_long_gone_does_nothing_and_says_so() {
        let mut menus = PublishedMenus::default();
        menus.publish(&of_call("first"));
        let seen = block_of(menus.read());
        for number in 0..=REMEMBERED {
            assert_ne!(menus.clicked(seen), Clicked::Forgotten, "{number}");
            menus.publish(&of_call(&number.to_string()));
            menus.read();
        }
        assert_eq!(menus.clicked(seen), Clicked::Forgotten);
        assert_eq!(menus.clicked(0), Clicked::Nothing, "the root");
        assert_eq!(menus.clicked(-7), Clicked::Forgotten);
        assert_eq!(menus.clicked(menus.nodes[0].id), Clicked::Nothing, "a submenu");
    }

    #[test]
    fn menus_that_nobody_read_push_out_none_that_somebody_did() {
        let mut menus = PublishedMenus::default();
        menus.publish(&of_call("seen"));
        let seen = block_of(menus.read());
        for number in 0..1_000 {
            menus.publish(&of_call(&number.to_string()));
        }
        assert_eq!(menus.clicked(seen), Clicked::Act(TrayAct::Block { target: target("seen") }));
    }

    #[test]
    fn the_same_menu_keeps_its_numbers() {
        let mut menus = PublishedMenus::default();
        assert!(menus.publish(&of_call("a")));
        let (before, revision) = (menus.read().to_vec(), menus.revision());
        assert!(!menus.publish(&of_call("a")));
        assert_eq!(menus.revision(), revision);
        assert_eq!(menus.read(), before);
    }

    #[test]
    fn nothing_changes_under_the_pointer() {
        let mut opening = Opening::default();
        assert!(opening.may_change(0), "nobody has opened it yet");
        opening.opens();
        for ms in [0, SILENCE_MS, 100 * SILENCE_MS] {
            assert!(!opening.may_change(ms), "open until it is said to be closed");
        }
        opening.closes();
        assert!(opening.may_change(1));
        // One that says nothing but what the pointer does.
        let mut silent = Opening::default();
        silent.shows_life(1_000);
        assert!(!silent.may_change(1_000 + SILENCE_MS - 1));
        assert!(silent.may_change(1_000 + SILENCE_MS));
    }
}
