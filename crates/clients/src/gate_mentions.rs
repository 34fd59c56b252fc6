//! What still names a gate: asked before it is taken away everywhere, and once more after.

use std::path::PathBuf;

use crate::entry::{How, source_of};
use crate::file;
use crate::ledger::LedgerKey;
use crate::survey::{Contents, Entry, Surveyed};
use callgate_document::Document;

/// A place that starts our program, or would once somebody mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remains {
    /// An entry behind the gate.
    Gated(LedgerKey),
    /// An entry that names our program in a way that we do not write: nothing tells what stood there before.
    Odd(LedgerKey),
    /// A file that cannot be understood and has our program's path in it.
    Unreadable { client: &'static str, path: PathBuf, why: String },
}

/// Everything in these files that names our program at `binary`, and every gated entry whose gate `is_ours` by its program.
pub fn remains(surveyed: &[Surveyed], binary: &str, is_ours: &dyn Fn(&str) -> bool) -> Vec<Remains> {
    surveyed.iter().flat_map(|file| in_file(file, binary, is_ours)).collect()
}

fn in_file(file: &Surveyed, binary: &str, is_ours: &dyn Fn(&str) -> bool) -> Vec<Remains> {
    match &file.read {
        Ok(contents) => {
            let found =
                contents.entries.iter().filter_map(|entry| of_entry(contents, entry, binary, is_ours));
            found.collect()
        }
        Err(why) if has_text(file, binary) => vec![Remains::Unreadable {
            client: file.found.client.id,
            path: file.found.path.clone(),
            why: why.to_string(),
        }],
        Err(_) => Vec::new(),
    }
}

fn of_entry(
    contents: &Contents,
    entry: &Entry,
    binary: &str,
    is_ours: &dyn Fn(&str) -> bool,
) -> Option<Remains> {
    match (&entry.server.gated, &entry.server.how) {
        (Some(gated), _) => is_ours(&gated.binary).then(|| Remains::Gated(entry.key.clone())),
        (None, How::Odd(_)) => {
            let document = Document::parse(entry.place.syntax, &contents.snapshot.bytes).ok()?;
            let source = source_of(&document, &entry.server)?;
            spellings(binary)
                .iter()
                .any(|text| source.contains(text))
                .then(|| Remains::Odd(entry.key.clone()))
        }
        (None, How::Local(_) | How::Remote) => None,
    }
}

fn has_text(file: &Surveyed, text: &str) -> bool {
    let Ok(snapshot) = file::read(&file.found.path) else { return false };
    let has = |part: &[u8]| snapshot.bytes.windows(part.len().max(1)).any(|window| window == part);
    spellings(text).iter().any(|text| has(text.as_bytes()))
}

/// As it is, and with its backslashes escaped.
fn spellings(text: &str) -> [String; 2] {
    [text.to_owned(), text.replace('\\', "\\\\")]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::fs;

    use super::*;
    use crate::discover::known;
    use crate::survey::look;
    use crate::table::client;

    fn names(text: &str, is_ours: bool) -> Vec<Remains> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        fs::write(&path, text).unwrap();
        let found = known(client("cursor").unwrap(), path);
        let file = Surveyed { read: look(&found), found };
        remains(&[file], "/h/bin/callgate", &|_| is_ours)
    }

    #[test]
    fn gated_odd_and_broken_mentions_are_found_and_others_are_not() {
        let gated =
            r#"{"mcpServers":{"a":{"command":"/h/bin/callgate","args":["run","--server","a","--","x"]}}}"#;
        assert!(matches!(names(gated, true)[..], [Remains::Gated(_)]));
        assert!(names(gated, false).is_empty(), "it is another home's");
        let odd = r#"{"mcpServers":{"a":{"command":"/h/bin/callgate","args":["run","--server","a","--"]}}}"#;
        assert!(matches!(names(odd, true)[..], [Remains::Odd(_)]));
        assert!(matches!(names(&gated[..gated.len() - 1], true)[..], [Remains::Unreadable { .. }]));
        for none in [r#"{"mcpServers":{"a":{"command":"x"}}, "said": "/h/bin/callgate"}"#, "{", "{}"] {
            assert!(names(none, true).is_empty(), "{none}");
        }
    }
}
