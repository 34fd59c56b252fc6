//! The name of a server at the gate. Policies and the history go by it, so the same name must not stand for two programs.

use std::collections::BTreeMap;

use callgate_text::hex;

use crate::entry::Local;
use crate::file::hash;
use crate::ledger::{Ledger, LedgerKey};
use crate::survey::{Entry, State};

/// A digest of what is started: the program, its words, and the names of its variables.
pub(crate) fn identity(local: &Local) -> String {
    let mut text = Vec::new();
    let mut part = |kind: u8, value: &str| {
        text.push(kind);
        text.extend_from_slice(&(value.len() as u64).to_le_bytes());
        text.extend_from_slice(value.as_bytes());
    };
    local.words().for_each(|word| part(b'w', word));
    let mut names: Vec<_> = local.env.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.into_iter().for_each(|name| part(b'e', name));
    hex(&hash(&text))
}

/// Who has which name.
#[derive(Debug, Default)]
pub struct NameRegistry {
    taken: BTreeMap<String, String>,
}

impl NameRegistry {
    /// The names of all entries that are behind the gate already, or were: rules and history go on under the name that an
    /// entry once had, so another does not get it because its owner is open for a while.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>, ledger: &Ledger) -> NameRegistry {
        let all: Vec<&Entry> = entries.into_iter().collect();
        let mut names = NameRegistry::default();
        for entry in &all {
            if let (State::Protected { server }, Some(local)) = (&entry.state, entry.local()) {
                names.taken.entry(server.clone()).or_insert_with(|| identity(local));
            }
        }
        for row in &ledger.rows {
            names.taken.entry(row.server.clone()).or_insert_with(|| row.original.clone());
        }
        for row in &ledger.former {
            // It stays its name while it stands in its file, whatever it starts by now.
            let now = all.iter().find(|entry| entry.key == row.key).and_then(|entry| entry.local());
            let identity = || now.map_or_else(|| row.original.clone(), identity);
            names.taken.entry(row.server.clone()).or_insert_with(identity);
        }
        names
    }

    /// Whether this name at the gate stands for another program than this.
    pub fn is_anothers(&self, name: &str, local: &Local) -> bool {
        self.taken.get(name).is_some_and(|taken| *taken != identity(local))
    }

    /// The name that an entry would get if it were put behind the gate now, by itself.
    pub fn would_give(&self, key: &LedgerKey, local: &Local, ledger: &Ledger) -> String {
        NameRegistry { taken: self.taken.clone() }.give(key, local, ledger)
    }

    /// The name that it had, if it is the same program still; else the client's own name for it, unless that name belongs to
    /// another program: then `playwright@cursor`.
    pub(crate) fn give(&mut self, key: &LedgerKey, local: &Local, ledger: &Ledger) -> String {
        let identity = identity(local);
        let (name, client) = (if key.name.is_empty() { "unnamed" } else { &key.name }, &key.client);
        let had = ledger.row(key).filter(|row| row.original == identity).or_else(|| ledger.former(key));
        let had = had.map(|row| row.server.clone());
        let others = (2..).map(|n| format!("{name}@{client}-{n}"));
        let mut candidates =
            had.into_iter().chain([name.to_owned(), format!("{name}@{client}")]).chain(others);
        loop {
            // There is always another number.
            let candidate = candidates.next().unwrap_or_default();
            if *self.taken.entry(candidate.clone()).or_insert_with(|| identity.clone()) == identity {
                return candidate;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::SpannedText;
    use crate::ledger::LedgerRow;

    fn local(words: &[&str], env: &[&str]) -> Local {
        let text = |value: &&str| SpannedText { value: (*value).to_owned(), span: 0..0 };
        let mut words = words.iter().map(text);
        Local {
            program: words.next().unwrap_or(SpannedText { value: String::new(), span: 0..0 }),
            args: words.collect(),
            env: env.iter().map(|name| ((*name).to_owned(), text(&"value"))).collect(),
        }
    }

    #[test]
    fn one_name_never_stands_for_two_programs() {
        let mut names = NameRegistry::default();
        let ledger = Ledger::default();
        let mut give = |name: &str, client: &str, local: &Local| {
            let key =
                LedgerKey { client: client.into(), path: "/c".into(), project: None, name: name.into() };
            names.give(&key, local, &ledger)
        };
        let (a, b, c) =
            (local(&["npx", "a"], &[]), local(&["npx", "b"], &[]), local(&["npx", "a"], &["KEY"]));
        assert_eq!(give("play", "claude-desktop", &a), "play");
        assert_eq!(give("play", "cursor", &a), "play");
        assert_eq!(give("play", "cursor", &b), "play@cursor");
        assert_eq!(give("play", "cursor", &b), "play@cursor");
        assert_eq!(give("play", "cursor", &c), "play@cursor-2");
        assert_eq!(give("", "cursor", &c), "unnamed");
    }

    #[test]
    fn rules_stay_with_a_server_that_was_open_for_a_while() {
        let key = |client: &str| LedgerKey {
            client: client.into(),
            path: "/c".into(),
            project: None,
            name: "files".into(),
        };
        let (desktop, cursor) = (local(&["npx", "a"], &[]), local(&["npx", "b"], &[]));
        let mut ledger = Ledger::default();
        let protect = |ledger: &mut Ledger, client: &str, local: &Local| {
            let server = NameRegistry::of([], ledger).give(&key(client), local, ledger);
            ledger.put(LedgerRow {
                key: key(client),
                server: server.clone(),
                original: identity(local),
                text: None,
                loads: None,
                at_ms: 1,
            });
            server
        };
        assert_eq!(protect(&mut ledger, "claude-desktop", &desktop), "files");
        assert_eq!(protect(&mut ledger, "cursor", &cursor), "files@cursor");
        ["claude-desktop", "cursor"].iter().for_each(|client| ledger.leave_open(&key(client)));
        // The other one comes first now.
        assert_eq!(protect(&mut ledger, "cursor", &cursor), "files@cursor");
        assert_eq!(protect(&mut ledger, "claude-desktop", &desktop), "files");
        // One that is gone for good leaves its name to others.
        ["claude-desktop", "cursor"].iter().for_each(|client| ledger.forget(&key(client)));
        assert_eq!(protect(&mut ledger, "cursor", &cursor), "files");
    }

    #[test]
    fn what_is_started_is_told_apart_by_every_word() {
        let all = [
            local(&["a", "b"], &[]),
            local(&["a b"], &[]),
            local(&["a", "b", ""], &[]),
            local(&["a"], &["b"]),
            local(&["ab"], &[]),
        ];
        let mut seen: Vec<_> = all.iter().map(identity).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all.len());
        assert_eq!(identity(&local(&["a"], &["x", "y"])), identity(&local(&["a"], &["y", "x"])));
    }
}
