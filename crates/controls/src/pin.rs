//! Pins: what a server says of itself that is accepted, `pins/<server>.json`: the definitions of its tools and prompts, its
//! instructions, the capabilities that it declares beside the protocol, the program behind its name. What comes first is
//! accepted; what is another later is not, until a person says so. Accepted is a set: a server may describe a tool differently to
//! different clients.
//!
//! A tool that is not listed any more keeps its pin until a person removes it: a shorter list is no reason to trust a longer
//! one afterwards. Beside the pins stands which vendor members were taken out of what clients got, and which pass.

mod accepted;
mod file;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use callgate_home::{Home, StoreError};
use callgate_protocol::digest::{Digest, definition_digest};
use callgate_protocol::json::Raw;
use callgate_protocol::vendor::Place;
use callgate_redaction::Masker;

pub use accepted::{Accepted, accepted};
use file::{HexDigest, lock, replace};
pub use file::{all, read};

/// Further tools of a server are not pinned.
pub const MOST_TOOLS: usize = 10_000;
/// Of a longer definition only the digest is kept: nobody reads such a difference.
const LONGEST_DEFINITION: usize = 64 * 1024;
/// How many accepted definitions, and how many changed ones, are kept of one tool; the latest.
const MOST_ACCEPTED: usize = 16;
const MOST_CHANGED: usize = 4;
/// A changed definition in whose place an accepted one is listed again is forgotten after this long: until then it may be what
/// another client gets.
const LATELY_MS: i64 = 24 * 3600 * 1000;
/// How many vendor members of a server are named, and how long their names may be. The others are taken out all the same.
pub const MOST_MEMBERS: usize = 64;
pub const LONGEST_MEMBER: usize = 128;

/// What is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PinKind {
    Tool,
    Prompt,
    /// The server's words for the model, in the answer to the handshake.
    Instructions,
    /// A capability beside the protocol that passes.
    Capability,
    /// What runs under the server's name.
    Program,
}

impl PinKind {
    pub const ALL: [PinKind; 5] =
        [PinKind::Tool, PinKind::Prompt, PinKind::Instructions, PinKind::Capability, PinKind::Program];

    /// Under which name the one thing is pinned that there is of a kind; none where there are many.
    pub const fn only(self) -> Option<&'static str> {
        match self {
            PinKind::Instructions => Some("instructions"),
            PinKind::Program => Some("program"),
            PinKind::Tool | PinKind::Prompt | PinKind::Capability => None,
        }
    }

    /// Is one that comes later accepted as it is? Of what there is one of, none at first is something that was accepted, too.
    const fn believes_new(self) -> bool {
        self.only().is_none()
    }

    /// Does a list say what there is not any more?
    const fn is_listed(self) -> bool {
        matches!(self, PinKind::Tool | PinKind::Prompt)
    }
}

/// What is accepted of one server, and what is not yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    pub server: String,
    pub tools: BTreeMap<String, PinnedTool>,
    /// The other kinds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<PinKind, BTreeMap<String, PinnedTool>>,
    /// The kinds of which the server has said something; it may have been that there is nothing.
    #[serde(default = "of_before")]
    learned: BTreeSet<PinKind>,
    /// A person gave up what was accepted: what is listed next is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    open: bool,
    /// Vendor members that clients did not get.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub taken_out: BTreeMap<String, TakenOut>,
    /// Vendor members that a person lets through.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub let_through: BTreeSet<String>,
}

/// What files say that know of tools alone.
fn of_before() -> BTreeSet<PinKind> {
    BTreeSet::from([PinKind::Tool])
}

/// A vendor member that was taken out of what clients got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOut {
    /// A capability, and no key of `_meta`.
    pub is_capability: bool,
    pub since_ms: i64,
}

/// What waits for a person: a definition that nobody has accepted, or a tool that came later than the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting<'p> {
    pub kind: PinKind,
    pub name: &'p str,
    /// It stands for the definition that is shown, and for no other.
    pub digest: Digest,
    /// What was accepted; none of a tool that is new. Empty if it is too long to be kept, or if there was nothing.
    pub before: Option<&'p str>,
    pub after: &'p str,
    pub seen_ms: i64,
}

impl Pins {
    fn new(server: &str) -> Pins {
        Pins { server: server.to_owned(), ..Pins::default() }
    }

