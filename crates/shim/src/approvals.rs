//! Approvals: calls that a person decides about, held in memory until one does, the client's patience is over, or it gives
//! them up.
//!
//! One thread, which comes with the first such call, looks after all of them: it puts the questions, hears of decisions and
//! cancellations, tells the client that its call lives, and answers in time. It never waits for anything but those. A call
//! that was approved goes back to the thread that may wait ([`HeldRequests`](crate::held::HeldRequests)), which judges it
//! again under the rules of that moment and spends the approval together with its limits.

mod clerk;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use callgate_controls::approval::{self, ApprovalId, Arguments, GrantScope, Subject};
use callgate_controls::{decider, patience};
use callgate_home::clock::{Clock, SystemClock};
use callgate_home::{Home, SessionId, StoreError};
use callgate_journal::{CallRef, Decision};
use callgate_policy::wait_words;
use callgate_protocol::NextStep;
use callgate_protocol::id::IdKey;
use callgate_protocol::message::{Body, Message};

use crate::admission::{ClientRequest, Refusal, Request};
use crate::passage::Passage;
use crate::pending::Ticket;
use crate::relay::Relay;
use crate::server_identity::ServerIdentity;
use clerk::Clerk;

#[derive(Debug)]
pub(crate) struct Approvals {
    home: Home,
    session: SessionId,
    server: String,
    /// What is started under the server's name.
    identity: ServerIdentity,
    store: Mutex<approval::Approvals>,
    inbox: Mutex<Inbox>,
    changed: Condvar,
}

/// What the thread has not seen yet.
#[derive(Debug, Default)]
struct Inbox {
    arrivals: Vec<AskedCall>,
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
}

/// What lets a call through that was asked about.
pub(crate) struct GivenLeave {
    pub(crate) id: ApprovalId,
    pub(crate) spend: String,
    /// For the record.
    pub(crate) words: String,
}

impl Approvals {
    pub(crate) fn new(home: &Home, server: &str, session: SessionId, identity: ServerIdentity) -> Approvals {
        Approvals {
            home: home.clone(),
            session,
            server: server.to_owned(),
            identity,
            store: Mutex::new(approval::Approvals::new(home)),
            inbox: Mutex::default(),
            changed: Condvar::new(),
        }
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
            let words = match (leave.scope, approval.decided_by, approval.decided_ms) {
                (Some(scope), ..) => format!("covered by {}", granted_words(scope)),
                (None, Some(by), Some(at)) => {
                    let waited = u64::try_from(at - approval.opened_ms).unwrap_or(0);
                    format!("approved {} after {}", by.place(), wait_words(Duration::from_millis(waited)))
                }
                (None, ..) => "approved".to_owned(),
            };
            GivenLeave { id: approval.id, spend: leave.spend_key(), words }
        }))
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

fn granted_words(scope: GrantScope) -> &'static str {
    match scope {
        GrantScope::Burst => "an approval of this burst",
        GrantScope::Session => "an approval until the client restarts",
    }
}

impl Relay {
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
