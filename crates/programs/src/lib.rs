//! The two programs of Callgate: **the gate** (`callgate`), which clients start, and **its partner** (`callgate-cli`), which has
//! every other command and what the gate must not hold: the checks of arguments, and the system's keychain.
//!
//! Owns: their names, which partner belongs to which gate, how both come into a home and leave it, and what version a program
//! says it is. Must not know: what they do, clients' files, policies, the record.
//!
//! They lie in one folder. Where a package manager or cargo put them there, the partner is `callgate-cli`. In a home its name
//! carries a digest of its gate (`callgate-cli-0123456789abcdef`): it is written first, then the gate is renamed into place, so
//! a gate never meets the partner of another. A session that runs a gate which was replaced finds its own partner, too.

mod install;
mod version;

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

pub use install::{Installed, Pair, is_installed, place, remove, sweep};
pub use version::{ask_version, numbers, version_of};

const GATE: &str = "callgate";
const PARTNER: &str = "callgate-cli";
/// As many hexadecimal digits of the gate's digest are in the name of its partner.
const DIGITS: usize = 16;

/// Why a gate has no partner.
#[derive(Debug, thiserror::Error)]
pub enum PartnerError {
    #[error(
        "{} has no {PARTNER} that belongs to its {GATE}. The two come together: start Callgate's app, which puts both in place, or install \
         Callgate again", folder.display()
    )]
    Missing { folder: PathBuf },
    #[error("{} cannot be read: {source}", path.display())]
    Unread { path: PathBuf, source: io::Error },
}

impl From<PartnerError> for io::Error {
    fn from(error: PartnerError) -> io::Error {
        io::Error::other(error)
    }
}

/// Whether a file of this name is one of the two, wherever it is kept.
pub fn is_callgate(name: &str) -> bool {
    let windows = name.len().checked_sub(4).and_then(|at| name.split_at_checked(at));
    let stem = match windows {
        Some((stem, end)) if end.eq_ignore_ascii_case(".exe") => stem.to_ascii_lowercase(),
        _ => name.to_owned(),
    };
    stem == GATE || is_partner(&stem)
}

fn is_partner(stem: &str) -> bool {
    stem.strip_prefix(PARTNER).is_some_and(|rest| {
        let digest = rest.strip_prefix('-').unwrap_or_default();
        rest.is_empty() || digest.len() == DIGITS && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// The partner of the program that runs here; of a partner, itself. The file may have been replaced meanwhile.
pub fn partner() -> Result<PathBuf, PartnerError> {
    let unread = |source| PartnerError::Unread { path: GATE.into(), source };
    let named = std::env::current_exe().map_err(unread)?;
    // Some systems tell the link that it was started by. The name of a file that is gone stands for its folder.
    let own = named.canonicalize().unwrap_or(named);
    let running = system::running(&own);
    if own.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_partner) {
        return Ok(running);
    }
    beside(own.parent().unwrap_or(Path::new("")), &running)
}

/// The partner in `folder` of a gate with these bytes.
fn beside(folder: &Path, gate: &Path) -> Result<PathBuf, PartnerError> {
    let plain = folder.join(program(PARTNER));
    if plain.is_file() {
        return Ok(plain);
    }
    let name = partner_name(gate).map_err(|source| PartnerError::Unread { path: gate.into(), source })?;
    let partner = folder.join(name);
    if partner.is_file() { Ok(partner) } else { Err(PartnerError::Missing { folder: folder.into() }) }
}

fn partner_name(gate: &Path) -> io::Result<String> {
    let mut file = File::open(gate)?;
    let (mut digest, mut part) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut part)? {
            0 => break,
            count => digest.update(&part[..count]),
        }
    }
    Ok(program(&format!("{PARTNER}-{}", &callgate_text::hex(&digest.finalize())[..DIGITS])))
}

/// A program's file name on this system.
fn program(stem: &str) -> String {
    format!("{stem}{}", std::env::consts::EXE_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_programs_are_known_by_their_names_and_nothing_that_only_looks_like_them() {
        for ours in
            ["callgate", "Callgate.EXE", "callgate-cli", "callgate-cli.exe", "callgate-cli-0123456789abcdef"]
        {
            assert!(is_callgate(ours), "{ours}");
        }
        for other in
            ["callgate-evil", "callgate-cli-", "callgate-cli-0123", "callgate-client", "callgate-app", "x"]
        {
            assert!(!is_callgate(other), "{other}");
        }
    }
}
