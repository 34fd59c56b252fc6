//! The thread that looks after calls which a person decides about.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use callgate_controls::approval::{ApprovalId, Asked, Question, Release, State, Subject};
use callgate_controls::{decider, patience};
use callgate_home::clock::{Clock, Moment, SystemClock};
use callgate_journal::{CallRef, Decision};
use callgate_protocol::message::{Body, Incoming, Side, read};
use callgate_protocol::{NextStep, answer};

use super::AskedCall;
use crate::admission::{ClientRequest, Refusal};
use crate::held::HeldMessage;
use crate::lifecycle::START_WAIT;
use crate::passage::Passage;
use crate::pending::Ticket;
use crate::relay::{News, Relay};
use crate::rule_source::Rules;

/// How often a client hears that its call lives, and it is looked whether anybody is there to decide.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// Nothing is missed for longer than this, whoever forgot to ring.
const ROUND: Duration = Duration::from_secs(1);

const WAITING: &str = "Waiting for your approval in Callgate";
const PENDING: &str = "Waiting for the user's approval";
const AWAY: &str = "The user's approval is needed, and the user is away";

/// A call that waits for its decision.
#[derive(Debug)]
struct WaitingCall {
    asked: AskedCall,
    approval: ApprovalId,
    /// When its client has to have an answer.
    until: Instant,
    next_sign: Instant,
}

#[derive(Debug)]
pub(super) struct Clerk<'r> {
    relay: &'r Arc<Relay>,
    waiting: Vec<WaitingCall>,
    /// As of the last look.
    rules: Rules,
}

