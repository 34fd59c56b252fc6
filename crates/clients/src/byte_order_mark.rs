//! A file that is refused for its byte order mark alone, without it. Nothing else that is wrong with a file is mended: what a
//! person meant by a key that stands there twice, or by a comma too many, is theirs to say.

use std::path::Path;

use crate::backup::Backups;
use crate::discover::Found;
use crate::file::{self, FileError, Snapshot, replace};
use crate::survey::{Refusal, Surveyed};
use callgate_document::{BYTE_ORDER_MARK, Document};

/// A file and what it would be.
#[derive(Debug)]
pub struct Repair {
    snapshot: Snapshot,
}

#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("there is nothing to repair: it does not begin with a byte order mark")]
    Nothing,
    #[error("it is an administrator's file; Callgate does not edit it")]
    Managed,
    #[error("taking the byte order mark away would not be enough: {0}")]
    NotEnough(Refusal),
}

impl Repair {
    /// What is there now.
    pub fn before(&self) -> &[u8] {
        &self.snapshot.bytes
    }

    pub fn after(&self) -> &[u8] {
        self.snapshot.bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(&self.snapshot.bytes)
    }
}

/// What mending would do, if it is safe.
pub fn plan(found: &Found) -> Result<Repair, RepairError> {
    let repair = Repair { snapshot: file::read(&found.path)? };
    if !repair.before().starts_with(BYTE_ORDER_MARK.as_bytes()) {
        return Err(RepairError::Nothing);
    }
    if found.managed() {
        return Err(RepairError::Managed);
    }
    for place in &found.places {
        Document::parse(place.syntax, repair.after()).map_err(|why| RepairError::NotEnough(why.into()))?;
    }
    Ok(repair)
}

/// Is this file refused for what can be mended?
pub fn is_repairable(file: &Surveyed) -> bool {
    file.read.is_err() && plan(&file.found).is_ok()
}

/// Mends it, with a copy kept, unless another program writes at the same moment.
pub fn carry_out(home: &Path, found: &Found, now_ms: i64) -> Result<(), RepairError> {
    let repair = plan(found)?;
    Backups::of(home).keep(found.client.id, &found.path, repair.before(), now_ms)?;
    Ok(replace(&repair.snapshot, repair.after())?)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::fs;

    use super::*;
    use crate::discover::known;
    use crate::table::client;

    fn tried(text: &[u8]) -> (Result<(), String>, Vec<u8>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        fs::write(&path, text).unwrap();
        let home = folder.path().join("home");
        let found = known(client("cursor").unwrap(), path.clone());
        let done = carry_out(&home, &found, 1).map_err(|error| error.to_string());
        (done, fs::read(path).unwrap(), Backups::of(&home).list().unwrap().len())
    }

    #[test]
    fn only_the_mark_goes_and_a_copy_is_kept() {
        let text = "\u{feff}{\r\n\t\"mcpServers\": {} // mine\r\n}";
        let (done, now, copies) = tried(text.as_bytes());
        assert_eq!((done, now.as_slice(), copies), (Ok(()), &text.as_bytes()[3..], 1));
    }

    #[test]
    fn what_would_still_be_refused_is_left_alone() {
        for (text, why) in [
            ("{}", "nothing to repair"),
            ("\u{feff}{", "would not be enough: it is not valid JSON"),
            ("\u{feff}{\"a\":1,\"a\":2}", "would not be enough: `a` stands there twice"),
            ("\u{feff}\u{feff}{}", "would not be enough: it begins with a byte order mark"),
        ] {
            let (done, now, copies) = tried(text.as_bytes());
            assert!(done.unwrap_err().contains(why), "{text:?}");
            assert_eq!((now.as_slice(), copies), (text.as_bytes(), 0));
        }
        let (done, ..) = tried(b"\xff\xfe{\0}\0");
        assert!(done.is_err(), "another encoding is no mark");
    }
}
