//! Relay state that both directions share: the pipes, the tables, the rules, the record.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use callgate_controls::allowance::{Allowance, AllowanceScope as Allowed};
use callgate_controls::control::Request;
use callgate_controls::pin::PinNews;
use callgate_controls::{Disk, KnownClasses};
use callgate_home::clock::wall_ms;
use callgate_home::{CallId, Seal};
use callgate_journal::{Admitted, Event, EventKind, Journal, Origin, Outcome};
use callgate_policy::{Call, Circumstances, Judgement, Waived, compare};
use callgate_protocol::answer;
use callgate_protocol::id::IdKey;
use callgate_protocol::json::Raw;
use callgate_protocol::lists::List;
use callgate_protocol::message::{Incoming, Outcome as Reply, Side, read};
use callgate_supervise::Ending;
use tracing::{info, warn};

use crate::approvals::Approvals;
use crate::call_timeout::{CallTimeout, call_timeout};
use crate::client_questions::ClientQuestions;
use crate::codegen_tracker::CodegenTracker;
use crate::definitions::DefinitionStore;
use crate::handshake::Handshake;
use crate::held::HeldRequests;
use crate::lists::LastLists;
use crate::loop_tracker::LoopTracker;
use crate::outlet::{Lost, Outlet, Post, Undelivered};
use crate::pending::{Generation, Pending, PendingRequest, RequestKind};
use crate::pins::{self, SessionPins};
use crate::rule_source::{Change, RuleSource, Rules};
use crate::server_requests::{ServerRequest, ServerRequests};
use crate::stdio;
use crate::tool_cache::ToolCache;
use crate::unknown_answers::UnknownAnswers;
use crate::vendor_members::VendorMembers;

/// Noise lines that get a row each; the rest is counted.
const NOISE_ROWS: u32 = 20;

/// How the ids of our own requests begin. No client may use such an id: an answer would have two owners.
pub(crate) const OWN_IDS: &str = "callgate/";

/// What the session's main thread has to know.
#[derive(Debug)]
pub(crate) enum News {
    /// The client closed its end; its reader may still be there.
    ClientClosed,
    /// The client reads no more.
    ClientGone,
    /// A server closed its output.
    ServerClosed(Generation),
    /// The keeper says how a server ended.
    Ended(Generation, Ending),
    /// Nothing of a server's tree is left.
    TreeGone(Generation),
    /// A server that was started again answered the handshake: with its result, or not as it should.
    Greeted(Generation, Result<String, String>),
    /// The tools of a server that was started again are not those of the one before.
    ToolsDiffer,
    /// A list had tools, or definitions of tools, that nobody has seen before.
    Definitions(PinNews),
    /// A client wants a server that was ended by its limits.
    Wanted,
    /// The server's tools may not be known: if the client does not ask for them, the gate does.
    ListDue,
    /// The policy is another one.
    Rules,
    /// A person wants the server to be stopped, started, started again.
    Control(Request),
    /// A person does not want this call to go on.
    Cancel(CallId),
    /// Somebody wants us gone.
    Signal(i32),
}

#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) rule_source: RuleSource,
    pub(crate) journal: Journal,
    pub(crate) pending: Pending,
    /// What of the client's has to wait.
    pub(crate) held: HeldRequests,
    /// What of it a person decides about.
    pub(crate) approvals: Approvals,
    /// What the client asks them by itself.
    pub(crate) questions: ClientQuestions,
    pub(crate) server_requests: ServerRequests,
    pub(crate) to_client: Outlet,
    pub(crate) server: CurrentServer,
    pub(crate) handshake: Handshake,
    /// To the session's main thread.
    pub(crate) news: Sender<News>,
    pub(crate) client: ClientName,
    /// Who started us, as of the client's first words: whoever only led up to it is gone by then.
    pub(crate) parent: OnceLock<Option<u32>>,
    /// The client has seen a list of tools, so it wants to hear when the list changes.
    pub(crate) listed: AtomicBool,
    pub(crate) noise: Noise,
    /// The main thread knows that a list may be due.
    pub(crate) list_due: AtomicBool,
    /// What the server listed last.
    pub(crate) lists: LastLists,
    /// What the server says its tools are.
    pub(crate) tools: ToolCache,
    /// What they can do, where rules ask for it.
    pub(crate) classes: Arc<KnownClasses>,
    pub(crate) pins: SessionPins,
    /// Where what the server says of itself is written down.
    pub(crate) definitions: DefinitionStore,
    /// What the client did not get of it.
    pub(crate) vendor_members: VendorMembers,
    /// How the server answers calls of tools that it does not have.
    pub(crate) unknown_answers: UnknownAnswers,
    /// For digests of refused calls; without one, no single call can be allowed.
    pub(crate) seal: Option<Seal>,
    /// The disk, for rules about paths.
    pub(crate) files: Disk,
    /// What the server records for its client.
    pub(crate) codegen: CodegenTracker,
    /// Calls that were made before.
    pub(crate) loops: LoopTracker,
    /// Numbers the requests that we make ourselves.
    pub(crate) own_requests: AtomicU32,
}

