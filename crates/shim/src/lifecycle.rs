//! Lifecycle of the server within a session: stopped by a person, started again, given up after too many crashes.
//!
//! The main thread alone decides where the server stands. Whoever waits for a server is answered when it goes ([`sever`]),
//! in the same step in which the table of the waiting turns to the next one; until that has repeated the handshake, requests
//! wait at the door. What the client and the first server agreed on holds for every later one, or the session ends.
//!
//! [`sever`]: Session::sever

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use callgate_controls::control::{Request, ServerCommand};
use callgate_home::clock::wall_ms;
use callgate_home::{Lease, Stand};
use callgate_journal::{EndReason, Event, EventKind, Outcome};
use callgate_policy::{Call, Judgement, Restart, Waived};
use callgate_protocol::id::IdKey;
use callgate_protocol::json::Raw;
use callgate_protocol::{NextStep, answer};
use callgate_supervise::{Ending, Keeper, Pipes};
use tracing::{info, warn};

use crate::backoff::{Backoff, is_wanted};
use crate::diagnosis::diagnose;
use crate::exit::SessionExit;
use crate::handshake::{Repeat, Terms};
use crate::health::Health;
use crate::pending::{Generation, Intake, PendingRequest, RequestKind, Unavailable};
use crate::relay::{News, Relay, ServerPipe};
use crate::server::FromServer;
use crate::session::{Session, spawn};
use crate::stdio;
use crate::tree_record::TreeRecord;

/// How long a request waits for a server that is being started, beyond the pause before the start.
pub(crate) const START_WAIT: Duration = Duration::from_secs(30);
/// How long a server may take to answer the handshake: one that is installed first takes its time.
const GREETING: Duration = Duration::from_secs(60);
/// How long a server that is about to be ended has to hear which calls are not wanted any more.
const CANCELLING: Duration = Duration::from_millis(50);
/// How long to wait for the last words of a server that is gone.
const LAST_LINES: Duration = Duration::from_millis(300);
/// How many of them an agent gets to read.
const SHOWN_LINES: usize = 8;

/// Said where a restart was to be expected.
const NOT_AGAIN: &str = "; it is not started again, because a codegen session was open: its actions are saved in Callgate (`callgate codegen`), and a new connection starts it";

/// Where the server stands.
#[derive(Debug)]
pub(crate) enum ServerPhase {
    Serving,
    /// To be started when nothing of the one before is left, and not before this.
    Waiting {
        at: Instant,
        why: RestartCause,
    },
    /// It runs, and has to answer the handshake as the first one did.
    Greeting {
        terms: Terms,
        until: Instant,
        why: RestartCause,
    },
    /// Ended by its limits; the next call starts it.
    Resting,
    /// By a person, who alone starts it again.
    Stopped,
    /// It crashed too often, or could not be started again. A person may try.
    Down,
}

/// Why a server is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestartCause {
    User,
    Crash,
    Call,
}

impl RestartCause {
    fn describe(self) -> &'static str {
        match self {
            RestartCause::User => "by the user",
            RestartCause::Crash => "after it crashed",
            RestartCause::Call => "for a call, after it was ended by its limits",
        }
    }
}

/// The two threads that every server has: one reads what it says, one waits for its end.
pub(crate) fn attend(
    relay: &Arc<Relay>,
    keeper: &Arc<Keeper>,
    tree: &TreeRecord,
    pipe: Arc<ServerPipe>,
    stdout: io::PipeReader,
) -> io::Result<()> {
    let generation = pipe.generation;
    spawn("from-server", relay, move |relay| FromServer::new(relay, pipe).run(stdout))?;
    let (relay, keeper, tree) = (relay.clone(), keeper.clone(), tree.clone());
    let work = move || {
        let ending = keeper.wait();
        if ending == Ending::KeeperLost {
            // Whatever else is going on: what the keeper owned is ours to end now, after a last look at it.
            tree.look();
            keeper.take_over();
            warn!("the keeper was killed");
            relay.journal.event(Event { kind: EventKind::KeeperLost, text: "the keeper was killed" });
        }
        relay.tell(News::Ended(generation, ending));
        keeper.join();
        relay.tell(News::TreeGone(generation));
    };
    thread::Builder::new().name("keeper".to_owned()).spawn(work).map(drop)
}

