//! Processes as others speak of them: by number and start, so that a number used again is never taken for the one before.

/// One process, for as long as the system runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId {
    pub pid: u32,
    /// In the system's own units; only good for comparing.
    pub start: u64,
}

/// A process that could be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedProcess {
    pub id: ProcessId,
    /// `None` for what has no parent that we can see.
    pub parent: Option<u32>,
    /// What the program calls itself; may be cut, and anybody may choose any.
    pub name: String,
}

/// A process that was seen in the tree of a session, by whoever wrote that down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub id: ProcessId,
    pub session: String,
}

/// A process that a dead session left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub id: ProcessId,
    pub session: String,
}
