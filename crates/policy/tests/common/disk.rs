//! A disk that exists only in a test: its links, its home, where relative paths start, and how paths are written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callgate_policy::{Files, Flavour};

#[derive(Clone, Debug)]
pub(crate) struct FakeDisk {
    pub(crate) links: BTreeMap<String, String>,
    pub(crate) home: Option<String>,
    pub(crate) here: Option<String>,
    pub(crate) folds_case: bool,
    pub(crate) flavour: Flavour,
    /// Folders that may not be looked into.
    pub(crate) closed: Vec<String>,
}

impl Default for FakeDisk {
    fn default() -> FakeDisk {
        FakeDisk {
            links: BTreeMap::new(),
            home: None,
            here: None,
            folds_case: false,
            flavour: Flavour::Unix,
            closed: Vec::new(),
        }
    }
}

impl FakeDisk {
    /// One `@name: value` line of a section. Says whether it was about the disk.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> bool {
        match (name, value.split_once(" -> ")) {
            ("link", Some((from, to))) => drop(self.links.insert(from.to_owned(), to.to_owned())),
            ("disk", _) if value == "windows" => (self.flavour, self.folds_case) = (Flavour::Windows, true),
            ("disk", _) if value == "macos" => self.folds_case = true,
            ("disk", _) => assert_eq!(value, "linux"),
            ("person", _) => self.home = Some(value.to_owned()),
            ("here", _) => self.here = Some(value.to_owned()),
            ("closed", _) => self.closed.push(value.to_owned()),
            _ => return false,
        }
        true
    }

    fn separator(&self) -> char {
        if self.flavour == Flavour::Windows { '\\' } else { '/' }
    }

    fn same(&self, a: &str, b: &str) -> bool {
        a == b || self.folds_case && a.to_lowercase() == b.to_lowercase()
    }

    /// The root with its separator, and the names below it.
    fn split<'t>(&self, path: &'t str) -> (&'t str, Vec<String>) {
        let root = if self.flavour == Flavour::Windows {
            // `C:\`, or `\\server\share\`
            match path.strip_prefix(r"\\") {
                Some(rest) => 2 + rest.match_indices('\\').nth(1).map_or(rest.len(), |(at, _)| at + 1),
                None => 3,
            }
        } else {
            1
        };
        let names = path[root..].split(self.separator()).filter(|n| !matches!(*n, "" | "."));
        (&path[..root], names.map(str::to_owned).collect())
    }
}

impl Files for FakeDisk {
    /// Step by step, as a kernel walks.
    fn real(&self, path: &Path) -> Result<PathBuf, String> {
        let text = path.to_str().ok_or("is no text")?;
        let (root, mut left) = self.split(text);
        let (mut at, mut followed) = (Vec::<String>::new(), 0);
        let mut root = root.to_owned();
        while !left.is_empty() {
            let name = left.remove(0);
            if name == ".." {
                at.pop();
                continue;
            }
            at.push(name);
            let separator = self.separator().to_string();
            let found = format!("{root}{}", at.join(&separator));
            if self.closed.iter().any(|closed| self.same(closed, &found)) {
                return Err("is in a folder that may not be read".to_owned());
            }
            let Some((_, target)) = self.links.iter().find(|(from, _)| self.same(from, &found)) else {
                continue;
            };
            followed += 1;
            if followed > 20 {
                return Err("is a loop of links".to_owned());
            }
            at.pop();
            let absolute = target.starts_with(['/', '\\']) || target.get(1..2) == Some(":");
            let names = if absolute {
                let (new_root, names) = self.split(target);
                root = new_root.to_owned();
                at.clear();
                names
            } else {
                target.split(self.separator()).map(str::to_owned).collect()
            };
            left.splice(0..0, names);
        }
        Ok(PathBuf::from(format!("{root}{}", at.join(&self.separator().to_string()))))
    }

    fn home(&self) -> Option<PathBuf> {
        self.home.as_ref().map(PathBuf::from)
    }

    fn here(&self) -> Option<PathBuf> {
        self.here.as_ref().map(PathBuf::from)
    }

    fn folds_case(&self) -> bool {
        self.folds_case
    }

    fn flavour(&self) -> Flavour {
        self.flavour
    }
}
