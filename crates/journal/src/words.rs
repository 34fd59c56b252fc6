//! The closed vocabularies of the record. The words are what `--json` prints and what the database holds:
//! stable, lower case, never reused for another meaning.

use callgate_home::vocabulary;

vocabulary! {
    /// What was decided about a call. New ones go at the end: the spool stores their position.
    Decision {
        Allowed = "allowed",
        Denied = "denied",
        Capped = "capped",
        Hidden = "hidden",
        Paused = "paused",
        /// Not one unambiguous message.
        Malformed = "malformed",
        /// The policy could not be used.
        Broken = "broken",
        /// It could not be recorded, so it was not forwarded.
        Unrecorded = "unrecorded",
        /// A rule that this version knows but cannot apply yet.
        Unsupported = "unsupported",
        /// Let through although a rule refuses it, because that rule is only observed.
        WouldDeny = "would_deny",
        /// Not sent to its server, which was stopped, had crashed too often, or had lost what the call counts on.
        Stopped = "stopped",
        /// A person decides. While it has no outcome its gate holds it; one with an outcome has to come again.
        Asked = "asked",
    }
}

impl Decision {
    /// Did the call not get to its server?
    pub fn is_refused(self) -> bool {
        !matches!(self, Decision::Allowed | Decision::WouldDeny)
    }
}

vocabulary! {
    /// How a call ended. New ones go at the end: the spool stores their position.
    Outcome {
        Ok = "ok",
        /// The tool ran and said that it failed.
        ToolError = "tool_error",
        /// The server answered with a protocol error; the result holds it.
        RpcError = "rpc_error",
        /// The client cancelled it.
        Cancelled = "cancelled",
        /// The server's input was closed before the call was written.
        NotDelivered = "not_delivered",
        /// The server ended before it answered.
        ServerEnded = "server_ended",
        /// The server's answer was no usable message.
        Unusable = "unusable",
        /// Refused: the server never saw it.
        NotSent = "not_sent",
        /// The shim was stopped before the answer was on record.
        Unknown = "unknown",
        /// It took longer than its policy lets a call take, and was given up.
        TimedOut = "timed_out",
        /// A person cancelled it.
        CancelledByUser = "cancelled_by_user",
    }
}

impl Outcome {
    /// It got on its way to its server and came to no good end: an error, or no answer at all. What was refused, or given up
    /// by the client or a person, did not fail.
    pub fn is_failed(self) -> bool {
        match self {
            Outcome::ToolError
            | Outcome::RpcError
            | Outcome::NotDelivered
            | Outcome::ServerEnded
            | Outcome::Unusable
            | Outcome::Unknown
            | Outcome::TimedOut => true,
            Outcome::Ok | Outcome::Cancelled | Outcome::CancelledByUser | Outcome::NotSent => false,
        }
    }

    /// Nobody waits for it any more, and its server may still be at it.
    pub fn is_given_up(self) -> bool {
        matches!(self, Outcome::Cancelled | Outcome::CancelledByUser)
    }

    /// The words of those, as a list in SQL.
    pub fn failed_in_sql() -> String {
        let words: Vec<String> = Outcome::ALL
            .iter()
            .filter(|outcome| outcome.is_failed())
            .map(|outcome| format!("'{}'", outcome.word()))
            .collect();
        words.join(", ")
    }
}

vocabulary! {
    /// Where a policy text or a loosening came from. New ones go at the end.
    Origin {
        Window = "window",
        Cli = "cli",
        /// The file was changed by an editor, a script or an agent.
        File = "file",
        Approval = "approval",
    }
}

vocabulary! {
    /// Things worth a row that are not calls. New ones go at the end.
    EventKind {
        Loosened = "loosened",
        PolicyChanged = "policy_changed",
        PolicyBroken = "policy_broken",
        Paused = "paused",
        Resumed = "resumed",
        /// Server output that is no message.
        Noise = "noise",
        KeeperLost = "keeper_lost",
        DatabaseMovedAside = "database_moved_aside",
        /// Something happened that is not in the record.
        Gap = "gap",
        BadSettings = "bad_settings",
        Forgotten = "forgotten",
        Swept = "swept",
        Note = "note",
        /// An entry of a client's file had lost its gate, and got it back by itself.
        GateRepaired = "gate_repaired",
        /// Another program takes the gate away again and again, so it is left away.
        GateContested = "gate_contested",
        /// The server was stopped by a person.
        Stopped = "stopped",
        /// The server was started again: after it crashed, or because a person wanted it.
        Restarted = "restarted",
        /// The server crashed, or could not be started again.
        Crashed = "crashed",
        /// The server is beyond one of its limits.
        Limit = "limit",
        /// The server did not get as far as serving.
        StartFailed = "start_failed",
        /// The server has not answered yet: it is probably being installed.
        Installing = "installing",
        /// What was too old, or too much, went from the history by itself.
        Expired = "expired",
        /// A person decided about a call that was asked about.
        Decided = "decided",
        /// The server describes a tool otherwise than was accepted.
        DefinitionChanged = "definition_changed",
        /// The server lists tools that it did not have before.
        ToolAdded = "tool_added",
        /// Other definitions of tools are accepted than were.
        DefinitionAccepted = "definition_accepted",
        /// The file with the accepted definitions was removed, or cannot be read.
        PinsBroken = "pins_broken",
        /// A loosening was tried where no person sits: below a session, or from a client's own shell.
        LooseningRefused = "loosening_refused",
        /// A call was let through by an approval that nobody is on record for: somebody wrote it into the database.
        ForgedApproval = "forged_approval",
        /// The server lists something no more that is pinned.
        ToolGone = "tool_gone",
        /// What a server said beside the protocol was taken out of what its client got.
        MemberTakenOut = "member_taken_out",
        /// Another program runs under the server's name than was accepted.
        ProgramChanged = "program_changed",
    }
}

vocabulary! {
    /// How a session ended. New ones go at the end.
    EndReason {
        ClientClosed = "client_closed",
        ServerEnded = "server_ended",
        Signal = "signal",
        FailedToStart = "failed_to_start",
        /// Found dead by whoever came next.
        Lost = "lost",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_as_itself() {
        for decision in Decision::ALL {
            assert_eq!(decision.word().parse(), Ok(*decision));
        }
        for outcome in Outcome::ALL {
            assert_eq!(outcome.word().parse(), Ok(*outcome));
        }
        assert!("Allowed".parse::<Decision>().is_err());
    }

    #[test]
    fn every_decision_but_two_keeps_the_call_from_its_server() {
        let passed: Vec<_> = Decision::ALL.iter().filter(|decision| !decision.is_refused()).collect();
        assert_eq!(passed, [&Decision::Allowed, &Decision::WouldDeny]);
    }
}
