//! The pause switch: `control/paused.json`. Its content at this moment counts; content that cannot be
//! understood means paused.

use std::collections::BTreeMap;
use std::io;

use callgate_policy::same_client;
use serde::{Deserialize, Serialize};

use callgate_home::clock::Moment;
use callgate_home::{Home, lock_file, read_private};

/// Everything that is paused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pauses {
    /// Every server.
    #[serde(default)]
    pub all: Option<Pause>,
    #[serde(default)]
    pub servers: BTreeMap<String, Pause>,
    /// Of single clients. A gate from before this field reads a switch that holds some as broken: rather too much than
    /// nothing is paused by it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clients: BTreeMap<String, ClientPauses>,
}

/// What is paused for one client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientPauses {
    /// With every server.
    #[serde(default)]
    pub all: Option<Pause>,
    #[serde(default)]
    pub servers: BTreeMap<String, Pause>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    pub since_ms: i64,
    #[serde(default)]
    pub reason: Option<String>,
}

impl Pause {
    /// Would a pause for this reason, in its place, change anything? Without one, it goes on as it is.
    pub fn stays_for(&self, reason: Option<&str>) -> bool {
        reason.is_none() || reason == self.reason.as_deref()
    }
}

/// Whom a pause is for. What is left out is meant as a whole: every server, every client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseScope<'a> {
    pub server: Option<&'a str>,
    pub client: Option<&'a str>,
}

impl<'a> From<Option<&'a str>> for PauseScope<'a> {
    /// One server or all, for every client.
    fn from(server: Option<&'a str>) -> PauseScope<'a> {
        PauseScope { server, client: None }
    }
}

impl Pauses {
    /// The pause of exactly this scope.
    pub fn get(&self, scope: PauseScope<'_>) -> Option<&Pause> {
        match (scope.client, scope.server) {
            (None, None) => self.all.as_ref(),
            (None, Some(server)) => self.servers.get(server),
            (Some(client), None) => self.of_client(client)?.all.as_ref(),
            (Some(client), Some(server)) => self.of_client(client)?.servers.get(server),
        }
    }

    fn of_client(&self, client: &str) -> Option<&ClientPauses> {
        self.clients.iter().find(|(name, _)| same_client(name, client)).map(|(_, pauses)| pauses)
    }

    /// Puts this in the place of the pause of exactly this scope. Returns what was there.
    fn set(&mut self, scope: PauseScope<'_>, pause: Option<Pause>) -> Option<Pause> {
        let Some(client) = scope.client else {
            return put(&mut self.all, &mut self.servers, scope.server, pause);
        };
        let known = self.clients.keys().find(|name| same_client(name, client)).cloned();
        let key = known.unwrap_or_else(|| client.to_owned());
        let of_client = self.clients.entry(key.clone()).or_default();
        let before = put(&mut of_client.all, &mut of_client.servers, scope.server, pause);
        if *of_client == ClientPauses::default() {
            self.clients.remove(&key);
        }
        before
    }

    /// Is anything paused that a resumption of this scope would end?
    pub fn holds(&self, scope: PauseScope<'_>) -> bool {
        self.without(scope) != *self
    }

    /// The pauses that a resumption of this scope would end.
    pub fn ended_by(&self, scope: PauseScope<'_>) -> Vec<(PauseScope<'_>, &Pause)> {
        let rest = self.without(scope);
        let everyone = std::iter::once((None, &self.all, &self.servers));
        let single = self.clients.iter().map(|(client, of)| (Some(client.as_str()), &of.all, &of.servers));
        let mut ended = Vec::new();
        for (client, all, servers) in everyone.chain(single) {
            let of_servers = servers.iter().map(|(server, pause)| (Some(server.as_str()), pause));
            let paused = all.iter().map(|pause| (None, pause)).chain(of_servers);
            ended.extend(paused.map(|(server, pause)| (PauseScope { server, client }, pause)));
        }
        ended.retain(|(paused, _)| rest.get(*paused).is_none());
        ended
    }

