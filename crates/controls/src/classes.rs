//! What the tools of a server can do: told from their definitions, by the catalogue where the server was installed from a known
//! package, and by what a person says, `control/classes.json`, by server and tool.
//!
//! The gate and the desk tell it by the same function. What a person says counts for the definition that they saw: a server
//! that describes its tool anew has it told anew. Without a definition that was seen it can only make a class graver.

use std::collections::BTreeMap;
use std::io;

use callgate_home::{Home, atomic, lock_file, read_private};
use callgate_policy::ToolClass;
use callgate_protocol::digest::{Digest, definition_digest};
use callgate_protocol::json::Raw;
use callgate_risk::{Assessment, KnownServer, RiskClass, ToolDefinition, classify};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// By server, then by tool.
pub type Classes = BTreeMap<String, BTreeMap<String, Correction>>;

/// What a person says of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Correction {
    /// A word here; who reads it knows which there are.
    pub class: String,
    /// Digest of the definition that they saw, as it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
}

/// Also as it was written before it was bound to a definition.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Class(String),
    Bound { class: String, definition: Option<String> },
}

impl From<Written> for Correction {
    fn from(written: Written) -> Correction {
        match written {
            Written::Class(class) => Correction { class, definition: None },
            Written::Bound { class, definition } => Correction { class, definition },
        }
    }
}

/// A word about a tool, whatever its definition.
impl From<&str> for Correction {
    fn from(class: &str) -> Correction {
        Correction { class: class.to_owned(), definition: None }
    }
}

impl From<&Correction> for Correction {
    fn from(said: &Correction) -> Correction {
        said.clone()
    }
}

impl Correction {
    /// For the tool that is defined like this, as it is kept.
    pub fn of(class: RiskClass, definition: &str) -> Correction {
        Correction {
            class: class.name().to_owned(),
            definition: digest(definition).map(|seen| seen.to_string()),
        }
    }

    /// Is this what a person said of the tool that is defined like this?
    pub fn is_of(&self, definition: &str) -> bool {
        let seen = self.definition.as_deref().and_then(Digest::from_hex);
        seen.is_some() && seen == digest(definition)
    }

    /// The class that counts in place of the `told` one, if this is about the same definition, given by its digest as it is kept.
    pub fn applies(&self, told: RiskClass, definition: Option<Digest>) -> Option<RiskClass> {
        let class = RiskClass::from_name(&self.class)?;
        let is_of_it = || {
            let seen = self.definition.as_deref().and_then(Digest::from_hex);
            seen.is_some() && seen == definition
        };
        (class > told || is_of_it()).then_some(class)
    }
}

/// Of a definition as it is kept.
pub fn digest(definition: &str) -> Option<Digest> {
    Raw::parse(definition).ok().map(definition_digest)
}

/// What is told of a tool that is defined like this. `known`: the server, by what was installed.
pub fn assess(server: &str, known: Option<&KnownServer>, name: &str, definition: &Value) -> Assessment {
    let tool = tool(server, name, definition);
    known.and_then(|known| known.assess(&tool)).unwrap_or_else(|| classify(&tool))
}

/// The parts of a definition that classes are told from.
pub fn tool<'d>(server: &'d str, name: &'d str, definition: &'d Value) -> ToolDefinition<'d> {
    let text = |key: &str| definition.get(key).and_then(Value::as_str).unwrap_or_default();
    ToolDefinition {
        server,
        name,
        title: text("title"),
        description: text("description"),
        input_schema: definition.get("inputSchema"),
        annotations: definition.get("annotations"),
    }
}

/// As rules name it.
pub fn in_rules(class: RiskClass) -> ToolClass {
    match class {
        RiskClass::Read => ToolClass::Read,
        RiskClass::Write => ToolClass::Write,
        RiskClass::Execute => ToolClass::Execute,
        RiskClass::Destructive => ToolClass::Destructive,
        RiskClass::Financial => ToolClass::Financial,
    }
}

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

/// Keeps what is said of one tool, or forgets it; gives back what was kept before.
pub fn set<C: Into<Correction>>(
    home: &Home,
    server: &str,
    tool: &str,
    correction: Option<C>,
) -> io::Result<Option<Correction>> {
    let correction = correction.map(Into::into);
    let _alone = lock_file(&home.classes_lock())?;
    let mut all = read(home)?;
    let tools = all.entry(server.to_owned()).or_default();
    let before = match &correction {
        Some(correction) => tools.insert(tool.to_owned(), correction.clone()),
        None => tools.remove(tool),
    };
    all.retain(|_, tools| !tools.is_empty());
    if before == correction {
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

    const SEEN: &str = r#"{"name":"get","description":"Deletes everything."}"#;

    #[test]
    fn a_class_that_a_person_gave_is_kept_until_it_is_taken_back() {
        let (_folder, home) = home();
        let said = |class| Correction::of(class, SEEN);
        assert_eq!(read(&home).unwrap(), Classes::new());
        assert_eq!(set(&home, "files", "get", Some(&said(RiskClass::Write))).unwrap(), None);
        let before = set(&home, "files", "get", Some(&said(RiskClass::Execute))).unwrap().unwrap();
        assert_eq!(before.class, "Write");
        assert_eq!(set::<Correction>(&home, "other", "get", None).unwrap(), None);
        assert_eq!(read(&home).unwrap()["files"]["get"], said(RiskClass::Execute));
        assert_eq!(set::<Correction>(&home, "files", "get", None).unwrap(), Some(said(RiskClass::Execute)));
        assert_eq!(read(&home).unwrap(), Classes::new());
    }

    #[test]
    fn what_a_person_said_of_one_definition_lowers_no_other() {
        let said = Correction::of(RiskClass::Read, SEEN);
        // Order of members and blanks make no other definition.
        let same = r#"{ "description": "Deletes everything.", "name": "get" }"#;
        assert_eq!(said.applies(RiskClass::Destructive, digest(same)), Some(RiskClass::Read));
        let other = r#"{"name":"get","description":"Deletes everything, and the backups."}"#;
        assert_eq!(said.applies(RiskClass::Destructive, digest(other)), None);
        let graver = Correction::of(RiskClass::Financial, SEEN);
        assert_eq!(graver.applies(RiskClass::Read, digest(other)), Some(RiskClass::Financial));
        let old: Correction = serde_json::from_str("\"Read\"").unwrap();
        assert_eq!(old.applies(RiskClass::Destructive, digest(SEEN)), None);
        assert_eq!(old.applies(RiskClass::Read, digest(SEEN)), None);
        let old: Correction = serde_json::from_str("\"Financial\"").unwrap();
        assert_eq!(old.applies(RiskClass::Read, digest(SEEN)), Some(RiskClass::Financial));
        let unknown = Correction { class: "Harmless".to_owned(), definition: said.definition };
        assert_eq!(unknown.applies(RiskClass::Write, digest(SEEN)), None);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_of_and_never_written_over() {
        let (_folder, home) = home();
        atomic::replace(&home.classes(), b"{\"files\": oops").unwrap();
        assert!(read(&home).is_err());
        let said = Correction::of(RiskClass::Write, SEEN);
        assert!(set(&home, "files", "get", Some(&said)).is_err());
        assert_eq!(read_private(&home.classes()).unwrap(), "{\"files\": oops");
    }
}
