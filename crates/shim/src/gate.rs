//! The rules in force right now: this server's policy and the pause switch.
//!
//! State is level-triggered: what the files say at this moment counts. [`Gate::look`] costs a `stat` or two,
//! so it is asked before each group of lines; a watcher only makes the news arrive when nobody calls.
//! A policy that cannot be read never means "no policy": see [`Gate::reload`].

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use callgate_controls::allowance::{self, Allowance, What};
use callgate_controls::{catalogue, pause};
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
}

impl Rules {
    /// Are they the same as these?
    pub fn same_as(&self, other: &Rules) -> bool {
        self.policy.version() == other.policy.version()
            && self.policy.broken() == other.policy.broken()
            && self.paused == other.paused
            && self.paused_clients == other.paused_clients
            && self.allowances == other.allowances
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
        self.lasting(client, |what| *what == What::Observe)
    }

    /// Is this tool allowed to this client for a while?
    pub fn allows_for_a_while(&self, client: &str, tool: &str) -> bool {
        self.lasting(client, |what| what.admits(tool)).is_some()
    }

    /// Such an allowance, if there is one that still lasts. The clock is looked at only if there is one.
    fn lasting(&self, client: &str, is_meant: impl Fn(&What) -> bool) -> Option<&Allowance> {
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
    /// Something is allowed that nobody granted: it came with the file.
    Forged(Allowance),
}

/// Reads the policy and pause files when they changed.
#[derive(Debug)]
pub struct Gate {
    home: Home,
    server: String,
    /// [`MOMENT`], but in tests.
    moment: Duration,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    own: Stamp,
    default: Stamp,
    pause: Stamp,
    allowances: Stamp,
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
enum Stamp {
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

impl Gate {
    /// Nothing is read before the first look.
    pub fn new(home: Home, server: &str) -> Gate {
        let rules = Rules {
            policy: Arc::new(Policy::refuse_all("no policy was read yet")),
            paused: None,
            paused_clients: Arc::new([]),
            allowances: Arc::new([]),
        };
        let seen = Seen {
            own: Stamp::Unseen,
            default: Stamp::Unseen,
            pause: Stamp::Unseen,
            allowances: Stamp::Unseen,
            rules,
            good: false,
            told: None,
            untold: None,
            changes: Vec::new(),
        };
        Gate { home, server: server.to_owned(), moment: MOMENT, seen: Mutex::new(seen) }
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
    pub fn look(&self) -> (Rules, Vec<Change>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.look_at_policy(&mut seen);
        if let Some((change, _)) = seen.untold.take_if(|(_, since)| since.elapsed() >= self.moment) {
            seen.changes.push(change);
        }
        self.look_at_pause(&mut seen);
        self.look_at_allowances(&mut seen);
        (seen.rules.clone(), std::mem::take(&mut seen.changes))
    }

    /// The rules as of the last look, for questions that may wait for the next one.
    pub fn last(&self) -> Rules {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).rules.clone()
    }

    fn look_at_policy(&self, seen: &mut Seen) {
        let own = self.home.policy(&self.server);
        let stamp = Stamp::of(&own);
        if stamp == Stamp::Missing {
            match seen.own {
                Stamp::Unseen | Stamp::Missing => {
                    seen.own = Stamp::Missing;
                    let fallback = self.home.default_policy();
                    let stamp = Stamp::of(&fallback);
                    if stamp != seen.default {
                        seen.default = self.reload(seen, &fallback, stamp);
                    }
                }
                // Its own policy was deleted under a running session: what held goes on, whatever the default says.
                Stamp::File { .. } | Stamp::Unknown(_) | Stamp::Unread => {
                    seen.own = Stamp::Deleted;
                    let reason = "the file was deleted".to_owned();
                    seen.hold(Change::Broken { path: own, reason, kept: true });
                }
                Stamp::Deleted => {}
            }
        } else if stamp != seen.own {
            seen.own = self.reload(seen, &own, stamp);
        }
    }

