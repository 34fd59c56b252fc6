//! The pause switch: `control/paused.json`. Its content at this moment counts; content that cannot be
//! understood means paused.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::clock::Moment;
use crate::home::{Home, lock_file, read_private};

/// Everything that is paused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pauses {
    /// Every server.
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

/// Why calls to this server are paused, if they are.
pub fn reason(home: &Home, server: &str) -> Option<String> {
    read(home).reason(server)
}

impl Switch {
    /// Why calls to this server are paused, if they are.
    pub fn reason(&self, server: &str) -> Option<String> {
        match self {
            Switch::Broken(why) => Some(format!("all calls are paused, because {why}")),
            Switch::Readable(pauses) => {
                let (pause, what) = match (&pauses.all, pauses.servers.get(server)) {
                    (Some(pause), _) => (pause, "all calls are".to_owned()),
                    (None, Some(pause)) => (pause, format!("calls to {server} are")),
                    (None, None) => return None,
                };
                Some(match pause.reason.as_deref().filter(|reason| !reason.is_empty()) {
                    Some(reason) => format!("{what} paused by the user: {reason}"),
                    None => format!("{what} paused by the user"),
                })
            }
        }
    }
}

/// Pauses one server, or all of them. What was there and could not be understood is replaced by this. Returns what was
/// in its place before.
pub fn pause(
    home: &Home,
    server: Option<&str>,
    reason: Option<&str>,
    now: &Moment,
) -> io::Result<Option<Pause>> {
    let _alone = lock_file(&home.paused_lock())?;
    let mut pauses = match read(home) {
        Switch::Readable(pauses) => pauses,
        // Stays as wide as it was: everything.
        Switch::Broken(_) => {
            Pauses { all: Some(Pause { since_ms: now.wall_ms, reason: None }), ..Pauses::default() }
        }
    };
    let pause = Pause { since_ms: now.wall_ms, reason: reason.map(str::to_owned) };
    let before = match server {
        Some(server) => pauses.servers.insert(server.to_owned(), pause),
        None => pauses.all.replace(pause),
    };
    write(home, &pauses).map(|()| before)
}

/// Sets one place of the switch to what it was before, or to nothing, if it still is as `made` says. `false`: somebody
/// changed it since, and nothing was done.
pub fn put_back(home: &Home, server: Option<&str>, made: &Pause, before: Option<&Pause>) -> io::Result<bool> {
    let _alone = lock_file(&home.paused_lock())?;
    let Switch::Readable(mut pauses) = read(home) else { return Ok(false) };
    let now = match server {
        Some(server) => pauses.servers.get(server),
        None => pauses.all.as_ref(),
    };
    if now != Some(made) {
        return Ok(false);
    }
    match (server, before) {
        (Some(server), Some(before)) => drop(pauses.servers.insert(server.to_owned(), before.clone())),
        (Some(server), None) => drop(pauses.servers.remove(server)),
        (None, before) => pauses.all = before.cloned(),
    }
    write(home, &pauses).map(|()| true)
}

/// Ends the pause of one server (a pause of all stays), or every pause. Says whether anything was paused.
pub fn resume(home: &Home, server: Option<&str>) -> io::Result<bool> {
    let _alone = lock_file(&home.paused_lock())?;
    lift(home, server, &read(home))
}

/// The same, if the switch still is as it was `seen`; none if somebody changed it since, and then nothing was done.
pub fn resume_if(home: &Home, server: Option<&str>, seen: &Switch) -> io::Result<Option<bool>> {
    let _alone = lock_file(&home.paused_lock())?;
    if read(home) == *seen { lift(home, server, seen).map(Some) } else { Ok(None) }
}

/// While the lock is held.
fn lift(home: &Home, server: Option<&str>, before: &Switch) -> io::Result<bool> {
    let after = match (before, server) {
        (Switch::Readable(pauses), Some(server)) => {
            let mut pauses = pauses.clone();
            pauses.servers.remove(server);
            pauses
        }
        // One server cannot be taken out of what nobody can read.
        (Switch::Broken(why), Some(_)) => {
            return Err(io::Error::new(io::ErrorKind::InvalidData, why.clone()));
        }
        (_, None) => Pauses::default(),
    };
    if *before == Switch::Readable(after.clone()) {
        return Ok(false);
    }
    write(home, &after).map(|()| true)
}

fn write(home: &Home, pauses: &Pauses) -> io::Result<()> {
    let text = serde_json::to_vec(pauses).map_err(io::Error::other)?;
    atomic::replace(&home.paused(), &text)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::clock::{Clock, ManualClock};

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        home.prepare().unwrap();
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
                scope.spawn(|| pause(&home, Some(name), None, &now).unwrap());
            }
        });
        assert!(names.iter().all(|name| reason(&home, name).is_some()), "{:?}", read(&home));
    }

    #[test]
    fn a_broken_switch_means_paused_with_words() {
        let (_folder, home) = home();
        for text in ["", "{", "[]", r#"{"all":null,"extra":1}"#, r#"{"servers":{"a":null}}"#] {
            atomic::replace(&home.paused(), text.as_bytes()).unwrap();
            assert!(reason(&home, "a").unwrap().contains("cannot be understood"), "{text}");
        }
        pause(&home, Some("a"), None, &ManualClock::new().now()).unwrap();
        assert!(reason(&home, "b").is_some(), "a broken switch paused everything and still does");
        resume(&home, None).unwrap();
        assert_eq!(reason(&home, "a"), None);
    }
}
