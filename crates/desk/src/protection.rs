//! How well the calls of a session are watched, and what is wrong if they are not.
//!
//! A function of the files that decide and of what the session says of itself; `callgate status` and the window tell
//! the same.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use callgate_controls::allowance::{self, Allowance, AllowanceScope, Allowances};
use callgate_controls::pause;
use callgate_home::clock::Moment;
use callgate_home::{Home, Lease, read_private};
use callgate_policy::{Policy, same_client};
use callgate_text::name;

use crate::view::Protection;

/// What is wrong, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    Paused,
    Observed,
    /// There never was a good policy: everything is refused.
    NoPolicy,
    /// The file is broken; an earlier policy stays in force.
    FileBroken,
    /// Its own file is gone; what it said stays in force until the session ends.
    FileDeleted,
    /// The file says something else than what is in force.
    Older,
}

/// How well one session is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    pub protection: Protection,
    /// What is wrong, in words.
    pub problem: Option<(Trouble, String)>,
}

/// The files that decide, as they are at this moment; each is read once, however many sessions ask.
#[derive(Debug)]
pub struct Guards<'h> {
    home: &'h Home,
    now: Moment,
    pub allowances: Allowances,
    policies: HashMap<PathBuf, Result<String, Unusable>>,
}

/// Why a policy file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    Missing(String),
    Unreadable(String),
    Broken(String),
}

impl Unusable {
    /// Names the file, and what is wrong with it.
    pub fn why(&self) -> &str {
        match self {
            Unusable::Missing(why) | Unusable::Unreadable(why) | Unusable::Broken(why) => why,
        }
    }
}

/// The version that a file holds.
pub(crate) fn version_in(path: &Path) -> Result<String, Unusable> {
    match read_private(path) {
        Ok(text) => match Policy::parse(&text) {
            Ok(policy) => Ok(policy.version().to_owned()),
            Err(report) => Err(Unusable::Broken(format!("{}: {}", path.display(), report.headline()))),
        },
        Err(error) => {
            let why = format!("{} cannot be read: {error}", path.display());
            let missing = error.kind() == io::ErrorKind::NotFound;
            Err(if missing { Unusable::Missing(why) } else { Unusable::Unreadable(why) })
        }
    }
}

