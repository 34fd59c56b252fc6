//! The keychain of this system: asked on a thread of its own, so that nobody waits for it longer than they want to.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use keyring_core::{CredentialStore, Entry, Error};
use zeroize::Zeroizing;

use crate::turn::Turn;
use crate::{Item, KeychainError, Reference, system};

/// Where a person may be asked to unlock it: time to find the window and to type.
const WITH_A_PERSON: Duration = Duration::from_secs(20);
/// Where nobody can be asked.
pub(crate) const ALONE: Duration = Duration::from_secs(2);
/// The keychain's name for everything of ours.
pub(crate) const SERVICE: &str = "callgate";

/// Items by reference.
pub trait Keychain {
    fn read(&self, reference: &Reference) -> Result<Item, KeychainError>;
    /// Writes it anew, or in place of what is there.
    fn write(&self, reference: &Reference, item: &Item) -> Result<(), KeychainError>;
    fn remove(&self, reference: &Reference) -> Result<(), KeychainError>;
}

type Job = Box<dyn FnOnce(&Arc<CredentialStore>) + Send>;

/// The keychain of whoever is logged in. Held by one process of a home at a time, for as long as this lives.
#[derive(Debug)]
pub struct SystemKeychain {
    jobs: Sender<Job>,
    limit: Duration,
    turn: Option<Turn>,
}

impl SystemKeychain {
    /// Reaches the keychain, after those who were there before. `home`: Callgate's own, where the queue is.
    pub fn open(home: &Path) -> Result<SystemKeychain, KeychainError> {
        system::reachable().map_err(KeychainError::Absent)?;
        let limit = if system::may_ask() { WITH_A_PERSON } else { ALONE };
        let began = Instant::now();
        let turn = Turn::take(home, limit)?;
        let left = limit.saturating_sub(began.elapsed()).max(ALONE);
        let (jobs, todo) = mpsc::channel::<Job>();
        let (opened, opening) = mpsc::channel();
        let work = move || match system::open() {
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
        match opening.recv_timeout(left) {
            Ok(done) => done.map(|()| SystemKeychain { jobs, limit, turn }),
            Err(_) => Err(KeychainError::Slow(left)),
        }
    }

    /// Gives up waiting in time; the thread is left behind with what it does.
    fn ask<T: Send + 'static>(
        &self,
        reference: &Reference,
        ask: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, KeychainError> {
        let account = reference.account();
        let label = format!("Callgate: {}", reference.name());
        let (answer, answers) = mpsc::channel();
        let job = {
            let account = account.clone();
            move |store: &Arc<CredentialStore>| {
                let modifiers: HashMap<&str, &str> = system::labelled(&label).into_iter().collect();
                let entry = store.build(SERVICE, &account, Some(&modifiers));
                let _left = answer.send(entry.and_then(|entry| ask(&entry)));
            }
        };
        let gone = || KeychainError::Failed("its connection is gone".to_owned());
        self.jobs.send(Box::new(job)).map_err(|_| gone())?;
        match answers.recv_timeout(self.limit) {
            Ok(answer) => answer.map_err(|error| {
                let told = told(error, account);
                if told == KeychainError::Denied {
                    self.say_no();
                }
                told
            }),
            Err(RecvTimeoutError::Timeout) => {
                self.say_no();
                Err(KeychainError::Slow(self.limit))
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
