//! What is judged, and what comes of it.

use callgate_protocol::NextStep;
use callgate_protocol::json::Raw;

use crate::codegen::{NoRecordings, Recordings};
use crate::files::{AsWritten, Files};
use crate::limit::Limits;
use crate::schema::ArgumentSchema;

/// One request of a client.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub client: &'a str,
    pub target: Target<'a>,
    /// What the server says of the tool's arguments, if that is known: for rules about kinds of arguments.
    pub schema: Option<&'a ArgumentSchema>,
}

#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    Tool {
        name: &'a str,
        args: Option<Raw<'a>>,
    },
    /// Any other request, by its method; also a server's request to its client.
    Method {
        method: &'a str,
        params: Option<Raw<'a>>,
    },
}

impl<'a> Call<'a> {
    pub fn tool(client: &'a str, name: &'a str, args: Option<Raw<'a>>) -> Call<'a> {
        Call { client, target: Target::Tool { name, args }, schema: None }
    }

    pub fn method(client: &'a str, method: &'a str, params: Option<Raw<'a>>) -> Call<'a> {
        Call { client, target: Target::Method { method, params }, schema: None }
    }

    /// The same call of a tool whose arguments are described like this.
    #[must_use]
    pub fn described_by(self, schema: Option<&'a ArgumentSchema>) -> Call<'a> {
        Call { schema, ..self }
    }
}

/// What a judgement depends on beside the policy and the call.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// The wall clock, for rules that end by themselves.
    pub now_ms: i64,
    pub files: &'a dyn Files,
    /// For rules about codegen sessions.
    pub recordings: &'a dyn Recordings,
    pub waived: Waived,
}

impl Circumstances<'_> {
    /// At no particular time (rules that end by themselves are still in force) and place, with no codegen session: for
    /// looking at a policy itself.
    pub fn timeless() -> Circumstances<'static> {
        Circumstances {
            now_ms: i64::MIN,
            files: &AsWritten,
            recordings: &NoRecordings,
            waived: Waived::Nothing,
        }
    }
}

/// What a person has set aside for this call. Callgate's own built-in rules are never waived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waived {
    #[default]
    Nothing,
    /// That the tool is hidden, denied by its rule, or not listed. Conditions, limits and a block of the whole server stay.
    Denials,
    /// That a person has to be asked: one was, and said yes. Everything else stays.
    Asking,
    /// Everything that the policy says. Its limits are given all the same, to be counted.
    Everything,
    /// That it is enforced: everything is judged as if the policy were only observed.
    Enforcement,
}

/// How much of a call is kept in the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    #[default]
    Full,
    /// The names of the arguments.
    Keys,
    /// Neither arguments nor result.
    Nothing,
}

impl Keep {
    /// What is kept by this and was not before, in words; none if it is no more than before.
    pub(crate) fn more_than(self, before: Keep) -> Option<&'static str> {
        match (before, self) {
            (Keep::Keys | Keep::Nothing, Keep::Full) => Some("arguments and results are now recorded"),
            (Keep::Nothing, Keep::Keys) => Some("names of arguments are now recorded"),
            (Keep::Full | Keep::Keys | Keep::Nothing, _) => None,
        }
    }
}

/// What the rules say, before anything is counted.
#[derive(Clone, Debug)]
pub enum Judgement<'p> {
    Pass(Pass<'p>),
    Refuse(Refusal),
}

/// The rules let it through, if its limits have room.
#[derive(Clone, Debug)]
pub struct Pass<'p> {
    /// Pointer of the rule that let it through: `/tools/x` or `/default`.
    pub rule: &'p str,
    /// Each of them must have room.
    pub limits: Limits<'p>,
    pub keep: Keep,
    /// Pointer of the rule that wants the arguments checked against the tool's own schema.
    pub validate: Option<&'p str>,
    /// Nothing is refused: what the schema or a limit would refuse is only noted.
    pub observing: bool,
    /// What would have been refused, were it not only observed.
    pub would: Option<Refusal>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: RefusalKind,
    /// JSON pointer, or a built-in rule in brackets.
    pub rule: String,
    /// A sentence for people, and for the model.
    pub reason: String,
    pub keep: Keep,
    /// What whoever was refused can do about it.
    pub next: NextStep,
}

impl Refusal {
    /// With the next step that is usual for its kind.
    pub fn new(kind: RefusalKind, rule: impl Into<String>, reason: String) -> Refusal {
        Refusal { kind, rule: rule.into(), reason, keep: Keep::Full, next: kind.next_step() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    Denied,
    /// To be answered exactly as if there were no such tool.
    Hidden,
    /// A person has to be asked. Nothing else stands in the way, but for limits.
    Ask,
    /// The policy asks for something that this version cannot do.
    Unsupported,
    /// There is no usable policy.
    Broken,
}

impl RefusalKind {
    fn next_step(self) -> NextStep {
        match self {
            RefusalKind::Denied | RefusalKind::Ask | RefusalKind::Unsupported => NextStep::AskUser,
            // Whoever is to know of nothing is told nothing.
            RefusalKind::Hidden => NextStep::AsSaid,
            RefusalKind::Broken => NextStep::TellUser,
        }
    }
}
