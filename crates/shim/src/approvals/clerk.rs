//! The thread that looks after calls which a person decides about.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use callgate_controls::approval::{ApprovalId, Asked, Question, Release, Standing, State as Stands, Subject};
use callgate_controls::{decider, patience};
use callgate_home::clock::{Clock, Moment, SystemClock};
use callgate_journal::{CallRef, Decision};
use callgate_protocol::form::FormAnswer;
use callgate_protocol::id::IdKey;
use callgate_protocol::message::{Body, Incoming, Side, read};
use callgate_protocol::{NextStep, answer, form};

use super::AskedCall;
use super::state::State;
use crate::admission::{ClientRequest, Refusal};
use crate::held::HeldMessage;
use crate::lifecycle::START_WAIT;
use crate::passage::Passage;
use crate::pending::Ticket;
use crate::relay::{self, OWN_IDS, Relay};
use crate::rule_source::Rules;

/// How often a client hears that its call lives, and it is looked whether anybody is there to decide.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// Nothing is missed for longer than this, whoever forgot to ring.
const ROUND: Duration = Duration::from_secs(1);

const WAITING: &str = "Waiting for your approval in Callgate";
const PENDING: &str = "Waiting for the user's approval";
const IN_CLIENT: &str = "The client was asked to put the question";
const AWAY: &str = "The user's approval is needed, and the user is away";

/// A call that waits for its decision.
#[derive(Debug)]
struct WaitingCall {
    asked: AskedCall,
    approval: ApprovalId,
    /// When its client has to have an answer.
    until: Instant,
    /// The request by which its client was asked to put the question, until it is answered.
    form: Option<IdKey>,
}

/// What the thread was woken for.
struct News {
    arrivals: Vec<AskedCall>,
    answered: Vec<(IdKey, FormAnswer)>,
    /// The client is gone.
    closed: bool,
}

#[derive(Debug)]
pub(super) struct Clerk<'r> {
    relay: &'r Arc<Relay>,
    waiting: Vec<WaitingCall>,
    /// As of the last look.
    rules: Rules,
    /// When all clients hear again that their calls live.
    next_sign: Instant,
    /// Cards look otherwise than those who show them know.
    changed: bool,
}

