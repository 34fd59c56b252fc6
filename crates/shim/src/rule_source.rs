//! Source of the rules in force right now: this server's policy, the pause switch, the allowances.
//!
//! State is level-triggered: what the files say at this moment counts. [`RuleSource::poll`] costs a `stat` or two,
//! so it is asked before each group of lines; a watcher only makes the news arrive when nobody calls.
//! A policy that cannot be read never means "no policy": see [`RuleSource::reload`].

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use callgate_controls::allowance::{self, Allowance, AllowanceScope};
use callgate_controls::pin::{self, Accepted};
use callgate_controls::{KnownClasses, catalogue, pause};
use callgate_home::clock::{Clock, SystemClock};
use callgate_home::{Home, read_private};
use callgate_policy::{Policy, same_client};

/// A file changed this shortly before it was read may change again within the same time stamp.
const RACY: Duration = Duration::from_millis(50);

/// How long a file that was good has to be broken before that is told: many editors empty a file before they write it, or
/// take it away and put another in its place. What is enforced does not wait.
pub(crate) const MOMENT: Duration = Duration::from_millis(300);

/// What holds for calls until the next look.
#[derive(Clone, Debug)]
pub struct Rules {
    pub policy: Arc<Policy>,
    /// The reason, when calls of every client are paused.
    pub paused: Option<Arc<str>>,
    /// Clients whose calls are paused, each with the reason.
    pub paused_clients: Arc<[(String, Arc<str>)]>,
    /// What a person has allowed this server for a while; whether it still lasts is asked of each.
    pub allowances: Arc<[Allowance]>,
    /// The definitions of tools that are accepted.
    pub pins: Arc<Accepted>,
}

impl Rules {
    /// Are they the same as these?
    pub fn same_as(&self, other: &Rules) -> bool {
        self.policy.version() == other.policy.version()
            && self.policy.broken() == other.policy.broken()
            && self.paused == other.paused
            && self.paused_clients == other.paused_clients
            && self.allowances == other.allowances
            && self.pins == other.pins
    }

    /// The reason, when calls of this client are paused.
    pub fn paused_for(&self, client: &str) -> Option<&Arc<str>> {
        let own = || self.paused_clients.iter().find(|(name, _)| same_client(name, client));
        self.paused.as_ref().or_else(|| own().map(|(_, reason)| reason))
    }

    /// Has a person set the policy's refusals aside for a while, for this client?
    pub fn observing(&self, client: &str) -> bool {
        self.observed_by(client).is_some()
    }

    /// The allowance that does it.
    pub fn observed_by(&self, client: &str) -> Option<&Allowance> {
        self.lasting(client, |what| *what == AllowanceScope::Observe)
    }

    /// Is this tool allowed to this client for a while?
    pub fn allows_for_a_while(&self, client: &str, tool: &str) -> bool {
        self.lasting(client, |what| what.admits(tool)).is_some()
    }

    /// Such an allowance, if there is one that still lasts. The clock is looked at only if there is one.
    fn lasting(&self, client: &str, is_meant: impl Fn(&AllowanceScope) -> bool) -> Option<&Allowance> {
        let mut meant = self
            .allowances
            .iter()
            .filter(|allowance| is_meant(&allowance.what) && allowance.is_for(client))
            .peekable();
        meant.peek()?;
        let now = SystemClock::default().now();
        meant.find(|allowance| allowance.is_open(&now))
    }
}

