//! Secrets of a server on their way from the keychain into its process, and nowhere else.
//!
//! A server without references is started as ever: nothing of a keychain runs for it. With references, the keeper is forked
//! first and waits, since a keychain needs threads; then the values are fetched, for a bounded time, and given to the keeper
//! alone. Our own command line and environment, which the record is made of, keep the references.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use callgate_secrets::{
    Identity, Keychain, KeychainError, Resolved, Secret, Strange, Wanted, resolve, wanted,
};
use callgate_supervise::{Launch, Server, StartError, find};

use crate::Options;
use crate::above::above;
use crate::program::folders_of_the_person;

/// How to reach the keychain of whoever is logged in; given Callgate's home, where the queue for it is.
pub type OpenKeychain = fn(&Path) -> Result<Box<dyn Keychain>, KeychainError>;

/// Starts the server, with its secrets in place; or starts nothing and lets the session say why.
pub(crate) fn start(options: &Options, launch: Launch) -> Result<(Server, Vec<Secret>), StartError> {
    let wanted = wanted(&options.args, std::env::vars_os());
    if wanted.is_empty() {
        return Ok((callgate_supervise::start(launch)?, Vec::new()));
    }
    // May ask a shell, so before any thread.
    let strange = strange(options);
    let own = launch.env.clone();
    let prepared = callgate_supervise::prepare(launch)?;
    let fetched = fetch(options, &wanted, &strange)
        .and_then(|resolved| Ok((path_with_strange_last(options, &own, &resolved.last)?, resolved)));
    match fetched {
        Ok((path, Resolved { args, env, values, .. })) => {
            let path = path.map(|path| ("PATH".into(), path));
            Ok((prepared.start(args, own.into_iter().chain(env).chain(path).collect())?, values))
        }
        Err(why) => Ok((prepared.withhold(why)?, Vec::new())),
    }
}

/// What of our environment may have been written into a client's file to have other code run than the entry's. Where nobody
/// can tell, nothing is.
fn strange(options: &Options) -> Strange {
    let own: Vec<_> = std::env::vars_os().collect();
    let mut strange = above().map_or_else(Strange::default, |above| Strange::of(&own, &above));
    if !strange.folders().is_empty()
        && let Some(path) = folders_of_the_person(&options.home, strange.folders())
    {
        strange.but_for(&path);
    }
    strange
}

/// The server's `PATH`, if it has to be another than it is: a folder that came from who knows where must not come before
/// those where the program is known to be. An error: the program is in no other.
fn path_with_strange_last(
    options: &Options,
    own: &[(OsString, OsString)],
    strange: &[PathBuf],
) -> Result<Option<OsString>, String> {
    if strange.is_empty() {
        return Ok(None);
    }
    let set = own.iter().rev().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
    let Some(path) = set.or_else(|| std::env::var_os("PATH")) else { return Ok(None) };
    let (last, first): (Vec<_>, Vec<_>) =
        std::env::split_paths(&path).partition(|folder| strange.contains(folder));
    let joined = |folders: &[PathBuf]| {
        std::env::join_paths(folders).map_err(|error| format!("its PATH cannot be used: {error}"))
    };
    let (known, whole) = (joined(&first)?, joined(&[first, last].concat())?);
    match (find(&options.program, &known), find(&options.program, &whole)) {
        (None, Some(file)) => Err(format!(
            "its secrets are in the keychain, but its program would be {}, in a folder that only this entry's PATH seems to have. If \
             that is yours, write this path in place of the program's name into the entry and run `callgate secrets move` for it once \
             more; else somebody else wrote it: do not start it",
            file.display()
        )),
        _ => Ok(Some(whole)),
    }
}

fn fetch(options: &Options, wanted: &Wanted, strange: &Strange) -> Result<Resolved, String> {
    let Options { home, server, client, program, args, .. } = options;
    let start = Identity::of(server, client.as_deref(), program, args.iter().map(OsString::as_os_str));
    // The queue is in it. Whether it can be used at all is told later, to whoever calls.
    let _prepared = callgate_controls::prepare_home(home);
    let keychain = (options.keychain)(home.path())
        .map_err(|error| format!("its secrets are in the keychain, but {error}"))?;
    resolve(wanted, &start, strange, args, &*keychain).map_err(|error| error.to_string())
}
