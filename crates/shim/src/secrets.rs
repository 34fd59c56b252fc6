//! Secrets of a server on their way from the keychain into its process, and nowhere else.
//!
//! A server without references is started as ever: nothing of a keychain runs for it. With references, the keeper is forked
//! first and waits, since a keychain needs threads; then the values are fetched, for a bounded time, and given to the keeper
//! alone. Our own command line and environment, which the record is made of, keep the references.

use std::ffi::OsString;

use callgate_secrets::{Identity, Resolved, Secret, SystemKeychain, Wanted, resolve, wanted};
use callgate_supervise::{Launch, Server, StartError};

use crate::Options;

/// Starts the server, with its secrets in place; or starts nothing and lets the session say why.
pub(crate) fn start(options: &Options, launch: Launch) -> Result<(Server, Vec<Secret>), StartError> {
    let wanted = wanted(&options.args, std::env::vars_os());
    if wanted.is_empty() {
        return Ok((callgate_supervise::start(launch)?, Vec::new()));
    }
    let own = launch.env.clone();
    let prepared = callgate_supervise::prepare(launch)?;
    match fetch(options, &wanted) {
        Ok(Resolved { args, env, values }) => {
            Ok((prepared.start(args, own.into_iter().chain(env).collect())?, values))
        }
        Err(why) => Ok((prepared.withhold(why)?, Vec::new())),
    }
}

fn fetch(options: &Options, wanted: &Wanted) -> Result<Resolved, String> {
    let Options { home, server, client, program, args, .. } = options;
    let start = Identity::of(server, client.as_deref(), program, args.iter().map(OsString::as_os_str));
    // The queue is in it. Whether it can be used at all is told later, to whoever calls.
    let _prepared = home.prepare();
    let keychain = SystemKeychain::open(home.path())
        .map_err(|error| format!("its secrets are in the keychain, but {error}"))?;
    resolve(wanted, &start, args, &keychain).map_err(|error| error.to_string())
}
