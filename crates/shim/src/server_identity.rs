//! Identity of what is started under a server's name, for approvals: the program's file as it is found, its arguments, and the
//! names of what its entry sets in its environment. A yes for one is none for another that goes by the same name.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::OnceLock;

use callgate_secrets::Environment;
use callgate_supervise::find;
use sha2::{Digest as _, Sha256};

use crate::parent_env::above;

/// Shells set these, to other values each time: whether one stood in between makes no other server.
const OF_SHELLS: [&str; 4] = ["_", "PWD", "OLDPWD", "SHLVL"];

#[derive(Debug)]
pub(crate) struct ServerIdentity {
    program: OsString,
    args: Vec<OsString>,
    /// Where the program is looked for, if not in our own `PATH`.
    path: Option<OsString>,
    /// Most sessions are never asked for it.
    digest: OnceLock<[u8; 32]>,
}

impl ServerIdentity {
    pub(crate) fn new(program: OsString, args: Vec<OsString>, path: Option<OsString>) -> ServerIdentity {
        ServerIdentity { program, args, path, digest: OnceLock::new() }
    }

    pub(crate) fn digest(&self) -> &[u8; 32] {
        self.digest.get_or_init(|| {
            let own: Environment = std::env::vars_os().collect();
            self.of(&set_by_entry(&own, above().as_deref()))
        })
    }

    fn of(&self, variables: &BTreeSet<&OsStr>) -> [u8; 32] {
        let mut form = Sha256::new();
        let mut put = |text: &OsStr| {
            let bytes = text.as_encoded_bytes();
            form.update((bytes.len() as u64).to_le_bytes());
            form.update(bytes);
        };
        put(self.file().as_os_str());
        put(OsStr::new(&self.args.len().to_string()));
        self.args.iter().for_each(|arg| put(arg));
        variables.iter().for_each(|name| put(name));
        form.finalize().into()
    }

    /// The program's file; its name, where there is no such file.
    fn file(&self) -> PathBuf {
        let path = self.path.clone().or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        let found = find(&self.program, &path).unwrap_or_else(|| PathBuf::from(&self.program));
        // One that is named from the folder in which it is started is another in another folder.
        if found.components().count() > 1 { std::path::absolute(&found).unwrap_or(found) } else { found }
    }
}

/// Names of variables that no process above has so. Nothing, where those do not tell.
fn set_by_entry<'e>(own: &'e Environment, above: Option<&[Environment]>) -> BTreeSet<&'e OsStr> {
    let Some(above) = above else { return BTreeSet::new() };
    let inherited = |variable: &(OsString, OsString)| above.iter().flatten().any(|other| other == variable);
    let own = own.iter().filter(|variable| !inherited(variable)).map(|(name, _)| name.as_os_str());
    own.filter(|name| !OF_SHELLS.iter().any(|shells| name == shells)).collect()
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn another_program_behind_the_same_words_is_another_server() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("server"), "#!/bin/sh\n").unwrap();
            fs::set_permissions(path.join("server"), fs::Permissions::from_mode(0o755)).unwrap();
            path.into_os_string()
        });
        let of = |path: &OsStr, args: &[&str], names: &[&str]| {
            let args = args.iter().map(OsString::from).collect();
            let names = names.iter().map(OsStr::new).collect();
            ServerIdentity::new("server".into(), args, Some(path.to_owned())).of(&names)
        };
        let first = of(&one, &["-y"], &["TOKEN"]);
        assert_eq!(first, of(&one, &["-y"], &["TOKEN"]));
        for differs in [
            of(&other, &["-y"], &["TOKEN"]),
            of(&one, &[], &["-y", "TOKEN"]),
            of(&one, &["-y", "TOKEN"], &[]),
            of(&one, &["-y"], &["TOKEN", "NODE_OPTIONS"]),
        ] {
            assert_ne!(first, differs);
        }
    }

    #[test]
    fn what_came_with_the_client_or_through_a_shell_is_not_the_entrys() {
        let own = env(&[("HOME", "/h"), ("TOKEN", "x"), ("LANG", "C"), ("_", "/usr/bin/x"), ("SHLVL", "2")]);
        let above = [env(&[("HOME", "/h"), ("LANG", "de")]), env(&[("SHLVL", "1")])];
        let names: Vec<&OsStr> = set_by_entry(&own, Some(&above)).into_iter().collect();
        assert_eq!(names, ["LANG", "TOKEN"]);
        assert!(set_by_entry(&own, None).is_empty(), "where nobody tells");
    }
}