impl<'r> Clerk<'r> {
    pub(super) fn new(relay: &'r Arc<Relay>) -> Clerk<'r> {
        Clerk { relay, waiting: Vec::new(), rules: relay.rule_source.last() }
    }

    pub(super) fn run(mut self) {
        loop {
            let (arrivals, closed) = self.wait();
            let any = !arrivals.is_empty();
            arrivals.into_iter().for_each(|asked| self.open(asked));
            if any {
                decider::ring(&self.relay.approvals.home);
            }
            self.look(closed);
            let approvals = &self.relay.approvals;
            let mut inbox = approvals.inbox();
            inbox.held = self.waiting.len() + inbox.arrivals.len();
            drop(inbox);
            approvals.changed.notify_all();
        }
    }

    /// Waits for something to do: the calls that came, and whether the client is gone.
    fn wait(&self) -> (Vec<AskedCall>, bool) {
        let approvals = &self.relay.approvals;
        let limit = match self.waiting.iter().map(|one| one.until.min(one.next_sign)).min() {
            Some(due) => due.saturating_duration_since(Instant::now()).min(ROUND),
            // Nothing happens without a ring.
            None => Duration::from_hours(24),
        };
        let idle = |inbox: &mut super::Inbox| {
            inbox.arrivals.is_empty() && !inbox.rung && !(inbox.closed && inbox.held > 0)
        };
        let (mut inbox, _) = approvals
            .changed
            .wait_timeout_while(approvals.inbox(), limit, idle)
            .unwrap_or_else(PoisonError::into_inner);
        inbox.rung = false;
        (std::mem::take(&mut inbox.arrivals), inbox.closed)
    }

    /// Puts the question.
    fn open(&mut self, asked: AskedCall) {
        let (now, client) = (now(), self.relay.client.name());
        let approvals = &self.relay.approvals;
        let question = Question {
            subject: self.subject(&asked, &client),
            call: asked.call.id(),
            rule: &asked.question.rule,
            reason: &asked.question.reason,
            arguments: asked.arguments.as_ref(),
            hold: asked.hold,
            expires: asked.expires,
        };
        let put = approvals.store().ask(&now, &question);
        match put {
            Ok(Asked::Open(approval)) if decider::is_present(&approvals.home) => {
                let until = asked.since + asked.hold;
                let next_sign = Instant::now() + SIGN_OF_LIFE;
                let mut waiting = WaitingCall { asked, approval, until, next_sign };
                self.sign_of_life(&mut waiting);
                self.waiting.push(waiting);
            }
            Ok(Asked::Open(approval)) => {
                self.release(approval, Release::NobodyThere);
                self.pending(&asked, AWAY, NextStep::StopForUser);
            }
            Ok(Asked::Approved(_)) => self.let_go(asked),
            Ok(Asked::Denied(approval, words)) => self.declined(&asked, approval, words),
            Ok(Asked::Ignored(_)) => self.pending(&asked, AWAY, NextStep::StopForUser),
            Ok(Asked::TooMany) => {
                let reason = "too many calls wait for the user's approval already".to_owned();
                let refusal = Refusal { decision: Decision::Denied, reason, ..asked.question.clone() };
                self.answer(&asked, &Refusal { next: NextStep::StopForUser, ..refusal });
            }
            Err(error) => {
                self.answer(&asked, &Refusal::unrecorded(&error.to_string(), asked.question.keep));
            }
        }
    }

    fn subject<'a>(&'a self, asked: &'a AskedCall, client: &'a str) -> Subject<'a> {
        Subject {
            server: &self.relay.approvals.server,
            command: &self.relay.approvals.command,
            client,
            tool: &asked.tool,
            definition: &asked.definition,
            digest: &asked.digest,
        }
    }

    /// Is there a yes that reaches it, as it was asked about?
    fn is_granted(&self, asked: &AskedCall) -> bool {
        let client = self.relay.client.name();
        let leave = self.relay.approvals.leave(&self.subject(asked, &client));
        leave.is_ok_and(|leave| leave.is_some())
    }

    /// Looks at every call that waits.
    fn look(&mut self, closed: bool) {
        if self.waiting.is_empty() {
            return;
        }
        let ids: Vec<ApprovalId> = self.waiting.iter().map(|one| one.approval).collect();
        // Without a store nothing is decided, and everybody has an answer in time all the same.
        let found = self.relay.approvals.store().look(&now(), &ids).ok();
        let rules = self.relay.rule_source.last();
        let changed = !rules.same_as(&self.rules);
        self.rules = rules;
        let mut present = None;
        for mut one in std::mem::take(&mut self.waiting) {
            let row = found.as_ref().map(|found| found.iter().find(|(id, ..)| *id == one.approval));
            let state = row.map(|row| row.map_or(State::Missed, |(_, state, _)| *state));
            let due = Instant::now();
            if !self.relay.pending.is_held(&one.asked.key, one.asked.ticket) {
                self.given_up(&one);
            } else if state == Some(State::Approved) {
                self.let_go(one.asked);
            } else if state == Some(State::Open) && due < one.until && self.is_granted(&one.asked) {
                // A yes for more than one call reaches those that wait already.
                self.release(one.approval, Release::Withdrawn);
                self.let_go(one.asked);
            } else if state == Some(State::Denied) {
                let words = row.flatten().and_then(|(_, _, words)| words.clone());
                self.declined(&one.asked, one.approval, words);
            } else if changed && self.refuse_by_now(&one) {
                self.release(one.approval, Release::Withdrawn);
            } else if closed {
                self.release(one.approval, Release::Withdrawn);
                self.pending(&one.asked, PENDING, NextStep::RepeatUnchanged);
            } else if state.is_some_and(|state| state != State::Open) || due >= one.until {
                self.release(one.approval, Release::OutOfTime);
                self.pending(&one.asked, PENDING, NextStep::RepeatUnchanged);
            } else if due >= one.next_sign
                && !*present.get_or_insert_with(|| decider::is_present(&self.relay.approvals.home))
            {
                self.release(one.approval, Release::NobodyThere);
                self.pending(&one.asked, AWAY, NextStep::StopForUser);
            } else {
                if due >= one.next_sign {
                    self.sign_of_life(&mut one);
                }
                self.waiting.push(one);
            }
        }
    }

    fn release(&self, approval: ApprovalId, why: Release) {
        // What stays as it was is seen for what it is by its time, and closed by it.
        drop(self.relay.approvals.store().release(&now(), approval, why));
        decider::ring(&self.relay.approvals.home);
    }

    /// A person said yes: it is judged again, by the thread that may wait.
    fn let_go(&self, asked: AskedCall) {
        if self.relay.pending.wake(Instant::now() + START_WAIT) {
            self.relay.tell(News::Wanted);
        }
        let (question, text) = (asked.question.clone(), asked.text.clone());
        let held = HeldMessage::decided(asked.text, asked.ticket, asked.call, asked.since);
        if let Err(error) = self.relay.held.push(self.relay, held) {
            let reason = format!("approved, but nobody can let it through ({error})");
            self.answer_text(&text, (asked.ticket, asked.call), &Refusal { reason, ..question });
        }
    }

    fn declined(&self, asked: &AskedCall, approval: ApprovalId, words: Option<String>) {
        let reason = match words {
            Some(words) => format!("the user said no: {words}"),
            None => "the user said no".to_owned(),
        };
        let (decision, rule) = (Decision::Denied, format!("(approval {approval})"));
        let refusal = Refusal { decision, rule, reason, next: NextStep::Declined, ..asked.question.clone() };
        self.answer(asked, &refusal);
    }

    /// Its client wants no answer any more; or has had one, because its server is gone for good.
    fn given_up(&self, one: &WaitingCall) {
        self.release(one.approval, Release::Withdrawn);
        if self.relay.pending.is_closed() {
            return;
        }
        let client = self.relay.client.name();
        // What could not be remembered is learned the next time.
        drop(patience::gave_up(&self.relay.approvals.home, &client, one.asked.since.elapsed()));
        self.with_request(&one.asked.text, (one.asked.ticket, one.asked.call), |passage, request| {
            passage.note_given_up(&request.request);
        });
    }

    /// The client has to have an answer, and there is none yet.
    fn pending(&self, asked: &AskedCall, reason: &str, next: NextStep) {
        let reason = format!("{reason} ({})", asked.question.reason.trim_end_matches('.'));
        self.answer(asked, &Refusal { reason, next, ..asked.question.clone() });
    }

    fn answer(&self, asked: &AskedCall, refusal: &Refusal) {
        self.answer_text(&asked.text, (asked.ticket, asked.call), refusal);
    }

    fn answer_text(&self, text: &str, held: (Ticket, CallRef), refusal: &Refusal) {
        self.with_request(text, held, |passage, request| passage.refuse(request, refusal));
    }

    /// A block or a pause is not waited out.
    fn refuse_by_now(&self, one: &WaitingCall) -> bool {
        let held = (one.asked.ticket, one.asked.call);
        let refused =
            self.with_request(&one.asked.text, held, |passage, request| passage.refuse_by_now(request));
        refused.unwrap_or(false)
    }

    /// Does something about a held call, under the rules of this moment.
    fn with_request<T>(
        &self,
        text: &str,
        (ticket, call): (Ticket, CallRef),
        work: impl FnOnce(&mut Passage<'_>, &ClientRequest<'_>) -> T,
    ) -> Option<T> {
        let Incoming::One(message) = read(Side::Client, text.as_bytes()) else { return None };
        let Body::Request { id, method, params } = &message.body else { return None };
        let request = ClientRequest::new(&message, id.as_key(), method, *params).ok()?;
        let mut passage = Passage::for_held(self.relay, Some(ticket), Some(call));
        let done = work(&mut passage, &request);
        passage.forward();
        Some(done)
    }

    fn sign_of_life(&self, one: &mut WaitingCall) {
        one.next_sign = Instant::now() + SIGN_OF_LIFE;
        if let Some(token) = &one.asked.token {
            // So little that whatever the server tells later is more.
            let progress = (one.asked.since.elapsed().as_micros() as f64) / 1e12;
            self.relay.to_client.post(answer::progress(token, progress, WAITING));
        }
    }
}

fn now() -> Moment {
    SystemClock::default().now()
}