    /// Each pause of a single client that counts for this server.
    pub fn clients_with<'a>(&'a self, server: &'a str) -> impl Iterator<Item = PauseScope<'a>> {
        self.clients.iter().flat_map(move |(client, pauses)| {
            let everywhere = pauses.all.is_some().then_some(None);
            let here = pauses.servers.contains_key(server).then_some(Some(server));
            everywhere.into_iter().chain(here).map(|server| PauseScope { server, client: Some(client) })
        })
    }

    /// Ends the pause of this scope. One of all servers ends those of single servers with it; one of a server leaves what is
    /// paused for single clients, which somebody paused by their name.
    fn without(&self, scope: PauseScope<'_>) -> Pauses {
        let mut rest = self.clone();
        match (scope.server, scope.client) {
            (None, None) => return Pauses::default(),
            (None, Some(client)) => rest.clients.retain(|name, _| !same_client(name, client)),
            (Some(_), _) => drop(rest.set(scope, None)),
        }
        rest
    }
}

fn put(
    all: &mut Option<Pause>,
    servers: &mut BTreeMap<String, Pause>,
    server: Option<&str>,
    pause: Option<Pause>,
) -> Option<Pause> {
    match (server, pause) {
        (None, pause) => std::mem::replace(all, pause),
        (Some(server), Some(pause)) => servers.insert(server.to_owned(), pause),
        (Some(server), None) => servers.remove(server),
    }
}

/// What the switch says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Switch {
    Readable(Pauses),
    /// It is there but cannot be understood: everything is paused.
    Broken(String),
}

pub fn read(home: &Home) -> Switch {
    match read_private(&home.paused()) {
        // serde takes `[]` for a struct whose members all have defaults; here that would mean "not paused".
        Ok(text) if !text.trim_start().starts_with('{') => {
            Switch::Broken(format!("{} cannot be understood: it is not an object", home.paused().display()))
        }
        Ok(text) => match serde_json::from_str(&text) {
            Ok(pauses) => Switch::Readable(pauses),
            Err(error) => {
                Switch::Broken(format!("{} cannot be understood: {error}", home.paused().display()))
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Switch::Readable(Pauses::default()),
        Err(error) => Switch::Broken(format!("{} cannot be read: {error}", home.paused().display())),
    }
}

/// Why calls of every client to this server are paused, if they are.
pub fn reason(home: &Home, server: &str) -> Option<String> {
    read(home).reason(server)
}

/// Why calls of this client to this server are paused, if they are.
pub fn reason_for(home: &Home, server: &str, client: &str) -> Option<String> {
    let switch = read(home);
    switch.reason(server).or_else(|| switch.client_reason(server, client))
}

impl Switch {
    /// Why calls of every client to this server are paused, if they are.
    pub fn reason(&self, server: &str) -> Option<String> {
        match self {
            Switch::Broken(why) => Some(format!("all calls are paused, because {why}")),
            Switch::Readable(pauses) => match (&pauses.all, pauses.servers.get(server)) {
                (Some(pause), _) => Some(told("all calls are", pause)),
                (None, Some(pause)) => Some(told(&format!("calls to {server} are"), pause)),
                (None, None) => None,
            },
        }
    }

    /// Why calls of this client alone to this server are paused, if they are.
    pub fn client_reason(&self, server: &str, client: &str) -> Option<String> {
        let Switch::Readable(pauses) = self else { return None };
        let pauses = pauses.of_client(client)?;
        match (&pauses.all, pauses.servers.get(server)) {
            (Some(pause), _) => Some(told("all calls of this client are", pause)),
            (None, Some(pause)) => Some(told(&format!("calls of this client to {server} are"), pause)),
            (None, None) => None,
        }
    }

    /// Each client whose calls to this server are paused, and why.
    pub fn client_reasons(&self, server: &str) -> Vec<(String, String)> {
        let Switch::Readable(pauses) = self else { return Vec::new() };
        let reason = |client: &String| Some((client.clone(), self.client_reason(server, client)?));
        pauses.clients.keys().filter_map(reason).collect()
    }
}

fn told(what: &str, pause: &Pause) -> String {
    match pause.reason.as_deref().filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{what} paused by the user: {reason}"),
        None => format!("{what} paused by the user"),
    }
}

/// Pauses a server or a client, or all of them. What was there and could not be understood is replaced by this, and one
/// that stays is left as it is. Returns what was in its place before.
pub fn pause<'s>(
    home: &Home,
    scope: impl Into<PauseScope<'s>>,
    reason: Option<&str>,
    now: &Moment,
) -> io::Result<Option<Pause>> {
    let _alone = lock_file(&home.paused_lock())?;
    let scope = scope.into();
    let mut pauses = match read(home) {
        Switch::Readable(pauses) => match pauses.get(scope).filter(|there| there.stays_for(reason)) {
            Some(there) => return Ok(Some(there.clone())),
            None => pauses,
        },
        // Stays as wide as it was: everything.
        Switch::Broken(_) => {
            Pauses { all: Some(Pause { since_ms: now.wall_ms, reason: None }), ..Pauses::default() }
        }
    };
    let pause = Pause { since_ms: now.wall_ms, reason: reason.map(str::to_owned) };
    let before = pauses.set(scope, Some(pause));
    write(home, &pauses).map(|()| before)
}

