//! A pending request: what was asked, why it may not get in, and what becomes of it when its client gives it up.

use std::sync::Arc;
use std::time::Instant;

use callgate_journal::CallRef;
use callgate_protocol::NextStep;
use callgate_protocol::id::IdKey;
use callgate_protocol::lists::List;

use crate::unknown_answers::UnlistedRequest;
use crate::wording::Expects;

/// A client's request that the server has to answer.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    pub(crate) what: RequestKind,
    pub(crate) since: Instant,
    /// Answered only when somebody ends it (`subscriptions/listen`): no reason to keep a session open.
    pub(crate) lasting: bool,
    /// What the server names when it tells of progress, where that counts.
    pub(crate) token: Option<IdKey>,
    /// When it last gave a sign of life.
    pub(crate) heard: Instant,
    /// The client has had its answer: it took too long.
    pub(crate) late: bool,
    /// A call of a tool that the server does not list.
    pub(crate) unlisted: Option<Box<UnlistedRequest>>,
}

impl PendingRequest {
    pub(crate) fn new(what: RequestKind) -> PendingRequest {
        let since = Instant::now();
        PendingRequest { what, since, lasting: false, token: None, heard: since, late: false, unlisted: None }
    }
}

/// What was asked, as far as the answer is treated differently.
#[derive(Debug)]
pub(crate) enum RequestKind {
    /// A call with a row in the history.
    Call(CallRef, Expects),
    /// A list, or a further page of one.
    List {
        list: List,
        /// Of a further page.
        cursor: Option<String>,
    },
    /// A list of tools that the gate asked for by itself; what it says about the protocol is asked of the next page too.
    OwnList {
        first: bool,
        meta: String,
    },
    /// The client's own handshake: its answer is what a later server must say too.
    Initialize,
    /// The client's question what the server is, since 2026-07-28.
    Discover,
    /// The handshake, repeated by the gate with a server that was started again.
    Greeting,
    /// Something that the gate asked for; what is answered is nobody's concern.
    Quiet,
    /// Not let through to a server yet.
    Held(Expects),
    Other,
}

impl RequestKind {
    /// Does the client wait for it?
    pub(crate) fn is_clients(&self) -> bool {
        !matches!(self, RequestKind::OwnList { .. } | RequestKind::Greeting | RequestKind::Quiet)
    }

    /// Does somebody use the server? To ask whether it is there is none.
    pub(super) fn is_use(&self) -> bool {
        matches!(self, RequestKind::Call(..) | RequestKind::List { .. })
    }
}

/// Why a request was not entered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotEntered {
    /// The id is in use: two answers for one id would be ambiguous.
    IdInUse,
    TooMany,
    /// The session is over; the reason to tell.
    Closed(Arc<str>),
    /// There is no server for now; why.
    Stopped(Unavailable),
    /// The server is being started; it may be waited for so long.
    Starting(Instant),
    /// The server was ended and comes back when somebody wants it.
    Idle,
    /// The server that the request was meant for has made place for another.
    Stale,
    /// It was held, and its client gave it up.
    GivenUp,
}

/// What the client gave up.
#[derive(Debug)]
pub(crate) enum Cancelled {
    /// A request that the server may have; with its row, if it is one that is recorded.
    Sent(Option<CallRef>),
    /// One that no server has seen, nor will.
    Held,
    /// Nothing that waits.
    Unknown,
}

/// Why there is no server although there is a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unavailable {
    /// As the record names it.
    pub(crate) rule: &'static str,
    /// A sentence for whoever calls.
    pub(crate) reason: Arc<str>,
    /// What helps them.
    pub(crate) next: NextStep,
    /// What the server listed last is shown on. Not of one that is broken: whoever asks for anything is to hear that.
    pub(crate) lists: bool,
}

/// Whether requests get to a server.
#[derive(Clone, Debug, Default)]
pub(crate) enum Intake {
    #[default]
    Open,
    /// The server is being started. Whoever comes waits, but not for longer than until then.
    Starting {
        until: Instant,
    },
    /// There is no server until somebody wants it.
    Idle,
    Stopped(Unavailable),
    /// For good.
    Closed(Arc<str>),
}
