//! What the language can say and this version cannot do yet.
//!
//! A file that says such a thing is not broken, and its rule is not ignored either: calls that it touches are refused,
//! with words. Building a feature means: its own file, and its line here removed.

/// One thing that a policy asks for in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    Ask,
    Pattern,
    Classes,
    Client,
    PathOperator,
    Validate,
    LimitKind(&'static str),
    Until,
    Observe,
    Record,
    Resources,
    Prompts,
    Completion,
    Sampling,
    Elicitation,
}

impl Feature {
    fn verb(self) -> String {
        match self {
            Feature::Ask => "ask for approval".to_owned(),
            Feature::Pattern => "apply rules by name pattern".to_owned(),
            Feature::Classes => "apply rules by risk class".to_owned(),
            Feature::Client => "apply rules by client".to_owned(),
            Feature::PathOperator => "judge paths with inside and not_inside".to_owned(),
            Feature::Validate => "check arguments against the tool's schema".to_owned(),
            Feature::LimitKind(kind) => format!("keep limits of kind {kind}"),
            Feature::Until => "end a rule by itself".to_owned(),
            Feature::Observe => "observe without enforcing".to_owned(),
            Feature::Record => "keep less than the full record of a call".to_owned(),
            Feature::Resources => "apply rules to resources".to_owned(),
            Feature::Prompts => "apply rules to prompts".to_owned(),
            Feature::Completion => "apply rules to completion".to_owned(),
            Feature::Sampling => "apply rules to sampling".to_owned(),
            Feature::Elicitation => "apply rules to elicitation".to_owned(),
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
