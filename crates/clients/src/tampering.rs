//! A gate that stands where it was put and is not as it was put there: it would keep another home, load code of somebody
//! else's, or go by another name. Whatever it lets through then is not what a person looks at.
//!
//! `HOME` and its kin do not count: a gate that lies in a home is that home's, whatever the environment says.

use std::path::Path;

use callgate_secrets::loads_into_any_program;
use callgate_text::hex;

use crate::drift::is_unedited;
use crate::entry::Local;
use crate::file::hash;
use crate::ledger::LedgerRow;
use crate::survey::Entry;

const HOME: &str = "CALLGATE_HOME";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tampering {
    /// This variable names another home.
    Home { variable: String },
    /// This variable has the system load code into the gate, and was not there or not so when it was protected.
    Loads { variable: String },
    /// It goes by this name and not by its own.
    Server { is: Option<String>, was: String },
    /// It says that this client started it.
    Client { is: Option<String>, was: String },
    /// It records its calls as a demonstration, which nobody counts. We never write that.
    Demo,
}

impl Tampering {
    /// The variable that has to go.
    pub fn variable(&self) -> Option<&str> {
        match self {
            Tampering::Home { variable } | Tampering::Loads { variable } => Some(variable),
            Tampering::Server { .. } | Tampering::Client { .. } | Tampering::Demo => None,
        }
    }

    /// What it is, as the end of "it is not as it was protected: …".
    pub fn words(&self, shown: impl Fn(&str) -> String) -> String {
        match self {
            Tampering::Home { variable } => {
                format!("`{}` in its env names another home for the gate", shown(variable))
            }
            Tampering::Loads { variable } => {
                format!("`{}` in its env loads code into the gate", shown(variable))
            }
            Tampering::Server { is: Some(is), was } => {
                format!("its --server is {}, so the rules of {} do not count", shown(is), shown(was))
            }
            Tampering::Client { is: Some(is), was } => {
                format!("its --client is {}, not {}", shown(is), shown(was))
            }
            Tampering::Server { is: None, .. } => "its --server is gone (unprotect it first)".to_owned(),
            Tampering::Client { is: None, .. } => "its --client is gone (unprotect it first)".to_owned(),
            Tampering::Demo => {
                "its --demo marks its calls as a demonstration (unprotect it first)".to_owned()
            }
        }
    }
}

/// All that is not as it was. `row`: how it was protected, if that is known. `binary`: where our program is.
pub fn tampering(entry: &Entry, row: Option<&LedgerRow>, binary: &str) -> Vec<Tampering> {
    let (Some(gated), Some(local)) = (&entry.server.gated, entry.local()) else { return Vec::new() };
    let mut found = Vec::new();
    let home = Path::new(binary).parent().and_then(Path::parent);
    for (name, text) in &local.env {
        let variable = name.clone();
        if name.eq_ignore_ascii_case(HOME) {
            if Some(Path::new(&text.value)) != home {
                found.push(Tampering::Home { variable });
            }
        } else if loads_into_any_program(name)
            && !row.is_some_and(|row| is_known(entry, row, name, &text.value))
        {
            found.push(Tampering::Loads { variable });
        }
    }
    if gated.demo {
        found.push(Tampering::Demo);
    }
    if let Some(row) = row {
        if gated.server.as_ref() != Some(&row.server) {
            found.push(Tampering::Server { is: gated.server.clone(), was: row.server.clone() });
        }
        // A gate that a person wrote may name no client; ours does.
        let ours = gated.client.is_some() || row.loads.is_some();
        if ours && gated.client.as_ref() != Some(&row.key.client) {
            found.push(Tampering::Client { is: gated.client.clone(), was: row.key.client.clone() });
        }
    }
    found
}

/// Was the variable there, and so, when a person protected the entry? A row of an older version does not say; then the names
/// that it remembers count.
fn is_known(entry: &Entry, row: &LedgerRow, name: &str, value: &str) -> bool {
    match &row.loads {
        Some(loads) => loads.contains(&digest(name, value)),
        None => is_unedited(entry, row),
    }
}

/// The variables of an entry that load code into the gate, for its row.
pub(crate) fn loads(local: &Local) -> Vec<String> {
    let loaders = local.env.iter().filter(|(name, _)| loads_into_any_program(name));
    loaders.map(|(name, text)| digest(name, &text.value)).collect()
}

fn digest(name: &str, value: &str) -> String {
    let mut digest = hex(&hash(format!("{name}={value}").as_bytes()));
    digest.truncate(32);
    digest
}