/// Something about the rules changed, for whoever records and shows it.
#[derive(Clone, Debug)]
pub enum Change {
    /// Another policy is in force.
    Policy {
        before: Arc<Policy>,
        after: Arc<Policy>,
        text: Arc<str>,
    },
    /// The file cannot be used; `kept` says whether an earlier policy goes on.
    Broken {
        path: PathBuf,
        reason: String,
        kept: bool,
    },
    Paused(Arc<str>),
    Resumed,
    /// Something is allowed for a while, or no longer.
    Allowances,
    /// A person says something else of what tools can do.
    Classes,
    /// Something is allowed that nobody granted: it came with the file.
    Forged(Allowance),
    /// Other definitions of these tools are accepted; none of them if what is accepted is only known again.
    Pins(Vec<String>),
    /// A person gave up what was accepted.
    PinsForgotten,
    /// Other vendor members of the server pass than before.
    LetThrough {
        now: Vec<String>,
        no_more: Vec<String>,
    },
    /// The file with what is accepted went under a running session, or cannot be read any more.
    PinsLost(String),
    /// It cannot be read, and never could in this session.
    PinsUnreadable(String),
}

/// Reads the policy and pause files when they changed.
#[derive(Debug)]
pub struct RuleSource {
    home: Home,
    server: String,
    /// [`MOMENT`], but in tests.
    moment: Duration,
    /// What the tools of this session's server can do, for rules that ask.
    classes: Option<Arc<KnownClasses>>,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    own: FileStamp,
    default: FileStamp,
    pause: FileStamp,
    allowances: FileStamp,
    pins: FileStamp,
    classes: FileStamp,
    /// What was said about the pins last, so that it is not said twice.
    told_pins: Option<String>,
    rules: Rules,
    /// Has any policy been good in this session?
    good: bool,
    /// What was said about a broken policy last, so that it is not said twice.
    told: Option<String>,
    /// A policy that was good and is broken, since when, and not told yet.
    untold: Option<(Change, Instant)>,
    changes: Vec<Change>,
}

impl Seen {
    /// To be told if it lasts, counted from the first of such changes.
    fn hold(&mut self, change: Change) {
        let since = self.untold.take().map_or_else(Instant::now, |(_, since)| since);
        self.untold = Some((change, since));
    }
}

/// Tells one state of a file from another without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileStamp {
    Unseen,
    Missing,
    /// It was there, and was taken away.
    Deleted,
    /// Length, time of change in two forms, inode; `None` in place of a time that is too fresh to be trusted.
    File {
        len: u64,
        modified: Option<SystemTime>,
        detail: (u64, i64, i64),
    },
    /// `stat` itself failed.
    Unknown(io::ErrorKind),
    /// It is there, and could not be read: to be tried again at every look. Whatever was in the way (no file descriptor left, a
    /// disk that fails now and then) goes without the file becoming another.
    Unread,
}

impl RuleSource {
    /// Nothing is read before the first look.
    pub fn new(home: Home, server: &str) -> RuleSource {
        let rules = Rules {
            policy: Arc::new(Policy::refuse_all("no policy was read yet")),
            paused: None,
            paused_clients: Arc::new([]),
            allowances: Arc::new([]),
            pins: Arc::default(),
        };
        let seen = Seen {
            own: FileStamp::Unseen,
            default: FileStamp::Unseen,
            pause: FileStamp::Unseen,
            allowances: FileStamp::Unseen,
            pins: FileStamp::Unseen,
            classes: FileStamp::Unseen,
            told_pins: None,
            rules,
            good: false,
            told: None,
            untold: None,
            changes: Vec::new(),
        };
        let (server, seen) = (server.to_owned(), Mutex::new(seen));
        RuleSource { home, server, moment: MOMENT, classes: None, seen }
    }

    /// With what a session learns of its server's tools.
    pub fn with_classes(self, classes: Arc<KnownClasses>) -> RuleSource {
        RuleSource { classes: Some(classes), ..self }
    }

