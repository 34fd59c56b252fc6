//! Resource limits of a server, by the policy's `process` block: what is beyond it, in words. Pure; measuring and ending are
//! the session's.

use std::fmt;
use std::time::Duration;

use callgate_policy::ProcessSettings;
use callgate_supervise::Measured;

/// One limit that a server is beyond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    Memory { now: u64, limit: u64 },
    Processes { now: u32, limit: u32 },
    Idle { limit: Duration },
}

/// Every limit that is passed. `idle`: how long nobody has called.
pub(crate) fn beyond(settings: &ProcessSettings, measured: Option<&Measured>, idle: Duration) -> Vec<Beyond> {
    let memory = settings.memory.zip(measured).filter(|(limit, measured)| measured.memory > *limit);
    let memory = memory.map(|(limit, measured)| Beyond::Memory { now: measured.memory, limit });
    let processes = settings.processes.zip(measured);
    let processes = processes.filter(|(limit, measured)| measured.processes > limit.get());
    let processes =
        processes.map(|(limit, measured)| Beyond::Processes { now: measured.processes, limit: limit.get() });
    let idle = settings.idle.map(|limit| limit.duration()).filter(|limit| idle >= *limit);
    let idle = idle.map(|limit| Beyond::Idle { limit });
    memory.into_iter().chain(processes).chain(idle).collect()
}

/// All of them in one sentence.
pub(crate) fn sentence(beyond: &[Beyond]) -> String {
    beyond.iter().map(Beyond::to_string).collect::<Vec<_>>().join("; ")
}

/// Does anything here need measuring?
pub(crate) fn needs_measuring(settings: &ProcessSettings) -> bool {
    settings.memory.is_some() || settings.processes.is_some()
}

impl Beyond {
    /// Is it the same limit, however far beyond?
    pub(crate) fn same_limit(&self, other: &Beyond) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Beyond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Beyond::Memory { now, limit } => {
                write!(
                    f,
                    "its processes take {} of memory, more than its limit of {}",
                    bytes(*now),
                    bytes(*limit)
                )
            }
            Beyond::Processes { now, limit } => {
                write!(f, "it has {now} processes, more than its limit of {limit}")
            }
            Beyond::Idle { limit } => write!(f, "nobody called it for {}", span(*limit)),
        }
    }
}

/// As people say it, in the units of the policy.
fn bytes(bytes: u64) -> String {
    match bytes {
        0..=1_073_741_823 => format!("{} MB", bytes.div_ceil(1 << 20)),
        _ => {
            let tenths = bytes.saturating_mul(10) >> 30;
            format!("{}.{} GB", tenths / 10, tenths % 10)
        }
    }
}

pub(crate) fn span(span: Duration) -> String {
    match span.as_secs() {
        seconds if seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use callgate_policy::Policy;

    fn settings(process: &str) -> ProcessSettings {
        let text = format!(r#"{{ "version": "1", "default": "allow", "process": {process} }}"#);
        Policy::parse(&text).unwrap().process().clone()
    }

    #[test]
    fn what_is_beyond_is_said_with_both_numbers() {
        let measured = Measured { processes: 12, memory: 3 << 29, names: Vec::new() };
        for (process, idle, words) in [
            (r#"{ "memory": "2GB", "processes": 12 }"#, 0, None),
            (
                r#"{ "memory": "1GB" }"#,
                0,
                Some("its processes take 1.5 GB of memory, more than its limit of 1.0 GB"),
            ),
            (
                r#"{ "memory": "512MB", "processes": 3, "idle": "1s" }"#,
                1,
                Some(
                    "its processes take 1.5 GB of memory, more than its limit of 512 MB; it has 12 processes, more than its limit of 3; nobody called it for 1 s",
                ),
            ),
            (r#"{ "processes": 11 }"#, 0, Some("it has 12 processes, more than its limit of 11")),
            (r#"{ "idle": "30m" }"#, 1799, None),
            (r#"{ "idle": "30m" }"#, 1800, Some("nobody called it for 30 min")),
            ("{}", 1_000_000, None),
        ] {
            let found = beyond(&settings(process), Some(&measured), Duration::from_secs(idle));
            assert_eq!(sentence(&found), words.unwrap_or_default(), "{process}");
        }
        assert_eq!(beyond(&settings(r#"{ "memory": "1KB" }"#), None, Duration::ZERO), [], "not measured");
    }
}