    fn drop_texts(&mut self) {
        for pin in self.tools.values_mut().chain(self.others.values_mut().flat_map(BTreeMap::values_mut)) {
            pin.definition = String::new();
            pin.changed.iter_mut().for_each(|changed| changed.definition = String::new());
        }
    }

    /// Has a person given up what was accepted?
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// What is pinned of a kind; none, if the server has not said anything of it.
    pub fn learned(&self, kind: PinKind) -> Option<&BTreeMap<String, PinnedTool>> {
        static NONE: BTreeMap<String, PinnedTool> = BTreeMap::new();
        let pins = match kind {
            PinKind::Tool => Some(&self.tools),
            other => self.others.get(&other),
        };
        (!self.open && self.learned.contains(&kind)).then(|| pins.unwrap_or(&NONE))
    }

    fn by_kind_mut(&mut self, kind: PinKind) -> &mut BTreeMap<String, PinnedTool> {
        match kind {
            PinKind::Tool => &mut self.tools,
            other => self.others.entry(other).or_default(),
        }
    }

    fn pins(&self) -> impl Iterator<Item = (PinKind, &str, &PinnedTool)> {
        let others =
            self.others.iter().flat_map(|(kind, pins)| pins.iter().map(|(name, pin)| (*kind, name, pin)));
        let all = self.tools.iter().map(|(name, pin)| (PinKind::Tool, name, pin)).chain(others);
        all.map(|(kind, name, pin)| (kind, name.as_str(), pin))
    }

