//! Looking at the tree of a living session, and writing down what is new.

use std::collections::HashSet;
use std::path::PathBuf;
use std::{fs, io};

use callgate_home::{Home, Lease, SessionId};
use callgate_redaction::Masker;
use callgate_supervise::{ObservedProcess, ProcessId, arguments, identify, lives, tree_of};

use crate::record::{Here, MOST, Member, Record};
use crate::text::{brief, full, is_same_program};

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

impl About {
    /// Of a session that somebody else runs; none if its processes cannot be seen from here.
    pub fn of(lease: &Lease, here: &Here) -> Option<About> {
        here.has(lease).then(|| About {
            session: lease.session,
            shim: lease.pid,
            server: lease.server.clone(),
            client: lease.client.clone(),
            command: lease.command.clone(),
            began_ms: lease.started_ms,
            keeper: None,
        })
    }
}

/// Looks at a living session's tree and brings its record up to date; nothing is written when nothing is new. Costs a look at
/// every process of the system: not for the way of a call.
///
/// `masker` is that of the session's own shim, which alone knows what the server's secrets are. Anybody else has none, and
/// writes down programs without their arguments.
pub fn note(home: &Home, here: &Here, about: &About, masker: Option<&Masker>) -> io::Result<()> {
    let known = Record::read(home, about.session);
    // Written where other processes have these numbers: theirs to keep.
    if known.as_ref().is_some_and(|record| !record.is_of(here)) {
        return Ok(());
    }
    let record = updated(known.clone(), here, about, tree_of(about.shim), masker);
    if known.as_ref() == Some(&record) { Ok(()) } else { record.write(home) }
}

fn updated(
    known: Option<Record>,
    here: &Here,
    about: &About,
    seen: Vec<ObservedProcess>,
    masker: Option<&Masker>,
) -> Record {
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
        profiles: Vec::new(),
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
    let (alive, gone): (Vec<Member>, Vec<Member>) = std::mem::take(&mut record.members)
        .into_iter()
        .partition(|member| there.contains(&member.id()) || lives(member.id()));
    record.members = alive;
    record.profiles.extend(gone.into_iter().filter_map(|member| member.profile));
    record.profiles.sort();
    record.profiles.dedup();
    // One that its browser took away itself is nobody's any more.
    record.profiles.retain(|path| fs::symlink_metadata(path).is_ok());
    record.profiles.truncate(MOST);
    for one in seen {
        let arguments = arguments(one.id.pid);
        let fresh = member(&one, &arguments, masker);
        match record.members.iter_mut().find(|member| member.id() == one.id) {
            Some(before) => before.becomes(fresh, arguments.is_empty()),
            None => record.members.push(fresh),
        }
    }
    record.members.truncate(MOST);
    record
}

impl Member {
    /// A process is forked first and becomes what it is to be a moment later; it was seen in between.
    fn becomes(&mut self, fresh: Member, silent: bool) {
        let profile = fresh.profile.or(self.profile.take());
        // Who does not know the secrets has nothing to say about the arguments of the same program.
        let knew_more = fresh.brief && !self.brief && is_same_program(&self.command, &fresh.command);
        if !silent && !knew_more {
            (self.command, self.brief) = (fresh.command, fresh.brief);
        }
        self.profile = profile;
    }
}

fn member(seen: &ObservedProcess, arguments: &[String], masker: Option<&Masker>) -> Member {
    let command = match masker {
        Some(masker) => full(arguments, &seen.name, masker),
        None => brief(arguments, &seen.name),
    };
    let (pid, start) = (seen.id.pid, seen.id.start);
    Member { pid, start, command, brief: masker.is_none(), profile: profile(arguments) }
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

    use callgate_redaction::Secret;

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

    fn about() -> About {
        About {
            session: SessionId::random(),
            shim: 1,
            server: "s".to_owned(),
            client: None,
            command: Vec::new(),
            began_ms: 7,
            keeper: Some(std::process::id()),
        }
    }

    fn member_of(id: ProcessId, profile: Option<&Path>) -> Member {
        let profile = profile.map(Path::to_owned);
        Member { pid: id.pid, start: id.start, command: "x".to_owned(), brief: false, profile }
    }

    fn gone(start: u64, profile: Option<&Path>) -> Member {
        member_of(ProcessId { pid: u32::MAX, start }, profile)
    }

    fn myself() -> Option<ObservedProcess> {
        identify(std::process::id()).map(|id| ObservedProcess { id, parent: None, name: "me".to_owned() })
    }

    #[test]
    fn what_is_gone_leaves_the_record_but_its_profile_stays() {
        let masker = Masker::new(&[Secret::new("hunter2hunter2".to_owned())]);
        let there = std::env::temp_dir();
        let mut known = updated(None, &Here::now(), &about(), Vec::new(), Some(&masker));
        assert_eq!(known.keeper.map(|keeper| keeper.pid), Some(std::process::id()));
        known.members = vec![gone(0, None), gone(1, Some(&there)), gone(2, Some(Path::new("/no/such")))];
        let client = About { client: Some("cursor".to_owned()), keeper: None, ..about() };
        let record =
            updated(Some(known), &Here::now(), &client, myself().into_iter().collect(), Some(&masker));
        let members: Vec<u32> = record.members.iter().map(|member| member.pid).collect();
        assert_eq!(members, [std::process::id()]);
        assert_eq!(record.named_profiles(), [&there], "one that is no more is nobody's");
        assert_eq!(record.client.as_deref(), Some("cursor"));
        assert!(record.keeper.is_some(), "what was known stays known");
    }

    #[test]
    fn a_long_session_with_many_browsers_before_keeps_who_lives_on_record() {
        let there = std::env::temp_dir();
        let mut known = updated(None, &Here::now(), &about(), Vec::new(), None);
        known.members = (0..MOST as u64).map(|start| gone(start, Some(&there))).collect();
        let record = updated(Some(known), &Here::now(), &about(), myself().into_iter().collect(), None);
        assert_eq!(record.members.iter().map(|one| one.pid).collect::<Vec<_>>(), [std::process::id()]);
        assert_eq!(record.profiles, [there]);
    }

    #[test]
    fn what_the_gate_masked_is_not_replaced_by_who_knows_less_unless_it_became_another_program() {
        let id = ProcessId { pid: 9, start: 9 };
        let of =
            |command: &str, brief: bool| Member { command: command.to_owned(), brief, ..member_of(id, None) };
        let full = "node server.js --key [masked, 7 characters]";
        for (before, fresh, silent, wanted) in [
            (of(full, false), of("node …", true), false, full),
            (of("callgate run", false), of("node …", true), false, "node …"),
            (of("node …", true), of(full, false), false, full),
            (of("node …", true), of("sh …", true), false, "sh …"),
            (of(full, false), of("[node]", false), true, full),
        ] {
            let mut now = before.clone();
            now.becomes(fresh.clone(), silent);
            assert_eq!(now.command, wanted, "{before:?} {fresh:?}");
        }
    }

    #[test]
    fn a_secret_in_a_command_line_is_not_written_down() {
        let masker = Masker::new(&[Secret::new("hunter2hunter2".to_owned())]);
        let seen =
            ObservedProcess { id: ProcessId { pid: 1, start: 2 }, parent: None, name: "node".to_owned() };
        let member = member(&seen, &words("node --token hunter2hunter2 --key=hunter2hunter2"), Some(&masker));
        assert!(!member.command.contains("hunter2"), "{}", member.command);
    }
}
