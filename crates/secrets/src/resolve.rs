//! References on a server's command line and in its environment, and the values that take their place: for the start that
//! they were stored for, and for no other.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use crate::{BadReference, Identity, Keychain, KeychainError, Reference, Secret, Strange, referring};

/// The references of one start. Found by looking at texts alone.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    found: Vec<(ReferenceSite, String, Result<Reference, BadReference>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ReferenceSite {
    Argument(usize),
    Variable(OsString),
}

impl Wanted {
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}

/// What the server is started with, and nobody else.
pub struct Resolved {
    /// All of them, with values in their places.
    pub args: Vec<OsString>,
    /// Only the variables that differ from what is there.
    pub env: Vec<(OsString, OsString)>,
    /// Folders of `PATH` that neither the client nor the entry, as it was, is known to have: to be looked in last.
    pub last: Vec<PathBuf>,
    /// The values, so that they can be masked wherever they turn up.
    pub values: Vec<Secret>,
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved").field("values", &self.values).finish_non_exhaustive()
    }
}

/// Why a server is not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("{place}: {error}")]
    Bad { place: String, error: BadReference },
    #[error(
        "{place} names a secret in the keychain ({name}) that was stored for another server or another command, so this one does not get \
         it. If you changed the entry yourself, run `callgate secrets move` for it once more; else somebody else wrote it: do \
         not start it"
    )]
    Foreign { place: String, name: String },
    #[error(
        "{place} names a secret in the keychain ({name}) that was stored when the entry did not set {variable} to what it is now, and that \
         variable decides which code is run. If it is yours, write it into the entry's own environment and run `callgate secrets \
         move` for it once more; else somebody else wrote it: do not start it"
    )]
    Surroundings { place: String, name: String, variable: String },
    #[error("{place} is in the keychain, but {error}")]
    Keychain { place: String, error: KeychainError },
}

/// The references in what a server is about to be started with.
pub fn wanted(args: &[OsString], env: impl IntoIterator<Item = (OsString, OsString)>) -> Wanted {
    let mut wanted = Wanted::default();
    let mut look = |place: &dyn Fn() -> ReferenceSite, text: &OsStr| {
        // Bytes that are no text hold no reference of ours.
        if let Some(found) = text.to_str().and_then(referring) {
            let before = found.as_ref().map(|found| found.before.to_owned()).unwrap_or_default();
            wanted.found.push((place(), before, found.map(|found| found.reference)));
        }
    };
    args.iter().enumerate().for_each(|(index, arg)| look(&|| ReferenceSite::Argument(index), arg));
    for (name, value) in env {
        look(&|| ReferenceSite::Variable(name.clone()), &value);
    }
    wanted
}