    /// Puts the policy at `path` in force. A broken one: the last good policy stays; if there was none in this
    /// session, every call is refused with the reason.
    fn reload(&self, seen: &mut Seen, path: &Path, stamp: Stamp) -> Stamp {
        let read = read_private(path);
        let stamp = if read.is_ok() { stamp } else { Stamp::Unread };
        let parsed = read.map_err(|error| error.to_string()).and_then(|text| {
            let mut policy = Policy::parse(&text).map_err(|report| report.headline())?;
            guard(&mut policy, self.home.path(), std::env::current_dir().ok().as_deref());
            // Until the server of this session has listed its tools.
            catalogue::describe(&self.home, &self.server, &mut policy);
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

    fn look_at_pause(&self, seen: &mut Seen) {
        let stamp = Stamp::of(&self.home.paused());
        if stamp == seen.pause {
            return;
        }
        let any = seen.rules.paused.is_some() || !seen.rules.paused_clients.is_empty();
        if stamp == Stamp::Missing && any {
            self.put_pause_back(seen);
            return;
        }
        let switch = pause::read(&self.home);
        seen.pause = if matches!(switch, pause::Switch::Broken(_)) { Stamp::Unread } else { stamp };
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
        if seen.pause != Stamp::Deleted {
            seen.changes.push(Change::Paused(words.into()));
        }
        let _later = self.home.was_prepared().then(|| callgate_controls::prepare_home(&self.home));
        let _later = pause::pause(&self.home, None, Some(words), &SystemClock::default().now());
        // Looked at again until it is there.
        seen.pause = Stamp::Deleted;
    }
}

impl Gate {
    fn look_at_allowances(&self, seen: &mut Seen) {
        let stamp = Stamp::of(&self.home.allowances());
        if stamp == seen.allowances {
            return;
        }
        let first = seen.allowances == Stamp::Unseen;
        // What cannot be read allows nothing.
        let read = allowance::read(&self.home);
        seen.allowances = if read.problem.is_some() { Stamp::Unread } else { stamp };
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

impl Stamp {
    /// Of a link it is the link's own: what it leads to is not read, be there anything or not.
    fn of(path: &Path) -> Stamp {
        match fs::symlink_metadata(path) {
            Ok(meta) => Stamp::File {
                len: meta.len(),
                modified: meta.modified().ok().filter(|time| settled(*time)),
                detail: detail(&meta),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Stamp::Missing,
            Err(error) => Stamp::Unknown(error.kind()),
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
mod tests {
    use super::*;
    use callgate_policy::{Call, Circumstances, Judgement};
    use callgate_protocol::json::Raw;
    use callgate_redaction::Masker;

    struct Fixture {
        _folder: tempfile::TempDir,
        home: Home,
        gate: Gate,
    }

    fn fixture() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        let gate = Gate { moment: Duration::ZERO, ..Gate::new(home.clone(), "s") };
        Fixture { _folder: folder, home, gate }
    }

    impl Fixture {
        fn write(&self, text: &str) {
            callgate_home::atomic::replace(&self.home.policy("s"), text.as_bytes()).unwrap();
        }

        /// What becomes of a call of tool `x` now, and what was news.
        fn look(&self) -> (String, Vec<&'static str>) {
            let (rules, changes) = self.gate.look();
            let verdict = match rules.policy.judge(&Call::tool("c", "x", None), &Circumstances::timeless()) {
                Judgement::Pass(pass) => format!("pass {}", pass.rule),
                Judgement::Refuse(refusal) => format!("{:?}", refusal.kind),
            };
            let news = changes.iter().map(|change| match change {
                Change::Policy { .. } => "policy",
                Change::Broken { kept: true, .. } => "broken, kept",
                Change::Broken { kept: false, .. } => "broken",
                Change::Paused(_) => "paused",
                Change::Resumed => "resumed",
                Change::Allowances => "allowances",
                Change::Forged(_) => "forged",
            });
            (verdict, news.collect())
        }
    }

    const DENY: &str = r#"{"version":"1","default":"deny"}"#;
    const ALLOW: &str = r#"{"version":"1","default":"allow"}"#;

    #[test]
    fn a_server_without_a_policy_has_the_default_one_until_it_gets_its_own() {
        let fixture = fixture();
        assert_eq!(fixture.look(), ("pass /default".to_owned(), vec!["policy"]));
        assert_eq!(fixture.look().1, Vec::<&str>::new());
        fixture.write(DENY);
        assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["policy"]));
    }

    #[test]
    fn a_policy_that_is_broken_at_the_start_refuses_everything() {
        let fixture = fixture();
        fixture.write("{ nonsense");
        assert_eq!(fixture.look(), ("Broken".to_owned(), vec!["broken"]));
        fixture.write(ALLOW);
        assert_eq!(fixture.look(), ("pass /default".to_owned(), vec!["policy"]));
    }

    #[test]
    fn a_policy_that_breaks_or_vanishes_later_leaves_the_last_good_one_in_force() {
        let fixture = fixture();
        fixture.write(DENY);
        assert_eq!(fixture.look().0, "Denied");
        fixture.write("{ nonsense");
        assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["broken, kept"]));
        fs::remove_file(fixture.home.policy("s")).unwrap();
        assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["broken, kept"]));
        assert_eq!(fixture.look(), ("Denied".to_owned(), vec![]));
        fixture.write(ALLOW);
        assert_eq!(fixture.look().0, "pass /default");
    }

    #[test]
    fn a_path_by_the_schema_of_the_last_session_is_held_before_this_one_has_a_list() {
        let fixture = fixture();
        let x = r#"{"name":"x","inputSchema":{"properties":{"target":{"type":"string","format":"path"}}}}"#;
        let listed = [("x", Raw::parse(x).unwrap())];
        catalogue::write(&fixture.home, &Masker::default(), "s", 1, listed).unwrap();
        fixture.write(
            r#"{"version":"1","default":"allow","all_tools":{"deny_if":[{"args":"paths","op":"eq","value":"etc/passwd"}]}}"#,
        );
        let args = Raw::parse(r#"{"target":"etc/passwd"}"#).unwrap();
        let (rules, _) = fixture.gate.look();
        let call = Call::tool("c", "x", Some(args));
        let judged = rules.policy.judge(&call, &Circumstances::timeless());
        assert!(matches!(judged, Judgement::Refuse(_)), "{judged:?}");
    }

    #[test]
    fn a_missing_default_policy_refuses_everything() {
        let fixture = fixture();
        fs::remove_file(fixture.home.default_policy()).unwrap();
        assert_eq!(fixture.look(), ("Broken".to_owned(), vec!["broken"]));
    }

    #[cfg(unix)]
    #[test]
    fn a_policy_that_others_may_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let fixture = fixture();
        fixture.write(ALLOW);
        fs::set_permissions(fixture.home.policy("s"), fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(fixture.look(), ("Broken".to_owned(), vec!["broken"]));
    }

    /// A link that leads nowhere is not a file that is missing.
    #[cfg(unix)]
    #[test]
    fn a_policy_that_is_a_link_is_not_used_be_there_anything_behind_it_or_not() {
        use std::os::unix::fs::symlink;
        for behind in [None, Some(ALLOW)] {
            let fixture = fixture();
            let elsewhere = fixture.home.path().join("elsewhere");
            if let Some(text) = behind {
                fs::write(&elsewhere, text).unwrap();
            }
            symlink(&elsewhere, fixture.home.policy("s")).unwrap();
            assert_eq!(fixture.look(), ("Broken".to_owned(), vec!["broken"]), "{behind:?}");
            assert_eq!(fixture.look().1, Vec::<&str>::new(), "told once");
            fixture.write(DENY);
            assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["policy"]));
            fs::remove_file(fixture.home.policy("s")).unwrap();
            symlink(&elsewhere, fixture.home.policy("s")).unwrap();
            assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["broken, kept"]), "{behind:?}");
            symlink(&elsewhere, fixture.home.paused()).unwrap();
            assert_eq!(fixture.look().1, ["paused"], "{behind:?}");
        }
    }

