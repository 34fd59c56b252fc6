//! Definitions of tools that are not as they were accepted.
//!
//! Looked at every second, so a file is read again only when it looks another than before.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;

use callgate_controls::pin::{self, PinKind};
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
    /// What is otherwise, or why that is not known.
    changed: Result<Changed, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Changed {
    tools: u64,
    prompts: u64,
    capabilities: u64,
    instructions: bool,
    program: bool,
}

impl Changed {
    /// What is described otherwise; empty if nothing is.
    fn describe(&self) -> String {
        let counted = [(self.tools, "tool"), (self.prompts, "prompt")].into_iter();
        let mut parts: Vec<String> =
            counted.filter(|(many, _)| *many > 0).map(|(many, what)| count(many, what)).collect();
        match self.capabilities {
            0 => {}
            1 => parts.push("1 capability".to_owned()),
            many => parts.push(format!("{many} capabilities")),
        }
        parts.extend(self.instructions.then(|| "its instructions".to_owned()));
        match parts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        }
    }
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
            let mut all: BTreeSet<(PinKind, &str)> = BTreeSet::new();
            all.extend(pins.waiting().filter(|one| one.before.is_some()).map(|one| (one.kind, one.name)));
            let many = |kind| all.iter().filter(|(of, _)| *of == kind).count() as u64;
            let changed = Ok(Changed {
                tools: many(PinKind::Tool),
                prompts: many(PinKind::Prompt),
                capabilities: many(PinKind::Capability),
                instructions: many(PinKind::Instructions) > 0,
                program: many(PinKind::Program) > 0,
            });
            Told { path, server: Some(pins.server), changed }
        }
        Err(error) => Told { server: named_by(home, &path), path, changed: Err(error.to_string()) },
    }
}

pub(super) fn of_files(checkup: &Checkup<'_>, files: &[Told]) -> Vec<Finding> {
    files.iter().flat_map(|told| of_file(checkup, told)).collect()
}

fn of_file(checkup: &Checkup<'_>, told: &Told) -> Vec<Finding> {
    let Told { path, server, changed } = told;
    let finding = |code, gravity, words: &str| checkup.finding(Area::Policies, code, gravity, path, words);
    let (Some(server), Ok(changed)) = (server, changed) else {
        let whose = server.as_deref().map_or("a server".to_owned(), name);
        let why = changed.as_ref().err().map_or("", String::as_str);
        let words = format!(
            "The definitions of tools that you accepted of {whose} cannot be read, so under its policy no tool counts as accepted: {why}"
        );
        let finding = finding(Code::PinsBroken, Gravity::Warning, &words).on_server(server.as_deref());
        return vec![match server {
            Some(server) => finding
                .command(
                    "Give them up, and accept what it lists next",
                    &["callgate", "pins", "forget", server],
                )
                .act(Fix::OpenDefinitions { server: server.clone() }),
            None => finding
                .by("Remove the file while no session of that server runs; what it lists next is accepted."),
        }];
    };
    let pin = stands(checkup.home, server, checkup.now.wall_ms);
    if pin == Pin::Off {
        return Vec::new();
    }
    let ours = |code, words: &str| {
        finding(code, Gravity::Warning, words)
            .on_server(Some(server))
            .command("Look at the change", &["callgate", "pins", server])
            .act(Fix::OpenDefinitions { server: server.clone() })
    };
    let mut found = Vec::new();
    if changed.program {
        let kept_back =
            if pin == Pin::Enforce { "; its tools are kept back until you accept it" } else { "" };
        let words = format!("The program behind {} is another than you accepted{kept_back}", name(server));
        found.push(ours(Code::ProgramChanged, &words));
    }
    let described = changed.describe();
    if !described.is_empty() {
        let kept_back = if pin == Pin::Enforce { "; kept back until you accept it" } else { "" };
        let words = format!("{} describes {described} otherwise than you accepted{kept_back}", name(server));
        found.push(ours(Code::DefinitionChanged, &words));
    }
    found
}
