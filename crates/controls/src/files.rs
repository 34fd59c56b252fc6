//! Where paths lead on this machine's disk: links followed as the system follows them, names that do not exist yet kept.
//!
//! This is what a policy's `inside` and `not_inside` look through. It answers for the moment of the question only: who can
//! change links between the answer and the use can go around it, as around every check of a name.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use callgate_policy::Files;

/// As many as Linux follows before it calls them a loop.
const MOST_LINKS: usize = 40;

#[derive(Clone, Debug, Default)]
pub struct Disk {
    home: Option<PathBuf>,
    here: Option<PathBuf>,
}

impl Disk {
    /// This person's home, and this process's folder: a server that it starts begins in the same one.
    pub fn new() -> Disk {
        Disk { home: env::home_dir().filter(|home| home.is_absolute()), here: env::current_dir().ok() }
    }

    /// For another person or another place.
    pub fn at(home: Option<PathBuf>, here: Option<PathBuf>) -> Disk {
        Disk { home, here }
    }
}

impl Files for Disk {
    fn real(&self, path: &Path) -> Result<PathBuf, String> {
        settled(walked(path)?)
    }

    fn home(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    fn here(&self) -> Option<PathBuf> {
        self.here.clone()
    }

    fn folds_case(&self) -> bool {
        cfg!(any(windows, target_os = "macos"))
    }
}

enum PathComponent {
    Root(PathBuf),
    Up,
    Into(OsString),
}

fn steps(path: &Path) -> Vec<PathComponent> {
    let mut steps = Vec::new();
    let mut prefix = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Prefix(found) => prefix.push(found.as_os_str()),
            Component::RootDir => {
                prefix.push(component.as_os_str());
                steps.push(PathComponent::Root(prefix.clone()));
            }
            Component::CurDir => {}
            Component::ParentDir => steps.push(PathComponent::Up),
            Component::Normal(name) => steps.push(PathComponent::Into(name.to_owned())),
        }
    }
    steps
}

/// Name by name. A name that does not exist is kept: the file may be about to be made.
fn walked(path: &Path) -> Result<PathBuf, String> {
    let mut left: VecDeque<PathComponent> = steps(path).into();
    if !matches!(left.front(), Some(PathComponent::Root(_))) {
        return Err("is not an absolute path".to_owned());
    }
    let (mut at, mut links) = (PathBuf::new(), 0);
    while let Some(step) = left.pop_front() {
        let name = match step {
            PathComponent::Root(root) => {
                at = root;
                continue;
            }
            PathComponent::Up => {
                at.pop();
                continue;
            }
            PathComponent::Into(name) => name,
        };
        let found = at.join(name);
        match fs::symlink_metadata(&found) {
            Ok(is) if is.is_symlink() => {
                links += 1;
                if links > MOST_LINKS {
                    return Err("is a loop of links, or a very long row of them".to_owned());
                }
                let target = fs::read_link(&found).map_err(|error| trouble(&error))?;
                for step in steps(&target).into_iter().rev() {
                    left.push_front(step);
                }
            }
            Ok(_) => at = found,
            // A file where a folder was meant: nothing can be below it.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                at = found
            }
            Err(error) => return Err(trouble(&error)),
        }
    }
    Ok(at)
}

/// The part that exists as the system spells it (long names, one case), the rest as it is.
fn settled(path: PathBuf) -> Result<PathBuf, String> {
    let mut missing = Vec::new();
    let mut existing = path.as_path();
    loop {
        match fs::canonicalize(existing) {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Ok(real);
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                let (Some(above), Some(name)) = (existing.parent(), existing.file_name()) else {
                    return Ok(path);
                };
                missing.push(name.to_owned());
                existing = above;
            }
            Err(error) => return Err(trouble(&error)),
        }
    }
}

fn trouble(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "passes through a folder that may not be read".to_owned(),
        ErrorKind::InvalidFilename => "holds a name that is too long".to_owned(),
        _ => format!("leads to a place that cannot be told ({error})"),
    }
}

#[cfg(all(test, unix))]
mod tests;