impl Relay {
    /// What a judgement of this moment depends on beside the rules.
    pub(crate) fn circumstances(&self, rules: &Rules, waived: Waived) -> Circumstances<'_> {
        let waived = match waived {
            Waived::Nothing if !rules.allowances.is_empty() && rules.observing(&self.client.name()) => {
                Waived::Enforcement
            }
            other => other,
        };
        Circumstances { now_ms: wall_ms(), files: &self.files, recordings: &self.codegen, waived }
    }

    /// The allowance that has this call only observed, as the record names it; none, if the policy does so itself.
    pub(crate) fn observed_under(&self, rules: &Rules, call: &Call<'_>) -> Option<String> {
        let allowance = rules.observed_by(call.client)?;
        let waived = Waived::Nothing;
        let own = Circumstances { now_ms: wall_ms(), files: &self.files, recordings: &self.codegen, waived };
        match rules.policy.judge(call, &own) {
            Judgement::Pass(pass) if pass.observing => None,
            _ => Some(format!("(allowance {})", allowance.id)),
        }
    }

    /// How long a call of this client may take, by these rules.
    pub(crate) fn call_timeout(&self, rules: &Rules) -> Option<CallTimeout> {
        call_timeout(rules.policy.process(), &self.client.name())
    }

    /// The client is ready, or the server says that its tools are others: if nobody asks for them soon, the gate will.
    pub(crate) fn may_list_soon(&self) {
        if !self.list_due.swap(true, Ordering::Relaxed) {
            self.tell(News::ListDue);
        }
    }

    /// Asks the server for its tools, for our own use. False when it cannot be asked.
    pub(crate) fn list_tools(&self, pipe: &ServerPipe, cursor: Option<&str>, meta: &str) -> bool {
        let mut params = Vec::new();
        params.extend(cursor.map(|cursor| format!("\"cursor\":{}", serde_json::Value::from(cursor))));
        params.extend((!meta.is_empty()).then(|| format!("\"_meta\":{meta}")));
        let what = RequestKind::OwnList { first: cursor.is_none(), meta: meta.to_owned() };
        self.send_own(pipe, what, "tools/list", &format!("{{{}}}", params.join(",")))
    }

    /// A request of our own. False when it cannot be made.
    pub(crate) fn send_own(&self, pipe: &ServerPipe, what: RequestKind, method: &str, params: &str) -> bool {
        let number = self.own_requests.fetch_add(1, Ordering::Relaxed);
        let id = format!("\"{OWN_IDS}{}-{number}\"", self.journal.session());
        let Some(key) = IdKey::from_lexeme(&id) else { return false };
        // No reason to keep a session open for.
        let request = PendingRequest { lasting: true, ..PendingRequest::new(what) };
        if !self.pending.enter_own(key.clone(), request, pipe.generation) {
            return false;
        }
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        // Parts of it are the client's own words: it goes the way of every line of a client, or not at all.
        let asked = match read(Side::Client, line.as_bytes()) {
            Incoming::One(message) => {
                pipe.post(message.wire().into_owned());
                true
            }
            Incoming::Blank | Incoming::Batch(_) | Incoming::Bad(_) => false,
        };
        if !asked {
            self.pending.answer(&key, pipe.generation);
        }
        asked
    }

    /// Tells the main thread. It is gone only when the session is over, and nobody is left to be told then.
    pub(crate) fn tell(&self, news: News) {
        drop(self.news.send(news));
    }

    /// The client answered what the server asked.
    pub(crate) fn settle_server_request(&self, request: &ServerRequest, reply: Reply<'_>) {
        let Some(call) = request.call else { return };
        let (outcome, said) = match reply {
            Reply::Result(result) => (Outcome::Ok, result),
            Reply::Error(error) => (Outcome::RpcError, error),
        };
        let mut settlement = self.journal.settle();
        settlement.add(&call, outcome, request.since.elapsed(), Some(said));
        settlement.commit();
    }

    /// The rules of this moment. What changed is on record, and told to the client, before they are applied.
    pub(crate) fn rules(&self) -> Rules {
        let (rules, changes) = self.rule_source.poll();
        for change in changes {
            self.note(&change);
        }
        rules
    }

    /// Takes in what a request says about who makes it.
    pub(crate) fn meet(&self, method: &str, params: Option<Raw<'_>>) {
        self.questions.learn(method, params);
        if let Some(name) = self.client.learn(method, params) {
            info!(client = %name, "client said its name");
            // The lease only informs; enforcement does not hang on it.
            drop(self.journal.update_lease(|lease| lease.client = Some(name.to_string())));
        }
    }

    /// To a client that has seen a list of tools.
    pub(crate) fn tell_list_changed(&self) {
        if self.listed.load(Ordering::Relaxed) {
            self.to_client.post(answer::notification(List::Tools.changed()));
        }
    }

    fn tell_prompts_changed(&self) {
        if self.pins.has_prompts() {
            self.to_client.post(answer::notification(List::Prompts.changed()));
        }
    }

    pub(crate) fn note(&self, change: &Change) {
        let event = |kind, text: &str| self.journal.event(Event { kind, text });
        match change {
            Change::Policy { before, after, text } => {
                info!(version = after.version(), "policy read");
                self.journal.policy_seen(after.version(), text, Origin::File);
                if before.broken().is_none() {
                    event(EventKind::PolicyChanged, after.version());
                    for loosened in compare::loosened(before, after) {
                        self.journal.event_from(
                            Event { kind: EventKind::Loosened, text: &loosened },
                            Some(Origin::File),
                        );
                    }
                }
                let lease = self.journal.update_lease(|lease| {
                    lease.policy_version = Some(after.version().to_owned());
                    lease.watch_only = after.watch_only();
                });
                // The lease only informs; enforcement does not hang on it.
                drop(lease);
                if after.asks_for_classes() && !before.asks_for_classes() && before.broken().is_none() {
                    // What lists said was not classified until now.
                    self.tools.relearn();
                }
                self.tell(News::Rules);
                let client = self.client.name();
                if before.visibility(&client) != after.visibility(&client) {
                    self.tell_list_changed();
                } else if before.speaks_of_asking() || after.speaks_of_asking() {
                    self.tell_marks_changed();
                }
            }
            Change::Broken { path, reason, kept } => {
                let then =
                    if *kept { "the last good policy stays in force" } else { "every call is refused" };
                let text = format!("{} cannot be used ({reason}): {then}", path.display());
                warn!("{text}");
                event(EventKind::PolicyBroken, &text);
                stdio::complain(&text);
            }
            // What was allowed for a while may have been hidden.
            Change::Allowances | Change::Classes => self.tell_list_changed(),
            Change::Pins(tools) => {
                self.pins.release();
                if !tools.is_empty() {
                    let text = format!("another definition counts as accepted: {}", pins::names(tools));
                    event(EventKind::DefinitionAccepted, &text);
                }
                self.tell_list_changed();
                self.tell_prompts_changed();
            }
            Change::PinsForgotten => {
                event(EventKind::DefinitionAccepted, "whatever the server lists next counts as accepted");
                self.pins.release();
                self.tools.relearn();
                self.tell_list_changed();
                self.tell_prompts_changed();
            }
            Change::LetThrough { now, no_more } => {
                self.vendor_members.forget_told();
                if !now.is_empty() {
                    let text =
                        format!("let through to clients of this server from now on: {}", pins::names(now));
                    event(EventKind::DefinitionAccepted, &text);
                }
                if !no_more.is_empty() {
                    let text =
                        format!("let through to clients of this server no more: {}", pins::names(no_more));
                    event(EventKind::DefinitionAccepted, &text);
                }
                self.tell_list_changed();
            }
            Change::PinsLost(reason) => {
                let text = format!(
                    "{reason}: what this session knew to be accepted stays so, and nothing else does"
                );
                warn!("{text}");
                event(EventKind::PinsBroken, &text);
            }
            Change::PinsUnreadable(reason) => {
                let text = format!("{reason}: no definition of a tool counts as accepted");
                warn!("{text}");
                event(EventKind::PinsBroken, &text);
                stdio::complain(&text);
            }
            Change::Forged(allowance) => {
                let text = forged(allowance);
                warn!("{text}");
                self.journal.event_from(Event { kind: EventKind::Loosened, text: &text }, Some(Origin::File));
            }
            Change::Paused(reason) => {
                info!(reason = %reason, "calls are paused");
                event(EventKind::Paused, reason);
            }
            Change::Resumed => {
                info!("calls are no longer paused");
                event(EventKind::Resumed, "calls are judged by the policy again");
            }
        }
    }
}

