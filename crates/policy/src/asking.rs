//! Asking, as far as it is known before there is a call: which tools a person is asked about, and where.
//!
//! A list of tools is read long before a call is made, and has no arguments. What is said here only decides what a client
//! is told of a tool; whether a call is asked about, its judgement says.

use crate::file::AskedIn;
use crate::layer::{Default, Layer};
use crate::policy::Policy;

/// A tool whose calls a person is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Questioned {
    /// Every call is; else it hangs on the arguments.
    pub always: bool,
    pub asked_in: AskedIn,
}

impl Policy {
    /// Is anybody ever asked about a call?
    pub fn speaks_of_asking(&self) -> bool {
        let asks = |layer: &Layer| {
            layer.says.ask || layer.default.as_ref().is_some_and(|default| default.action == Default::Ask)
        };
        asks(&self.base) || self.overlays.iter().any(|overlay| asks(&overlay.layer))
    }

    /// Is this client's person asked about calls of this tool? Not about those that are refused anyway, or only observed.
    pub fn questioned(&self, client: &str, tool: &str, now_ms: i64) -> Option<Questioned> {
        if !self.speaks_of_asking() {
            return None;
        }
        let applying = self.applying(client, tool, now_ms);
        if applying.observing()
            || applying.hidden().is_some()
            || applying.imitated().is_some()
            || applying.rules().any(|rule| rule.denied.is_some())
        {
            return None;
        }
        let always = applying.always_asks();
        let asks = always || applying.rules().any(|rule| !rule.ask_if.is_empty());
        asks.then(|| Questioned { always, asked_in: applying.asked_in() })
    }
}
