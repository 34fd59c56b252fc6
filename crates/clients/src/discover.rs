//! Which files of which clients are on this machine. Looks at names only: on some systems reading another program's file
//! makes the system ask the person, so nothing is read before somebody wants to know what is in it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::ledger::LedgerKey;
use crate::plan::place_for_new;
use crate::system::System;
use crate::table::{Client, ConfigLocation, ConfigScope, Sure, clients};

/// A file of a client that exists.
#[derive(Clone, Debug)]
pub struct Found {
    pub client: &'static Client,
    pub path: PathBuf,
    /// The rows that it answers to: Claude Code keeps two kinds of servers in one file.
    pub places: Vec<&'static ConfigLocation>,
    /// The client reads this file in its stead.
    pub shadowed_by: Option<PathBuf>,
}

impl Found {
    /// The entry of this name, of a project where the file has several.
    pub fn key(&self, project: Option<String>, name: &str) -> LedgerKey {
        LedgerKey {
            client: self.client.id.to_owned(),
            path: self.path.clone(),
            project,
            name: name.to_owned(),
        }
    }

    /// An administrator's file, or one in a sandbox: shown, never edited.
    pub fn managed(&self) -> bool {
        self.places.iter().all(|place| matches!(place.scope, ConfigScope::Managed | ConfigScope::Sandboxed))
    }

    /// Of a client in a sandbox.
    pub(crate) fn sandboxed(&self) -> bool {
        self.places.iter().all(|place| place.scope == ConfigScope::Sandboxed)
    }
}

/// The files of one client. Those of a project are looked for in each of `projects`.
pub fn discover(system: &System, client: &'static Client, projects: &[PathBuf]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for place in client.places.iter().filter(|place| place.os.contains(&system.os)) {
        for project in projects_of(place, projects) {
            let Some((folder, pattern)) = system.split(place.path, project) else { continue };
            for path in existing(folder, pattern) {
                match found.iter_mut().find(|known| known.path == path) {
                    Some(known) => known.places.push(place),
                    None => found.push(Found { client, path, places: vec![place], shadowed_by: None }),
                }
            }
        }
    }
    for index in 0..found.len() {
        found[index].shadowed_by = shadow(&found[index], &found[..index]);
    }
    found
}

/// The file that a new server of this person goes into: one that is there, or one that may be made because its folder is
/// there, and its client's vendor says that the client reads it.
pub fn file_for_new(system: &System, client: &'static Client) -> Option<Found> {
    let mut there: Vec<Found> = discover(system, client, &[]);
    there.retain(|found| found.shadowed_by.is_none() && place_for_new(&found.places).is_some());
    let of =
        |found: &Found, scope: ConfigScope| place_for_new(&found.places).filter(|place| place.scope == scope);
    let exact = |found: &&Found| of(found, ConfigScope::User).is_some_and(|place| !place.path.contains('*'));
    if let Some(found) = there.iter().find(exact) {
        return Some(found.clone());
    }
    // Of several that a pattern fits, nobody knows which one is meant.
    let mut fitting = there.iter().filter(|found| of(found, ConfigScope::User).is_some());
    if let (Some(only), None) = (fitting.next(), fitting.next()) {
        return Some(only.clone());
    }
    let places = client.places.iter().filter(|place| place.os.contains(&system.os) && may_be_made(place));
    let mut made = places.filter_map(|place| {
        let path = system.expand(place.path, None)?;
        let folder = path.parent()?;
        // The person's own folder is there for everybody.
        (folder.is_dir() && folder != system.home && path.symlink_metadata().is_err()).then(|| Found {
            client,
            path,
            places: vec![place],
            shadowed_by: None,
        })
    });
    made.next().or_else(|| there.iter().find(|found| of(found, ConfigScope::Legacy).is_some()).cloned())
}

fn may_be_made(place: &ConfigLocation) -> bool {
    place.scope == ConfigScope::User
        && place.stands_alone
        && place.sure != Sure::Told
        && !place.path.contains('*')
        && place.shape.section.len() == 1
}

