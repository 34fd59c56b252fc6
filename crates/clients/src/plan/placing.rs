//! A server written into a file that does not have it, and an entry taken out of its file.

use super::{Edited, LONGEST_NAME, PlanError, Planning, Refused};
use crate::entry::{self, Gate, How, NewServer, ServerId, differ_by};
use crate::names::identity;
use crate::placement::AsItWas;
use crate::survey::{Contents, Entry, Refusal, State};
use crate::table::ConfigLocation;
use crate::tampering;
use callgate_document::{Document, apply};

/// What becomes of a file.
pub(super) struct FileText {
    pub(super) text: String,
    pub(super) no_file: bool,
}

impl Planning<'_> {
    /// The text with the server in it; as it is, if it has it already.
    pub(super) fn new_entry(
        &mut self,
        contents: &Contents,
        before: String,
        binary: &str,
        server: &NewServer,
    ) -> Result<String, PlanError> {
        let key = self.found.key(None, &server.name);
        let refuse = |why: String| Refused { key: key.clone(), why, not_coverable: false };
        let Some(place) = place_for_new(&self.found.places) else {
            self.refused.push(refuse("no server can be added to this file".to_owned()));
            return Ok(before);
        };
        let there = contents.entries.iter().find(|entry| entry.key == key);
        if let Some(why) = self.in_the_way(there, server) {
            self.refused.push(refuse(why));
            return Ok(before);
        }
        if there.is_some() {
            return Ok(before);
        }
        match written(place, &before, binary, self.found.client.id, server) {
            Ok(after) => {
                let local = server.local();
                let (original, loads) = (identity(&local), tampering::loads(&local));
                self.edits.push(Edited { key, server: server.name.clone(), original, text: None, loads });
                Ok(after)
            }
            Err(why) => {
                self.refused.push(refuse(why));
                Ok(before)
            }
        }
    }

    /// Why the server cannot be written there.
    fn in_the_way(&self, there: Option<&Entry>, server: &NewServer) -> Option<String> {
        let local = server.local();
        if server.name.is_empty() || server.name.contains('\0') || server.name.len() > LONGEST_NAME {
            return Some("its name cannot be passed on a command line".to_owned());
        }
        let Some(there) = there else {
            return self.names.is_anothers(&server.name, &local).then(|| {
                "another server goes by this name at the gate, with another command; choose another name"
                    .to_owned()
            });
        };
        let same = there.local().is_some_and(|its| identity(its) == identity(&local));
        match &there.state {
            State::Protected { server: name } if same && *name == server.name => None,
            State::Open if same => Some(format!(
                "it is there already, but not behind the gate: callgate clients protect {} {}",
                self.found.client.id, server.name
            )),
            _ => Some("another server of this name is there already; choose another name".to_owned()),
        }
    }

    /// The text without the picked entries of one shape.
    pub(super) fn without(
        &mut self,
        place: &ConfigLocation,
        before: &str,
        picked: &[&Entry],
    ) -> Result<FileText, PlanError> {
        let mut now = FileText { text: before.to_owned(), no_file: false };
        let mut left: Vec<&Entry> = picked.to_vec();
        while !left.is_empty() && !now.no_file {
            let document = Document::parse(place.syntax, now.text.as_bytes()).map_err(Refusal::from)?;
            // What we wrote last goes first: then each of them can give back every byte.
            let last = left.iter().position(|entry| self.as_it_was(entry, &now.text).is_some());
            let entry = left.remove(last.unwrap_or(0));
            let id = &entry.server.id;
            match self.as_it_was(entry, &now.text) {
                Some(AsItWas::NoFile) => now = FileText { text: String::new(), no_file: true },
                Some(AsItWas::Text(text)) => now.text = text,
                None => match cut_out(place, &document, id) {
                    Ok(text) => now.text = text,
                    Err(why) => {
                        self.refuse(&entry.key, why, false);
                        continue;
                    }
                },
            }
            let server = match &entry.state {
                State::Protected { server } => server.clone(),
                _ => entry.key.name.clone(),
            };
            let original = entry.local().map(identity).unwrap_or_default();
            let loads = entry.local().map(tampering::loads).unwrap_or_default();
            self.edits.push(Edited { key: entry.key.clone(), server, original, text: None, loads });
        }
        Ok(now)
    }

    fn as_it_was(&self, entry: &Entry, now: &str) -> Option<AsItWas> {
        let was = self.ledger.placed(&entry.key)?.as_it_was(now)?;
        // A link was made of it meanwhile: what it leads to is not ours to remove.
        let linked = || self.found.path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        (was != AsItWas::NoFile || !linked()).then_some(was)
    }
}

/// The row by which a new server is written: the person's own, not that of single projects.
pub(crate) fn place_for_new(places: &[&'static ConfigLocation]) -> Option<&'static ConfigLocation> {
    places.iter().copied().find(|place| place.shape.section.len() == 1)
}

/// The text with the server behind its gate, checked.
fn written(
    place: &ConfigLocation,
    text: &str,
    binary: &str,
    client: &str,
    server: &NewServer,
) -> Result<String, String> {
    let before = match text.trim_ascii().is_empty() && place.syntax != crate::Syntax::Toml {
        true => Document::blank(place.syntax),
        false => Document::parse(place.syntax, text.as_bytes()).map_err(|why| why.to_string())?,
    };
    let gate = Gate { binary: binary.to_owned(), server: server.name.clone(), client: client.to_owned() };
    let splices = entry::place(&before, &place.shape, server, Some(&gate)).map_err(|odd| odd.to_string())?;
    let after = before.spliced(&splices).map_err(|error| error.to_string())?;
    let id = ServerId { within: None, name: server.name.clone() };
    differ_by(&before, &after, &place.shape, std::slice::from_ref(&id)).map_err(|why| why.to_string())?;
    let listing = entry::servers(&after, &place.shape);
    let is = listing.find(&id).filter(|is| match (&is.how, &is.gated) {
        (How::Local(local), Some(gated)) => {
            NewServer::of(&server.name, local) == *server
                && gated.binary == gate.binary
                && gated.server.as_ref() == Some(&gate.server)
                && gated.client.as_ref() == Some(&gate.client)
        }
        _ => false,
    });
    match is {
        Some(_) => Ok(after.text),
        None => Err("the file would not say what it should".to_owned()),
    }
}

/// The text without one entry, checked.
fn cut_out(place: &ConfigLocation, before: &Document, id: &ServerId) -> Result<String, String> {
    let listing = entry::servers(before, &place.shape);
    let server = listing.find(id).ok_or("it is not in this file any more")?;
    let splices = entry::cut(before, server).map_err(|odd| odd.to_string())?;
    let text = apply(&before.text, &splices).map_err(|error| error.to_string())?;
    let after = Document::parse(place.syntax, text.as_bytes()).map_err(|why| why.to_string())?;
    differ_by(&after, before, &place.shape, std::slice::from_ref(id)).map_err(|why| why.to_string())?;
    Ok(text)
}
