//! The gate: what AI clients start in front of a server.
//!
//! Holds `run` and nothing else, so that little code stands between a client and its server, and little is loaded for each of
//! them. Every other word is its partner's (`callgate_programs`), which takes the place of this process; so is a server with
//! secrets in the keychain: the partner is a gate as well, and the one of the two that can ask it.

#[cfg_attr(unix, path = "partner_unix.rs")]
#[cfg_attr(windows, path = "partner_windows.rs")]
mod partner;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use callgate_gate::RunWords;
use callgate_home::Home;
use callgate_secrets::{Keychain, KeychainError, wanted};
use callgate_shim::Options;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if matches!(&words[..], [word] if word == "--version" || word == "-V") {
        return said(io::stdout(), concat!("callgate ", env!("CARGO_PKG_VERSION")), ExitCode::SUCCESS);
    }
    // Where there is no home, the partner says why.
    let (Some(run), Ok(home)) = (RunWords::read(&words), Home::of_gate()) else {
        let error = partner::take_over(words);
        return said(io::stderr(), &format!("callgate: {error}"), ExitCode::FAILURE);
    };
    if !wanted(&run.args, std::env::vars_os()).is_empty() {
        // It comes back only without a partner. Then the session begins, and tells the client.
        let _told_by_the_session = partner::take_over(words);
    }
    let RunWords { server, client, started_by, demo, program, args } = run;
    let options = Options { home, server, client, started_by, program, args, demo, keychain: no_keychain };
    ExitCode::from(callgate_shim::run(options))
}

fn no_keychain(_home: &Path) -> Result<Box<dyn Keychain>, KeychainError> {
    let why = callgate_programs::partner().err().map(|error| error.to_string());
    Err(KeychainError::NoProgram(why.unwrap_or_else(|| "it could not be started".to_owned())))
}

fn said(mut to: impl io::Write, text: &str, code: ExitCode) -> ExitCode {
    // Nothing is left to be done when even that cannot be written.
    let _unread = writeln!(to, "{text}");
    code
}