/// The folders in which files of a person may be or come to be: those of the rows without a `*` before the name.
pub fn folders(system: &System) -> Vec<PathBuf> {
    let rows = clients().iter().flat_map(|client| client.places);
    let here = rows.filter(|place| place.os.contains(&system.os) && place.scope != ConfigScope::Project);
    let paths = here.filter_map(|place| system.expand(place.path, None));
    let folders = paths.filter_map(|path| path.parent().map(Path::to_owned));
    folders.filter(|folder| !folder.to_string_lossy().contains('*')).collect()
}

/// A file that we edited before, wherever it is: its rows are those whose files have its name.
pub fn known(client: &'static Client, path: PathBuf) -> Found {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let mut places: Vec<&'static ConfigLocation> = Vec::new();
    for place in client.places {
        let pattern = place.path.rsplit('/').next().unwrap_or_default();
        let (before, after) = pattern.split_once('*').unwrap_or((pattern, ""));
        let fits =
            name == pattern || pattern.contains('*') && name.starts_with(before) && name.ends_with(after);
        if fits && !places.iter().any(|other| other.shape == place.shape && other.syntax == place.syntax) {
            places.push(place);
        }
    }
    Found { client, path, places, shadowed_by: None }
}

/// The projects to look in: none for a file that belongs to the person.
fn projects_of<'a>(place: &ConfigLocation, projects: &'a [PathBuf]) -> Vec<Option<&'a Path>> {
    match place.scope {
        ConfigScope::Project => projects.iter().map(|project| Some(project.as_path())).collect(),
        _ => vec![None],
    }
}

/// A `.jsonc` beside a `.json` of the same name is the one that counts (OpenCode).
fn shadow(file: &Found, before: &[Found]) -> Option<PathBuf> {
    let twin = file.path.with_extension("jsonc");
    (file.path.extension() == Some(OsStr::new("json")))
        .then(|| before.iter().find(|other| other.path == twin).map(|other| other.path.clone()))
        .flatten()
}

/// The paths that a pattern stands for, sorted. A link that leads nowhere exists: it is told of when it is read.
fn existing(folder: PathBuf, pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![folder];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        paths = paths.into_iter().flat_map(|path| step(&path, part)).collect();
    }
    paths.retain(|path| path.symlink_metadata().is_ok_and(|meta| !meta.is_dir()));
    paths
}