/// Sets one place of the switch to what it was before, or to nothing, if it still is as `made` says. `false`: somebody
/// changed it since, and nothing was done.
pub fn put_back<'s>(
    home: &Home,
    scope: impl Into<PauseScope<'s>>,
    made: &Pause,
    before: Option<&Pause>,
) -> io::Result<bool> {
    let _alone = lock_file(&home.paused_lock())?;
    let Switch::Readable(mut pauses) = read(home) else { return Ok(false) };
    let scope = scope.into();
    if pauses.get(scope) != Some(made) {
        return Ok(false);
    }
    pauses.set(scope, before.cloned());
    write(home, &pauses).map(|()| true)
}

/// Ends the pause of one server (a pause of all stays), of one client, or every pause. Says whether anything was paused.
pub fn resume<'s>(home: &Home, scope: impl Into<PauseScope<'s>>) -> io::Result<bool> {
    let _alone = lock_file(&home.paused_lock())?;
    lift(home, scope.into(), &read(home))
}

/// The same, if the switch still is as it was `seen`; none if somebody changed it since, and then nothing was done.
pub fn resume_if<'s>(
    home: &Home,
    scope: impl Into<PauseScope<'s>>,
    seen: &Switch,
) -> io::Result<Option<bool>> {
    let _alone = lock_file(&home.paused_lock())?;
    if read(home) == *seen { lift(home, scope.into(), seen).map(Some) } else { Ok(None) }
}

/// While the lock is held.
fn lift(home: &Home, scope: PauseScope<'_>, before: &Switch) -> io::Result<bool> {
    let after = match before {
        Switch::Readable(pauses) => pauses.without(scope),
        Switch::Broken(_) if scope == PauseScope::default() => Pauses::default(),
        // One server cannot be taken out of what nobody can read.
        Switch::Broken(why) => return Err(io::Error::new(io::ErrorKind::InvalidData, why.clone())),
    };
    if *before == Switch::Readable(after.clone()) {
        return Ok(false);
    }
    write(home, &after).map(|()| true)
}

