//! What a server and everything that it started take at this moment.

/// The tree below a keeper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    pub processes: u32,
    /// Bytes of memory, what is shared counted once as far as the system tells.
    pub memory: u64,
    /// What the processes call themselves, without their arguments.
    pub names: Vec<String>,
}
