//! The file with the pins of a server: read by gates once a change, written rarely, by one at a time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use callgate_home::{Home, Locked, StoreError, atomic, read_private_up_to, try_lock};
use callgate_protocol::digest::Digest;

use super::Pins;

/// A file is no larger than this.
const MOST_BYTES: usize = 16 << 20;
/// Another session writes the same file for a moment. One that hangs while it does must not hold up this one.
const PATIENCE: Duration = Duration::from_millis(500);
const RETRY: Duration = Duration::from_millis(5);

/// Every file with pins: its path, and what is in it. One that cannot be read is named by its path alone.
pub fn all(home: &Home) -> Vec<(PathBuf, Result<Pins, StoreError>)> {
    let entries = std::fs::read_dir(home.pins_dir()).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort_unstable();
    let read = |path: PathBuf| {
        let pins = read_file(&path).and_then(|pins| match home.pins(&pins.server) == path {
            true => Ok(pins),
            false => Err(broken(&path, "it is about another server".to_owned())),
        });
        (path, pins)
    };
    paths.into_iter().map(read).collect()
}

/// None if the server has not listed anything yet. A file that is not as we write them is an error, for people to see.
pub fn read(home: &Home, server: &str) -> Result<Option<Pins>, StoreError> {
    let path = home.pins(server);
    if let Err(error) = path.symlink_metadata()
        && error.kind() == std::io::ErrorKind::NotFound
    {
        return Ok(None);
    }
    let pins = read_file(&path)?;
    if pins.server != server {
        return Err(broken(&path, "it is about another server".to_owned()));
    }
    Ok(Some(pins))
}

fn read_file(path: &Path) -> Result<Pins, StoreError> {
    let text =
        read_private_up_to(path, MOST_BYTES as u64).map_err(|error| StoreError::io("read", path, &error))?;
    serde_json::from_str(&text).map_err(|error| broken(path, error.to_string()))
}

fn broken(path: &Path, why: String) -> StoreError {
    StoreError::io("read", path, &std::io::Error::new(std::io::ErrorKind::InvalidData, why))
}

pub(super) fn lock(home: &Home, server: &str) -> Result<Locked, StoreError> {
    let path = home.pins_lock(server);
    let fail = |error: std::io::Error| StoreError::io("lock", &path, &error);
    let since = Instant::now();
    loop {
        if let Some(alone) = try_lock(&path).map_err(fail)? {
            return Ok(alone);
        }
        if since.elapsed() > PATIENCE {
            let busy = std::io::Error::new(std::io::ErrorKind::TimedOut, "another session is writing it");
            return Err(fail(busy));
        }
        std::thread::sleep(RETRY);
    }
}

/// Definitions go before digests: those are what counts.
pub(super) fn replace(home: &Home, pins: &mut Pins) -> Result<(), StoreError> {
    let path = home.pins(&pins.server);
    let fail = |error: std::io::Error| StoreError::io("write", &path, &error);
    let write = |pins: &Pins| serde_json::to_vec(pins).map_err(|error| fail(std::io::Error::other(error)));
    let mut text = write(pins)?;
    if text.len() > MOST_BYTES {
        pins.drop_texts();
        text = write(pins)?;
    }
    atomic::replace(&path, &text).map_err(fail)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HexDigest(pub(super) Digest);

impl Serialize for HexDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for HexDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HexDigest, D::Error> {
        let text = String::deserialize(deserializer)?;
        Digest::from_hex(&text).map(HexDigest).ok_or_else(|| serde::de::Error::custom("not a digest"))
    }
}