    pub fn waiting(&self) -> impl Iterator<Item = Waiting<'_>> {
        self.pins().flat_map(|(kind, name, pin)| {
            let new = pin.new_ms.zip(pin.accepted.last());
            let new = new.map(|(seen_ms, digest)| Waiting {
                kind,
                name,
                digest: digest.0,
                before: None,
                after: &pin.definition,
                seen_ms,
            });
            new.into_iter().chain(pin.changed.iter().map(move |changed| Waiting {
                kind,
                name,
                digest: changed.digest.0,
                before: Some(&pin.definition),
                after: &changed.definition,
                seen_ms: changed.seen_ms,
            }))
        })
    }

    /// What is pinned and was not in the server's last list, with since when.
    pub fn gone(&self) -> impl Iterator<Item = (PinKind, &str, i64)> {
        self.pins().filter_map(|(kind, name, pin)| Some((kind, name, pin.gone_ms?)))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedTool {
    /// The latest is the last.
    accepted: Vec<HexDigest>,
    /// The one that was accepted last, as it was listed, secrets masked; empty if it is too long to be kept.
    pub definition: String,
    /// When it came, if the server had listed others before; until somebody accepts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_ms: Option<i64>,
    /// When the server listed it no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_ms: Option<i64>,
    /// When it was listed again after that, or about when it was last since: clients whose lists differ take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    back_ms: Option<i64>,
    /// What it says of the tool now, and nobody has accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedDefinition>,
}

impl PinnedTool {
    /// A whole list had it, or had not. True if that is to be written down.
    fn heard_of(&mut self, is_listed: bool, seen_ms: i64) -> bool {
        let lately = |at: i64, within: i64| seen_ms - at < within;
        match (is_listed, self.gone_ms, self.back_ms) {
            (true, Some(_), _) => (self.gone_ms, self.back_ms) = (None, Some(seen_ms)),
            (true, None, Some(at)) if !lately(at, LATELY_MS / 2) => self.back_ms = Some(seen_ms),
            (false, None, back) if !back.is_some_and(|at| lately(at, LATELY_MS)) => {
                self.gone_ms = Some(seen_ms)
            }
            _ => return false,
        }
        true
    }

    /// Is this the definition of it that was accepted last?
    pub fn is_latest(&self, digest: &Digest) -> bool {
        self.accepted.last().is_some_and(|latest| latest.0 == *digest)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedDefinition {
    digest: HexDigest,
    /// As [`PinnedTool::definition`].
    pub definition: String,
    pub seen_ms: i64,
}

/// What a list had that nobody has seen before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinNews {
    pub kind: PinKind,
    /// The server had no pins of this kind.
    pub first: bool,
    pub added: Vec<String>,
    pub changed: Vec<String>,
    /// What is pinned and is not listed any more.
    pub gone: Vec<String>,
    /// What cannot be pinned: the name holds a secret, or there are too many tools.
    pub beyond: Vec<String>,
}

impl PinNews {
    pub fn is_empty(&self) -> bool {
        [&self.added, &self.changed, &self.gone, &self.beyond].into_iter().all(Vec::is_empty)
    }
}

/// Takes in all that a server says of one kind, given as names with the entries. Writes nothing if there is no news. A file that
/// cannot be read stays as it is: what is in it may be stricter than what would be written.
pub fn learn<'t>(
    home: &Home,
    masker: &Masker,
    server: &str,
    seen_ms: i64,
    kind: PinKind,
    listed: impl IntoIterator<Item = (&'t str, Raw<'t>)>,
) -> Result<PinNews, StoreError> {
    let _alone = lock(home, server)?;
    let mut pins = read(home, server)?.unwrap_or_else(|| Pins::new(server));
    if pins.open {
        let (let_through, taken_out) = (pins.let_through, pins.taken_out);
        pins = Pins { let_through, taken_out, ..Pins::new(server) };
    }
    let first = pins.learned.insert(kind);
    let none = Vec::new;
    let mut news = PinNews { kind, first, added: none(), changed: none(), gone: none(), beyond: none() };
    let (mut stale, mut seen) = (false, BTreeSet::new());
    let known = pins.by_kind_mut(kind);
    for (name, raw) in listed {
        let is_full = known.len() >= MOST_TOOLS;
        let digest = HexDigest(definition_digest(raw));
        let definition = || {
            let short = raw.text().len() <= LONGEST_DEFINITION;
            if short { masker.keep_definition(raw.text()) } else { String::new() }
        };
        if kind.is_listed() {
            seen.insert(name);
        }
        match known.get_mut(name) {
            Some(pin) if pin.accepted.contains(&digest) => {
                let before = pin.changed.len();
                pin.changed.retain(|changed| seen_ms - changed.seen_ms < LATELY_MS);
                stale |= pin.changed.len() < before;
            }
            Some(pin) if pin.changed.iter().any(|changed| changed.digest == digest) => {}
            Some(pin) => {
                pin.changed.push(ChangedDefinition { digest, definition: definition(), seen_ms });
                let beyond = pin.changed.len().saturating_sub(MOST_CHANGED);
                pin.changed.drain(..beyond);
                news.changed.push(name.to_owned());
            }
            None if !first && !kind.believes_new() => {
                let changed = vec![ChangedDefinition { digest, definition: definition(), seen_ms }];
                known.insert(name.to_owned(), PinnedTool { changed, ..PinnedTool::default() });
                news.changed.push(name.to_owned());
            }
            // A name that holds a secret is not written down.
            None if !is_full && masker.keep_name(name) == name => {
                let pin = PinnedTool {
                    accepted: vec![digest],
                    definition: definition(),
                    new_ms: (!first).then_some(seen_ms),
                    ..PinnedTool::default()
                };
                known.insert(name.to_owned(), pin);
                news.added.push(name.to_owned());
            }
            None => news.beyond.push(name.to_owned()),
        }
    }
    if kind.is_listed() {
        for (name, pin) in known.iter_mut() {
            let was_gone = pin.gone_ms.is_some();
            stale |= pin.heard_of(seen.contains(name.as_str()), seen_ms);
            if pin.gone_ms.is_some() && !was_gone {
                news.gone.push(name.clone());
            }
        }
    }
    if !news.added.is_empty() || !news.changed.is_empty() || first || stale {
        replace(home, &mut pins)?;
    }
    Ok(news)
}

/// Something pinned that a person was shown: its kind, its name and the digest of what was shown.
pub type Shown = (PinKind, String, Digest);

/// Accepts these definitions as a person was shown them: one that came after that is not accepted. Gives the names of what was.
/// Only for what a person wants: it loosens.
pub fn accept(home: &Home, server: &str, shown: &[Shown]) -> Result<Vec<String>, StoreError> {
    let _alone = lock(home, server)?;
    let Some(mut pins) = read(home, server)? else { return Ok(Vec::new()) };
    let mut done = Vec::new();
    for (kind, name, digest) in shown {
        let (Some(pin), digest) = (pins.by_kind_mut(*kind).get_mut(name), HexDigest(*digest)) else {
            continue;
        };
        let is_new = pin.new_ms.is_some() && pin.accepted.contains(&digest);
        let at = pin.changed.iter().position(|changed| changed.digest == digest);
        if is_new || at.is_some() {
            pin.new_ms = None;
            done.push(name.clone());
        }
        if let Some(at) = at {
            pin.accepted.push(digest);
            pin.definition = pin.changed.remove(at).definition;
        }
        let beyond = pin.accepted.len().saturating_sub(MOST_ACCEPTED);
        pin.accepted.drain(..beyond);
    }
    done.dedup();
    if !done.is_empty() {
        replace(home, &mut pins)?;
    }
    Ok(done)
}

/// Takes away the pins of what the server does not list any more, if it still does not: a person confirms that it is gone. It
/// loosens: what comes back under the name is new.
pub fn remove(home: &Home, server: &str, names: &[(PinKind, String)]) -> Result<Vec<String>, StoreError> {
    let _alone = lock(home, server)?;
    let Some(mut pins) = read(home, server)? else { return Ok(Vec::new()) };
    let mut done = Vec::new();
    for (kind, name) in names {
        let known = pins.by_kind_mut(*kind);
        if known.get(name).is_some_and(|pin| pin.gone_ms.is_some()) {
            known.remove(name);
            done.push(name.clone());
        }
    }
    if !done.is_empty() {
        replace(home, &mut pins)?;
    }
    Ok(done)
}

/// Gives up all that is accepted of a server: what it lists next is. It loosens, and it is the way out of a file that cannot be
/// read. The file stays, and says so: one that was only removed is put back by whoever knows what was in it. Which vendor members
/// pass is another thing, and stays.
pub fn forget(home: &Home, server: &str) -> Result<(), StoreError> {
    let _alone = lock(home, server)?;
    let known = read(home, server).ok().flatten().unwrap_or_default();
    let (let_through, taken_out) = (known.let_through, known.taken_out);
    replace(home, &mut Pins { open: true, let_through, taken_out, ..Pins::new(server) })
}

/// Takes the texts of definitions off the disk. What is accepted stays so, known by its digests.
pub fn forget_texts(home: &Home, server: &str) -> Result<(), StoreError> {
    let _alone = lock(home, server)?;
    let Some(mut pins) = read(home, server)? else { return Ok(()) };
    pins.drop_texts();
    replace(home, &mut pins)
}

/// Writes down once more what was accepted, after the file was removed. What the definitions were is lost.
pub fn put_back(home: &Home, server: &str, accepted: &Accepted) -> Result<(), StoreError> {
    if !accepted.holds_any() {
        return Ok(());
    }
    let _alone = lock(home, server)?;
    if read(home, server)?.is_some() {
        return Ok(());
    }
    let mut pins = Pins { let_through: accepted.let_through().clone(), ..Pins::new(server) };
    for kind in PinKind::ALL {
        let Some(names) = accepted.by_kind(kind) else { continue };
        pins.learned.insert(kind);
        pins.by_kind_mut(kind).extend(names.iter().map(|(name, digests)| {
            let accepted = digests.iter().copied().map(HexDigest).collect();
            (name.clone(), PinnedTool { accepted, ..PinnedTool::default() })
        }));
    }
    replace(home, &mut pins)
}

/// Writes down which vendor members clients did not get. One that holds a secret is not written down, and only so many are.
pub fn take_out(
    home: &Home,
    masker: &Masker,
    server: &str,
    since_ms: i64,
    members: &[(Place, String)],
) -> Result<(), StoreError> {
    let _alone = lock(home, server)?;
    let mut pins = read(home, server)?.unwrap_or_else(|| Pins::new(server));
    let before = pins.taken_out.len();
    for (place, key) in members {
        let fits = key.len() <= LONGEST_MEMBER && pins.taken_out.len() < MOST_MEMBERS;
        if fits && !pins.taken_out.contains_key(key) && masker.keep_name(key) == *key {
            let is_capability = *place == Place::Capability;
            pins.taken_out.insert(key.clone(), TakenOut { is_capability, since_ms });
        }
    }
    if pins.taken_out.len() > before { replace(home, &mut pins) } else { Ok(()) }
}

/// Lets a vendor member of a server through, or no more. To let one through loosens. False if it was so already.
pub fn let_through(home: &Home, server: &str, key: &str, passes: bool) -> Result<bool, StoreError> {
    let _alone = lock(home, server)?;
    let Some(mut pins) = read(home, server)? else { return Ok(false) };
    let changed = match passes {
        true => pins.let_through.insert(key.to_owned()),
        false => pins.let_through.remove(key),
    };
    if changed {
        replace(home, &mut pins)?;
    }
    Ok(changed)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests;
