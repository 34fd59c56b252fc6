//! What is judged, and what comes of it.

use callgate_protocol::json::Raw;

use crate::limit::Limits;

/// One request of a client.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub client: &'a str,
    pub target: Target<'a>,
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
        Call { client, target: Target::Tool { name, args } }
    }

    pub fn method(client: &'a str, method: &'a str, params: Option<Raw<'a>>) -> Call<'a> {
        Call { client, target: Target::Method { method, params } }
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
    pub limits: Limits<'p>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: RefusalKind,
    /// JSON pointer, or a built-in rule in brackets.
    pub rule: String,
    /// A sentence for people, and for the model.
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    Denied,
    /// To be answered exactly as if there were no such tool.
    Hidden,
    /// The policy asks for something that this version cannot do.
    Unsupported,
    /// There is no usable policy.
    Broken,
}