impl<'h> Guards<'h> {
    pub fn read(home: &'h Home, now: Moment) -> Guards<'h> {
        Guards { home, now, allowances: allowance::read(home), policies: HashMap::new() }
    }

    pub fn for_session(&mut self, lease: &Lease) -> Guarded {
        if let Some(switched) = self.switched(&lease.server, lease.client.as_deref()) {
            return switched;
        }
        let problem = self.policy_problem(lease);
        match (problem, &lease.policy_version) {
            // It never had a good policy: everything is refused.
            (problem, None) => {
                let words =
                    problem.map_or("there was no usable policy when it started".to_owned(), |one| one.1);
                Guarded { protection: Protection::Broken, problem: Some((Trouble::NoPolicy, words)) }
            }
            (problem, _) if lease.watch_only => Guarded { protection: Protection::WatchOnly, problem },
            (problem, _) => Guarded { protection: Protection::Enforcing, problem },
        }
    }

    /// Of a server that does not run: what its next session would get.
    pub fn for_next_session(&mut self, server: &str) -> Guarded {
        if let Some(switched) = self.switched(server, None) {
            return switched;
        }
        let path = self.path(server);
        match self.version(&path) {
            Err(unusable) => {
                let why = unusable.why().to_owned();
                Guarded { protection: Protection::Broken, problem: Some((Trouble::NoPolicy, why)) }
            }
            Ok(_) => {
                let watch_only = read_private(&path)
                    .ok()
                    .and_then(|text| Policy::parse(&text).ok())
                    .is_some_and(|policy| policy.watch_only());
                let protection = if watch_only { Protection::WatchOnly } else { Protection::Enforcing };
                Guarded { protection, problem: None }
            }
        }
    }

    /// Has the server no policy of its own, and is the default one, which counts for it, no policy?
    pub(crate) fn lacks_default(&mut self, server: &str) -> bool {
        !self.home.policy(server).exists() && self.version(&self.home.default_policy()).is_err()
    }

    /// By a person's pause, or for a while: then its policy does not matter.
    fn switched(&self, server: &str, client: Option<&str>) -> Option<Guarded> {
        let paused = match client {
            Some(client) => pause::reason_for(self.home, server, client),
            None => pause::reason(self.home, server),
        };
        if let Some(reason) = paused {
            return Some(Guarded {
                protection: Protection::Paused,
                problem: Some((Trouble::Paused, reason)),
            });
        }
        // Of one that no client is known of yet, whoever it is for may be its client.
        let is_its = |granted: &&Allowance| match (granted.client.as_deref(), client) {
            (Some(whom), Some(client)) => same_client(whom, client),
            _ => true,
        };
        let mut observed = self
            .allowances
            .open(server, &self.now)
            .filter(|granted| granted.what == AllowanceScope::Observe)
            .filter(is_its);
        observed.next().map(|granted| {
            let whom =
                granted.client.as_deref().map(|client| format!(", for {}", name(client))).unwrap_or_default();
            let problem = format!("a person has set its policy aside for a while{whom}");
            Guarded { protection: Protection::Observed, problem: Some((Trouble::Observed, problem)) }
        })
    }

    /// The file that a new session of this server would read.
    fn path(&self, server: &str) -> PathBuf {
        let own = self.home.policy(server);
        if own.exists() { own } else { self.home.default_policy() }
    }

    /// The version that a file holds.
    pub fn version(&mut self, path: &Path) -> Result<String, Unusable> {
        if let Some(known) = self.policies.get(path) {
            return known.clone();
        }
        let read = version_in(path);
        self.policies.insert(path.to_owned(), read.clone());
        read
    }

    /// What is wrong with the policy file as it is now. A session may still run on an earlier, good one.
    fn policy_problem(&mut self, lease: &Lease) -> Option<(Trouble, String)> {
        let own = self.home.policy(&lease.server).exists();
        let path = self.path(&lease.server);
        match (self.version(&path), lease.policy_version.as_deref()) {
            (Err(Unusable::Missing(why) | Unusable::Unreadable(why)), _) => Some((Trouble::FileBroken, why)),
            (_, None) => None,
            (Err(Unusable::Broken(what)), Some(in_force)) => Some((
                Trouble::FileBroken,
                format!("{what}; policy {in_force} stays in force until this is mended"),
            )),
            (Ok(version), Some(in_force)) if version != in_force => {
                let trouble = if own { Trouble::Older } else { Trouble::FileDeleted };
                let words = format!(
                    "this session keeps policy {in_force}, but a new one would get {}",
                    path.display()
                );
                Some((trouble, words))
            }
            (Ok(_), Some(_)) => None,
        }
    }

    /// Was the policy of this server written so lately that its sessions may not have seen it yet?
    pub fn is_fresh(&self, server: &str) -> bool {
        /// Sessions follow an edit within a fraction of this.
        const SETTLED: Duration = Duration::from_secs(3);
        let written = self.path(server).metadata().and_then(|meta| meta.modified());
        // By the system's clock, as files are stamped.
        written.is_ok_and(|at| SystemTime::now().duration_since(at).unwrap_or_default() < SETTLED)
    }
}

impl Protection {
    /// As `callgate status` says it.
    pub fn word(self) -> &'static str {
        match self {
            Protection::Enforcing => "enforcing",
            Protection::WatchOnly => "watch-only",
            Protection::Observed => "observed",
            Protection::Paused => "paused",
            Protection::Broken => "broken",
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use callgate_home::clock::Clock as _;
    use callgate_home::running;

    use super::*;
    use crate::testing::TestHome;

    #[test]
    fn what_is_only_observed_for_one_client_is_enforced_for_others() {
        let place = TestHome::new();
        place.write_policy("s", crate::testing::POLICY);
        let _sessions = [place.session_of("s", "cursor"), place.session_of("s", "zed")];
        let now = place.clock.now();
        let hour = Duration::from_secs(3_600);
        allowance::grant_to(&place.home, &now, ("s", Some("cursor")), AllowanceScope::Observe, hour).unwrap();
        let mut guards = Guards::read(&place.home, now);
        let mut found: Vec<_> = running(&place.home)
            .iter()
            .map(|lease| (lease.client.clone().unwrap(), guards.for_session(lease).protection))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let (cursor, zed) = ("cursor".to_owned(), "zed".to_owned());
        assert_eq!(found, [(cursor, Protection::Observed), (zed, Protection::Enforcing)]);
    }
}
