//! Causes of refusal: why a line is not a message, and who is owed an answer for it.

use crate::{id::IdKey, json::JsonError};

/// Display is a sentence for people. It never quotes the line: that text is hostile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    #[error("The line is not valid UTF-8 (byte {offset}).")]
    Utf8 { offset: usize },
    #[error("The line is not one JSON value: {0}.")]
    Json(JsonError),
    #[error("The message is ambiguous or oversized JSON: {0}.")]
    Flawed(JsonError),
    #[error("A JSON-RPC message must be an object.")]
    NotAnObject,
    #[error("A batch must not be empty.")]
    EmptyBatch,
    #[error("The batch has more than {limit} messages.")]
    BatchTooLong { limit: usize },
    #[error("A member of the message could be mistaken for \"{0}\".")]
    LookAlike(&'static str),
    #[error("A member of params could be mistaken for \"{0}\".")]
    ParamLookAlike(&'static str),
    #[error("\"jsonrpc\" must be the string \"2.0\".")]
    Version,
    #[error("The message is both a request and a response.")]
    BothKinds,
    #[error("The response has both a result and an error.")]
    BothOutcomes,
    #[error("The message has neither a method nor a result nor an error.")]
    NoKind,
    #[error("\"error\" must be an object.")]
    ErrorKind,
    #[error("\"method\" must be a string.")]
    MethodKind,
    #[error("The method could be mistaken for \"{0}\".")]
    NearMiss(&'static str),
    #[error("\"params\" must be an object.")]
    ParamsKind,
    #[error("The response has no id.")]
    NoId,
    #[error("This method must be called with an id.")]
    NeedsId,
    #[error("The id must not be null.")]
    IdNull,
    #[error("The id must be a string or an integer.")]
    IdKind,
    #[error("The id is too long.")]
    IdTooLong,
    #[error("The call has no params.")]
    NoParams,
    #[error("The name of the tool must be a string that is not empty and at most 1024 bytes long.")]
    ToolName,
    #[error("\"arguments\" must be an object.")]
    ArgumentsKind,
    #[error("A member of the result could be mistaken for \"{0}\".")]
    ResultLookAlike(&'static str),
    #[error("\"resultType\" must be a string.")]
    ResultTypeKind,
    #[error("\"inputRequests\" must be an object of requests.")]
    InputRequestsKind,
    #[error("The key of an input request is not plain text.")]
    InputRequestKey,
    #[error("A member of an input request could be mistaken for \"{0}\".")]
    InputRequestLookAlike(&'static str),
    #[error("\"elicitations\" must be an array of objects.")]
    ElicitationsKind,
    #[error("\"notifications\" must be an object, and its \"resourceSubscriptions\" an array of strings.")]
    SubscriptionsKind,
    #[error("\"ref\" must be an object that names one prompt or one resource.")]
    RefKind,
    #[error("The type of \"ref\" could be mistaken for \"{0}\".")]
    RefNearMiss(&'static str),
}

impl Cause {
    /// The JSON-RPC error code: −32700 for what is not JSON, −32600 for what is not a message.
    pub fn code(&self) -> i64 {
        match self {
            Cause::Utf8 { .. } | Cause::Json(_) => -32700,
            _ => -32600,
        }
    }
}

/// A line, or an element of a batch, that is refused. Nothing of it may be forwarded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct Malformed {
    pub cause: Cause,
    pub answer: Answer,
    /// What it asked for, if there is no doubt about that: for the record.
    pub method: Option<Box<str>>,
}

/// Who waits for something because of a refused line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its writer, who made a request under this id.
    To(IdKey),
    /// The other side: the line was meant as the answer to its request of this id.
    Settles(IdKey),
    /// Its writer, but nothing says for which request: id null.
    Unaddressed,
    /// Nobody: a notification, or an answer to nothing.
    Nobody,
}

impl Malformed {
    pub(crate) fn unaddressed(cause: Cause) -> Malformed {
        Malformed { cause, answer: Answer::Unaddressed, method: None }
    }

    /// The one id of the message, if it is beyond doubt. It is the writer's own in [`Answer::To`], the other side's
    /// in [`Answer::Settles`].
    pub fn id(&self) -> Option<&IdKey> {
        match &self.answer {
            Answer::To(id) | Answer::Settles(id) => Some(id),
            Answer::Unaddressed | Answer::Nobody => None,
        }
    }

    pub fn code(&self) -> i64 {
        self.cause.code()
    }
}
