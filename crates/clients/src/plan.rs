//! What an act would do to one file, before anything is written: checked, and for a person to look at.

mod placing;

use crate::discover::Found;
use crate::entry::{self, Gate, NewServer, ServerId, Undo, ValueCheck, comes_back, verify};
use crate::ledger::{Ledger, LedgerKey};
use crate::names::{NameRegistry, identity};
use crate::survey::{Contents, Entry, Refusal, State, look, look_for_place};
use crate::table::ConfigLocation;
use crate::tampering::{self, Tampering, tampering};
use callgate_document::{Document, Splice, apply};

pub(crate) use placing::place_for_new;

/// Longer names do not fit everywhere that a name has to go.
const LONGEST_NAME: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedAct<'a> {
    /// Put this program in front.
    Protect {
        binary: &'a str,
    },
    Unprotect,
    /// Write this server into the file, behind this program from the start.
    Place {
        binary: &'a str,
        server: &'a NewServer,
    },
    /// Take the entry out of the file.
    Remove,
}

impl PlannedAct<'_> {
    pub(crate) fn word(self) -> &'static str {
        match self {
            PlannedAct::Protect { .. } => "protect",
            PlannedAct::Unprotect => "unprotect",
            PlannedAct::Place { .. } => "place",
            PlannedAct::Remove => "remove",
        }
    }
}

#[derive(Debug)]
pub struct Plan {
    pub found: Found,
    pub contents: Contents,
    pub after: String,
    /// There was no file before our entry, so there is none after it.
    pub no_file: bool,
    pub edits: Vec<Edited>,
    /// Chosen entries that stay as they are, and why.
    pub refused: Vec<Refused>,
}

/// An entry that is edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub key: LedgerKey,
    /// Its name at the gate.
    pub server: String,
    pub(crate) original: String,
    pub(crate) text: Option<String>,
    pub(crate) loads: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub key: LedgerKey,
    pub why: String,
    /// It could not have been otherwise: nobody can put a gate in front of it.
    pub not_coverable: bool,
}

impl Plan {
    pub fn changes_nothing(&self) -> bool {
        self.after.as_bytes() == self.contents.snapshot.bytes && !self.no_file
    }

    pub fn before(&self) -> &str {
        // It was parsed, so it is text.
        std::str::from_utf8(&self.contents.snapshot.bytes).unwrap_or_default()
    }
}

/// The edit did something else than it should have; nothing is written.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(
        "the edit would have changed more than it should ({0}); nothing was written. Please report what the file looks like"
    )]
    Check(String),
}

/// What `act` would do to the chosen entries of a file. `names` are those of all files: one act may touch several.
pub fn plan(
    found: &Found,
    act: PlannedAct<'_>,
    chosen: &dyn Fn(&Entry) -> bool,
    names: &mut NameRegistry,
    ledger: &Ledger,
) -> Result<Plan, PlanError> {
    let contents = match act {
        PlannedAct::Place { .. } => look_for_place(found)?,
        PlannedAct::Protect { .. } | PlannedAct::Unprotect | PlannedAct::Remove => look(found)?,
    };
    let mut after = String::from_utf8_lossy(&contents.snapshot.bytes).into_owned();
    let mut no_file = false;
    let mut planning = Planning { found, act, names, ledger, edits: Vec::new(), refused: Vec::new() };
    if let PlannedAct::Place { binary, server } = act {
        after = planning.new_entry(&contents, after, binary, server)?;
    }
    // One shape after the other: the second is read from what the first left.
    for &place in &found.places {
        let here = |entry: &&Entry| std::ptr::eq(entry.place, place) && chosen(entry);
        let picked: Vec<_> = contents.entries.iter().filter(here).collect();
        match act {
            PlannedAct::Place { .. } => {}
            PlannedAct::Remove => {
                let left = planning.without(place, &after, &picked)?;
                (after, no_file) = (left.text, left.no_file);
            }
            PlannedAct::Protect { .. } | PlannedAct::Unprotect => {
                after = planning.place(place, &after, &picked)?
            }
        }
    }
    let Planning { edits, refused, .. } = planning;
    Ok(Plan { found: found.clone(), contents, after, no_file, edits, refused })
}

struct Planning<'a> {
    found: &'a Found,
    act: PlannedAct<'a>,
    names: &'a mut NameRegistry,
    ledger: &'a Ledger,
    edits: Vec<Edited>,
    refused: Vec<Refused>,
}

/// The splices of one entry.
struct Made {
    id: ServerId,
    splices: Vec<Splice>,
    edited: Edited,
}

