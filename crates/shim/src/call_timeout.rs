//! Timeouts of calls: as the policy says, or as long as its client listens.

use std::time::{Duration, Instant};

use callgate_policy::ProcessSettings;

/// How long before a client gives up it gets an answer that says more than its own would.
const AHEAD: Duration = Duration::from_secs(8);
/// Clients that give a call up after a time that nobody can set, whatever the server tells meanwhile. All others can be told
/// in their own settings how long to wait, so theirs is not known here.
const CLIENTS: [(&str, Duration); 1] = [("claude-desktop", Duration::from_secs(240))];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallTimeout {
    /// Set in the policy: so long without a sign of life.
    Set(Duration),
    /// The client's own: so long in all, after which nobody would read an answer.
    Client(Duration),
}

/// What counts for this client. What a person has set comes first.
pub(crate) fn call_timeout(process: &ProcessSettings, client: &str) -> Option<CallTimeout> {
    let of_client = || CLIENTS.iter().find(|(name, _)| *name == client);
    let set = process.call_time.map(|limit| CallTimeout::Set(limit.duration()));
    set.or_else(|| of_client().map(|(_, limit)| CallTimeout::Client(*limit)))
}

impl CallTimeout {
    pub(crate) fn is_over(self, since: Instant, heard: Instant) -> bool {
        match self {
            CallTimeout::Set(limit) => heard.elapsed() > limit,
            CallTimeout::Client(limit) => since.elapsed() > limit.saturating_sub(AHEAD),
        }
    }

    /// How often calls are looked at: in time for an answer, and not so often that an idle session is busy with it.
    pub(crate) fn looks(self) -> Duration {
        match self {
            CallTimeout::Set(_) => Duration::from_millis(500),
            CallTimeout::Client(_) => AHEAD / 2,
        }
    }

    /// Which rule says so, as the record names it.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            CallTimeout::Set(_) => "/process/call_time",
            CallTimeout::Client(_) => "(client's limit)",
        }
    }

    /// Why a call is given up.
    pub(crate) fn describe(self) -> String {
        match self {
            CallTimeout::Set(limit) => {
                format!(
                    "the call was given up after {} without a sign of life",
                    crate::resource_limits::span(limit)
                )
            }
            CallTimeout::Client(limit) => format!(
                "the server had not answered shortly before the client gives a call up by itself (after {})",
                crate::resource_limits::span(limit)
            ),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use callgate_policy::Policy;

    #[test]
    fn what_is_set_comes_before_what_is_known_of_the_client() {
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        for (process, client, expected) in [
            ("{}", "claude-code", None),
            ("{}", "claude-desktop", Some(CallTimeout::Client(minutes(4)))),
            (r#"{ "call_time": "10m" }"#, "claude-desktop", Some(CallTimeout::Set(minutes(10)))),
            (r#"{ "call_time": "2m" }"#, "claude-code", Some(CallTimeout::Set(minutes(2)))),
        ] {
            let text = format!(r#"{{ "version": "1", "default": "allow", "process": {process} }}"#);
            let found = call_timeout(Policy::parse(&text).unwrap().process(), client);
            assert_eq!(found, expected, "{process} {client}");
        }
    }

    #[test]
    fn progress_moves_what_is_set_but_not_when_a_client_stops_to_listen() {
        let now = Instant::now();
        let ago = |seconds| now.checked_sub(Duration::from_secs(seconds)).unwrap();
        let (set, client) =
            (CallTimeout::Set(Duration::from_secs(60)), CallTimeout::Client(Duration::from_secs(60)));
        for (since, heard, by_set, by_client) in
            [(50, 50, false, false), (53, 53, false, true), (61, 61, true, true), (61, 1, false, true)]
        {
            assert_eq!(set.is_over(ago(since), ago(heard)), by_set, "{since} {heard}");
            assert_eq!(client.is_over(ago(since), ago(heard)), by_client, "{since} {heard}");
        }
    }
}
