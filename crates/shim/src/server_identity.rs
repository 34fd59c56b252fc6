//! Identity of what is started under a server's name, for approvals: the program's file as it is found, its arguments, and the
//! names of what its entry sets in its environment. A yes for one is none for another that goes by the same name.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use callgate_protocol::digest::{Digest, definition_digest};
use callgate_protocol::json::Raw;
use callgate_redaction::Masker;
use callgate_secrets::{Environment, Surroundings};
use callgate_supervise::find;
use sha2::{Digest as _, Sha256};

use crate::parent_env::above;

/// Shells set these, to other values each time: whether one stood in between makes no other server.
const OF_SHELLS: [&str; 4] = ["_", "PWD", "OLDPWD", "SHLVL"];

/// Of a longer file only its length, its beginning and its end are looked at: a start is not to wait for it.
const WHOLE_FILE: u64 = 32 << 20;
const PART: u64 = 1 << 20;
/// Programs that run the file that their first plain argument names.
const INTERPRETERS: [&str; 12] =
    ["node", "bun", "deno", "python", "python3", "ruby", "perl", "php", "sh", "bash", "zsh", "pwsh"];

/// What runs, for a person to accept: kept with the pins, and asked about when it is another.
#[derive(Debug)]
pub(crate) struct Fingerprint {
    /// JSON, secrets masked.
    pub(crate) text: String,
    pub(crate) digest: Digest,
}

#[derive(Debug)]
pub(crate) struct ServerIdentity {
    program: OsString,
    args: Vec<OsString>,
    /// Where the program is looked for, if not in our own `PATH`.
    path: Option<OsString>,
    /// Most sessions are never asked for it.
    digest: OnceLock<[u8; 32]>,
    fingerprint: OnceLock<Fingerprint>,
}

impl ServerIdentity {
    pub(crate) fn new(program: OsString, args: Vec<OsString>, path: Option<OsString>) -> ServerIdentity {
        ServerIdentity { program, args, path, digest: OnceLock::new(), fingerprint: OnceLock::new() }
    }

    pub(crate) fn digest(&self) -> &[u8; 32] {
        self.digest.get_or_init(|| {
            let own: Environment = std::env::vars_os().collect();
            self.of(&set_by_entry(&own, above().as_deref()))
        })
    }

    /// What runs under the server's name: its command, the file that is found for it with what is in it, and the names of the
    /// entry's variables that decide which code runs.
    pub(crate) fn fingerprint(&self, masker: &Masker) -> &Fingerprint {
        self.fingerprint.get_or_init(|| {
            let own: Environment = std::env::vars_os().collect();
            let above = above();
            let variables = set_by_entry(&own, above.as_deref());
            let text = masker.keep_definition(&self.describe(&variables));
            let digest = Raw::parse(&text).map_or_else(|_| Digest::from([0; 32]), definition_digest);
            Fingerprint { text, digest }
        })
    }

    fn describe(&self, variables: &BTreeSet<&OsStr>) -> String {
        let text = |text: &OsStr| text.to_string_lossy().into_owned();
        let file = self.file();
        let mut members = serde_json::Map::new();
        members.insert("command".to_owned(), text(&self.program).into());
        members.insert("arguments".to_owned(), self.args.iter().map(|arg| text(arg)).collect());
        members.insert("program".to_owned(), text(file.as_os_str()).into());
        members.insert("content".to_owned(), content(&file).into());
        if let Some(script) = self.script(&file) {
            members.insert("script".to_owned(), text(script.as_os_str()).into());
            members.insert("script content".to_owned(), content(&script).into());
        }
        let deciding =
            variables.iter().filter_map(|name| name.to_str()).filter(|name| Surroundings::is_about(name));
        members.insert("variables".to_owned(), deciding.collect());
        serde_json::Value::Object(members).to_string()
    }

    /// The file that an interpreter runs.
    fn script(&self, program: &Path) -> Option<PathBuf> {
        let name = program.file_stem()?.to_str()?;
        if !INTERPRETERS.contains(&name) && !name.starts_with("python3.") {
            return None;
        }
        let plain = self.args.iter().find(|arg| !arg.as_encoded_bytes().starts_with(b"-"))?;
        let path = std::path::absolute(plain).ok()?;
        path.is_file().then_some(path)
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

/// What is in a program's file, in a word. Who may write a file that we may not is not held off by a gate of ours, and replaces it
/// with every update of the system: of such a file the path counts.
fn content(path: &Path) -> String {
    let Ok(real) = path.canonicalize() else { return "not found".to_owned() };
    if !may_be_written(&real) {
        return format!("{}, which only an administrator replaces", real.display());
    }
    match digest_of(&real) {
        Ok(digest) => digest,
        Err(error) => format!("cannot be read ({})", error.kind()),
    }
}

fn digest_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut form = Sha256::new_with_prefix(length.to_le_bytes());
    if length <= WHOLE_FILE {
        add(&mut form, (&mut file).take(WHOLE_FILE))?;
    } else {
        add(&mut form, (&mut file).take(PART))?;
        file.seek(SeekFrom::Start(length - PART))?;
        add(&mut form, file.take(PART))?;
    }
    Ok(format!("SHA-256 {}", Digest::from(<[u8; 32]>::from(form.finalize()))))
}

fn add(form: &mut Sha256, mut from: impl Read) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => form.update(&buffer[..read]),
        }
    }
}

/// May programs of this user put another file in its place?
#[cfg(unix)]
fn may_be_written(path: &Path) -> bool {
    use rustix::fs::{Access, access};

    let folder = path.parent().unwrap_or(path);
    [path, folder].into_iter().any(|path| access(path, Access::WRITE_OK).is_ok())
}

/// Nothing tells as cheaply as on Unix: it counts as if they could.
#[cfg(not(unix))]
fn may_be_written(_path: &Path) -> bool {
    true
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
    fn a_program_that_was_exchanged_is_another_and_a_file_of_data_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let [server, data] = ["server", "data.db"].map(|name| folder.path().join(name));
        fs::write(&server, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&data, "1").unwrap();
        let print = |words: &[&Path], names: &[&str]| {
            let args = words[1..].iter().map(|arg| arg.as_os_str().to_owned()).collect();
            let identity = ServerIdentity::new(words[0].as_os_str().to_owned(), args, None);
            let text = identity.describe(&names.iter().map(OsStr::new).collect());
            definition_digest(Raw::parse(&text).unwrap())
        };
        let first = print(&[&server, &data], &["TOKEN"]);
        fs::write(&data, "2").unwrap();
        assert_eq!(print(&[&server, &data], &["OTHER_TOKEN"]), first, "what it works on");
        assert_ne!(print(&[&server, &data], &["NODE_OPTIONS"]), first, "what decides which code runs");
        assert_ne!(print(&[&server], &["TOKEN"]), first);
        fs::write(&server, "#!/bin/sh\necho\n").unwrap();
        assert_ne!(print(&[&server, &data], &["TOKEN"]), first);
        let script = [Path::new("sh"), data.as_path()];
        let before = print(&script, &[]);
        fs::write(&data, "3").unwrap();
        assert_ne!(print(&script, &[]), before, "what an interpreter runs");
    }

    #[test]
    fn a_large_program_costs_a_bounded_look_and_another_length_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        let of_length = |length: u64| {
            File::create(&path).unwrap().set_len(length).unwrap();
            digest_of(&path).unwrap()
        };
        assert_ne!(of_length(1 << 40), of_length((1 << 40) + 1));
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