fn step(path: &Path, part: &str) -> Vec<PathBuf> {
    let Some((before, after)) = part.split_once('*') else {
        return vec![path.join(part)];
    };
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.retain(|name| {
        name.to_str().is_some_and(|name| {
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        })
    });
    names.sort();
    names.into_iter().map(|name| path.join(name)).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::system::Os;
    use crate::table::client;

    fn put(root: &Path, paths: &[&str]) {
        for path in paths {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
    }

    fn found(root: &Path, os: Os, id: &str, projects: &[PathBuf]) -> Vec<Found> {
        let system = System { os, home: root.to_owned(), variables: BTreeMap::new() };
        discover(&system, client(id).unwrap(), projects)
    }

    fn paths(root: &Path, found: &[Found]) -> Vec<String> {
        found
            .iter()
            .map(|file| file.path.strip_prefix(root).unwrap().display().to_string().replace('\\', "/"))
            .collect()
    }

    #[test]
    fn only_files_that_exist_are_found() {
        let root = tempfile::tempdir().unwrap();
        assert!(found(root.path(), Os::Linux, "claude-desktop", &[]).is_empty());
        put(root.path(), &[".config/Claude/claude_desktop_config.json"]);
        let files = found(root.path(), Os::Linux, "claude-desktop", &[]);
        assert_eq!(paths(root.path(), &files), [".config/Claude/claude_desktop_config.json"]);
        // A folder of that name is not a file of that name.
        fs::create_dir_all(root.path().join(".cursor/mcp.json")).unwrap();
        assert!(found(root.path(), Os::Linux, "cursor", &[]).is_empty());
    }

    #[test]
    fn the_packaged_claude_is_found_under_any_publisher_and_the_old_file_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let packaged = "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json";
        let old = "AppData/Roaming/Claude/claude_desktop_config.json";
        put(
            root.path(),
            &[
                packaged,
                old,
                "AppData/Local/Packages/Other_x/LocalCache/Roaming/Claude/claude_desktop_config.json",
            ],
        );
        let files = found(root.path(), Os::Windows, "claude-desktop", &[]);
        assert_eq!(paths(root.path(), &files), [packaged, old]);
    }

    #[test]
    fn one_file_with_two_kinds_of_servers_is_found_once() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), &[".claude.json", "work/.mcp.json"]);
        let files = found(root.path(), Os::Linux, "claude-code", &[root.path().join("work")]);
        assert_eq!(paths(root.path(), &files), [".claude.json", "work/.mcp.json"]);
        let scopes: Vec<_> = files[0].places.iter().map(|place| place.scope).collect();
        assert_eq!(scopes, [ConfigScope::User, ConfigScope::Local]);
    }

    #[test]
    fn a_client_in_a_sandbox_is_found_and_its_file_is_nobodys_to_edit() {
        let root = tempfile::tempdir().unwrap();
        let boxed = [
            ("vscode", ".var/app/com.visualstudio.code/config/Code/User/mcp.json"),
            ("zed", ".var/app/dev.zed.Zed/config/zed/settings.json"),
            ("cursor", "snap/cursor/current/.cursor/mcp.json"),
        ];
        put(root.path(), &boxed.map(|(_, path)| path));
        for (id, path) in boxed {
            let files = found(root.path(), Os::Linux, id, &[]);
            assert_eq!(paths(root.path(), &files), [path]);
            assert!(files[0].managed() && files[0].sandboxed());
            let system = System { os: Os::Linux, home: root.path().to_owned(), variables: BTreeMap::new() };
            assert!(file_for_new(&system, client(id).unwrap()).is_none(), "no server is placed there");
            assert!(found(root.path(), Os::Mac, id, &[]).is_empty());
        }
    }

    #[test]
    fn a_file_that_the_client_does_not_read_is_marked() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), &[".config/opencode/opencode.json"]);
        assert!(found(root.path(), Os::Linux, "opencode", &[])[0].shadowed_by.is_none());
        put(root.path(), &[".config/opencode/opencode.jsonc"]);
        let files = found(root.path(), Os::Linux, "opencode", &[]);
        assert!(files[0].shadowed_by.is_none());
        assert_eq!(files[1].shadowed_by.as_deref(), Some(files[0].path.as_path()));
    }

    #[test]
    fn a_star_in_a_folder_of_the_person_is_only_a_character() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), &["x*/.mcp.json", "xy/.mcp.json"]);
        let files = found(root.path(), Os::Linux, "claude-code", &[root.path().join("x*")]);
        assert_eq!(paths(root.path(), &files), ["x*/.mcp.json"]);
    }

    #[test]
    fn a_file_of_which_only_the_name_is_known_is_read_as_what_it_is() {
        let scopes = |id: &str, path: &str| -> Vec<ConfigScope> {
            known(client(id).unwrap(), path.into()).places.iter().map(|place| place.scope).collect()
        };
        assert_eq!(scopes("claude-code", "/elsewhere/.claude.json"), [ConfigScope::User, ConfigScope::Local]);
        assert_eq!(scopes("claude-code", "/p/.mcp.json"), [ConfigScope::Project]);
        assert_eq!(scopes("continue", "/p/.continue/mcpServers/x.yaml"), [ConfigScope::Project]);
        assert_eq!(scopes("codex", "/c/config.toml"), [ConfigScope::User]);
    }

    #[test]
    fn profiles_are_found_in_order() {
        let root = tempfile::tempdir().unwrap();
        put(
            root.path(),
            &[
                ".config/Code/User/profiles/b/mcp.json",
                ".config/Code/User/profiles/a/mcp.json",
                ".config/Code/User/mcp.json",
            ],
        );
        let files = found(root.path(), Os::Linux, "vscode", &[]);
        assert_eq!(
            paths(root.path(), &files),
            [
                ".config/Code/User/mcp.json",
                ".config/Code/User/profiles/a/mcp.json",
                ".config/Code/User/profiles/b/mcp.json"
            ]
        );
    }
}
