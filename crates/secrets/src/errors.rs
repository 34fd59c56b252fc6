//! Why a keychain did not do what it was asked, and what to do now.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeychainError {
    #[error("no keychain can be reached here ({0}). {start}", start = START_ONE)]
    Absent(String),
    #[error("the keychain is locked, or was never set up. {unlock}", unlock = UNLOCK)]
    Locked,
    #[error("the keychain was asked and access was turned down. Try again and allow it")]
    Denied,
    #[error(
        "the keychain has nothing of this name ({account}): it was removed there, or belongs to another machine. {WRITE_IT_BACK}"
    )]
    NotFound { account: String },
    #[error("the keychain's entry {account} is not as Callgate wrote it. {REMOVE_IT}")]
    Strange { account: String },
    #[error("the keychain did not answer within {} s. {LOOK_FOR_A_WINDOW}", .0.as_secs())]
    Slow(Duration),
    #[error("another program of Callgate waits for the keychain since more than {} s. {LOOK_FOR_A_WINDOW}", .0.as_secs())]
    Busy(Duration),
    #[error("it is too long for this system's keychain")]
    TooLong,
    #[error("the program that asks it is missing: {0}")]
    NoProgram(String),
    #[error("the keychain failed: {0}")]
    Failed(String),
}

impl KeychainError {
    /// What a person does about a keychain that cannot be used at all; the end of its sentence.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            KeychainError::Absent(_) => Some(START_ONE),
            KeychainError::Locked => Some(UNLOCK),
            KeychainError::Slow(_) | KeychainError::Busy(_) => Some(LOOK_FOR_A_WINDOW),
            _ => None,
        }
    }

    /// The keychain answered, and has no such item, or not as it was written: asking again changes nothing.
    pub fn is_about_the_item(&self) -> bool {
        matches!(self, KeychainError::NotFound { .. } | KeychainError::Strange { .. })
    }

    /// What is wrong, without what to do about it: for whoever says that in words of their own.
    pub fn cause(&self) -> String {
        let whole = self.to_string();
        let cause = match self {
            KeychainError::NotFound { .. } => whole.trim_end_matches(WRITE_IT_BACK),
            KeychainError::Strange { .. } => whole.trim_end_matches(REMOVE_IT),
            _ => whole.trim_end_matches(self.remedy().unwrap_or_default()),
        };
        cause.trim_end().trim_end_matches('.').to_owned()
    }
}

const LOOK_FOR_A_WINDOW: &str = "Look for a window of it that asks something, then try again";
const WRITE_IT_BACK: &str = "Write the value back in the client's file";
const REMOVE_IT: &str = "Remove it in the keychain, and write the value back in the client's file";

const START_ONE: &str = if cfg!(windows) {
    "Log in to Windows with your own account, then try again"
} else if cfg!(target_os = "macos") {
    "Log in to this Mac's desktop, then try again"
} else {
    "Log in to the desktop, or start one (GNOME Keyring, KWallet, KeePassXC), then try again"
};
const UNLOCK: &str = if cfg!(windows) {
    "Log in to Windows with your own account, then try again"
} else if cfg!(target_os = "macos") {
    "Unlock the login keychain (Keychain Access), then try again"
} else {
    "Unlock it (log in to the desktop, or open your password program), then try again"
};
