//! The keychain of this system: asked on a thread of its own, so that nobody waits for it longer than they want to.
//!
//! Owns: whose turn it is to ask, how long anybody waits, and a look that asks no person ([`glance`]). Must not know: for whom
//! a secret is good, files, policies, the command line. Nothing of a keychain runs, and no thread or connection is made, before
//! [`SystemKeychain::open`].

mod glance;
mod turn;

#[cfg_attr(target_os = "linux", path = "system/linux.rs")]
#[cfg_attr(target_os = "macos", path = "system/macos.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use callgate_secrets::{Item, Keychain, KeychainError, Reference};
use keyring_core::{CredentialStore, Entry, Error};
use zeroize::Zeroizing;

pub use crate::glance::glance;
use crate::turn::Turn;

/// Where a person may be asked to unlock it: time to find the window and to type.
const WITH_A_PERSON: Duration = Duration::from_secs(20);
/// Where nobody can be asked.
pub(crate) const ALONE: Duration = Duration::from_secs(2);
/// The keychain's name for everything of ours.
pub(crate) const SERVICE: &str = "callgate";

type Job = Box<dyn FnOnce(&Arc<CredentialStore>) + Send>;

/// The keychain of whoever is logged in. Held by one process of a home at a time, for as long as this lives.
#[derive(Debug)]
pub struct SystemKeychain {
    jobs: Sender<Job>,
    patience: Patience,
    turn: Option<Turn>,
}

/// How long it is waited for, in all: from the first wish for it to its first answer, whatever comes in between. Once it has
/// answered, nobody has to be asked any more.
#[derive(Debug)]
struct Patience {
    limit: Duration,
    until: Instant,
    answered: Cell<bool>,
    /// It was waited for in vain, and is not waited for again.
    over: Cell<bool>,
}

impl Patience {
    fn of(limit: Duration) -> Patience {
        let until = Instant::now() + limit;
        Patience { limit, until, answered: Cell::new(false), over: Cell::new(false) }
    }

    fn left(&self) -> Duration {
        let left = self.until.saturating_duration_since(Instant::now());
        if self.answered.get() { left.max(ALONE) } else { left }
    }
}

impl SystemKeychain {
    /// Reaches the keychain, after those who were there before. `home`: Callgate's own, where the queue is.
    pub fn open(home: &Path) -> Result<SystemKeychain, KeychainError> {
        system::reachable().map_err(KeychainError::Absent)?;
        let patience = Patience::of(if system::may_ask() { WITH_A_PERSON } else { ALONE });
        let turn = Turn::take(home, patience.limit)?;
        SystemKeychain::start(patience, turn, system::open)
    }

    fn start(
        patience: Patience,
        turn: Option<Turn>,
        open: impl FnOnce() -> Result<Arc<CredentialStore>, Error> + Send + 'static,
    ) -> Result<SystemKeychain, KeychainError> {
        let (jobs, todo) = mpsc::channel::<Job>();
        let (opened, opening) = mpsc::channel();
        let work = move || match open() {
            Ok(store) => {
                let _left = opened.send(Ok(()));
                todo.iter().for_each(|job| job(&store));
            }
            Err(error) => drop(opened.send(Err(KeychainError::Absent(error.to_string())))),
        };
        thread::Builder::new()
            .name("keychain".to_owned())
            .spawn(work)
            .map_err(|error| KeychainError::Failed(error.to_string()))?;
        // To be connected is no answer yet: it may be locked, and a person asked.
        match opening.recv_timeout(patience.left()) {
            Ok(done) => done.map(|()| SystemKeychain { jobs, patience, turn }),
            Err(_) => Err(KeychainError::Slow(patience.limit)),
        }
    }

    fn ask<T: Send + 'static>(
        &self,
        reference: &Reference,
        ask: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, KeychainError> {
        let (account, label) = (reference.account(), format!("Callgate: {}", reference.name()));
        let answer = self.answer({
            let account = account.clone();
            move |store| {
                let modifiers: HashMap<&str, &str> = system::labelled(&label).into_iter().collect();
                store.build(SERVICE, &account, Some(&modifiers)).and_then(|entry| ask(&entry))
            }
        });
        answer?.map_err(|error| {
            let told = told(error, account);
            if told == KeychainError::Denied {
                self.say_no();
            }
            told
        })
    }