/// As the record tells it. Its names come from the file: whoever shows them makes them harmless.
fn forged(allowance: &Allowance) -> String {
    let what = match &allowance.what {
        Allowed::Tool(tool) => format!("calls of {tool:?} are allowed for a while"),
        Allowed::Call { tool, .. } => format!("a call of {tool:?} is allowed once"),
        Allowed::Observe => "no rule refuses anything for a while".to_owned(),
    };
    format!(
        "control/allowances.json was edited: {what} (allowance {}), and nobody granted that here",
        allowance.id
    )
}

/// The way to one server. Calls get in as [`Admitted`] only: judged, and on record.
#[derive(Debug)]
pub(crate) struct ServerPipe {
    pub(crate) generation: Generation,
    outlet: Outlet,
}

impl ServerPipe {
    pub(crate) fn new(generation: Generation, writer: impl Write + Send + 'static) -> Self {
        ServerPipe { generation, outlet: Outlet::new("to-server", writer) }
    }

    /// For the thread that reads the client. What others posted before goes before it.
    pub(crate) fn send(&self, admitted: &Admitted) -> Result<(), Undelivered> {
        if admitted.is_empty() {
            return Ok(());
        }
        self.outlet.follow();
        self.outlet.send(admitted.lines())
    }

    /// The same for every other thread, without waiting: `lost` is told if the pipe breaks first. Back it comes if it is
    /// broken already.
    pub(crate) fn post_admitted(&self, admitted: Admitted, lost: Lost) -> Result<(), Post> {
        if admitted.is_empty() { Ok(()) } else { self.outlet.post_lines(admitted.into_lines(), lost) }
    }

