//! Policies of servers that do not run: which of them are broken.
//!
//! Checked every second, so a file is read again only when it looks another than before. What it remembers is lost without
//! harm.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use callgate_history::History;
use callgate_home::{Home, Lease};

use crate::protection::{Unusable, version_in};
use crate::servers::listed;

/// Files that are looked at: whoever has more has other worries.
const MOST: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct StoppedPolicies {
    known: HashMap<PathBuf, LastCheck>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LastCheck {
    stamp: Stamp,
    problem: Option<Unusable>,
}

/// What tells whether a file has to be read again: whatever decides on what is read, or that it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: SystemTime,
    #[cfg(unix)]
    mode: u32,
    #[cfg(unix)]
    owner: u32,
}

impl Stamp {
    /// None: of a file system that keeps no times.
    fn from_metadata(meta: &Metadata) -> Option<Stamp> {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt as _;
        Some(Stamp {
            bytes: meta.len(),
            modified: meta.modified().ok()?,
            #[cfg(unix)]
            mode: meta.mode(),
            #[cfg(unix)]
            owner: meta.uid(),
        })
    }
}

/// A policy that cannot be used, of a server that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Unknown if the file is named by a hash that fits no server.
    pub(crate) server: Option<String>,
    pub(crate) path: PathBuf,
    pub(crate) why: String,
    /// It is the text that is wrong.
    pub(crate) readable: bool,
}

impl StoppedPolicies {
    pub(crate) fn look(&mut self, home: &Home, sessions: &[Lease]) -> Vec<Broken> {
        let running: HashSet<PathBuf> = sessions.iter().map(|lease| home.policy(&lease.server)).collect();
        let default = home.default_policy();
        let mut paths: Vec<PathBuf> = std::fs::read_dir(home.policies_dir())
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .filter(|path| *path != default && !running.contains(path))
            .take(MOST)
            .collect();
        paths.sort_unstable();
        let before = std::mem::take(&mut self.known);
        let mut broken = Vec::new();
        for path in paths {
            let Ok(meta) = path.symlink_metadata() else { continue };
            let stamp = Stamp::from_metadata(&meta);
            let known = before.get(&path).filter(|known| Some(known.stamp) == stamp);
            let problem = match known {
                Some(known) => known.problem.clone(),
                None => version_in(&path).err(),
            };
            let readable = matches!(problem, None | Some(Unusable::Broken(_)));
            if let Some(unusable) = &problem {
                let (server, why) = (server_of(home, &path), unusable.why().to_owned());
                broken.push(Broken { server, path: path.clone(), why, readable });
            }
            // What kept it from being read may be something that does not show on the file.
            if let Some(stamp) = stamp.filter(|_| readable) {
                self.known.insert(path, LastCheck { stamp, problem });
            }
        }
        broken
    }
}

/// A plain name is that of the file; of another, the file's name has only a hash.
fn server_of(home: &Home, path: &Path) -> Option<String> {
    let is_its = |server: &String| home.policy(server) == path;
    let plain = path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned).filter(is_its);
    plain.or_else(|| {
        let listed = listed::read(home).servers.into_iter().map(|(name, _)| name);
        let recorded = History::open_reader(home).and_then(|history| history.servers()).unwrap_or_default();
        listed.chain(recorded).find(is_its)
    })
}
