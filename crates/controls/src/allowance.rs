//! What a person allows for a while, outside of the policy file: `control/allowances.json`.
//!
//! An allowance only ever loosens, so whatever is doubtful about it ends it: a file that cannot be read, a clock that
//! stands before the grant, a length that nobody could have asked for. Within one boot, setting a clock back makes none last longer.
//! One that is good for a single call is spent in `limits.db`, exactly once among all shims.

use std::io;
use std::time::Duration;

use callgate_home::clock::{BootId, Moment};
use callgate_home::{CallId, Home, SessionId, StoreError, lock_file, read_private};
use serde::{Deserialize, Serialize};

use crate::limits;

/// No allowance lasts longer.
pub const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// More at once are a mistake.
const MOST: usize = 1_000;
/// A wall clock may be corrected by this much after a grant.
const SLACK_MS: i64 = 10_000;

/// What is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AllowanceScope {
    /// Calls of a tool that is hidden, denied or not listed, or of all that fit a pattern; `*`: of every one. A gate from
    /// before patterns takes one for a name, and allows nothing by it.
    Tool(String),
    /// One exact repetition of a call that was refused, once.
    Call {
        tool: String,
        #[serde(with = "hex")]
        digest: [u8; 32],
        /// The call that was refused.
        call: CallId,
    },
    /// The whole server: rules are observed, and refuse nothing.
    Observe,
}

impl AllowanceScope {
    /// Does it let every call of this tool in for a while?
    pub fn admits(&self, tool: &str) -> bool {
        matches!(self, AllowanceScope::Tool(allowed) if callgate_policy::fits(allowed, tool))
    }
}

/// The clocks at the moment of the grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Granted {
    pub wall_ms: i64,
    pub uptime_ms: u64,
    pub boot: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    pub id: String,
    pub server: String,
    /// The one client that it is for; none: every client. A gate from before this field reads a file that holds one as
    /// broken, and allows nothing by it: rather too little than to everyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    pub what: AllowanceScope,
    pub granted: Granted,
    /// By the wall clock.
    pub ends_ms: i64,
}

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowances {
    /// Open or not.
    pub all: Vec<Allowance>,
    /// Why nothing of the file counts, if so.
    pub problem: Option<String>,
}