    /// Gives up waiting in time; the thread is left behind with what it does, and nothing more is asked of it.
    fn answer<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Arc<CredentialStore>) -> T + Send + 'static,
    ) -> Result<T, KeychainError> {
        let slow = || KeychainError::Slow(self.patience.limit);
        if self.patience.over.get() {
            return Err(slow());
        }
        let (answer, answers) = mpsc::channel();
        let job = move |store: &Arc<CredentialStore>| drop(answer.send(ask(store)));
        let gone = || KeychainError::Failed("its connection is gone".to_owned());
        self.jobs.send(Box::new(job)).map_err(|_| gone())?;
        match answers.recv_timeout(self.patience.left()) {
            Ok(answer) => {
                self.patience.answered.set(true);
                Ok(answer)
            }
            Err(RecvTimeoutError::Timeout) => {
                self.patience.over.set(true);
                self.say_no();
                Err(slow())
            }
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }

    fn say_no(&self) {
        self.turn.iter().for_each(Turn::refused);
    }
}

/// What a store's error means.
pub(crate) fn told(error: Error, account: String) -> KeychainError {
    match error {
        Error::NoEntry => KeychainError::NotFound { account },
        Error::NoStorageAccess(why) => system::no_access(&*why),
        Error::TooLong(..) => KeychainError::TooLong,
        // These carry what is stored.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => KeychainError::Strange { account },
        Error::Ambiguous(_) => KeychainError::Strange { account },
        other => KeychainError::Failed(other.to_string()),
    }
}

impl Keychain for SystemKeychain {
    fn read(&self, reference: &Reference) -> Result<Item, KeychainError> {
        let bytes = self.ask(reference, |entry| entry.get_secret().map(Zeroizing::new))?;
        Item::unpacked(&bytes).ok_or(KeychainError::Strange { account: reference.account() })
    }

    fn write(&self, reference: &Reference, item: &Item) -> Result<(), KeychainError> {
        let packed = item.packed();
        self.ask(reference, move |entry| entry.set_secret(packed.expose().as_bytes()))
    }

    fn remove(&self, reference: &Reference) -> Result<(), KeychainError> {
        self.ask(reference, Entry::delete_credential)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use keyring_core::mock;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(300);

    fn keychain(limit: Duration) -> SystemKeychain {
        let open = || mock::Store::new().map(|store| store as Arc<CredentialStore>);
        SystemKeychain::start(Patience::of(limit), None, open).unwrap()
    }

    #[test]
    fn a_keychain_that_hangs_is_waited_for_once_and_not_for_every_item() {
        let (keychain, reference) = (keychain(LIMIT), Reference::fresh("TOKEN").unwrap());
        let (end, hanging) = mpsc::channel::<()>();
        let began = Instant::now();
        let told = keychain.answer(move |_| hanging.recv().is_ok());
        assert_eq!(told.unwrap_err(), KeychainError::Slow(LIMIT));
        for _ in 0..100 {
            assert_eq!(keychain.remove(&reference).unwrap_err(), KeychainError::Slow(LIMIT));
        }
        assert!(began.elapsed() < LIMIT * 50, "each was waited for");
        drop(end);
    }

    #[test]
    fn waiting_for_the_turn_and_for_the_connection_are_of_the_same_time() {
        let patience = Patience { until: Instant::now(), ..Patience::of(LIMIT) };
        let (end, hanging) = mpsc::channel::<()>();
        let open = move || {
            let _ended = hanging.recv();
            mock::Store::new().map(|store| store as Arc<CredentialStore>)
        };
        let told = SystemKeychain::start(patience, None, open).unwrap_err();
        assert_eq!(told, KeychainError::Slow(LIMIT));
        drop(end);
    }

    #[test]
    fn a_keychain_that_answered_has_time_for_the_next_item_however_long_the_person_took() {
        let patience = Patience { answered: Cell::new(true), until: Instant::now(), ..Patience::of(LIMIT) };
        assert!(patience.left() > LIMIT);
        assert_eq!(Patience { answered: Cell::new(false), ..patience }.left(), Duration::ZERO);
    }
}