    /// Is there something to tell that is told only if it lasts? Then another look is due in a [`MOMENT`].
    pub(crate) fn has_untold(&self) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).untold.is_some()
    }

    /// That, at the end of a session: nobody will look again.
    pub(crate) fn take_untold(&self) -> Option<Change> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.untold.take().map(|(change, _)| change)
    }

    /// The rules of this moment, and what changed since somebody looked last.
    pub fn poll(&self) -> (Rules, Vec<Change>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.poll_policy(&mut seen);
        if let Some((change, _)) = seen.untold.take_if(|(_, since)| since.elapsed() >= self.moment) {
            seen.changes.push(change);
        }
        self.poll_pause(&mut seen);
        self.poll_allowances(&mut seen);
        self.poll_pins(&mut seen);
        self.poll_classes(&mut seen);
        (seen.rules.clone(), std::mem::take(&mut seen.changes))
    }

    /// The rules as of the last look, for questions that may wait for the next one.
    pub fn last(&self) -> Rules {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).rules.clone()
    }

    fn poll_policy(&self, seen: &mut Seen) {
        let own = self.home.policy(&self.server);
        let stamp = FileStamp::from_path(&own);
        if stamp == FileStamp::Missing {
            match seen.own {
                FileStamp::Unseen | FileStamp::Missing => {
                    seen.own = FileStamp::Missing;
                    let fallback = self.home.default_policy();
                    let stamp = FileStamp::from_path(&fallback);
                    if stamp != seen.default {
                        seen.default = self.reload(seen, &fallback, stamp);
                    }
                }
                // Its own policy was deleted under a running session: what held goes on, whatever the default says.
                FileStamp::File { .. } | FileStamp::Unknown(_) | FileStamp::Unread => {
                    seen.own = FileStamp::Deleted;
                    let reason = "the file was deleted".to_owned();
                    seen.hold(Change::Broken { path: own, reason, kept: true });
                }
                FileStamp::Deleted => {}
            }
        } else if stamp != seen.own {
            seen.own = self.reload(seen, &own, stamp);
        }
    }

    /// Puts the policy at `path` in force. A broken one: the last good policy stays; if there was none in this
    /// session, every call is refused with the reason.
    fn reload(&self, seen: &mut Seen, path: &Path, stamp: FileStamp) -> FileStamp {
        let read = read_private(path);
        let stamp = if read.is_ok() { stamp } else { FileStamp::Unread };
        let parsed = read.map_err(|error| error.to_string()).and_then(|text| {
            let mut policy = Policy::parse(&text).map_err(|report| report.headline())?;
            guard(&mut policy, self.home.path(), std::env::current_dir().ok().as_deref());
            // Until the server of this session has listed its tools.
            catalogue::describe(&self.home, &self.server, &mut policy);
            if let Some(classes) = self.classes.as_ref().filter(|_| policy.asks_for_classes()) {
                classes.begin();
                policy.know_classes(classes.clone());
            }
            Ok((policy, text))
        });
        match parsed {
            // Read again only because its time stamp was too fresh, or saved without a change.
            Ok((policy, _)) if seen.good && policy.version() == seen.rules.policy.version() => {
                (seen.told, seen.untold) = (None, None);
            }
            Ok((policy, text)) => {
                let after = Arc::new(policy);
                let before = std::mem::replace(&mut seen.rules.policy, after.clone());
                seen.good = true;
                (seen.told, seen.untold) = (None, None);
                seen.changes.push(Change::Policy { before, after, text: text.into() });
            }
            Err(reason) => {
                if !seen.good {
                    // An agent reads this: the file's name is enough for a person to find it.
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    seen.rules.policy = Arc::new(Policy::refuse_all(format!("{file}: {reason}")));
                }
                if seen.told.as_ref() != Some(&reason) {
                    seen.told = Some(reason.clone());
                    let change = Change::Broken { path: path.to_owned(), reason, kept: seen.good };
                    if seen.good { seen.hold(change) } else { seen.changes.push(change) }
                }
            }
        }
        stamp
    }

    /// Only where it matters.
    fn poll_classes(&self, seen: &mut Seen) {
        let Some(classes) = self.classes.as_ref().filter(|_| seen.rules.policy.asks_for_classes()) else {
            return;
        };
        let stamp = FileStamp::from_path(&self.home.classes());
        if stamp == seen.classes {
            return;
        }
        let is_missing = stamp == FileStamp::Missing;
        let before = std::mem::replace(&mut seen.classes, stamp);
        let was_there = matches!(before, FileStamp::File { .. } | FileStamp::Unread | FileStamp::Deleted);
        if is_missing && was_there {
            // It is never removed by us: what was read goes on, as with every other file that is taken away.
            seen.classes = FileStamp::Deleted;
            return;
        }
        match classes.correct() {
            Ok(true) if before != FileStamp::Unseen => seen.changes.push(Change::Classes),
            Ok(_) => {}
            Err(_) => seen.classes = FileStamp::Unread,
        }
    }

    fn poll_pause(&self, seen: &mut Seen) {
        let stamp = FileStamp::from_path(&self.home.paused());
        if stamp == seen.pause {
            return;
        }
        let any = seen.rules.paused.is_some() || !seen.rules.paused_clients.is_empty();
        if stamp == FileStamp::Missing && any {
            self.put_pause_back(seen);
            return;
        }
        let switch = pause::read(&self.home);
        seen.pause = if matches!(switch, pause::Switch::Broken(_)) { FileStamp::Unread } else { stamp };
        let paused: Option<Arc<str>> = switch.reason(&self.server).map(Into::into);
        match (&seen.rules.paused, &paused) {
            (None, Some(reason)) => seen.changes.push(Change::Paused(reason.clone())),
            (Some(_), None) => seen.changes.push(Change::Resumed),
            _ => {}
        }
        seen.rules.paused = paused;
        let of_client = |(client, reason): (String, String)| (client, reason.into());
        seen.rules.paused_clients = switch.client_reasons(&self.server).into_iter().map(of_client).collect();
    }

    /// The switch was removed while calls were paused. Nobody resumes them so: a person who does leaves a switch that is off. It is
    /// put back, for everybody and to be resumed like any other; until that works calls stay paused here.
    fn put_pause_back(&self, seen: &mut Seen) {
        let words = "the pause switch was removed while calls were paused, so they stay paused";
        if seen.pause != FileStamp::Deleted {
            seen.changes.push(Change::Paused(words.into()));
        }
        let _later = self.home.was_prepared().then(|| callgate_controls::prepare_home(&self.home));
        let _later = pause::pause(&self.home, None, Some(words), &SystemClock::default().now());
        // Looked at again until it is there.
        seen.pause = FileStamp::Deleted;
    }
}