/// Which allowances to end. With a client: what reaches this one, which is also what everyone has; without: all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoke<'a> {
    Id(&'a str),
    /// Whatever allows calls of this tool, or of one that fits this pattern.
    Tool {
        server: &'a str,
        tool: &'a str,
        client: Option<&'a str>,
    },
    Observe {
        server: &'a str,
        client: Option<&'a str>,
    },
    /// Whatever there is for this server.
    Server {
        server: &'a str,
        client: Option<&'a str>,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum AllowanceError {
    #[error("an allowance lasts from a second to {} days", LONGEST.as_secs() / 86_400)]
    Length,
    #[error("there are {MOST} allowances already: end some first")]
    TooMany,
    #[error("the allowance cannot be written: {0}")]
    File(#[from] io::Error),
    #[error("the allowance cannot be made good for one call only: {0}")]
    Counters(#[from] StoreError),
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    allowances: Vec<Allowance>,
}

impl Allowance {
    /// Does it hold at this moment?
    pub fn is_open(&self, now: &Moment) -> bool {
        let Some(lasts) = self.ends_ms.checked_sub(self.granted.wall_ms) else { return false };
        if lasts <= 0 || lasts.unsigned_abs() > LONGEST.as_millis() as u64 {
            return false;
        }
        // No clock can be set to be before the boot. Of another boot only this much is known: it began no later.
        let same_boot = BootId::new(&self.granted.boot) == now.boot;
        let since_boot = if same_boot { self.granted.uptime_ms } else { 0 };
        let ran = now.uptime_ms.checked_sub(since_boot);
        now.wall_ms < self.ends_ms
            && now.wall_ms >= self.granted.wall_ms.saturating_sub(SLACK_MS)
            && ran.is_some_and(|ran| ran < lasts.unsigned_abs())
    }

    /// Is it for a client of this name? Names that read as one are one, as in policies.
    pub fn is_for(&self, client: &str) -> bool {
        self.client.as_deref().is_none_or(|meant| callgate_policy::same_client(meant, client))
    }

    /// Would it let something through that is refused to these?
    fn reaches(&self, client: Option<&str>) -> bool {
        client.is_none_or(|client| self.is_for(client))
    }

    fn is_same_as(&self, other: &Allowance) -> bool {
        self.server == other.server && self.client == other.client && self.what == other.what
    }

    fn is_of(&self, which: Revoke<'_>) -> bool {
        match which {
            Revoke::Id(id) => self.id == id,
            Revoke::Server { server, client } => self.server == server && self.reaches(client),
            Revoke::Observe { server, client } => {
                self.server == server && self.reaches(client) && self.what == AllowanceScope::Observe
            }
            Revoke::Tool { server, tool, client } => {
                self.server == server
                    && self.reaches(client)
                    && match &self.what {
                        AllowanceScope::Tool(allowed) => may_meet(tool, allowed),
                        AllowanceScope::Call { tool: allowed, .. } => callgate_policy::fits(tool, allowed),
                        AllowanceScope::Observe => false,
                    }
            }
        }
    }
}

/// Could one tool fit both? Of two patterns that begin alike it is taken to be so: rather too much is over than too little.
fn may_meet(one: &str, other: &str) -> bool {
    let begin = |pattern: &str| pattern.split(['*', '?']).next().unwrap_or_default().to_owned();
    let are_patterns = [one, other].iter().all(|name| name.contains(['*', '?']));
    let (first, second) = (begin(one), begin(other));
    callgate_policy::fits(one, other)
        || callgate_policy::fits(other, one)
        || (are_patterns && (first.starts_with(&second) || second.starts_with(&first)))
}

impl Allowances {
    /// Those of a server that hold at this moment.
    pub fn open<'a>(&'a self, server: &str, now: &Moment) -> impl Iterator<Item = &'a Allowance> {
        self.all.iter().filter(move |one| one.server == server && one.is_open(now))
    }
}

/// What the file says at this moment. One that cannot be read or understood allows nothing.
pub fn read(home: &Home) -> Allowances {
    let path = home.allowances();
    let problem = |why: String| {
        let problem = Some(format!("{} {why}, so no allowance holds", path.display()));
        Allowances { all: Vec::new(), problem }
    };
    match read_private(&path) {
        Ok(text) => match serde_json::from_str::<File>(&text) {
            Ok(File { allowances }) if allowances.len() <= MOST => {
                Allowances { all: allowances, problem: None }
            }
            Ok(_) => problem(format!("holds more than {MOST} allowances")),
            Err(error) => problem(format!("cannot be understood: {error}")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Allowances::default(),
        Err(error) => problem(format!("cannot be read: {error}")),
    }
}

/// Allows it to every client from now on, for a while.
pub fn grant(
    home: &Home,
    now: &Moment,
    server: &str,
    what: AllowanceScope,
    lasts: Duration,
) -> Result<Allowance, AllowanceError> {
    grant_to(home, now, (server, None), what, lasts)
}

/// Allows it from now on, for a while, to one client of a server or to all. An earlier allowance of the same thing to
/// the same ends with this.
pub fn grant_to(
    home: &Home,
    now: &Moment,
    (server, client): (&str, Option<&str>),
    what: AllowanceScope,
    lasts: Duration,
) -> Result<Allowance, AllowanceError> {
    let lasts_ms = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
    if lasts > LONGEST || lasts < Duration::from_secs(1) {
        return Err(AllowanceError::Length);
    }
    let granted = Granted { wall_ms: now.wall_ms, uptime_ms: now.uptime_ms, boot: now.boot.0.to_string() };
    let ends_ms = now.wall_ms.saturating_add(lasts_ms);
    let id = SessionId::random().to_string();
    let client = client.map(str::to_owned);
    let allowance = Allowance { id, server: server.to_owned(), client, what, granted, ends_ms };
    let _alone = lock_file(&home.allowances_lock())?;
    let mut all = current(home, now);
    all.retain(|known| !known.is_same_as(&allowance));
    if all.len() >= MOST {
        return Err(AllowanceError::TooMany);
    }
    if matches!(allowance.what, AllowanceScope::Call { .. }) {
        // First: one that is in the file and not there counts as spent.
        limits::make_spendable(home, now, &allowance.id, ends_ms)?;
    }
    if !matches!(allowance.what, AllowanceScope::Call { .. }) {
        // Counters that cannot be used keep nobody from it: it is then told like one that came with the file.
        let _known = limits::make_known(home, now, &allowance.id, ends_ms);
    }
    all.push(allowance.clone());
    write(home, all)?;
    Ok(allowance)
}

/// Did an allowance that holds come with the file, granted by none of ours? Says so once, to whoever asks first. One for a
/// single call never does: what was not granted counts as spent.
pub fn came_with_file(home: &Home, now: &Moment, allowance: &Allowance) -> Result<bool, StoreError> {
    match allowance.what {
        AllowanceScope::Call { .. } => Ok(false),
        _ if !allowance.is_open(now) => Ok(false),
        AllowanceScope::Tool(_) | AllowanceScope::Observe => {
            limits::make_known(home, now, &allowance.id, allowance.ends_ms)
        }
    }
}

/// Ends allowances. Returns those that held until now.
pub fn revoke(home: &Home, now: &Moment, which: Revoke<'_>) -> io::Result<Vec<Allowance>> {
    let _alone = lock_file(&home.allowances_lock())?;
    let (ended, rest): (Vec<_>, Vec<_>) =
        current(home, now).into_iter().partition(|allowance| allowance.is_of(which));
    if !ended.is_empty() {
        write(home, rest)?;
    }
    Ok(ended)
}

/// Puts back what was ended a moment ago, as it was: for as long as it would have held. What does not hold any more, or
/// was granted anew, stays as it is.
pub fn restore(home: &Home, now: &Moment, ended: &[Allowance]) -> io::Result<()> {
    if ended.is_empty() {
        return Ok(());
    }
    let _alone = lock_file(&home.allowances_lock())?;
    let mut all = current(home, now);
    for one in ended.iter().filter(|one| one.is_open(now)) {
        if !all.iter().any(|known| known.is_same_as(one)) {
            all.push(one.clone());
        }
    }
    all.truncate(MOST);
    write(home, all)
}

/// Was this allowance of a single call used? Others never are.
pub fn is_spent(home: &Home, now: &Moment, allowance: &Allowance) -> Result<bool, StoreError> {
    match allowance.what {
        AllowanceScope::Call { .. } => limits::is_spent(home, now, &allowance.id),
        AllowanceScope::Tool(_) | AllowanceScope::Observe => Ok(false),
    }
}

/// Those that hold. The others leave the file with the next edit.
fn current(home: &Home, now: &Moment) -> Vec<Allowance> {
    let mut all = read(home).all;
    all.retain(|allowance| allowance.is_open(now));
    all
}

fn write(home: &Home, allowances: Vec<Allowance>) -> io::Result<()> {
    let text = serde_json::to_vec_pretty(&File { allowances }).map_err(io::Error::other)?;
    home.put_in_force(&home.allowances(), &text)
}

mod hex {
    use std::borrow::Cow;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(digest: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&callgate_text::hex(digest))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let mut digest = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(D::Error::custom("a digest is 64 hexadecimal digits"));
        }
        for (byte, digits) in digest.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(D::Error::custom)?;
            *byte = u8::from_str_radix(digits, 16).map_err(D::Error::custom)?;
        }
        Ok(digest)
    }
}

#[cfg(test)]
#[path = "allowance/tests.rs"]
mod tests;
