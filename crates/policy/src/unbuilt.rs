//! What the language can say and this version cannot do yet.
//!
//! A file that says such a thing is not broken, and its rule is not ignored either: calls that it touches are refused,
//! with words. Building a feature means: its own file, and its line here removed.

/// One thing that a policy asks for in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    Classes,
}

impl Feature {
    fn verb(self) -> &'static str {
        match self {
            Feature::Classes => "apply rules by risk class",
        }
    }

    pub(crate) fn sentence(self) -> String {
        format!("this version of Callgate cannot {} yet", self.verb())
    }
}

/// A feature and the rule that asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unbuilt {
    pub(crate) feature: Feature,
    pub(crate) pointer: String,
}
