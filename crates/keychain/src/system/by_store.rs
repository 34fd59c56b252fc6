//! A quiet look by the store that is used otherwise, on systems where that asks nobody, or can be told not to.

use std::sync::Arc;

use callgate_secrets::{KeychainError, Reference};
use keyring_core::CredentialStore;
use zeroize::Zeroizing;

use crate::{SERVICE, told};

pub(super) fn read(
    store: &Arc<CredentialStore>,
    reference: &Reference,
) -> Result<Zeroizing<Vec<u8>>, KeychainError> {
    let account = reference.account();
    let secret = store.build(SERVICE, &account, None).and_then(|entry| entry.get_secret());
    secret.map(Zeroizing::new).map_err(|error| told(error, account))
}