/// Puts the values in place, all of them or none.
pub fn resolve(
    wanted: &Wanted,
    start: &Identity,
    strange: &Strange,
    args: &[OsString],
    keychain: &dyn Keychain,
) -> Result<Resolved, Unresolved> {
    let mut resolved =
        Resolved { args: args.to_vec(), env: Vec::new(), last: Vec::new(), values: Vec::new() };
    for (place, before, reference) in &wanted.found {
        let words = || match place {
            ReferenceSite::Argument(index) => format!("argument {} of the server", index + 1),
            ReferenceSite::Variable(name) => {
                format!("the variable {}", name.to_string_lossy().escape_debug())
            }
        };
        let reference =
            reference.as_ref().map_err(|error| Unresolved::Bad { place: words(), error: *error })?;
        let item =
            keychain.read(reference).map_err(|error| Unresolved::Keychain { place: words(), error })?;
        if item.start != *start {
            return Err(Unresolved::Foreign { place: words(), name: reference.name().to_owned() });
        }
        if let Some(variable) = strange.variable(&item.surroundings) {
            let variable = variable.to_string_lossy().escape_debug().to_string();
            let name = reference.name().to_owned();
            return Err(Unresolved::Surroundings { place: words(), name, variable });
        }
        for folder in strange.folders_unknown_to(&item.surroundings) {
            if !resolved.last.contains(folder) {
                resolved.last.push(folder.clone());
            }
        }
        let text = OsString::from(format!("{before}{}", item.value.expose()));
        match place {
            ReferenceSite::Argument(index) => {
                resolved.args.get_mut(*index).into_iter().for_each(|arg| arg.clone_from(&text))
            }
            ReferenceSite::Variable(name) => resolved.env.push((name.clone(), text)),
        }
        resolved.values.push(item.value);
    }
    Ok(resolved)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::{Item, MemoryKeychain, Surroundings};

    fn os(texts: &[&str]) -> Vec<OsString> {
        texts.iter().map(OsString::from).collect()
    }

    fn start(args: &[OsString]) -> Identity {
        Identity::of("github", Some("cursor"), "npx".as_ref(), args.iter().map(OsString::as_os_str))
    }

    fn stored(keychain: &MemoryKeychain, args: &[OsString], reference: &Reference, value: &str) {
        let item = Item {
            start: start(args),
            place: Identity::of_place([]),
            surroundings: Surroundings::of([("LD_PRELOAD", "/mine.so"), ("PATH", "/mine")]),
            value: Secret::new(value.to_owned()),
            literal: Secret::new(String::new()),
        };
        keychain.write(reference, &item).unwrap();
    }

    #[test]
    fn values_come_in_the_places_of_their_references() {
        let keychain = MemoryKeychain::default();
        let (one, two) = (Reference::fresh("TOKEN").unwrap(), Reference::fresh("api-key").unwrap());
        let args = os(&["-y", "server", &format!("--api-key={two}")]);
        stored(&keychain, &args, &one, "value-one");
        stored(&keychain, &args, &two, "value-two");
        let env =
            [("PATH", "/bin".to_owned()), ("TOKEN", one.to_string())].map(|(n, v)| (n.into(), v.into()));
        let wanted = wanted(&args, env);
        let resolved = resolve(&wanted, &start(&args), &Strange::default(), &args, &keychain).unwrap();
        assert_eq!(resolved.args, os(&["-y", "server", "--api-key=value-two"]));
        assert_eq!(resolved.env, [("TOKEN".into(), "value-one".into())]);
        assert_eq!(resolved.values.len(), 2);
        assert!(!format!("{resolved:?}").contains("value-"));
    }

    #[test]
    fn a_reference_is_good_for_one_start_only() {
        let keychain = MemoryKeychain::default();
        let one = Reference::fresh("TOKEN").unwrap();
        let args = os(&["server"]);
        stored(&keychain, &args, &one, "value-one");
        let env = || [("TOKEN".into(), OsString::from(one.to_string()))];
        let other = os(&["evil"]);
        for (start, args) in [
            (start(&other), &other),
            (Identity::of("github", Some("zed"), "npx".as_ref(), [OsStr::new("server")]), &args),
            (Identity::of("other", Some("cursor"), "npx".as_ref(), [OsStr::new("server")]), &args),
        ] {
            let told =
                resolve(&wanted(args, env()), &start, &Strange::default(), args, &keychain).unwrap_err();
            assert!(matches!(told, Unresolved::Foreign { .. }), "{told}");
            assert!(!told.to_string().contains("value-one"));
        }
        assert!(resolve(&wanted(&args, env()), &start(&args), &Strange::default(), &args, &keychain).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn what_the_entry_did_not_say_about_what_runs_is_refused_or_looked_in_last() {
        let keychain = MemoryKeychain::default();
        let one = Reference::fresh("TOKEN").unwrap();
        stored(&keychain, &[], &one, "value-one");
        let resolved = |env: &[(&str, &str)]| {
            let env: Vec<_> = env.iter().map(|(n, v)| (OsString::from(n), OsString::from(v))).collect();
            let wanted = wanted(&[], [("TOKEN".into(), OsString::from(one.to_string()))]);
            resolve(&wanted, &start(&[]), &Strange::of(&env, &[]), &[], &keychain)
        };
        let told = resolved(&[("LD_PRELOAD", "/evil.so")]).unwrap_err().to_string();
        assert!(told.contains("did not set LD_PRELOAD") && !told.contains("value-one"), "{told}");
        let last = resolved(&[("LD_PRELOAD", "/mine.so"), ("PATH", "/evil:/mine:/bin")]).unwrap().last;
        assert_eq!(last, ["/evil", "/bin"].map(PathBuf::from));
    }

    #[test]
    fn what_is_missing_or_no_reference_is_told_by_its_place() {
        let keychain = MemoryKeychain::default();
        let args = os(&["server", "keychain://callgate/nonsense"]);
        let told = resolve(&wanted(&args, []), &start(&args), &Strange::default(), &args, &keychain)
            .unwrap_err()
            .to_string();
        assert!(told.starts_with("argument 2 of the server: it names the keychain"), "{told}");
        let env = [("TOKEN".into(), Reference::fresh("TOKEN").unwrap().to_string().into())];
        let told = resolve(&wanted(&[], env), &start(&[]), &Strange::default(), &[], &keychain)
            .unwrap_err()
            .to_string();
        assert!(
            told.starts_with("the variable TOKEN is in the keychain, but the keychain has nothing"),
            "{told}"
        );
        assert!(wanted(&os(&["a"]), [("B".into(), "c".into())]).is_empty());
    }
}