impl Session {
    /// Is this the server of this moment?
    pub(crate) fn is_current(&self, generation: Generation) -> bool {
        self.relay.pending.generation() == generation
    }

    /// When something is due without anything having happened.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let phase = match &self.phase {
            ServerPhase::Waiting { at, .. } => self.gone.then_some(*at),
            ServerPhase::Greeting { until, .. } => Some(*until),
            ServerPhase::Serving => self.next_look(),
            ServerPhase::Resting | ServerPhase::Stopped | ServerPhase::Down => None,
        };
        phase.into_iter().chain(self.next_cancelled()).chain(self.list_at).min()
    }

    /// Does what is due.
    pub(crate) fn due(&mut self) -> Option<SessionExit> {
        let now = Instant::now();
        self.finish_cancelled(now);
        if self.list_at.is_some_and(|at| now >= at) {
            self.list_at = None;
            self.relay.list_due.store(false, Ordering::Relaxed);
            if matches!(self.phase, ServerPhase::Serving) {
                self.relay.list_unasked();
            }
        }
        match &self.phase {
            ServerPhase::Waiting { at, why } if self.gone && now >= *at => self.start_again(*why),
            ServerPhase::Serving => self.look_after(),
            ServerPhase::Greeting { until, .. } if now >= *until => {
                let seconds = GREETING.as_secs();
                self.crashed(&format!("it did not answer the handshake within {seconds} s"));
            }
            _ => {}
        }
        None
    }

    /// The server of this moment ended, and nobody had asked it to. What to say, if the session ends with it.
    pub(crate) fn server_down(&mut self, ending: Option<&Ending>) -> Option<SessionExit> {
        let why = ending.map_or_else(|| "it closed its output".to_owned(), Ending::to_string);
        match self.phase {
            ServerPhase::Serving => {
                let restart = self.restart_policy();
                // Before the two have met there is nothing to go on with.
                let met = !self.relay.handshake.is_open() && self.relay.pending.was_used();
                if !met {
                    return Some(self.failed_to_start(ending));
                }
                // Both left, and the server was merely the first of whom it was heard.
                if self.is_parting() {
                    return Some(SessionExit::from_ending(ending));
                }
                // What it recorded is lost with it: its client is not to go on as if nothing had happened.
                let recorded = self.relay.codegen.has_open();
                if recorded || !is_wanted(restart, ending, self.relay.pending.calls()) {
                    let lost = if recorded { "; its open codegen session is saved in Callgate" } else { "" };
                    self.note(EventKind::Crashed, &format!("{why}; the session ended with it{lost}"));
                    let mut said = SessionExit::from_ending(ending);
                    if recorded && restart != Restart::Never {
                        said.reason.push_str(NOT_AGAIN);
                    }
                    return Some(said);
                }
                self.crashed(&why);
            }
            ServerPhase::Greeting { .. } if ending == Some(&Ending::KeeperLost) => {
                return Some(SessionExit::from_ending(ending));
            }
            ServerPhase::Greeting { .. } => self.crashed(&why),
            ServerPhase::Waiting { .. } | ServerPhase::Resting | ServerPhase::Stopped | ServerPhase::Down => {
            }
        }
        None
    }

    /// The server ended before it and its client had met: what is known about why.
    fn failed_to_start(&self, ending: Option<&Ending>) -> SessionExit {
        let mut said = SessionExit::from_ending(ending);
        if let Some(known) = diagnose(ending, &self.stderr.last_lines(LAST_LINES)) {
            said.reason = known.after(&said.reason);
            self.note(EventKind::StartFailed, &said.reason);
        }
        said
    }

    fn restart_policy(&self) -> Restart {
        self.relay.rule_source.last().policy.process().restart.unwrap_or(Restart::Never)
    }

    /// The server crashed, or did not get as far as serving: it is started again after a while, or given up.
    fn crashed(&mut self, why: &str) {
        let again = match self.restart_policy() {
            // A person started it; nobody but a person does so again.
            Restart::Never => Err(format!("it could not be started again ({why})")),
            Restart::BetweenCalls | Restart::Always => self
                .backoff
                .next(Instant::now(), chance())
                .ok_or_else(|| format!("{}, last: {why}", Backoff::describe())),
        };
        match again {
            Ok(pause) => {
                let at = Instant::now() + pause;
                let words = format!("the server crashed ({why}) during this call; it is being started again");
                self.sever(Intake::Starting { until: at + START_WAIT }, &words, &NextStep::CheckEffect);
                self.keeper.end();
                self.phase = ServerPhase::Waiting { at, why: RestartCause::Crash };
                let text = format!("{why}; it is started again in {:.1} s", pause.as_secs_f64());
                self.note(EventKind::Crashed, &text);
                self.say(Stand::Starting, Some(why.to_owned()), |_| {});
            }
            Err(why) => self.give_up(&why),
        }
    }

    fn give_up(&mut self, why: &str) {
        self.keeper.end();
        let lines = self.stderr.last_lines(LAST_LINES);
        let shown = lines.len().saturating_sub(SHOWN_LINES);
        let last = match &lines[shown..] {
            [] => String::new(),
            lines => format!(". Its last words: {}", lines.join(" | ")),
        };
        let page = "see `callgate explain CG-120`";
        let reason = format!("the server does not run: {why}. A person has to start it ({page}){last}");
        let (rule, next) = ("(crash loop)", NextStep::TellUser);
        let shut = Unavailable { rule, reason: reason.as_str().into(), next: next.clone(), lists: false };
        self.sever(Intake::Stopped(shut), &reason, &next);
        self.phase = ServerPhase::Down;
        stdio::complain(&format!("{}: {reason}", self.server));
        // Its last words are in its own log.
        warn!(why, "server given up");
        self.relay.journal.event(Event { kind: EventKind::Crashed, text: &reason });
        self.say(Stand::Down, Some(reason), |_| {});
        self.turn_is_over();
    }

    /// What a person asks for.
    pub(crate) fn control(&mut self, request: &Request) -> Option<SessionExit> {
        self.turn = Some(request.turn);
        match (request.wish, &self.phase) {
            (ServerCommand::Stop, ServerPhase::Stopped) => {}
            (ServerCommand::Stop, _) => {
                let reason = "the server was stopped by the user";
                let (rule, next) = ("(stopped)", NextStep::WaitForUser);
                let shut = Unavailable { rule, reason: reason.into(), next: next.clone(), lists: true };
                self.sever(Intake::Stopped(shut), &format!("{reason} during this call"), &next);
                self.keeper.end();
                self.phase = ServerPhase::Stopped;
                self.note(EventKind::Stopped, "by the user");
                self.say(Stand::Stopped, None, |_| {});
                if !self.gone {
                    // It is over when its processes are.
                    return None;
                }
            }
            (
                ServerCommand::Start | ServerCommand::Restart,
                ServerPhase::Stopped | ServerPhase::Down | ServerPhase::Resting | ServerPhase::Waiting { .. },
            ) => {
                self.bring_back(RestartCause::User);
                return None;
            }
            (ServerCommand::Restart, ServerPhase::Serving | ServerPhase::Greeting { .. }) => {
                let until = Instant::now() + START_WAIT;
                let words = "the server is started again by the user; this call was ended";
                self.sever(Intake::Starting { until }, words, &NextStep::CheckEffect);
                self.keeper.end();
                self.bring_back(RestartCause::User);
                return None;
            }
            (ServerCommand::Start, ServerPhase::Serving | ServerPhase::Greeting { .. }) => {}
        }
        self.turn_is_over();
        None
    }

    /// To be started as soon as nothing is left of the one before. What it did before does not count against it.
    fn bring_back(&mut self, why: RestartCause) {
        let now = Instant::now();
        self.backoff.forget();
        self.relay.pending.set_intake(Intake::Starting { until: now + START_WAIT });
        self.phase = ServerPhase::Waiting { at: now, why };
        self.say(Stand::Starting, None, |_| {});
    }

    /// A client wants a server that was ended by its limits.
    pub(crate) fn wanted(&mut self) {
        if matches!(self.phase, ServerPhase::Resting) {
            self.bring_back(RestartCause::Call);
        }
    }

    /// Ends a server that is beyond its limits, if nobody waits for it and it holds no open codegen session. A call starts it again where the policy lets a server
    /// be started again, else a person does.
    pub(crate) fn put_to_rest(&mut self, beyond: &str) -> bool {
        let comes_back = self.restart_policy() != Restart::Never;
        let reason = format!("the server was ended by its limits: {beyond}. A person has to start it");
        let intake = match comes_back {
            true => Intake::Idle,
            false => {
                let (rule, next) = ("(limit)", NextStep::TellUser);
                Intake::Stopped(Unavailable { rule, reason: reason.as_str().into(), next, lists: true })
            }
        };
        let Some(left) = self.relay.pending.sever_if_idle(intake, || self.relay.codegen.has_open()) else {
            return false;
        };
        self.take_leave(left, &reason, &NextStep::TellUser);
        self.keeper.end();
        self.phase = if comes_back { ServerPhase::Resting } else { ServerPhase::Stopped };
        self.note(EventKind::Limit, &format!("{beyond}; it was ended"));
        self.say(Stand::Stopped, Some(format!("ended by its limits: {beyond}")), |_| {});
        true
    }

    pub(crate) fn tree_gone(&mut self, generation: Generation) -> Option<SessionExit> {
        // Each server's tree is gone before the next one starts, so only the last can be meant.
        self.gone |= generation == self.relay.server.pipe().generation;
        if self.gone && matches!(self.phase, ServerPhase::Stopped) {
            self.turn_is_over();
        }
        None
    }

    fn start_again(&mut self, why: RestartCause) {
        match self.open_again() {
            Ok(pipe) => match self.relay.handshake.replay() {
                Repeat::Nothing => self.serve_again(&pipe, why),
                Repeat::Impossible => {
                    self.give_up("its handshake is too large to be repeated, or was not one")
                }
                Repeat::This(replay) => {
                    if self.relay.send_own(&pipe, RequestKind::Greeting, "initialize", &replay.params) {
                        let until = Instant::now() + GREETING;
                        self.phase = ServerPhase::Greeting { terms: replay.terms, until, why };
                    } else {
                        self.crashed("the handshake could not be repeated");
                    }
                }
            },
            Err(error) => self.give_up(&format!("it could not be started again ({error})")),
        }
    }

    fn open_again(&mut self) -> io::Result<Arc<ServerPipe>> {
        let Pipes { stdin, stdout, stderr } = self.keeper.again().map_err(io::Error::other)?;
        self.gone = false;
        stdio::widen(&stdin);
        stdio::widen(&stdout);
        let pipe = Arc::new(ServerPipe::new(self.relay.pending.generation(), stdin));
        self.relay.server.replace(pipe.clone());
        self.stderr.follow(stderr)?;
        attend(&self.relay, &self.keeper, &self.tree, pipe.clone(), stdout)?;
        Ok(pipe)
    }

    /// The server that was started again answered the handshake.
    pub(crate) fn greeted(&mut self, reply: Result<String, String>) -> Option<SessionExit> {
        let ServerPhase::Greeting { terms, why, .. } = &self.phase else { return None };
        let why = *why;
        let Some(now) = reply.ok().as_deref().and_then(Terms::from_result) else {
            self.crashed("it refused the handshake");
            return None;
        };
        if let Some(differs) = terms.differs(&now) {
            return Some(SessionExit {
                reason: format!(
                    "the server was started again and came back with {differs}, so this session ends; the client has to connect anew"
                ),
                outcome: Outcome::ServerEnded,
                end: EndReason::ServerEnded,
                code: 1,
            });
        }
        let pipe = self.relay.server.pipe();
        if self.relay.handshake.is_initialized() {
            pipe.post(answer::notification("notifications/initialized"));
        }
        self.serve_again(&pipe, why);
        None
    }

    /// The server is as it was before, as far as that can be: requests go to it from now on.
    fn serve_again(&mut self, pipe: &ServerPipe, why: RestartCause) {
        for (method, params) in self.relay.handshake.restoring() {
            if self.may_restore(method, &params) {
                self.relay.send_own(pipe, RequestKind::Quiet, method, &params);
            }
        }
        self.relay.tools.another_server();
        self.relay.lists.outdated();
        if matches!(self.relay.handshake.replay(), Repeat::This(_)) {
            self.relay.list_tools(pipe, None, "");
        } else {
            // Without a handshake we do not know how to ask; the client does.
            self.relay.tell_list_changed();
        }
        self.phase = ServerPhase::Serving;
        let at_ms = wall_ms();
        // Before anybody who waits gets through: what it counts on may be lost.
        self.relay.codegen.server_back(at_ms);
        self.relay.pending.set_intake(Intake::Open);
        for list in self.relay.lists.take_owed() {
            self.relay.to_client.post(answer::notification(list.changed()));
        }
        self.health = Health::new();
        self.restarted(why, at_ms);
    }

    /// What a client had asked for lasts only as long as the policy of this moment lets it ask.
    fn may_restore(&self, method: &str, params: &str) -> bool {
        let rules = self.relay.rules();
        let Ok(params) = Raw::parse(params) else { return false };
        let client = self.relay.client.name();
        let call = Call::method(&client, method, Some(params));
        let judged = rules.policy.judge(&call, &self.relay.circumstances(&rules, Waived::Nothing));
        // A pause is for calls: what lasts was asked for before it, and is not asked for again after it.
        matches!(judged, Judgement::Pass(_))
    }

    fn restarted(&mut self, why: RestartCause, at_ms: i64) {
        self.note(EventKind::Restarted, why.describe());
        self.say(Stand::Running, None, |lease| {
            lease.restarts += 1;
            lease.restarted_ms = Some(at_ms);
        });
        self.turn_is_over();
    }

    /// The server is gone for whoever waits: each gets its one answer, the table is the next server's, and this one reads
    /// nothing more from us. What it asked of the client is taken back.
    fn sever(&self, intake: Intake, words: &str, next: &NextStep) {
        self.take_leave(self.relay.pending.sever(intake), words, next);
    }

    fn take_leave(&self, left: Vec<(IdKey, PendingRequest)>, words: &str, next: &NextStep) {
        self.relay.codegen.server_gone(wall_ms());
        let pipe = self.relay.server.pipe();
        for (id, request) in &left {
            if request.what.is_clients() {
                pipe.post_last(answer::cancelled(id, "the server is being ended"));
            }
        }
        self.answer_all(left, (words, next), Outcome::ServerEnded);
        self.relay.journal.server_gone();
        for (shown, ask) in self.relay.server_requests.sever(self.relay.pending.generation()) {
            if let Some(call) = ask.call {
                self.relay.journal.settle_one(&call, Outcome::ServerEnded);
            }
            self.relay.to_client.post_last(answer::cancelled(&shown, "the server ended"));
        }
        pipe.flush(CANCELLING);
        pipe.close();
    }

    pub(crate) fn note(&self, kind: EventKind, text: &str) {
        let what = kind.word();
        match kind {
            EventKind::Crashed | EventKind::StartFailed | EventKind::Limit => warn!("server {what}: {text}"),
            _ => info!("server {what}: {text}"),
        }
        self.relay.journal.event(Event { kind, text });
    }

    /// Lets others see how the server stands. The lease only informs.
    pub(crate) fn say(&self, stand: Stand, words: Option<String>, more: impl FnOnce(&mut Lease)) {
        drop(self.relay.journal.update_lease(|lease| {
            (lease.stand, lease.stand_words) = (stand, words);
            more(lease);
        }));
    }

    /// Whoever asked can see that it is done.
    fn turn_is_over(&mut self) {
        if let Some(turn) = self.turn.take() {
            drop(self.relay.journal.update_lease(|lease| lease.turn = turn));
        }
    }
}

/// From 0 to 1.
fn chance() -> f64 {
    let random = u32::try_from(RandomState::new().hash_one(()) >> 32).unwrap_or_default();
    f64::from(random) / f64::from(u32::MAX)
}
