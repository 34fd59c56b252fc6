//! Servers that a person added in Callgate itself: `servers.json`, in the shape that clients use (`mcpServers`), comments
//! allowed.
//!
//! Owns: what is in that file ([`read`], [`add`], [`forget`]), and its way into clients' files and out again ([`placing`]). A
//! secret of such a server is in the keychain once for this file, which stands for no start of a client, and once for
//! each client that it is placed in, because a reference is good for one start only.

mod edit;
mod name;
pub mod placing;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::Syntax;
use crate::entry::{How, Listing, Local, Server, ServerId, address, servers};
use crate::file::{self, FileError, Snapshot};
use crate::ledger::{Ledger, LedgerKey};
use crate::names::identity;
use crate::survey::{Entry, Surveyed};
use crate::table::USUAL;
use callgate_document::{Document, Unreadable};

pub use edit::{AddError, OwnField, Wanted, add, check, forget, preview, preview_forget};

/// Whose file it is, where a client's id would be.
const OURS: &str = "callgate";

pub fn path(home: &Path) -> PathBuf {
    home.join("servers.json")
}

/// What is wrong with the file. It stays as it is.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct OwnError {
    pub path: PathBuf,
    pub why: Why,
}

#[derive(Debug, thiserror::Error)]
pub enum Why {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}. Mend it; nothing was changed")]
    Unreadable(#[from] Unreadable),
    #[error("{0}. Mend it; nothing was changed")]
    Shape(String),
    #[error("it cannot be edited: {0}; nothing was changed")]
    Odd(#[from] callgate_document::Odd),
    #[error("the edit would have changed more than it should ({0}); nothing was changed")]
    Check(String),
}

/// Every server of the file; none, if there is no file.
pub fn read(home: &Path) -> Result<Listing, OwnError> {
    OpenList::of(home).map(|open| open.listing)
}

/// The server of this name.
pub fn find(home: &Path, name: &str) -> Result<Option<Local>, OwnError> {
    Ok(read(home)?.find(&id(name)).and_then(Server::local).cloned())
}

/// Every name with what it starts, or where it is reached.
pub fn commands(home: &Path) -> Result<Vec<(String, Vec<String>)>, OwnError> {
    let open = OpenList::of(home)?;
    let command = |server: &Server| match &server.how {
        How::Local(local) => local.words().map(str::to_owned).collect(),
        How::Remote => address(&open.document, &USUAL, server).into_iter().collect(),
        How::Odd(_) => Vec::new(),
    };
    Ok(open.listing.servers.iter().map(|server| (server.id.name.clone(), command(server))).collect())
}

/// The entries of clients that are this server: those that were placed, and those that start the same under the same name.
pub fn entries_of<'s>(
    surveyed: &'s [Surveyed],
    ledger: &Ledger,
    name: &str,
    local: Option<&Local>,
) -> Vec<(&'s Surveyed, &'s Entry)> {
    let same = |entry: &Entry| match (entry.local(), local) {
        (Some(its), Some(local)) => entry.key.project.is_none() && identity(its) == identity(local),
        _ => false,
    };
    let is = |entry: &Entry| entry.key.name == name && (ledger.placed(&entry.key).is_some() || same(entry));
    let all = surveyed.iter().flat_map(|file| file.entries().iter().map(move |entry| (file, entry)));
    all.filter(|(_, entry)| is(entry)).collect()
}

/// The file at one moment.
struct OpenList {
    path: PathBuf,
    snapshot: Snapshot,
    document: Document,
    listing: Listing,
}

impl OpenList {
    fn of(home: &Path) -> Result<OpenList, OwnError> {
        let path = path(home);
        let failed = |why: Why| OwnError { path: path.clone(), why };
        let snapshot = file::read_or_absent(&path).map_err(|error| failed(error.into()))?;
        let document = match snapshot.bytes.trim_ascii().is_empty() {
            true => Document::blank(Syntax::Jsonc),
            false => Document::parse(Syntax::Jsonc, &snapshot.bytes).map_err(|error| failed(error.into()))?,
        };
        let listing = servers(&document, &USUAL);
        if let Some(odd) = listing.left_out.first() {
            return Err(failed(Why::Shape(odd.clone())));
        }
        Ok(OpenList { path, snapshot, document, listing })
    }

    fn failed(&self, why: impl Into<Why>) -> OwnError {
        OwnError { path: self.path.clone(), why: why.into() }
    }
}

fn id(name: &str) -> ServerId {
    ServerId { within: None, name: name.to_owned() }
}

/// The entry of this file, as if a client had it.
fn key(home: &Path, name: &str) -> LedgerKey {
    LedgerKey { client: OURS.to_owned(), path: path(home), project: None, name: name.to_owned() }
}
