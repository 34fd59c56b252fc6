//! The servers of the made-up month: their tools, what they are asked and what they say.

mod browsing;
mod filling;
mod working;

use callgate_journal::Origin;

use self::filling::fill;
use super::Dice;

#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) weight: u64,
    /// A JSON array.
    pub(super) command: &'static str,
    /// Agents get stuck in a loop with it now and then.
    pub(super) loops: bool,
    pub(super) tools: &'static [Tool],
    /// One after the other, with what changed and where.
    pub(super) policies: &'static [(&'static str, &'static str, Origin)],
}

#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) weight: u64,
    /// `{url}`, `{path}` and so on stand for something of that kind.
    args: &'static str,
    result: &'static str,
    /// Shortest and longest time that it takes.
    pub(super) micros: (u64, u64),
    /// Of a hundred.
    pub(super) fails: u64,
    pub(super) listed: bool,
    pub(super) denied: Option<&'static str>,
    /// Arguments that the policy refuses, now and then, and why.
    pub(super) spoiled: Option<(&'static str, &'static str)>,
    /// Its cap in words.
    pub(super) capped: Option<&'static str>,
}

const TOOL: Tool = Tool {
    name: "",
    weight: 10,
    args: "{}",
    result: r#"{"content":[{"type":"text","text":"ok"}]}"#,
    micros: (3_000, 900_000),
    fails: 2,
    listed: false,
    denied: None,
    spoiled: None,
    capped: None,
};

impl Tool {
    /// The arguments, and whether the policy refuses them.
    pub(super) fn arguments(&self, dice: &mut Dice) -> (String, bool) {
        match self.spoiled {
            Some((args, _)) if dice.below(25) == 0 => (fill(args, dice), true),
            _ => (fill(self.args, dice), false),
        }
    }

    pub(super) fn result(&self, dice: &mut Dice) -> String {
        fill(self.result, dice)
    }
}

const SAID: &str = r#"{"content":[{"type":"text","text":"{page}"}]}"#;

pub(super) const SERVERS: &[Server] = &[
    browsing::PLAYWRIGHT,
    browsing::RUNAUTOMATION,
    working::FILESYSTEM,
    working::GITHUB,
    working::POSTGRES,
    working::SLACK,
];
