//! What a program says its version is.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(3);
/// More than any program says of its version.
const LONGEST: u64 = 4096;

/// The numbers of the version that a program of ours says it has; nothing, if it does not run.
pub fn version_of(program: &Path) -> Option<Vec<u64>> {
    numbers(ask_version(program, None)?.split_whitespace().nth(1)?)
}

/// What a program answers to `--version`, in its first line; nothing, if it does not run or takes too long. `path` is the
/// `PATH` that it runs with, if not ours.
pub fn ask_version(program: &Path, path: Option<&OsStr>) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.envs(path.map(|path| ("PATH", path)));
    // A version manager looks in the folder that it is started in, and may begin to install what it finds there.
    command.current_dir(program.parent()?);
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (sender, said) = mpsc::channel();
    // Ends with the program, or with what it started and left behind.
    thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.take(LONGEST).read_to_string(&mut text);
        let _nobody = sender.send(read.map(|_| text));
    });
    let said = said.recv_timeout(PATIENCE);
    let _ended = child.kill();
    let _reaped = child.wait();
    Some(said.ok()?.ok()?.lines().next()?.trim().to_owned())
}

/// `1.2.3` as numbers that can be compared.
pub fn numbers(version: &str) -> Option<Vec<u64>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::install::tests::script;

    #[test]
    fn nobody_waits_for_ever_for_a_version() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("slow");
        script(&program, "#!/bin/sh\necho v18.2.1 and more\necho twice\n");
        assert_eq!(ask_version(&program, None).as_deref(), Some("v18.2.1 and more"));
        script(&program, "#!/bin/sh\nexec sleep 600\n");
        assert_eq!(ask_version(&program, None), None);
        assert_eq!(ask_version(&folder.path().join("missing"), None), None);
    }
}