fn write(home: &Home, pauses: &Pauses) -> io::Result<()> {
    let text = serde_json::to_vec(pauses).map_err(io::Error::other)?;
    home.put_in_force(&home.paused(), &text)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use callgate_home::clock::{Clock, ManualClock};

    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        crate::prepare_home(&home).unwrap();
        (folder, home)
    }

    #[test]
    fn pausing_one_server_leaves_the_others_running() {
        let (_folder, home) = home();
        let now = ManualClock::new().now();
        assert_eq!(reason(&home, "a"), None);
        pause(&home, Some("a"), Some("lunch"), &now).unwrap();
        assert_eq!(reason(&home, "a").unwrap(), "calls to a are paused by the user: lunch");
        assert_eq!(reason(&home, "b"), None);
        pause(&home, None, None, &now).unwrap();
        assert!(reason(&home, "b").is_some());
        assert!(resume(&home, None).unwrap());
        assert_eq!(reason(&home, "a"), None);
        assert!(!resume(&home, None).unwrap());
    }

    #[test]
    fn a_client_is_paused_with_one_server_or_everywhere_and_resumed_again() {
        let (_folder, home) = home();
        let now = ManualClock::new().now();
        let of = |server, client| PauseScope { server, client: Some(client) };
        pause(&home, of(Some("a"), "cursor"), Some("lunch"), &now).unwrap();
        assert_eq!(
            reason_for(&home, "a", "Cur sor").unwrap(),
            "calls of this client to a are paused by the user: lunch"
        );
        for (server, client) in [("b", "cursor"), ("a", "zed")] {
            assert_eq!(reason_for(&home, server, client), None);
        }
        assert_eq!(reason(&home, "a"), None, "others go on");
        pause(&home, of(None, "Cursor"), None, &now).unwrap();
        assert_eq!(
            reason_for(&home, "b", "cursor").unwrap(),
            "all calls of this client are paused by the user"
        );
        let Switch::Readable(pauses) = read(&home) else { panic!("broken") };
        assert_eq!(pauses.clients.len(), 1, "names that read as one are one: {pauses:?}");
        assert!(!resume(&home, of(Some("b"), "cursor")).unwrap() && !resume(&home, Some("a")).unwrap());
        assert!(resume(&home, of(None, "cursor")).unwrap());
        assert_eq!(read(&home), Switch::Readable(Pauses::default()));
        // A gate of before reads a switch without clients as it always did.
        pause(&home, Some("a"), None, &now).unwrap();
        assert!(!std::fs::read_to_string(home.paused()).unwrap().contains("clients"));
    }

    #[test]
    fn a_pause_is_put_back_only_if_nobody_changed_it_since() {
        let (_folder, home) = home();
        let now = ManualClock::new().now();
        let made = |reason: &str| Pause { since_ms: now.wall_ms, reason: Some(reason.to_owned()) };
        pause(&home, Some("a"), Some("first"), &now).unwrap();
        pause(&home, Some("a"), Some("second"), &now).unwrap();
        assert!(!put_back(&home, Some("a"), &made("first"), None).unwrap());
        assert!(put_back(&home, Some("a"), &made("second"), Some(&made("first"))).unwrap());
        assert_eq!(reason(&home, "a").unwrap(), "calls to a are paused by the user: first");
        assert!(put_back(&home, Some("a"), &made("first"), None).unwrap());
        assert_eq!(reason(&home, "a"), None);
    }

    #[test]
    fn a_pause_made_after_somebody_looked_is_not_lifted() {
        let (_folder, home) = home();
        let now = ManualClock::new().now();
        assert_eq!(pause(&home, Some("a"), Some("first"), &now).unwrap(), None);
        let seen = read(&home);
        let before = pause(&home, Some("a"), Some("second"), &now).unwrap();
        assert_eq!(before.unwrap().reason.as_deref(), Some("first"));
        assert_eq!(resume_if(&home, Some("a"), &seen).unwrap(), None);
        assert_eq!(resume_if(&home, None, &seen).unwrap(), None);
        assert!(reason(&home, "a").unwrap().ends_with("second"));
        assert_eq!(resume_if(&home, Some("a"), &read(&home)).unwrap(), Some(true));
        assert_eq!(reason(&home, "a"), None);
    }

    #[test]
    fn pauses_made_at_once_all_hold() {
        let (_folder, home) = home();
        let now = ManualClock::new().now();
        let names: Vec<String> = (0..16).map(|number| format!("s{number}")).collect();
        std::thread::scope(|scope| {
            for name in &names {
                scope.spawn(|| pause(&home, Some(name.as_str()), None, &now).unwrap());
            }
        });
        assert!(names.iter().all(|name| reason(&home, name).is_some()), "{:?}", read(&home));
    }

    #[test]
    fn a_broken_switch_means_paused_with_words() {
        let (_folder, home) = home();
        for text in ["", "{", "[]", r#"{"all":null,"extra":1}"#, r#"{"servers":{"a":null}}"#] {
            callgate_home::atomic::replace(&home.paused(), text.as_bytes()).unwrap();
            assert!(reason(&home, "a").unwrap().contains("cannot be understood"), "{text}");
        }
        pause(&home, Some("a"), None, &ManualClock::new().now()).unwrap();
        assert!(reason(&home, "b").is_some(), "a broken switch paused everything and still does");
        resume(&home, None).unwrap();
        assert_eq!(reason(&home, "a"), None);
    }
}