    /// Waits while very much was posted that is not written yet.
    pub(crate) fn await_room(&self) {
        self.outlet.await_room();
    }

    /// A line of our own: a harmless request, an answer to the server, a notification.
    pub(crate) fn post(&self, line: Vec<u8>) {
        self.outlet.post(line);
    }

    /// The same without ever waiting, for the thread that ends the server.
    pub(crate) fn post_last(&self, line: Vec<u8>) {
        self.outlet.post_last(line);
    }

    pub(crate) fn flush(&self, limit: Duration) {
        self.outlet.flush(limit);
    }

    pub(crate) fn close(&self) {
        self.outlet.close();
    }
}

/// The server of this moment. A new one takes the place of the old.
#[derive(Debug)]
pub(crate) struct CurrentServer {
    /// Of `pipe`, for whoever has one already: one look, and no lock.
    generation: AtomicU32,
    pipe: Mutex<Arc<ServerPipe>>,
}

impl CurrentServer {
    pub(crate) fn new(pipe: ServerPipe) -> CurrentServer {
        CurrentServer { generation: AtomicU32::new(pipe.generation), pipe: Mutex::new(Arc::new(pipe)) }
    }

    pub(crate) fn pipe(&self) -> Arc<ServerPipe> {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Is this the way to the server of this moment still?
    pub(crate) fn is_current(&self, pipe: &ServerPipe) -> bool {
        self.generation.load(Ordering::Acquire) == pipe.generation
    }

    pub(crate) fn replace(&self, pipe: Arc<ServerPipe>) {
        let generation = pipe.generation;
        *self.pipe.lock().unwrap_or_else(PoisonError::into_inner) = pipe;
        self.generation.store(generation, Ordering::Release);
    }
}

/// Who the client is: told on the command line, else by its own first words.
#[derive(Debug)]
pub(crate) struct ClientName {
    name: Mutex<Arc<str>>,
    known: AtomicBool,
}

/// What a client that never said its name is called.
pub(crate) const UNNAMED: &str = "unknown";

impl ClientName {
    pub(crate) fn new(given: Option<&str>) -> Self {
        let known = AtomicBool::new(given.is_some());
        ClientName { name: Mutex::new(given.unwrap_or(UNNAMED).into()), known }
    }