    #[test]
    fn a_save_that_empties_the_file_first_is_not_told_as_a_broken_policy() {
        let mut fixture = fixture();
        fixture.gate.moment = Duration::from_secs(3600);
        fixture.write(DENY);
        assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["policy"]));
        for between in ["", "{", "{\"version\""] {
            fs::write(fixture.home.policy("s"), between).unwrap();
            assert_eq!(fixture.look(), ("Denied".to_owned(), vec![]), "enforced on, and not told yet");
            assert!(fixture.gate.has_untold());
        }
        fixture.write(ALLOW);
        assert_eq!(fixture.look(), ("pass /default".to_owned(), vec!["policy"]));
        assert!(!fixture.gate.has_untold() && fixture.gate.take_untold().is_none());
        fs::remove_file(fixture.home.policy("s")).unwrap();
        assert_eq!(fixture.look().1, Vec::<&str>::new(), "taken away for a moment");
        fixture.write(ALLOW);
        assert_eq!(fixture.look().1, Vec::<&str>::new(), "the same again");
        fixture.write("{");
        assert_eq!(fixture.look().1, Vec::<&str>::new());
        fixture.gate.moment = Duration::ZERO;
        assert_eq!(fixture.look().1, ["broken, kept"], "it lasts");
        fixture.write("");
        fixture.gate.moment = Duration::from_secs(3600);
        assert_eq!(fixture.look().1, Vec::<&str>::new());
        assert!(matches!(fixture.gate.take_untold(), Some(Change::Broken { kept: true, .. })), "at the end");
    }

