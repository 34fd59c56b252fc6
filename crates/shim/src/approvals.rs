//! Approvals: calls that a person decides about, held in memory until one does, the client's patience is over, or it gives
//! them up.
//!
//! One thread, which comes with the first such call, looks after all of them: it puts the questions, hears of decisions and
//! cancellations, tells the client that its call lives, and answers in time. It never waits for anything but those. A call
//! that was approved goes back to the thread that may wait ([`HeldRequests`](crate::held::HeldRequests)), which judges it
//! again under the rules of that moment and spends the approval together with its limits.

mod clerk;
mod consequences;
mod state;

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use callgate_controls::approval::{
    self, Approval, ApprovalId, Arguments, Decider, GrantScope, NotDecided, State, Subject,
};
use callgate_controls::{decider, patience};
use callgate_home::clock::{Clock, SystemClock};
use callgate_home::{Home, SessionId, StoreError};
use callgate_journal::{CallRef, Decision, EventKind, approved_words, record_event};
use callgate_policy::wait_words;
use callgate_protocol::NextStep;
use callgate_protocol::digest::Digest;
use callgate_protocol::form::{FormAnswer, is_yes};
use callgate_protocol::id::IdKey;
use callgate_protocol::message::{Body, Message, Outcome as Reply};

use crate::admission::{ClientRequest, Refusal, Request};
use crate::client_questions::{ClientQuestion, Road};
use crate::passage::Passage;
use crate::pending::Ticket;
use crate::relay::Relay;
use crate::server_identity::ServerIdentity;
use clerk::Clerk;
use consequences::Consequences;
use state::StateKey;

pub(crate) use state::BEGIN as STATE_BEGIN;

/// What the record says of a call that its client answered for.
pub(crate) const BY_CLIENT: &str = "answered by the client, maybe not by a person";

#[derive(Debug)]
pub(crate) struct Approvals {
    home: Home,
    session: SessionId,
    server: String,
    /// What is started under the server's name.
    identity: ServerIdentity,
    store: Mutex<approval::Approvals>,
    consequences: Consequences,
    /// None: there is no chance to be had, and nothing that needs it is done.
    state_key: Option<StateKey>,
    inbox: Mutex<Inbox>,
    changed: Condvar,
}

/// What the thread has not seen yet.
#[derive(Debug, Default)]
struct Inbox {
    arrivals: Vec<AskedCall>,
    /// Questions that the client was asked to put and has not answered yet, by the ids of their requests.
    forms: HashSet<IdKey>,
    answered: Vec<(IdKey, FormAnswer)>,
    /// Something may be different: a decision, a cancellation.
    rung: bool,
    /// The client is gone.
    closed: bool,
    /// There is a thread.
    attended: bool,
    /// How many are held, those that the thread has not seen among them.
    held: usize,
}

/// A call that a person has to decide about.
#[derive(Debug)]
struct AskedCall {
    /// The message as it was received.
    text: Box<str>,
    key: IdKey,
    ticket: Ticket,
    /// Its row.
    call: CallRef,
    tool: String,
    definition: [u8; 32],
    digest: [u8; 32],
    arguments: Option<Arguments>,
    question: Refusal,
    /// What the client hears progress under.
    token: Option<IdKey>,
    since: Instant,
    hold: Duration,
    expires: Duration,
    /// Its client is to ask, in place of whoever could decide here.
    in_client: Option<ClientQuestion>,
}

impl AskedCall {
    /// Is its client asked in the answer to the call, which then comes again?
    fn is_answered_in_two_legs(&self) -> bool {
        self.in_client.as_ref().is_some_and(|question| question.road == Road::TwoLegs)
    }
}

/// What lets a call through that was asked about.
pub(crate) struct GivenLeave {
    /// How the record names it.
    pub(crate) rule: String,
    pub(crate) spend: String,
    /// For the record.
    pub(crate) words: String,
}

/// What a call brings that comes again because its client was asked about it.
pub(crate) enum SecondLeg {
    /// Whatever was decided counts.
    Answered,
    /// No yes.
    Declined(ApprovalId),
    /// No answer to a question of this session about this call.
    Foreign,
}

