//! One codegen session, as far as it is known.

/// What is left of a text that a call came with or was answered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetainedText<'a> {
    /// There was none, or nobody kept it.
    #[default]
    Absent,
    /// As it came.
    Whole(&'a str),
    /// JSON in which secrets are replaced by a mark.
    Masked(&'a str),
    /// The end is missing.
    Cut(&'a str),
    /// Only the names of the arguments, as a JSON array; or nothing.
    Names(&'a str),
}

impl<'a> RetainedText<'a> {
    /// The text, if it is all there but for secrets.
    pub fn json(self) -> Option<&'a str> {
        match self {
            RetainedText::Whole(text) | RetainedText::Masked(text) => Some(text),
            RetainedText::Absent | RetainedText::Cut(_) | RetainedText::Names(_) => None,
        }
    }
}

/// The same, to be kept longer than the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RetainedArguments {
    #[default]
    Absent,
    Whole(String),
    Masked(String),
    Cut(String),
    Names(String),
}

impl From<RetainedText<'_>> for RetainedArguments {
    fn from(kept: RetainedText<'_>) -> RetainedArguments {
        match kept {
            RetainedText::Absent => RetainedArguments::Absent,
            RetainedText::Whole(text) => RetainedArguments::Whole(text.to_owned()),
            RetainedText::Masked(text) => RetainedArguments::Masked(text.to_owned()),
            RetainedText::Cut(text) => RetainedArguments::Cut(text.to_owned()),
            RetainedText::Names(text) => RetainedArguments::Names(text.to_owned()),
        }
    }
}

impl RetainedArguments {
    /// What there is of them.
    pub fn text(&self) -> &str {
        match self {
            RetainedArguments::Absent => "",
            RetainedArguments::Whole(text)
            | RetainedArguments::Masked(text)
            | RetainedArguments::Cut(text)
            | RetainedArguments::Names(text) => text,
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallOutcome {
    Done,
    /// The server said no.
    Failed,
    /// It runs, or nobody knows.
    #[default]
    Unknown,
}

/// One call that the server recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The call's number.
    pub call: u64,
    pub at_ms: i64,
    pub tool: String,
    pub args: RetainedArguments,
    pub outcome: CallOutcome,
    /// When it was answered; none if it was not, or nobody knows.
    pub ended_ms: Option<i64>,
    /// The HTTP status that its answer tells of.
    pub status: Option<u16>,
}

/// What `start_codegen_session` was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where the server is to write the test.
    pub output: Option<String>,
    pub prefix: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Asked for; the server has not answered.
    Starting,
    /// The server said no: there is no such session.
    NotStarted,
    Open,
    Ended {
        at_ms: i64,
        /// The test that the server says it wrote.
        file: Option<String>,
    },
    Cleared {
        at_ms: i64,
    },
    /// The server went away with it.
    Lost {
        at_ms: i64,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The number of the call that started it.
    pub start: u64,
    /// As the server calls it; unknown if its answer was not kept.
    pub id: Option<String>,
    pub client: String,
    pub started_ms: i64,
    pub options: Options,
    pub state: State,
    /// Empty where they are only counted.
    pub actions: Vec<Action>,
    /// How many there were.
    pub recorded: usize,
}

impl Session {
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Starting | State::Open)
    }

    /// Were recorded actions thrown away, so that this record is all that is left of them?
    pub fn threw_away(&self) -> bool {
        self.recorded > 0 && matches!(self.state, State::Cleared { .. } | State::Lost { .. })
    }

    /// Is there anything to tell of it? A start that never came to anything is none.
    pub fn is_of_note(&self) -> bool {
        match self.state {
            State::NotStarted => false,
            State::Starting | State::Lost { .. } => self.id.is_some() || self.recorded > 0,
            State::Open | State::Ended { .. } | State::Cleared { .. } => true,
        }
    }
}