impl RuleSource {
    fn poll_allowances(&self, seen: &mut Seen) {
        let stamp = FileStamp::from_path(&self.home.allowances());
        if stamp == seen.allowances {
            return;
        }
        let first = seen.allowances == FileStamp::Unseen;
        // What cannot be read allows nothing.
        let read = allowance::read(&self.home);
        seen.allowances = if read.problem.is_some() { FileStamp::Unread } else { stamp };
        let granted: Arc<[Allowance]> =
            read.all.into_iter().filter(|allowance| allowance.server == self.server).collect();
        if granted != seen.rules.allowances && !first {
            seen.changes.push(Change::Allowances);
        }
        let now = SystemClock::default().now();
        // Where nobody can tell who granted it, it is told rather than not.
        let forged = |one: &&Allowance| {
            one.is_open(&now) && allowance::came_with_file(&self.home, &now, one).unwrap_or(true)
        };
        seen.changes.extend(granted.iter().filter(forged).cloned().map(Change::Forged));
        seen.rules.allowances = granted;
    }
}

impl RuleSource {
    /// A file that was good and cannot be read, or is gone: what was accepted stays so, and nothing else is. One that is gone is put
    /// back, or the next list would be accepted whatever it says; a person who gives up what is accepted leaves a file that says so.
    fn poll_pins(&self, seen: &mut Seen) {
        let path = self.home.pins(&self.server);
        let stamp = FileStamp::from_path(&path);
        if stamp == seen.pins {
            return;
        }
        let first = seen.pins == FileStamp::Unseen;
        let held = seen.rules.pins.holds_any();
        if stamp == FileStamp::Missing && held {
            // Looked at again until it is there.
            seen.pins = FileStamp::Deleted;
            let _later = pin::put_back(&self.home, &self.server, &seen.rules.pins);
            return seen.lose_pins(format!("{} was removed, and is put back", path.display()), held);
        }
        let read = pin::accepted(&self.home, &self.server);
        if let Some(reason) = read.unreadable() {
            seen.pins = FileStamp::Unread;
            seen.lose_pins(reason.to_owned(), held);
            if held {
                return;
            }
        } else {
            // One that was put back is not to be told of again, and one that goes again is.
            (seen.pins, seen.told_pins) = (stamp, None);
        }
        if !first {
            let before = seen.rules.pins.clone();
            seen.changes.extend(change_of_pins(&before, &read));
            seen.changes.extend(change_of_members(&before, &read));
        }
        seen.rules.pins = Arc::new(read);
    }
}