impl Planning<'_> {
    /// The text with the picked entries of one shape edited.
    fn place(&mut self, place: &ConfigLocation, text: &str, picked: &[&Entry]) -> Result<String, PlanError> {
        let before = Document::parse(place.syntax, text.as_bytes()).map_err(Refusal::from)?;
        let (before, cleaned) = self.without_foreign_variables(place, before, picked);
        let listing = entry::servers(&before, &place.shape);
        let mut made: Vec<Made> = Vec::new();
        for entry in picked {
            let Some(server) = listing.find(&entry.server.id) else { continue };
            let entry = Entry { server: server.clone(), ..(*entry).clone() };
            match self.one(&before, &entry) {
                Ok(one) if one.splices.is_empty() => {
                    self.edits.extend(cleaned.contains(&one.id).then_some(one.edited));
                }
                Ok(one) => made.push(one),
                Err(why) => self.refuse(&entry.key, why, matches!(entry.state, State::NotCoverable(_))),
            }
        }
        if made.is_empty() {
            return Ok(before.text);
        }
        // One entry that is odd in a way that nobody foresaw must not keep the others from their gate.
        if self.checked(place, &before, &made).is_err() {
            made.retain(|one| match self.checked(place, &before, std::slice::from_ref(one)) {
                Ok(_) => true,
                Err(why) => {
                    self.refuse(&one.edited.key, why, false);
                    false
                }
            });
        }
        let after = self.checked(place, &before, &made).map_err(PlanError::Check)?;
        self.edits.extend(made.into_iter().map(|one| one.edited));
        Ok(after)
    }

    /// Variables that came into gated entries since a person protected them, and that the gate must not have, are taken out
    /// before anything else. Returns which entries had any.
    fn without_foreign_variables(
        &mut self,
        place: &ConfigLocation,
        mut document: Document,
        picked: &[&Entry],
    ) -> (Document, Vec<ServerId>) {
        let PlannedAct::Protect { binary } = self.act else { return (document, Vec::new()) };
        let mut cleaned = Vec::new();
        for entry in picked {
            let found = tampering(entry, self.ledger.row(&entry.key), binary);
            for variable in found.iter().filter_map(Tampering::variable) {
                let listing = entry::servers(&document, &place.shape);
                let Some(server) = listing.find(&entry.server.id) else { continue };
                match entry::without_variable(&document, &place.shape, server, variable) {
                    Ok(without) => {
                        document = without;
                        cleaned.push(entry.server.id.clone());
                    }
                    Err(odd) => self.refuse(&entry.key, format!("{odd}: take it out by hand"), false),
                }
            }
        }
        (document, cleaned)
    }

    fn refuse(&mut self, key: &LedgerKey, why: String, not_coverable: bool) {
        self.refused.push(Refused { key: key.clone(), why, not_coverable });
    }

    /// The text with these edits made, if it is what it should be: all else as it was, the same things started, and every
    /// byte to be had back.
    fn checked(&self, place: &ConfigLocation, before: &Document, made: &[Made]) -> Result<String, String> {
        let splices: Vec<_> = made.iter().flat_map(|one| one.splices.iter().cloned()).collect();
        let ids: Vec<_> = made.iter().map(|one| one.id.clone()).collect();
        let text = apply(&before.text, &splices).map_err(|error| error.to_string())?;
        let after = Document::parse(place.syntax, text.as_bytes()).map_err(|why| why.to_string())?;
        verify(before, &after, &place.shape, &ids, ValueCheck::Same).map_err(|why| why.to_string())?;
        let was = entry::servers(before, &place.shape);
        let fresh = |id: &ServerId| was.find(id).is_some_and(|server| server.gated.is_none());
        // A gate that was there already, or a text that the ledger keeps, does not come back from the file alone.
        let exact = ids.iter().all(fresh) && made.iter().all(|one| one.edited.text.is_none());
        if matches!(self.act, PlannedAct::Protect { .. })
            && exact
            && !comes_back(before, &after, &place.shape, &ids)
        {
            return Err("the file would not come back as it was".to_owned());
        }
        Ok(text)
    }

    /// The splices for one entry; none, if it is so already.
    fn one(&mut self, document: &Document, entry: &Entry) -> Result<Made, String> {
        let (splices, edited) = match (self.act, &entry.state) {
            (_, State::NotCoverable(why)) => return Err(why.clone()),
            (PlannedAct::Place { .. } | PlannedAct::Remove, _) => {
                (Vec::new(), self.edited(entry, &entry.key.name))
            }
            (PlannedAct::Protect { binary }, _) => self.gate(document, entry, binary)?,
            (PlannedAct::Unprotect, State::Open) => (Vec::new(), self.edited(entry, &entry.key.name)),
            (PlannedAct::Unprotect, State::Protected { server }) => {
                let text = self.ledger.row(&entry.key).and_then(|row| row.text.as_deref());
                let splices = entry::ungate(document, &entry.place.shape, &entry.server, text)
                    .map_err(|odd| odd.to_string())?;
                (splices, self.edited(entry, server))
            }
        };
        Ok(Made { id: entry.server.id.clone(), splices, edited })
    }

    fn gate(
        &mut self,
        document: &Document,
        entry: &Entry,
        binary: &str,
    ) -> Result<(Vec<Splice>, Edited), String> {
        let local = entry.local().ok_or("there is no program to start")?;
        if entry.key.name.contains('\0') || entry.key.name.len() > LONGEST_NAME {
            return Err("its name cannot be passed on a command line".to_owned());
        }
        let client = self.found.client.id;
        let server = match &entry.state {
            // Its own name, whatever somebody has made of it since.
            State::Protected { server } => {
                self.ledger.row(&entry.key).map_or_else(|| server.clone(), |row| row.server.clone())
            }
            _ => self.names.give(&entry.key, local, self.ledger),
        };
        let gate = Gate { binary: binary.to_owned(), server, client: client.to_owned() };
        let edit =
            entry::gate(document, &entry.place.shape, &entry.server, &gate).map_err(|odd| odd.to_string())?;
        let mut edited = self.edited(entry, &gate.server);
        edited.text = match edit.undo {
            Undo::NeedsText(text) => Some(text),
            // A gate that is only renewed keeps the text that its first one asked for.
            Undo::FromFile if entry.server.gated.is_some() => {
                self.ledger.row(&entry.key).and_then(|row| row.text.clone())
            }
            Undo::FromFile => None,
        };
        Ok((edit.splices, edited))
    }

    fn edited(&self, entry: &Entry, server: &str) -> Edited {
        Edited {
            key: entry.key.clone(),
            server: server.to_owned(),
            original: entry.local().map(identity).unwrap_or_default(),
            text: None,
            loads: entry.local().map(tampering::loads).unwrap_or_default(),
        }
    }
}
