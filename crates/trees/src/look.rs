//! Looking at the tree of a living session, and writing down what is new.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use callgate_store::mask::Masker;
use callgate_store::{Home, Lease, SessionId};
use callgate_supervise::{ProcessId, Seen, arguments, identify, lives, tree_of};

use crate::record::{Here, MOST, Member, Record};

/// The longest command line that is kept.
const COMMAND: usize = 1_024;

/// Whose tree it is.
#[derive(Clone, Debug)]
pub struct About {
    pub session: SessionId,
    /// The gate's own process.
    pub shim: u32,
    pub server: String,
    pub client: Option<String>,
    /// Secrets masked.
    pub command: Vec<String>,
    pub began_ms: i64,
    /// If it is known to who looks.
    pub keeper: Option<u32>,
}

impl From<&Lease> for About {
    fn from(lease: &Lease) -> About {
        About {
            session: lease.session,
            shim: lease.pid,
            server: lease.server.clone(),
            client: lease.client.clone(),
            command: lease.command.clone(),
            began_ms: lease.started_ms,
            keeper: None,
        }
    }
}

/// Looks at a living session's tree and brings its record up to date; nothing is written when nothing is new. Costs a look at
/// every process of the system: not for the way of a call.
pub fn note(home: &Home, here: &Here, about: &About, masker: &Masker) -> io::Result<()> {
    let known = Record::read(home, about.session).filter(|record| record.is_of(here));
    let record = updated(known.clone(), here, about, tree_of(about.shim), masker);
    if known.as_ref() == Some(&record) { Ok(()) } else { record.write(home) }
}

fn updated(known: Option<Record>, here: &Here, about: &About, seen: Vec<Seen>, masker: &Masker) -> Record {
    let mut record = known.unwrap_or_else(|| Record {
        session: about.session,
        server: about.server.clone(),
        client: None,
        command: about.command.clone(),
        boot: here.boot.clone(),
        pid_namespace: here.pid_namespace.clone(),
        began_ms: about.began_ms,
        keeper: None,
        server_process: None,
        members: Vec::new(),
    });
    // It may be known by now, where it was not before.
    record.client = about.client.clone().or(record.client);
    record.keeper = about.keeper.and_then(identify).map(Into::into).or(record.keeper);
    if let Some(keeper) = record.keeper {
        // What the keeper started itself; orphans that came to it later are younger.
        let started = seen.iter().filter(|one| one.parent == Some(keeper.pid)).map(|one| one.id);
        record.server_process = started.min_by_key(|id| id.start).map(Into::into).or(record.server_process);
    }

    let there: HashSet<ProcessId> = seen.iter().map(|one| one.id).collect();
    // Who is gone is of no use any more, but for the profile that it used. Who has left the tree is still to be found.
    record
        .members
        .retain(|member| member.profile.is_some() || there.contains(&member.id()) || lives(member.id()));
    for one in seen {
        let arguments = arguments(one.id.pid);
        let before = record.members.iter_mut().find(|member| member.id() == one.id);
        // A process is forked first and becomes what it is to be a moment later; it was seen in between.
        let fresh = member(&one, &arguments, masker);
        match before {
            Some(before) if *before != fresh => {
                let profile = fresh.profile.or(before.profile.take());
                *before = Member { profile, ..fresh };
            }
            Some(_) => {}
            None => record.members.push(fresh),
        }
    }
    record.members.truncate(MOST);
    record
}

fn member(seen: &Seen, arguments: &[String], masker: &Masker) -> Member {
    let mut command = masker.command(arguments).join(" ");
    if command.is_empty() {
        command = format!("[{}]", seen.name);
    }
    command.truncate(command.floor_char_boundary(COMMAND));
    Member { pid: seen.id.pid, start: seen.id.start, command, profile: profile(arguments) }
}

/// The directory that a browser was told to keep its profile in.
pub(crate) fn profile(arguments: &[String]) -> Option<PathBuf> {
    const FLAG: &str = "--user-data-dir";
    // A command line in one piece was written anew by its process, and a path in it has no certain end.
    if arguments.len() < 2 {
        return None;
    }
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let value = match argument.strip_prefix(FLAG) {
            Some("") => rest.next().map(String::as_str),
            Some(value) => value.strip_prefix('='),
            None => None,
        };
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            return Some(PathBuf::from(value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_profile_is_what_the_command_line_names() {
        let cases = [
            ("chrome --user-data-dir=/tmp/a --headless", Some("/tmp/a")),
            ("chrome --user-data-dir /tmp/b", Some("/tmp/b")),
            ("chrome --user-data-dir= x", None),
            ("chrome --user-data-dir", None),
            ("chrome --user-data-dirs=/tmp/c", None),
            ("chrome --database=/tmp/d", None),
        ];
        for (line, wanted) in cases {
            assert_eq!(profile(&words(line)).as_deref(), wanted.map(Path::new), "{line}");
        }
        assert_eq!(
            profile(&["chrome --type=renderer --user-data-dir=/tmp/a".to_owned()]),
            None,
            "in one piece"
        );
    }

    #[test]
    fn what_is_gone_leaves_the_record_but_its_profile_stays() {
        let about = About {
            session: SessionId::random(),
            shim: 1,
            server: "s".to_owned(),
            client: None,
            command: Vec::new(),
            began_ms: 7,
            keeper: Some(std::process::id()),
        };
        let masker = Masker::new(&["hunter2hunter2".to_owned()]);
        let gone = |profile: Option<&str>| Member {
            pid: u32::MAX,
            start: u64::from(profile.is_some()),
            command: "x".to_owned(),
            profile: profile.map(PathBuf::from),
        };
        let mut known = updated(None, &Here::now(), &about, Vec::new(), &masker);
        assert_eq!(known.keeper.map(|keeper| keeper.pid), Some(std::process::id()));
        known.members = vec![gone(None), gone(Some("/tmp/p"))];
        let mine = identify(std::process::id());
        let seen = mine.map(|id| Seen { id, parent: None, name: "me".to_owned() });
        let client = About { client: Some("cursor".to_owned()), keeper: None, ..about };
        let record = updated(Some(known), &Here::now(), &client, seen.into_iter().collect(), &masker);
        let members: Vec<(u32, Option<&Path>)> =
            record.members.iter().map(|member| (member.pid, member.profile.as_deref())).collect();
        assert_eq!(members, [(u32::MAX, Some(Path::new("/tmp/p"))), (std::process::id(), None)]);
        assert_eq!(record.client.as_deref(), Some("cursor"));
        assert!(record.keeper.is_some(), "what was known stays known");
    }

    #[test]
    fn a_secret_in_a_command_line_is_not_written_down() {
        let masker = Masker::new(&["hunter2hunter2".to_owned()]);
        let seen = Seen { id: ProcessId { pid: 1, start: 2 }, parent: None, name: "node".to_owned() };
        let member = member(&seen, &words("node --token hunter2hunter2 --key=hunter2hunter2"), &masker);
        assert!(!member.command.contains("hunter2"), "{}", member.command);
    }
}
