//! What a person is told about a translation.

use std::fmt;

/// How the translation of one place stands to what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    /// Written otherwise, means the same.
    Same,
    /// Decides some calls differently; the note says which.
    Differs,
    /// Refuses more calls than the original does.
    Stricter,
    /// Left out; the decision about calls of tools does not hang on it, or the note says how it does.
    NotSaid,
}

impl Difference {
    pub fn word(self) -> &'static str {
        match self {
            Difference::Same => "same",
            Difference::Differs => "differs",
            Difference::Stricter => "stricter",
            Difference::NotSaid => "left out",
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One remark about one place of the original.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// From 1; `None` when it is about the whole.
    pub line: Option<usize>,
    pub severity: Difference,
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}: {}", self.severity, self.text),
            None => write!(f, "{}: {}", self.severity, self.text),
        }
    }
}