    #[test]
    fn pause_and_resume_are_seen_at_the_next_look() {
        let fixture = fixture();
        fixture.look();
        fs::write(fixture.home.paused(), r#"{"all":{"since_ms":1}}"#).unwrap();
        let (rules, _) = fixture.gate.look();
        assert!(rules.paused.is_some());
        fs::write(fixture.home.paused(), "not json at all").unwrap();
        assert!(fixture.gate.look().0.paused.is_some(), "what cannot be understood means paused");
        fs::write(fixture.home.paused(), "{}").unwrap();
        assert_eq!(fixture.look().1, ["resumed"]);
    }

    #[test]
    fn a_pause_is_not_lifted_by_removing_its_file() {
        let fixture = fixture();
        fs::write(fixture.home.paused(), r#"{"all":{"since_ms":1}}"#).unwrap();
        fixture.look();
        fs::remove_dir_all(fixture.home.control_dir()).unwrap();
        assert_eq!(fixture.look().1, ["paused"], "told");
        assert!(fixture.gate.look().0.paused.is_some());
        assert!(fixture.home.paused().exists(), "and there for everybody");
        pause::resume(&fixture.home, None).unwrap();
        assert_eq!(fixture.look().1, ["resumed"]);
        // Nor where it cannot be put back.
        fs::write(fixture.home.paused(), r#"{"all":{"since_ms":1}}"#).unwrap();
        fixture.look();
        fs::remove_dir_all(fixture.home.path()).unwrap();
        assert!(fixture.gate.look().0.paused.is_some());
    }

    #[test]
    fn calls_that_name_the_home_folder_are_refused() {
        let fixture = fixture();
        let (rules, _) = fixture.gate.look();
        let args = format!(r#"{{"path":"{}/policies/s.json"}}"#, fixture.home.path().display());
        let raw = callgate_protocol::json::Raw::parse(&args).unwrap();
        assert!(matches!(
            rules.policy.judge(&Call::tool("c", "x", Some(raw)), &Circumstances::timeless()),
            Judgement::Refuse(_)
        ));
    }
}
