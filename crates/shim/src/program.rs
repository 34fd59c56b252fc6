//! The server's program, where the client's own `PATH` does not have it. What the login shell says is kept for a while, since
//! asking it takes a moment.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use callgate_home::{Home, atomic};
use callgate_supervise::{login_path, wider_path};

use crate::Options;

/// How long a shell may take to say its `PATH`.
const SHELL: Duration = Duration::from_secs(3);
/// A program that was installed just now is not in what a shell said before; but a dozen servers that are not there should
/// not start a dozen shells.
const FRESH: Duration = Duration::from_secs(60);

/// The `PATH` to start the server with, if it needs another than our own. To be called before any thread exists.
pub(crate) fn path_for(options: &Options) -> Option<OsString> {
    let person = std::env::home_dir()?;
    wider_path(&options.program, std::env::var_os("PATH").as_deref(), &person, |has| {
        login(&options.home, has)
    })
}

/// The `PATH` of the person's shell, asked anew if it was not known to have all of these.
pub(crate) fn folders_of_the_person(home: &Home, folders: &[PathBuf]) -> Option<OsString> {
    login(home, &|path| {
        let has: Vec<_> = std::env::split_paths(path).collect();
        folders.iter().all(|folder| has.contains(folder))
    })
}

fn login(home: &Home, has: &dyn Fn(&OsStr) -> bool) -> Option<OsString> {
    let kept = home.login_path();
    let known = fs::read_to_string(&kept).ok().map(OsString::from);
    let age = fs::metadata(&kept).and_then(|metadata| metadata.modified()).ok();
    let fresh = age.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < FRESH));
    if known.as_deref().is_some_and(has) || (fresh && known.is_some()) {
        return known;
    }
    let asked = login_path(SHELL);
    // A shell that says nothing in time is not asked again and again either, and what it said before still counts.
    let text = asked.as_deref().or(known.as_deref()).and_then(OsStr::to_str).unwrap_or_default();
    // Only a short cut: without it, the shell is asked the next time. Whole or not at all, since others read it meanwhile.
    let _kept =
        callgate_controls::prepare_home(home).is_ok() && atomic::replace(&kept, text.as_bytes()).is_ok();
    asked.or(known)
}
