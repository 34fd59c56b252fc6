//! Linux: the Secret Service on the session bus (GNOME Keyring, KWallet, KeePassXC …).
//!
//! Clients hand little of their environment to what they start: without `DBUS_SESSION_BUS_ADDRESS` and `XDG_RUNTIME_DIR` the bus
//! is looked for where every session has it, `/run/user/UID/bus`. It is never started for the purpose.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_secrets::{KeychainError, Reference};
use keyring_core::{CredentialStore, Error};
use secret_service::blocking::SecretService;
use secret_service::{EncryptionType, Error as ServiceError};
use zeroize::Zeroizing;

use crate::SERVICE;

pub(crate) fn open() -> Result<Arc<CredentialStore>, Error> {
    let store = zbus_secret_service_keyring_store::Store::new()?;
    Ok(store)
}

/// The same service, by the library below: the store unlocks whatever it finds locked, by asking the person.
pub(crate) struct Quiet(SecretService<'static>);

impl Quiet {
    /// Fails if the keychain is locked, or was never set up.
    pub(crate) fn open() -> Result<Quiet, KeychainError> {
        let absent = |error: ServiceError| KeychainError::Absent(error.to_string());
        let service = SecretService::connect(EncryptionType::Dh).map_err(absent)?;
        let locked = service.get_default_collection().and_then(|collection| collection.is_locked());
        match locked.map_err(quietly_told)? {
            true => Err(KeychainError::Locked),
            false => Ok(Quiet(service)),
        }
    }

    pub(crate) fn read(&self, reference: &Reference) -> Result<Zeroizing<Vec<u8>>, KeychainError> {
        let account = reference.account();
        let wanted = HashMap::from([("service", SERVICE), ("username", account.as_str())]);
        let found = self.0.search_items(wanted).map_err(quietly_told)?;
        match (&found.unlocked[..], &found.locked[..]) {
            ([item], []) => item.get_secret().map(Zeroizing::new).map_err(quietly_told),
            ([], []) => Err(KeychainError::NotFound { account }),
            ([], _) => Err(KeychainError::Locked),
            _ => Err(KeychainError::Strange { account }),
        }
    }
}

fn quietly_told(error: ServiceError) -> KeychainError {
    match error {
        ServiceError::Locked | ServiceError::NoResult | ServiceError::Prompt => KeychainError::Locked,
        other => KeychainError::Failed(other.to_string()),
    }
}

/// Whether there is a bus to ask on at all. Says why not.
pub(crate) fn reachable() -> Result<(), String> {
    match bus(&|name| std::env::var_os(name), rustix::process::geteuid().as_raw()) {
        Bus::Named => Ok(()),
        Bus::At(path) => is_ours(&path),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Bus {
    /// By an address that is the person's own to choose.
    Named,
    At(PathBuf),
}

/// Where the library will look.
fn bus(variable: &dyn Fn(&str) -> Option<OsString>, uid: u32) -> Bus {
    if variable("DBUS_SESSION_BUS_ADDRESS").is_some() {
        return Bus::Named;
    }
    Bus::At(runtime_folder(variable, uid).join("bus"))
}

fn runtime_folder(variable: &dyn Fn(&str) -> Option<OsString>, uid: u32) -> PathBuf {
    variable("XDG_RUNTIME_DIR").map_or_else(|| PathBuf::from(format!("/run/user/{uid}")), PathBuf::from)
}

/// A socket that somebody else put there would be handed our secrets.
fn is_ours(socket: &Path) -> Result<(), String> {
    let metadata =
        fs::metadata(socket).map_err(|_| format!("there is no session bus at {}", socket.display()))?;
    if !metadata.file_type().is_socket() {
        return Err(format!("{} is not a socket", socket.display()));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(format!("{} belongs to somebody else", socket.display()));
    }
    Ok(())
}

/// Whether a window that asks could be seen. The service opens it, not we, so our own environment says only half of it.
pub(crate) fn may_ask() -> bool {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if variable("WAYLAND_DISPLAY").or_else(|| variable("DISPLAY")).is_some() {
        return true;
    }
    let uid = rustix::process::geteuid().as_raw();
    holds(&runtime_folder(&variable, uid), "wayland-") || holds(Path::new("/tmp/.X11-unix"), "X")
}

fn holds(folder: &Path, beginning: &str) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    names.into_iter().any(|entry| {
        entry.file_name().to_string_lossy().starts_with(beginning)
            && entry.file_type().is_ok_and(|kind| kind.is_socket())
    })
}

/// What is written beside an item for whoever looks into the keychain.
pub(crate) fn labelled(label: &str) -> Option<(&'static str, &str)> {
    Some(("label", label))
}

/// The service names three cases, by the names of an error type that is not ours to see.
pub(crate) fn no_access(why: &(dyn StdError + Send + Sync)) -> KeychainError {
    // Where nobody can see the question, nobody turned it down.
    if format!("{why:?}").starts_with("Prompt") && may_ask() {
        KeychainError::Denied
    } else {
        KeychainError::Locked
    }
}

pub(crate) fn private(options: &mut OpenOptions) {
    options.mode(0o600);
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn the_bus_is_found_without_an_environment() {
        let at = |path: &str| Bus::At(path.into());
        for (environment, expected) in [
            (&[][..], at("/run/user/1000/bus")),
            (&[("XDG_RUNTIME_DIR", "/run/user/7")][..], at("/run/user/7/bus")),
            (&[("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x"), ("XDG_RUNTIME_DIR", "/r")][..], Bus::Named),
        ] {
            let variable = |name: &str| {
                environment.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            assert_eq!(bus(&variable, 1000), expected);
        }
    }

    #[test]
    fn only_a_socket_of_ours_is_a_bus() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bus");
        assert!(is_ours(&path).unwrap_err().contains("no session bus"));
        fs::write(&path, "").unwrap();
        assert!(is_ours(&path).unwrap_err().contains("not a socket"));
        fs::remove_file(&path).unwrap();
        let _listener = UnixListener::bind(&path).unwrap();
        assert_eq!(is_ours(&path), Ok(()));
        assert!(holds(folder.path(), "b") && !holds(folder.path(), "wayland-"));
    }
}
