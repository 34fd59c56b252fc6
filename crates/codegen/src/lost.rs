//! What an agent hears that names a session which its server no longer has.

use std::fmt::Write as _;

/// How the server went away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// Callgate started it anew for the same client.
    Restarted,
    Ended,
}

impl Gone {
    /// `when`: as a person's clock shows it. A session whose start was not answered has no name.
    pub fn words(self, when: &str, session: Option<&str>, recorded: usize) -> String {
        let how = match self {
            Gone::Restarted => "restarted",
            Gone::Ended => "ended",
        };
        let session = session.map_or_else(|| "the codegen session".to_owned(), |id| format!("session {id}"));
        let mut words = format!("server {how} at {when}; {session} with ");
        let _ = match recorded {
            0 => write!(words, "no actions is gone; start a new one"),
            1 => write!(words, "1 action is saved in Callgate; start a new one"),
            n => write!(words, "{n} actions is saved in Callgate; start a new one"),
        };
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_state_is_said_with_its_time_its_name_and_its_size() {
        assert_eq!(
            Gone::Restarted.words("14:03", Some("X"), 12),
            "server restarted at 14:03; session X with 12 actions is saved in Callgate; start a new one"
        );
        assert_eq!(
            Gone::Ended.words("14:03", Some("X"), 0),
            "server ended at 14:03; session X with no actions is gone; start a new one"
        );
        assert_eq!(
            Gone::Restarted.words("14:03", None, 1),
            "server restarted at 14:03; the codegen session with 1 action is saved in Callgate; start a new one"
        );
    }
}