    pub(crate) fn name(&self) -> Arc<str> {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    /// Takes the name from `initialize` (until 2025-11-25) or from a request's `_meta` (since 2026-07-28).
    /// Returns it the one time that it was news.
    pub(crate) fn learn(&self, method: &str, params: Option<Raw<'_>>) -> Option<Arc<str>> {
        if self.is_known() {
            return None;
        }
        let info = match method {
            "initialize" => params?.get("clientInfo"),
            _ => params?.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/clientInfo")),
        };
        let said = info?.get("name").and_then(Raw::as_str)?;
        let name: String = said.chars().filter(|c| !c.is_control()).take(64).collect();
        if name.is_empty() {
            return None;
        }
        let name: Arc<str> = name.into();
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name.clone();
        self.known.store(true, Ordering::Relaxed);
        Some(name)
    }
}

/// What the person reads of one such line; without its words where they may be what was not to be kept.
fn noise_text(line: &str, why: &str) -> String {
    let why = why.trim_end_matches('.');
    if line.is_empty() {
        return format!("The server sent what is of no use, and the client was spared it: {why}");
    }
    let line = line.trim_end();
    format!("The server wrote to stdout what is no message, and the client was spared it: {line} ({why})")
}

/// Lines of the server that are no messages: kept from the client, remembered for the person.
#[derive(Debug, Default)]
pub(crate) struct Noise(AtomicU32);

impl Noise {
    pub(crate) fn heard(&self, journal: &Journal, line: &[u8], why: &str) {
        if self.0.fetch_add(1, Ordering::Relaxed) < NOISE_ROWS {
            // Cut generously: the journal masks, and cuts after it; a secret must not lose its end here.
            let text: String = String::from_utf8_lossy(line).chars().take(4000).collect();
            let text = noise_text(&text, why);
            journal.event(Event { kind: EventKind::Noise, text: &text });
        }
    }

    /// At the end: how much there was beyond the rows.
    pub(crate) fn sum_up(&self, journal: &Journal) {
        let heard = self.0.load(Ordering::Relaxed);
        if heard > NOISE_ROWS {
            let text = format!(
                "The server wrote {heard} lines to stdout that are no messages, and the client was spared all of them; the first {NOISE_ROWS} are listed"
            );
            journal.event(Event { kind: EventKind::Noise, text: &text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_reads_as_what_the_server_did_and_that_the_client_was_spared_it() {
        let why = "The line is not one JSON value: a value was expected here (byte 0).";
        let text = noise_text("Global page has been updated.\n", why);
        assert!(text.starts_with(
            "The server wrote to stdout what is no message, and the client was spared it: Global"
        ));
        assert!(!text.contains(".:") && text.ends_with("(byte 0))"), "{text}");
    }
}