impl<'r> Clerk<'r> {
    pub(super) fn new(relay: &'r Arc<Relay>) -> Clerk<'r> {
        let (rules, next_sign) = (relay.rule_source.last(), Instant::now() + SIGN_OF_LIFE);
        Clerk { relay, waiting: Vec::new(), rules, next_sign, changed: false }
    }

    pub(super) fn run(mut self) {
        loop {
            let News { arrivals, answered, closed } = self.wait();
            self.changed = !arrivals.is_empty();
            arrivals.into_iter().for_each(|asked| self.open(asked));
            let declined = self.take_answers(answered);
            let forms = self.forms();
            self.look(closed, &declined);
            self.withdraw(forms);
            if self.changed {
                decider::ring(&self.relay.approvals.home);
            }
            let approvals = &self.relay.approvals;
            let mut inbox = approvals.inbox();
            inbox.held = self.waiting.len() + inbox.arrivals.len();
            drop(inbox);
            approvals.changed.notify_all();
        }
    }

    /// Waits for something to do.
    fn wait(&self) -> News {
        let approvals = &self.relay.approvals;
        let limit = match self.waiting.iter().map(|one| one.until).min() {
            Some(until) => until.min(self.next_sign).saturating_duration_since(Instant::now()).min(ROUND),
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
        let (arrivals, answered) = (std::mem::take(&mut inbox.arrivals), std::mem::take(&mut inbox.answered));
        News { arrivals, answered, closed: inbox.closed }
    }

    /// Puts the question.
    fn open(&mut self, asked: AskedCall) {
        let (now, client) = (now(), self.relay.client.name());
        let approvals = &self.relay.approvals;
        // Its client's clock runs since the call came, however often it was asked about since.
        let until = asked.since + asked.hold;
        let question = Question {
            subject: self.subject(&asked, &client),
            call: asked.call.id(),
            rule: &asked.question.rule,
            reason: &asked.question.reason,
            arguments: asked.arguments.as_ref(),
            hold: until.saturating_duration_since(Instant::now()),
            expires: asked.expires,
        };
        let put = approvals.store().ask(&now, &question);
        match put {
            Ok(Asked::Open(approval)) if asked.is_answered_in_two_legs() => {
                self.ask_in_answer(&asked, approval)
            }
            Ok(Asked::Open(approval))
                if asked.in_client.is_some() || decider::is_present(&approvals.home) =>
            {
                self.sign_of_life(&asked);
                let form = self.put_form(&asked, approval);
                // What was to be seen of it is on the card.
                let asked = AskedCall { arguments: None, ..asked };
                self.waiting.push(WaitingCall { asked, approval, until, form });
            }
            Ok(Asked::Open(approval)) => {
                self.release((approval, &asked), Release::NobodyThere);
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

    /// Has the client ask its person; once for equal calls.
    fn put_form(&self, asked: &AskedCall, approval: ApprovalId) -> Option<IdKey> {
        let question = asked.in_client.as_ref()?;
        if self.waiting.iter().any(|one| one.approval == approval && one.form.is_some()) {
            return None;
        }
        let relay = self.relay;
        let number = relay.own_requests.fetch_add(1, Ordering::Relaxed);
        let id = IdKey::from_lexeme(&format!("\"{OWN_IDS}ask-{}-{number}\"", relay.approvals.session))?;
        relay.approvals.inbox().forms.insert(id.clone());
        relay.to_client.post(form::request(&id, &question.message));
        Some(id)
    }

    fn forms(&self) -> Vec<(IdKey, ApprovalId)> {
        let forms = self.waiting.iter().filter_map(|one| Some((one.form.clone()?, one.approval)));
        forms.collect()
    }

    /// Nobody needs the answers to these any more, where nothing waits for them: what comes yet counts for nothing.
    fn withdraw(&self, forms: Vec<(IdKey, ApprovalId)>) {
        for (id, _) in forms {
            if self.waiting.iter().any(|one| one.form.as_ref() == Some(&id)) {
                continue;
            }
            if self.relay.approvals.inbox().forms.remove(&id) {
                self.relay.to_client.post(answer::cancelled(&id, "the call does not wait for it any more"));
            }
        }
    }

    /// What the client says that its person answered. Gives those that it did not say yes to.
    fn take_answers(&mut self, answered: Vec<(IdKey, FormAnswer)>) -> Vec<ApprovalId> {
        let client = self.relay.client.name();
        let mut declined = Vec::new();
        for (id, answer) in answered {
            let Some(at) = self.waiting.iter().position(|one| one.form.as_ref() == Some(&id)) else {
                continue;
            };
            self.waiting[at].form = None;
            let (one, yes) = (&self.waiting[at], answer == FormAnswer::Yes);
            if answer == FormAnswer::NotAsked {
                // Then it waits for whoever is there, or is told at once that nobody is.
                self.next_sign = Instant::now();
                continue;
            }
            let subject = self.subject(&one.asked, &client);
            // What could not be written down is no answer, and the call waits for another one.
            if self.relay.approvals.answer((one.approval, &subject), yes).is_ok() && !yes {
                declined.push(one.approval);
            }
        }
        declined
    }

    /// Has the client ask in the answer itself. Nothing is held: the call comes again, with what was answered.
    fn ask_in_answer(&mut self, asked: &AskedCall, approval: ApprovalId) {
        self.release((approval, asked), Release::NobodyThere);
        let expires = i64::try_from(asked.expires.as_millis()).unwrap_or(i64::MAX);
        let state =
            State { approval, digest: asked.digest, expires_ms: now().wall_ms.saturating_add(expires) };
        let key = self.relay.approvals.state_key.as_ref();
        let (Some(key), Some(question)) = (key, &asked.in_client) else {
            return self.pending(asked, AWAY, NextStep::StopForUser);
        };
        let line = form::input_required(&asked.key, &question.message, &key.seal(&state));
        let reason = format!("{IN_CLIENT} ({})", asked.question.reason.trim_end_matches('.'));
        let refusal = Refusal { reason, ..asked.question.clone() };
        self.with_request(&asked.text, (asked.ticket, asked.call), |passage, request| {
            passage.ask_in_answer(request, &refusal, line);
        });
    }

    fn subject<'a>(&'a self, asked: &'a AskedCall, client: &'a str) -> Subject<'a> {
        Subject {
            server: &self.relay.approvals.server,
            command: self.relay.approvals.identity.digest(),
            client,
            tool: &asked.tool,
            definition: &asked.definition,
            digest: &asked.digest,
        }
    }

    /// Looks at every call that waits.
    fn look(&mut self, closed: bool, declined: &[ApprovalId]) {
        if self.waiting.is_empty() {
            return;
        }
        let relay = self.relay;
        let mut ids: Vec<ApprovalId> = self.waiting.iter().map(|one| one.approval).collect();
        ids.sort_unstable();
        ids.dedup();
        // Nobody has written: nothing was decided. Without a store nothing is either, and everybody has an answer in time.
        let standing = relay.approvals.store().look(&now(), relay.approvals.session, &ids).ok().flatten();
        let rules = relay.rule_source.last();
        let changed = !rules.same_as(&self.rules);
        self.rules = rules;
        let signs = Instant::now() >= self.next_sign;
        if signs {
            self.next_sign = Instant::now() + SIGN_OF_LIFE;
        }
        let absent = signs && !decider::is_present(&relay.approvals.home);
        let client = relay.client.name();
        if closed && !relay.pending.is_closed() {
            self.hung_up();
        }
        let in_client: Vec<ApprovalId> = self.forms().into_iter().map(|(_, approval)| approval).collect();
        for one in std::mem::take(&mut self.waiting) {
            let (state, words) = standing.as_ref().map_or((Stands::Open, None), |all| all.of(one.approval));
            let is_granted = |all: &Standing| all.is_granted(&self.subject(&one.asked, &client));
            let due = Instant::now() >= one.until;
            if !relay.pending.is_held(&one.asked.key, one.asked.ticket) {
                self.given_up(&one);
            } else if state == Stands::Approved {
                self.let_go(one.asked);
            } else if state == Stands::Open && !due && standing.as_ref().is_some_and(is_granted) {
                // A yes for more than one call reaches those that wait already.
                self.release((one.approval, &one.asked), Release::Withdrawn);
                self.let_go(one.asked);
            } else if state == Stands::Denied && declined.contains(&one.approval) {
                self.answer(&one.asked, &Refusal::declined_in_client(one.approval, &one.asked.question));
            } else if state == Stands::Denied {
                self.declined(&one.asked, one.approval, words.map(str::to_owned));
            } else if changed && self.refuse_by_now(&one) {
                self.release((one.approval, &one.asked), Release::Withdrawn);
            } else if closed {
                self.release((one.approval, &one.asked), Release::Withdrawn);
                self.pending(&one.asked, PENDING, NextStep::RepeatUnchanged);
            } else if state != Stands::Open || due {
                self.release((one.approval, &one.asked), Release::OutOfTime);
                self.pending(&one.asked, PENDING, NextStep::RepeatUnchanged);
            } else if absent && !in_client.contains(&one.approval) {
                self.release((one.approval, &one.asked), Release::NobodyThere);
                self.pending(&one.asked, AWAY, NextStep::StopForUser);
            } else {
                if signs {
                    self.sign_of_life(&one.asked);
                }
                self.waiting.push(one);
            }
        }
    }

    fn release(&mut self, (approval, asked): (ApprovalId, &AskedCall), why: Release) {
        // What stays as it was is seen for what it is by its time, and closed by it.
        drop(self.relay.approvals.store().release(&now(), (approval, asked.call.id()), why));
        self.changed = true;
    }

    /// A person said yes: it is judged again, by the thread that may wait.
    fn let_go(&self, asked: AskedCall) {
        if self.relay.pending.wake(Instant::now() + START_WAIT) {
            self.relay.tell(relay::News::Wanted);
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

    /// The client is gone. If its clock was the reason, then for the call that it has waited for the longest.
    fn hung_up(&self) {
        let held =
            self.waiting.iter().filter(|one| self.relay.pending.is_held(&one.asked.key, one.asked.ticket));
        if let Some(since) = held.map(|one| one.asked.since).min() {
            self.learn(since);
        }
    }

    /// A client gave up what it has waited for since then. What could not be remembered is learned the next time.
    fn learn(&self, since: Instant) {
        let client = self.relay.client.name();
        drop(patience::gave_up(&self.relay.approvals.home, &client, since.elapsed()));
    }

    /// Its client wants no answer any more; or has had one, because its server is gone for good.
    fn given_up(&mut self, one: &WaitingCall) {
        self.release((one.approval, &one.asked), Release::Withdrawn);
        if self.relay.pending.is_closed() {
            return;
        }
        self.learn(one.asked.since);
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

    fn sign_of_life(&self, asked: &AskedCall) {
        if let Some(token) = &asked.token {
            // So little that whatever the server tells later is more.
            let progress = (asked.since.elapsed().as_nanos() as f64) / 1e15;
            self.relay.to_client.post(answer::progress(token, progress, WAITING));
        }
    }
}

fn now() -> Moment {
    SystemClock::default().now()
}
