//! How a server's end is told to whoever is left.

use callgate_journal::{EndReason, Outcome};
use callgate_supervise::Ending;

/// What a server's end means to whoever waits for it.
const UNANSWERED: &str = " before it answered";

/// How a server's end is told to the client, the record and the shell.
pub(crate) struct Farewell {
    pub(crate) reason: String,
    pub(crate) outcome: Outcome,
    pub(crate) end: EndReason,
    pub(crate) code: u8,
}

impl Farewell {
    /// As it is told where perhaps nobody waits for an answer.
    pub(crate) fn to_nobody(&self, somebody_waits: bool) -> &str {
        let shorter = self.reason.strip_suffix(UNANSWERED).filter(|_| !somebody_waits);
        shorter.unwrap_or(&self.reason)
    }

    pub(crate) fn of(ending: Option<&Ending>) -> Farewell {
        let gone = |reason: String, code: i32| Farewell {
            reason,
            outcome: Outcome::ServerEnded,
            end: EndReason::ServerEnded,
            code: exit_byte(code),
        };
        match ending {
            Some(Ending::FailedToStart { cause }) => Farewell {
                reason: cause.to_string(),
                outcome: Outcome::NotDelivered,
                end: EndReason::FailedToStart,
                code: 127,
            },
            Some(ending @ Ending::Exited { code }) => {
                gone(format!("the server ended ({ending}){UNANSWERED}"), *code)
            }
            Some(ending @ Ending::Signalled { signal }) => {
                gone(format!("the server ended ({ending}){UNANSWERED}"), 128 + signal)
            }
            Some(Ending::KeeperLost) => {
                gone("the server's keeper was killed, and the server was ended with it".to_owned(), 1)
            }
            None => gone(format!("the server closed its output{UNANSWERED}"), 0),
        }
    }
}

/// As the shell knows it.
pub(crate) fn exit_byte(code: i32) -> u8 {
    u8::try_from(code).unwrap_or(1)
}
