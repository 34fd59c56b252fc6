//! Digests of calls as they are stored: sealed with a key of this home. A plain digest of a short argument (a PIN, an
//! amount) tells the argument to whoever tries them all; a copy of the history does not hold the key.

use std::fmt;
use std::io::{self, Write};

use sha2::{Digest as _, Sha256};

use crate::home::Home;
use crate::private;

#[derive(Clone)]
pub struct Seal([u8; 32]);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

impl Seal {
    /// The home's own, made at the first use.
    pub fn of(home: &Home) -> io::Result<Seal> {
        let path = home.seal();
        for _ in 0..100 {
            match std::fs::read(&path) {
                Ok(key) => {
                    if let Ok(key) = key.try_into() {
                        return Ok(Seal(key));
                    }
                    // Somebody is just writing it, or it was cut short: then it is made anew, and old digests are lost.
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => Seal::make(home)?,
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!("{} is no key; remove it to have a new one made", path.display())))
    }

    /// Whole or not at all; of several at once, the first one's stays.
    fn make(home: &Home) -> io::Result<()> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        let path = home.seal();
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let fresh = path.with_extension(format!("new-{:016x}", u64::from_ne_bytes(name)));
        private::options().write(true).create_new(true).open(&fresh)?.write_all(&key)?;
        let linked = std::fs::hard_link(&fresh, &path);
        let _gone = std::fs::remove_file(&fresh);
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// The same digest gives the same seal in this home, and another one in any other.
    pub fn seal(&self, digest: &[u8; 32]) -> [u8; 32] {
        Sha256::new().chain_update(self.0).chain_update(digest).finalize().into()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn one_home_has_one_seal_and_another_home_another() {
        let folder = tempfile::tempdir().unwrap();
        let homes = [Home::at(folder.path().join("a")), Home::at(folder.path().join("b"))];
        homes.iter().for_each(|home| home.prepare_with(|_| Ok(())).unwrap());
        let digest = [7; 32];
        let sealed = |home: &Home| Seal::of(home).unwrap().seal(&digest);
        let all: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| sealed(&homes[0]))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|one| *one == all[0]), "made once, however many ask at once");
        assert_ne!(sealed(&homes[0]), sealed(&homes[1]));
        assert_ne!(sealed(&homes[0]), digest);
        assert_eq!(format!("{:?}", Seal::of(&homes[0]).unwrap()), "Seal");
    }
}
