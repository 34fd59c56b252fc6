//! Next steps after a refusal: what can be done, and the words in which a model reads it.
//!
//! The one table of these words. A refusal says first what happened (the person's own reason, where there is one), then who
//! decided and what helps. It never says how to loosen a rule: an agent that may run commands would do it. `docs/words.md`
//! shows each in a whole answer.

use std::borrow::Cow;

/// The next step after a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// A rule, whatever the arguments are.
    AskUser,
    /// A rule that other arguments may pass.
    OtherArguments,
    /// A path that readers understand differently, by the argument that holds it.
    AbsolutePath { argument: String },
    /// A name that nearly is one of those that the server lists.
    ListedName,
    /// Refused by Callgate itself: no rule allows it.
    GoWithout,
    /// The tool's own schema.
    FixArguments,
    /// A limit that time frees; the reason says when.
    WaitForLimit,
    /// A limit on calls under way.
    WaitForCalls,
    /// A sum that has room for no more than this much of the argument.
    SmallerAmount { most: String, argument: String },
    /// A person wants no calls now.
    WaitForUser,
    /// Nothing works until a person mends it.
    TellUser,
    /// It passes by itself.
    CallAgain,
    /// The server may have done what it was asked for.
    CheckEffect,
    /// A person decides, and has not yet.
    RepeatUnchanged,
    /// A person would decide, and is not there.
    StopForUser,
    /// A person said no.
    Declined,
    /// It was done again and again, to no avail.
    BreakLoop,
    /// The reason says it.
    AsSaid,
}

impl NextStep {
    pub fn words(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            NextStep::AskUser => {
                "This is the user's rule: a retry will be refused too. Go on without it, or ask the user."
            }
            NextStep::OtherArguments => {
                "This is the user's rule: the same arguments will be refused again. Use others that fit it, or ask the user."
            }
            NextStep::AbsolutePath { argument } => {
                return Cow::Owned(format!(
                    "Write an absolute path for {argument} (no ~, no .., no variables), and call again."
                ));
            }
            NextStep::ListedName => "Use a name exactly as it is listed.",
            NextStep::GoWithout => "No agent is let through here, whatever the rules say: go on without it.",
            NextStep::FixArguments => "The tool's own schema says so: correct the arguments, and call again.",
            NextStep::WaitForLimit => {
                "This is the user's limit: do not retry before that. Do something else, or ask the user."
            }
            NextStep::WaitForCalls => {
                "This is the user's limit: wait until a call under way has ended, then call again."
            }
            NextStep::SmallerAmount { most, argument } => {
                return Cow::Owned(format!(
                    "This is the user's limit: {argument} of at most {most} can pass now. Call with no more than that, or ask the user."
                ));
            }
            NextStep::WaitForUser => {
                "Stop here and wait for the user: every call is refused until the user lets them go on."
            }
            NextStep::TellUser => {
                "Calls are refused until a person has mended that: stop, and tell the user."
            }
            NextStep::CallAgain => "Call again in a moment.",
            NextStep::CheckEffect => "Whether the call took effect is not known: look before you call again.",
            NextStep::RepeatUnchanged => {
                "Call again with exactly the same arguments; do not change them, and do not use another tool instead."
            }
            NextStep::StopForUser => {
                "Stop here, and tell the user what you need; do not use another tool instead."
            }
            NextStep::Declined => {
                "Do not make this call again, and do not try to get the same in another way. Go on without it, or ask the user."
            }
            NextStep::BreakLoop => {
                "Stop: do not make this call again. Use what it has told you, do something else, or ask the user."
            }
            NextStep::AsSaid => "",
        })
    }

    /// Behind what happened, as one text: `"x" is denied. This is the user's rule: …`
    pub fn after(&self, happened: &str) -> String {
        let happened = happened.trim_end();
        let words = self.words();
        if words.is_empty() {
            return happened.trim_end_matches('.').to_owned();
        }
        let stop = if happened.ends_with(['.', '!', '?', '…', ':']) { "" } else { "." };
        format!("{happened}{stop} {words}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_wrote_stays_first_and_as_it_is() {
        let said = |reason: &str| NextStep::CallAgain.after(reason);
        assert_eq!(said("use list_directory only"), "use list_directory only. Call again in a moment.");
        assert_eq!(said("not today!"), "not today! Call again in a moment.");
        assert_eq!(said("wait. "), "wait. Call again in a moment.");
        assert_eq!(NextStep::AsSaid.after("start a new one."), "start a new one");
    }
}
