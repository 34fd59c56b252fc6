//! Definitions of tools that are not as they were accepted.
//!
//! Looked at every second, so a file is read again only when it looks another than before.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

use callgate_controls::pin;
use callgate_home::Home;
use callgate_policy::Pin;
use callgate_text::{count, name};

use super::{Area, Checkup, Code, Finding, Gravity};
use crate::pins::{named_by, stands};
use crate::view::Fix;

/// What the files said when they were read last, with their stamps. Lost without harm.
#[derive(Debug, Default)]
pub(crate) struct PinFiles {
    stamp: Vec<(PathBuf, u64, Option<SystemTime>)>,
    known: Vec<Told>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    path: PathBuf,
    server: Option<String>,
    /// How many tools are described otherwise, or why that is not known.
    changed: Result<u64, String>,
}

impl PinFiles {
    pub(crate) fn look(&mut self, home: &Home) -> Vec<Told> {
        let entries = std::fs::read_dir(home.pins_dir()).into_iter().flatten().flatten();
        let mut stamp: Vec<_> = entries
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "json"))
            .filter_map(|entry| {
                let meta = entry.metadata().ok()?;
                Some((entry.path(), meta.len(), meta.modified().ok()))
            })
            .collect();
        stamp.sort_unstable();
        if stamp != self.stamp || self.known.iter().any(|told| told.changed.is_err()) {
            self.known = pin::all(home).into_iter().map(|(path, read)| told(home, path, read)).collect();
            self.stamp = stamp;
        }
        self.known.clone()
    }
}

fn told(home: &Home, path: PathBuf, read: Result<pin::Pins, callgate_home::StoreError>) -> Told {
    match read {
        Ok(pins) => {
            let mut tools: HashMap<&str, u32> = HashMap::new();
            pins.waiting()
                .filter(|one| one.before.is_some())
                .for_each(|one| *tools.entry(one.tool).or_default() += 1);
            let changed = Ok(tools.len() as u64);
            Told { path, server: Some(pins.server), changed }
        }
        Err(error) => Told { server: named_by(home, &path), path, changed: Err(error.to_string()) },
    }
}

pub(super) fn of_files(checkup: &Checkup<'_>, files: &[Told]) -> Vec<Finding> {
    files.iter().filter_map(|told| of_file(checkup, told)).collect()
}

fn of_file(checkup: &Checkup<'_>, told: &Told) -> Option<Finding> {
    let Told { path, server, changed } = told;
    let finding = |code, gravity, words: &str| checkup.finding(Area::Policies, code, gravity, path, words);
    let (Some(server), Ok(changed)) = (server, changed) else {
        let whose = server.as_deref().map_or("a server".to_owned(), name);
        let why = changed.as_ref().err().map_or("", String::as_str);
        let words = format!(
            "The definitions of tools that you accepted of {whose} cannot be read, so under its policy no tool counts as accepted: {why}"
        );
        let finding = finding(Code::PinsBroken, Gravity::Warning, &words).on_server(server.as_deref());
        return Some(match server {
            Some(server) => finding
                .command(
                    "Give them up, and accept what it lists next",
                    &["callgate", "pins", "forget", server],
                )
                .act(Fix::OpenDefinitions { server: server.clone() }),
            None => finding
                .by("Remove the file while no session of that server runs; what it lists next is accepted."),
        });
    };
    if *changed == 0 {
        return None;
    }
    let pin = stands(checkup.home, server, checkup.now.wall_ms);
    let kept_back = match pin {
        Pin::Enforce => "; kept back until you accept it",
        Pin::Report => "",
        Pin::Off => return None,
    };
    let words = format!(
        "{} describes {} otherwise than you accepted{kept_back}",
        name(server),
        count(*changed, "tool")
    );
    Some(
        finding(Code::DefinitionChanged, Gravity::Warning, &words)
            .on_server(Some(server))
            .command("Look at the change", &["callgate", "pins", server])
            .act(Fix::OpenDefinitions { server: server.clone() }),
    )
}