/// What is accepted otherwise than before; none, if the server only said more.
fn change_of_pins(before: &Accepted, now: &Accepted) -> Option<Change> {
    let (held, was_unreadable) = (before.holds_any(), before.unreadable().is_some());
    if now.unreadable().is_some() {
        return (!was_unreadable).then(|| Change::Pins(Vec::new()));
    }
    if (held || was_unreadable) && !now.holds_any() {
        return Some(Change::PinsForgotten);
    }
    let names = before.otherwise_in(now);
    (was_unreadable || !names.is_empty()).then_some(Change::Pins(names))
}

/// What passes beside the protocol and did not, or the other way round.
fn change_of_members(before: &Accepted, now: &Accepted) -> Option<Change> {
    let beyond = |one: &Accepted, other: &Accepted| -> Vec<String> {
        one.let_through().difference(other.let_through()).cloned().collect()
    };
    let (more, fewer) = (beyond(now, before), beyond(before, now));
    (!more.is_empty() || !fewer.is_empty()).then_some(Change::LetThrough { now: more, no_more: fewer })
}

impl Seen {
    fn lose_pins(&mut self, reason: String, held: bool) {
        if self.told_pins.as_ref() != Some(&reason) {
            self.told_pins = Some(reason.clone());
            self.changes.push(if held { Change::PinsLost(reason) } else { Change::PinsUnreadable(reason) });
        }
    }
}

/// Keeps calls away from Callgate's own folder, by the name it was given and by the one it really has. The server works
/// where the gate does; whoever judges without a server knows no such place.
pub fn guard(policy: &mut Policy, home: &Path, working_in: Option<&Path>) {
    let working_in = working_in.map(Path::to_string_lossy);
    policy.guard_home(&home.to_string_lossy(), working_in.as_deref());
    if let Ok(real) = home.canonicalize()
        && real != home
    {
        policy.guard_home(&real.to_string_lossy(), working_in.as_deref());
    }
}

impl FileStamp {
    /// Of a link it is the link's own: what it leads to is not read, be there anything or not.
    fn from_path(path: &Path) -> FileStamp {
        match fs::symlink_metadata(path) {
            Ok(meta) => FileStamp::File {
                len: meta.len(),
                modified: meta.modified().ok().filter(|time| settled(*time)),
                detail: detail(&meta),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => FileStamp::Missing,
            Err(error) => FileStamp::Unknown(error.kind()),
        }
    }
}

/// Is the time old enough that a later change must show another one?
fn settled(modified: SystemTime) -> bool {
    modified.elapsed().is_ok_and(|age| age > RACY)
}

#[cfg(unix)]
fn detail(meta: &Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (meta.ino(), meta.ctime(), meta.ctime_nsec())
}

#[cfg(not(unix))]
fn detail(_meta: &Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests;