impl Approvals {
    pub(crate) fn new(home: &Home, server: &str, session: SessionId, identity: ServerIdentity) -> Approvals {
        Approvals {
            home: home.clone(),
            session,
            server: server.to_owned(),
            identity,
            store: Mutex::new(approval::Approvals::of_conversation(home, conversation())),
            consequences: Consequences::default(),
            state_key: StateKey::random(),
            inbox: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// What is started under the server's name.
    pub(crate) fn identity(&self) -> &ServerIdentity {
        &self.identity
    }

    fn store(&self) -> MutexGuard<'_, approval::Approvals> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a person decided that lets this call through.
    pub(crate) fn leave(&self, subject: &Subject<'_>) -> Result<Option<GivenLeave>, StoreError> {
        let now = SystemClock::default().now();
        let leave = self.store().leave(&now, subject, self.session)?;
        Ok(leave.map(|leave| {
            let approval = &leave.approval;
            let waited = |at: i64| {
                wait_words(Duration::from_millis(u64::try_from(at - approval.opened_ms).unwrap_or(0)))
            };
            let words = match (leave.scope, approval.decided_by, approval.decided_ms) {
                (Some(scope), ..) => format!("covered by {}", granted_words(scope)),
                (None, Some(Decider::Client), Some(at)) => format!("{BY_CLIENT}, after {}", waited(at)),
                (None, Some(by), Some(at)) => format!("approved {} after {}", by.place(), waited(at)),
                (None, ..) => "approved".to_owned(),
            };
            let is_clients = leave.scope.is_none() && approval.decided_by == Some(Decider::Client);
            let rule = if is_clients { approval.id.rule_in_client() } else { approval.id.rule() };
            GivenLeave { rule, spend: leave.spend_key(), words }
        }))
    }

    /// The client answered the question about this call. Nothing, if somebody else has decided by then, or the call is another
    /// one. An error: what was answered could not be written down, and is no answer.
    fn answer(&self, (id, subject): (ApprovalId, &Subject<'_>), yes: bool) -> Result<(), StoreError> {
        let now = SystemClock::default().now();
        let is_open = |approval: &Approval| approval.state == State::Open;
        let Some(approval) = self.store().get(&now, id)?.filter(is_open) else { return Ok(()) };
        let note = |words: &str| {
            let Approval { tool, server, client, .. } = &approval;
            let text = format!("{tool:?} of {server}, for {client:?} {words}");
            record_event(&self.home, now.wall_ms, EventKind::Decided, Some(server), None, &text)
        };
        let place = Decider::Client.place();
        if yes {
            // On record first: what cannot be recorded is not opened.
            note(&format!("{}{place}: once", approved_words(id)))?;
        }
        let decided = self.store().answer(&now, (id, subject), yes);
        let told = match (&decided, yes) {
            (Ok(_), true) => None,
            // It holds, recorded or not.
            (Ok(_), false) => Some(note(&format!("({id}) denied {place}"))),
            (Err(error), true) => Some(note(&format!("({id}): not approved after all: {error}"))),
            (Err(_), false) => None,
        };
        drop(told);
        decider::ring(&self.home);
        match decided {
            Ok(_) | Err(NotDecided::Unknown(_) | NotDecided::Already { .. }) => Ok(()),
            Err(NotDecided::Store(error)) => Err(error),
        }
    }

    /// A call comes again because its client was asked about it: takes in the answer that it brings.
    pub(crate) fn second_leg(
        &self,
        subject: &Subject<'_>,
        state: &str,
        yes: bool,
    ) -> Result<SecondLeg, StoreError> {
        let Some(state) = self.state_key.as_ref().and_then(|key| key.open(state)) else {
            return Ok(SecondLeg::Foreign);
        };
        let now = SystemClock::default().now();
        if state.expires_ms <= now.wall_ms || state.digest != *subject.digest {
            return Ok(SecondLeg::Foreign);
        }
        self.answer((state.approval, subject), yes)?;
        Ok(if yes { SecondLeg::Answered } else { SecondLeg::Declined(state.approval) })
    }

    /// Takes the client's answer to a form. False: it is not ours.
    pub(crate) fn take_form(&self, id: &IdKey, reply: Reply<'_>) -> bool {
        let mut inbox = self.inbox();
        if !inbox.forms.remove(id) {
            return false;
        }
        let answer = match reply {
            Reply::Result(result) if is_yes(result) => FormAnswer::Yes,
            Reply::Result(_) => FormAnswer::No,
            Reply::Error(_) => FormAnswer::NotAsked,
        };
        inbox.answered.push((id.clone(), answer));
        inbox.rung = true;
        drop(inbox);
        self.changed.notify_all();
        true
    }

    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Can what a call of this tool does be borne on an answer that may be no person's? May wait for a process.
    pub(crate) fn are_bearable(&self, tool: &str, definition: Option<(Digest, String)>) -> bool {
        self.consequences.are_bearable(&self.home, (&self.server, tool), definition)
    }

    /// Is there anybody who could decide in Callgate now?
    pub(crate) fn has_decider(&self) -> bool {
        decider::is_present(&self.home)
    }

    /// Something may be different.
    pub(crate) fn ring(&self) {
        let mut inbox = self.inbox();
        if inbox.held > 0 {
            inbox.rung = true;
            drop(inbox);
            self.changed.notify_all();
        }
    }

    /// The client is gone: nobody waits any more. Returns when nothing is held, or after a moment.
    pub(crate) fn close(&self, patience: Duration) {
        let mut inbox = self.inbox();
        inbox.closed = true;
        self.changed.notify_all();
        drop(self.changed.wait_timeout_while(inbox, patience, |inbox| inbox.held > 0));
    }

    fn receive(&self, relay: &Arc<Relay>, call: AskedCall) -> std::io::Result<()> {
        let mut inbox = self.inbox();
        if !inbox.attended {
            let relay = relay.clone();
            thread::Builder::new()
                .name("approvals".to_owned())
                .stack_size(512 * 1024)
                .spawn(move || Clerk::new(&relay).run())?;
            inbox.attended = true;
        }
        inbox.held += 1;
        inbox.arrivals.push(call);
        drop(inbox);
        self.changed.notify_all();
        Ok(())
    }
}

/// Which conversation a client starts its servers for, if it says so: Claude Code does (2.1, 2026-11). Said once, when the gate
/// is started.
fn conversation() -> Option<String> {
    const SAID_IN: &str = "CLAUDE_CODE_SESSION_ID";
    const LONGEST: usize = 200;
    std::env::var(SAID_IN).ok().filter(|said| !said.is_empty() && said.len() <= LONGEST)
}

fn granted_words(scope: GrantScope) -> &'static str {
    match scope {
        GrantScope::Burst => "an approval of this burst",
        GrantScope::Conversation => "an approval of this conversation",
        GrantScope::Session => "an approval until the client restarts",
    }
}

impl Relay {
    /// Waits for a list of tools that is being read, or was asked for a moment ago.
    fn await_lists(&self) {
        if self.listed.load(Ordering::Relaxed) && self.tools.reads_first_list() {
            self.tools.await_first_list();
        }
        if let Some((read, left)) = self.tools.asked_for() {
            self.tools.wait_newer(read, left);
        }
    }

    /// What makes this call the same one when it comes again. None: it is too large to be known again.
    pub(crate) fn with_subject<T>(
        &self,
        request: &Request<'_>,
        work: impl FnOnce(&Subject<'_>) -> T,
    ) -> Option<T> {
        let digest = request.digest(self.seal.as_ref())?;
        let client = self.client.name();
        let definition = self.tools.definition(&request.name).map_or([0; 32], |digest| *digest.as_bytes());
        Some(work(&Subject {
            server: &self.approvals.server,
            command: self.approvals.identity.digest(),
            client: &client,
            tool: &request.name,
            definition: &definition,
            digest: &digest,
        }))
    }
}

impl Passage<'_> {
    /// Has a person decide about a held call. It is on record from here on.
    pub(crate) fn ask(
        &mut self,
        message: &Message<'_>,
        (ticket, since): (Ticket, Instant),
        question: &Refusal,
    ) {
        let Body::Request { id, method, params } = &message.body else { return };
        let Ok(request) = ClientRequest::new(message, id.as_key(), method, *params) else { return };
        let relay = self.relay();
        let call = match self.record_question(&request.request, question) {
            Ok(call) => call,
            Err(error) => {
                return self.refuse(&request, &Refusal::unrecorded(&error.to_string(), question.keep));
            }
        };
        // By what the server says of the tool the call is known again: a list that is just read must not come between.
        relay.await_lists();
        let client = relay.client.name();
        let settings = relay.rules().policy.ask_settings(
            &client,
            &request.request.name,
            callgate_home::clock::wall_ms(),
        );
        let patience = || patience::hold(&relay.approvals.home, &client, &relay.approvals.server);
        let hold = settings.hold.map_or_else(patience, |hold| hold.duration());
        let arguments = request.request.args.map(|args| {
            let kept = relay.journal.masker().keep_arguments(call.seq(), args.text());
            Arguments {
                complete: !kept.cut,
                masked: kept.masked_places(),
                bytes: args.text().len() as u64,
                text: kept.text.into_owned(),
            }
        });
        let subject = relay.with_subject(&request.request, |subject| (*subject.definition, *subject.digest));
        let asked_in = settings.asked_in.unwrap_or_default();
        let in_client = relay.client_question(&request, asked_in, (arguments.as_ref(), &question.reason));
        let asked = subject.map(|(definition, digest)| AskedCall {
            text: message.text().into(),
            key: request.key.clone(),
            ticket,
            call,
            tool: request.request.name.to_string(),
            definition,
            digest,
            arguments,
            question: question.clone(),
            token: request.progress_token(),
            since,
            hold,
            expires: settings.expires.map_or(approval::EXPIRES, |expires| expires.duration()),
            in_client,
        });
        let received = match asked {
            Some(asked) => relay.approvals.receive(relay, asked).map_err(|error| error.to_string()),
            None => Err("it would not be known again".to_owned()),
        };
        if let Err(why) = received {
            let (decision, next) = (Decision::Denied, NextStep::AskUser);
            let reason = format!("{}, and nobody can be asked ({why})", question.reason);
            self.refuse(&request, &Refusal { decision, reason, next, ..question.clone() });
        }
    }
}
