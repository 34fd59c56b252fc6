//! Which mode a text says for a rule, so that a denial that is only observed is not called one.

use callgate_document::{Member, Node};

use super::difference::cut;
use super::shape::{member, text};

/// Where a mode can be said above a rule; the first of them is heard.
#[derive(Clone, Debug, Default)]
pub(super) struct Mode {
    pub(super) for_all: Option<String>,
    pub(super) top: Option<String>,
}

impl Mode {
    /// As it is in this body, below another one: rules for all tools of everyone come before those of a client, and a
    /// client's top level before everyone's.
    pub(super) fn of(body: &[Member], above: &Mode) -> Mode {
        let for_all = member(body, "all_tools").and_then(Node::map);
        let for_all = for_all.and_then(|rule| text(rule, "mode")).map(str::to_owned);
        let top = text(body, "mode").map(str::to_owned);
        Mode { for_all: above.for_all.clone().or(for_all), top: top.or_else(|| above.top.clone()) }
    }

    pub(super) fn observes(&self, rule: Option<&[Member]>) -> bool {
        let own = rule.and_then(|rule| text(rule, "mode"));
        own.or(self.for_all.as_deref()).or(self.top.as_deref()) == Some("observe")
    }

    /// What a denial in this rule lacks of being one.
    pub(super) fn but(&self, rule: Option<&[Member]>) -> String {
        let until = rule.and_then(|rule| text(rule, "until")).map(cut);
        match (until, self.observes(rule)) {
            (None, false) => String::new(),
            (None, true) => ", but only observed".to_owned(),
            (Some(until), false) => format!(", but its rule ends on {until}"),
            (Some(until), true) => format!(", but only observed, and its rule ends on {until}"),
        }
    }
}
