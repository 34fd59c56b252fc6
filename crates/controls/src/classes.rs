//! What a person says that tools can do, where they know better than a definition tells: `control/classes.json`, by server and tool.
//!
//! Classes are words here; who reads them knows which there are. A gate only looks
//! whether a tool is too grave to be decided by its client's answer.

use std::collections::BTreeMap;
use std::io;

use callgate_home::{Home, atomic, lock_file, read_private};

/// By server, then by tool.
pub type Classes = BTreeMap<String, BTreeMap<String, String>>;

/// More are not kept: a person corrects single tools.
const MOST: usize = 10_000;

/// Nothing, if nobody corrected anything. A file that is no such list is an error, for a person to see: it is not written over.
pub fn read(home: &Home) -> io::Result<Classes> {
    match read_private(&home.classes()) {
        Ok(text) => serde_json::from_str(&text).map_err(io::Error::from),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Classes::new()),
        Err(error) => Err(error),
    }
}

/// Keeps the class of one tool, or forgets it; gives back what was kept before.
pub fn set(home: &Home, server: &str, tool: &str, class: Option<&str>) -> io::Result<Option<String>> {
    let _alone = lock_file(&home.classes_lock())?;
    let mut all = read(home)?;
    let tools = all.entry(server.to_owned()).or_default();
    let before = match class {
        Some(class) => tools.insert(tool.to_owned(), class.to_owned()),
        None => tools.remove(tool),
    };
    all.retain(|_, tools| !tools.is_empty());
    if before.as_deref() == class {
        return Ok(before);
    }
    if all.values().map(BTreeMap::len).sum::<usize>() > MOST {
        return Err(io::Error::other(format!("more than {MOST} corrected classes are not kept")));
    }
    let text = serde_json::to_vec_pretty(&all).map_err(io::Error::other)?;
    atomic::replace(&home.classes(), &text)?;
    Ok(before)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::prepare::testing::home;

    #[test]
    fn a_class_that_a_person_gave_is_kept_until_it_is_taken_back() {
        let (_folder, home) = home();
        assert_eq!(read(&home).unwrap(), Classes::new());
        assert_eq!(set(&home, "files", "get", Some("Write")).unwrap(), None);
        assert_eq!(set(&home, "files", "get", Some("Execute")).unwrap().as_deref(), Some("Write"));
        assert_eq!(set(&home, "other", "get", None).unwrap(), None);
        assert_eq!(read(&home).unwrap()["files"]["get"], "Execute");
        assert_eq!(set(&home, "files", "get", None).unwrap().as_deref(), Some("Execute"));
        assert_eq!(read(&home).unwrap(), Classes::new());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_of_and_never_written_over() {
        let (_folder, home) = home();
        atomic::replace(&home.classes(), b"{\"files\": oops").unwrap();
        assert!(read(&home).is_err());
        assert!(set(&home, "files", "get", Some("Write")).is_err());
        assert_eq!(read_private(&home.classes()).unwrap(), "{\"files\": oops");
    }
}
