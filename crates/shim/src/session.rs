//! One session from start to end: wires the threads, then waits for the reason to stop.
//!
//! Every way to end is here: the client leaves, the server leaves, the server never started, the keeper was
//! killed, somebody sent a signal. In each, whoever waits for an answer gets one and the process tree ends. How a session
//! goes on without its server, or with another, is in `revival`.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use callgate_controls::{Disk, catalogue};
use callgate_home::clock::{SystemClock, wall_ms};
use callgate_home::{CallId, Home, HomeError, Seal, SessionId};
use callgate_journal::{EndReason, Journal, Outcome, SessionInfo};
use callgate_protocol::NextStep;
use callgate_protocol::id::IdKey;
use callgate_protocol::json::Raw;
use callgate_redaction::{Masker, secret_values};
use callgate_secrets::Secret;
use callgate_supervise::{Ending, Grace, Keeper, Launch, Pipes, Server};

use crate::client::FromClient;
use crate::codegen::Codegen;
use crate::farewell::{Farewell, exit_byte};
use crate::gate::Gate;
use crate::handshake::Handshake;
use crate::held::HeldRequests;
use crate::lists::LastLists;
use crate::outlet::Outlet;
use crate::pending::{Intake, Pending, PendingRequest, RequestKind};
use crate::refusing::refuse_all;
use crate::relay::{ClientName, Current, News, Noise, Relay, ServerPipe};
use crate::restarts::Restarts;
use crate::revival::{self, Standing};
use crate::secrets::OpenKeychain;
use crate::server_requests::ServerRequests;
use crate::stderr::StderrTee;
use crate::toolbook::{Listed, Shelf, ToolBook};
use crate::tree::{self, TreeRecord};
use crate::unknown_answers::UnknownAnswers;
use crate::watching::Watched;
use crate::wording::Expects;
use crate::{checker, program, secrets, stdio, watch, wording};

/// How long a client that closed its end may still wait for answers while it reads.
const LAST_ANSWERS: Duration = Duration::from_secs(30);
/// How long a server that never got a request waits for one, so that the client hears why it ended.
const FIRST_REQUEST: Duration = Duration::from_secs(1);
/// How long a client that reads slowly has for the last words of a server that ended.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// How often an ending looks for a signal while it waits for something else.
const LOOK: Duration = Duration::from_millis(50);
/// What the keeper needs at most to end a tree, with some air.
const TREE_END: Duration = Duration::from_secs(6);
/// How long the two signs of a server's end (its output closes, the keeper reports) may lie apart.
const BOTH_SIGNS: Duration = Duration::from_millis(700);

/// What `callgate run` was asked to do.
#[derive(Debug)]
pub struct Options {
    pub home: Home,
    pub server: String,
    pub client: Option<String>,
    /// Who really started it, where that is not the client whose rules count.
    pub started_by: Option<String>,
    pub program: OsString,
    pub args: Vec<OsString>,
    /// The rows of this session are marked as a demonstration.
    pub demo: bool,
    /// Called only if the server's command line or our environment names something in the keychain.
    pub keychain: OpenKeychain,
}

/// Runs one session and returns the exit code. To be called before any thread exists.
pub fn run(options: Options) -> u8 {
    if let Err(error) = stdio::has_descriptors() {
        let reason = format!(
            "the server was not started, because Callgate has too few file descriptors ({error}); raise the limit (ulimit -n) of whoever \
             starts it to 64 or more, and connect again"
        );
        return not_begun(&options.server, &reason);
    }
    let session = SessionId::random();
    let began_ms = wall_ms();
    let launch = Launch {
        program: options.program.clone(),
        args: options.args.clone(),
        env: program::path_for(&options).map(|path| ("PATH".into(), path)).into_iter().collect(),
        session: session.to_string(),
        grace: Grace::default(),
        afterwards: tree::afterwards(&options.home, session),
    };
    // First of all, before any thread: the keeper is forked from here.
    let (server, secrets) = match secrets::start(&options, launch) {
        Ok(started) => started,
        Err(error) => return not_begun(&options.server, &error.to_string()),
    };
    match Session::open(options, (session, began_ms), server, &secrets) {
        Ok(session) => {
            let tree = session.tree.clone();
            let code = session.conduct();
            tree.settle();
            code
        }
        Err(error) => {
            stdio::complain(&format!("the session cannot be set up: {error}"));
            1
        }
    }
}

/// Says so where people look, and to the client.
fn not_begun(server: &str, reason: &str) -> u8 {
    stdio::complain(&format!("{server}: {reason}"));
    refuse_all(stdio::stdin(), stdio::stdout(), reason);
    1
}

pub(crate) struct Session {
    pub(crate) relay: Arc<Relay>,
    pub(crate) keeper: Arc<Keeper>,
    /// Never closes by itself: the relay holds the other end.
    news: Receiver<News>,
    /// Came while something else was waited for.
    backlog: VecDeque<News>,
    pub(crate) server: String,
    pub(crate) stderr: StderrTee,
    reader: stdio::ReaderWatch,
    pub(crate) tree: TreeRecord,
    _watch: Option<watch::Watch>,
    pub(crate) standing: Standing,
    /// Nothing is left of the server that was started last.
    pub(crate) gone: bool,
    pub(crate) restarts: Restarts,
    /// The request that is being dealt with.
    pub(crate) turn: Option<u64>,
    pub(crate) watched: Watched,
    /// Calls that a person cancelled, and when the client is answered if the server does not.
    pub(crate) cancelling: Vec<(Instant, CallId)>,
}

impl Session {
    /// `moved`: values that the server got from the keychain.
    fn open(
        options: Options,
        (session, began_ms): (SessionId, i64),
        server: Server,
        moved: &[Secret],
    ) -> io::Result<Session> {
        let Options { home, server: name, client, started_by, program, args, demo, .. } = options;
        let Server { pipes: Pipes { stdin, stdout, stderr }, keeper, held } = server;
        stdio::widen(&stdin);
        stdio::widen(&stdout);
        let prepared = callgate_controls::prepare_home(&home);
        let gate = Gate::new(home.clone(), &name);
        let (rules, changes) = gate.look();
        // What the server inherits as a secret must not be written down when the server repeats it.
        let mut secrets = secret_values(std::env::vars_os());
        secrets.extend(moved.iter().cloned());
        let info = SessionInfo {
            id: session,
            server: name.clone(),
            client: started_by.or_else(|| client.clone()),
            command: std::iter::once(&program)
                .chain(&args)
                .map(|arg| arg.to_string_lossy().into_owned())
                .collect(),
            policy_version: rules.policy.broken().is_none().then(|| rules.policy.version().to_owned()),
            watch_only: rules.policy.watch_only(),
            demo,
            secrets,
        };
        let journal = open_journal(&home, prepared, &info);
        // One for all that is written of the session: what it masks once stays masked in the log, too.
        let masker = journal.masker();
        let (tell, news) = mpsc::channel();
        let to_client = stdio::take_stdout()?;
        let reader = stdio::watch_reader(&to_client, {
            let tell = tell.clone();
            move || drop(tell.send(News::ClientGone))
        })?;
        let differs = {
            let tell = tell.clone();
            move || drop(tell.send(News::ToolsDiffer))
        };
        let shelf = Shelf { keep: keep_catalogue(&home, &name, masker.clone()), differs: Arc::new(differs) };
        let relay = Arc::new(Relay {
            gate,
            journal,
            pending: Pending::default(),
            held: HeldRequests::default(),
            server_requests: ServerRequests::default(),
            to_client: Outlet::new("to-client", to_client),
            server: Current::new(ServerPipe::new(0, stdin)),
            handshake: Handshake::default(),
            news: tell.clone(),
            client: ClientName::new(client.as_deref()),
            parent: OnceLock::new(),
            listed: AtomicBool::new(false),
            noise: Noise::default(),
            lists: LastLists::default(),
            tools: ToolBook::new(shelf, checker::start),
            unknown_answers: UnknownAnswers::new(home.clone(), &name, masker.clone()),
            seal: Seal::of(&home).ok(),
            files: Disk::new(),
            codegen: Codegen::new(home.clone(), &name),
            own_requests: AtomicU32::new(1),
        });
        changes.iter().for_each(|change| relay.note(change));
        let keeper = Arc::new(keeper);
        let tree = TreeRecord::new(&home, &info, began_ms, keeper.id(), masker.clone());
        let tee = StderrTee::new(&home, &name, session, masker)?;
        tee.follow(stderr)?;
        revival::attend(&relay, &keeper, &tree, relay.server.pipe(), stdout)?;
        spawn("from-client", &relay, |relay| FromClient::new(relay.clone()).run(stdio::stdin()))?;
        stdio::on_signal(move |signal| drop(tell.send(News::Signal(signal))))?;
        drop(held);
        let watch = watch::Watch::start(&home, relay.clone());
        tree.keep(relay.clone())?;
        Ok(Session {
            relay,
            keeper,
            news,
            backlog: VecDeque::new(),
            server: name,
            stderr: tee,
            reader,
            tree,
            _watch: watch,
            standing: Standing::Serving,
            gone: false,
            restarts: Restarts::default(),
            turn: None,
            watched: Watched::new(),
            cancelling: Vec::new(),
        })
    }

    /// Deals with what comes until there is a reason to stop, and sees that through.
    fn conduct(mut self) -> u8 {
        loop {
            let said = match self.next() {
                Some(News::Signal(signal)) => return self.signalled(signal),
                Some(News::ClientClosed) => return self.client_closed(),
                Some(News::ClientGone) => return self.part(),
                Some(News::ServerClosed(generation)) if self.is_current(generation) => {
                    // How the server did is known in a moment.
                    let ending = self.other_sign(|news| match news {
                        News::Ended(_, ending) => Ok(ending),
                        other => Err(other),
                    });
                    self.server_down(ending.as_ref())
                }
                Some(News::Ended(generation, ending)) if self.is_current(generation) => {
                    self.await_output_end();
                    self.server_down(Some(&ending))
                }
                Some(News::TreeGone(generation)) => self.tree_gone(generation),
                Some(News::Greeted(generation, reply)) if self.is_current(generation) => self.greeted(reply),
                Some(News::Control(request)) => self.asked(&request),
                Some(News::Cancel(call)) => {
                    self.cancel(call);
                    None
                }
                Some(News::ToolsDiffer) => {
                    self.relay.tell_list_changed();
                    None
                }
                Some(News::Wanted) => {
                    self.wanted();
                    None
                }
                // What is due may be another.
                Some(News::Rules) => None,
                // Of a server that is no more.
                Some(News::ServerClosed(_) | News::Ended(..) | News::Greeted(..)) => None,
                None => self.due(),
            };
            if let Some(said) = said {
                return self.server_ended(&said);
            }
        }
    }

    /// What came first; none when the time has come for what is due.
    fn next(&mut self) -> Option<News> {
        if let Some(news) = self.backlog.pop_front() {
            return Some(news);
        }
        match self.deadline() {
            None => self.news.recv().ok(),
            Some(at) => self.news.recv_timeout(at.saturating_duration_since(Instant::now())).ok(),
        }
    }

    /// What came, without waiting for it.
    fn try_next(&mut self) -> Option<News> {
        self.backlog.pop_front().or_else(|| self.news.try_recv().ok())
    }

    /// Is the client leaving, or are we told to, as far as the news has come?
    pub(crate) fn is_parting(&mut self) -> bool {
        self.backlog.extend(self.news.try_iter());
        let parting = |news: &News| matches!(news, News::ClientClosed | News::ClientGone | News::Signal(_));
        self.backlog.iter().any(parting)
    }

    /// What a server wrote before its process ended may still be in the pipe.
    fn await_output_end(&mut self) {
        self.other_sign(|news| match news {
            News::ServerClosed(_) => Ok(()),
            other => Err(other),
        });
    }

    /// Waits a moment for the news that `wanted` picks out. The rest is kept for later.
    fn other_sign<T>(&mut self, wanted: impl Fn(News) -> Result<T, News>) -> Option<T> {
        let deadline = Instant::now() + BOTH_SIGNS;
        loop {
            let news = self.news.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()?;
            match wanted(news) {
                Ok(found) => return Some(found),
                Err(other) => self.backlog.push_back(other),
            }
        }
    }

    /// Has whoever started us gone since the client first spoke? Its pipes may live on in another process.
    fn is_orphaned(&self) -> bool {
        self.relay.parent.get().is_some_and(|then| stdio::parent() != *then)
    }

    /// The client closed its end. It may still be reading: calls under way are answered first. Nobody is waited for when nobody
    /// can read the answer.
    fn client_closed(mut self) -> u8 {
        let deadline = Instant::now() + LAST_ANSWERS;
        while !self.relay.pending.wait_empty(LOOK) && Instant::now() < deadline && !self.is_orphaned() {
            match self.try_next() {
                Some(News::Signal(signal)) => return self.signalled(signal),
                Some(News::ClientGone) => break,
                Some(News::ServerClosed(generation)) if self.is_current(generation) => {
                    let ending = self.other_sign(|news| match news {
                        News::Ended(_, ending) => Ok(ending),
                        other => Err(other),
                    });
                    return self.server_ended(&Farewell::of(ending.as_ref()));
                }
                Some(News::Ended(generation, ending)) if self.is_current(generation) => {
                    self.await_output_end();
                    return self.server_ended(&Farewell::of(Some(&ending)));
                }
                _ => {}
            }
        }
        let mut until = deadline;
        if Instant::now() >= deadline && !self.is_orphaned() {
            // It reads, and waits for an answer that does not come.
            let seconds = LAST_ANSWERS.as_secs();
            let reason =
                format!("the client closed its end, and the server did not answer within {seconds} s");
            self.leave_waiting(&reason, Outcome::ServerEnded);
            until = Instant::now() + LAST_WORDS;
        }
        match self.hand_over(until) {
            Some(signal) => self.signalled(signal),
            None => self.part(),
        }
    }

    /// Waits until the client has what was left for it. Cut short when nobody reads, or by a signal, which it returns.
    fn hand_over(&mut self, deadline: Instant) -> Option<i32> {
        while !self.relay.to_client.flush(LOOK) && Instant::now() < deadline && !self.is_orphaned() {
            match self.try_next() {
                Some(News::Signal(signal)) => return Some(signal),
                Some(News::ClientGone) => return None,
                _ => {}
            }
        }
        None
    }

    /// Ends the server because the client is done, and waits for its tree to be gone.
    fn part(mut self) -> u8 {
        self.relay.server.pipe().close();
        self.keeper.finish();
        self.tree.look();
        let deadline = Instant::now() + TREE_END;
        let mut code = 0;
        while !self.gone {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.backlog.pop_front().map_or_else(|| self.news.recv_timeout(left), Ok) {
                Ok(News::Ended(generation, ending)) if self.is_current(generation) => {
                    if let Ending::Exited { code: own } = ending {
                        code = own;
                    }
                    break;
                }
                Ok(News::TreeGone(generation)) => {
                    self.gone |= generation == self.relay.server.pipe().generation;
                }
                Ok(News::Signal(_)) | Err(_) => break,
                Ok(_) => {}
            }
        }
        self.leave_waiting("the client left", Outcome::ServerEnded);
        self.close_journal(EndReason::ClientClosed);
        self.relay.tools.finish();
        exit_byte(code)
    }

    /// The server is gone: everybody who waits hears it, then our output closes.
    fn server_ended(mut self, said: &Farewell) -> u8 {
        // First of all, whatever the client does or does not read: nothing of the tree stays.
        self.keeper.finish();
        self.tree.look();
        stdio::complain(&format!("{}: {}", self.server, said.to_nobody(self.relay.pending.use_of().0)));
        self.relay.pending.wait_used(FIRST_REQUEST);
        self.leave_waiting(&said.reason, said.outcome);
        self.hand_over(Instant::now() + LAST_WORDS);
        self.stderr.flush(LAST_WORDS);
        self.close_journal(said.end);
        self.relay.tools.finish();
        self.relay.to_client.close();
        drop(self.reader);
        // The client has its end; we stay until nothing of the tree is left, in case the keeper cannot.
        self.keeper.join();
        said.code
    }

    /// Somebody wants us gone, perhaps with a kill half a second behind: the keeper ends the tree without us.
    fn signalled(self, signal: i32) -> u8 {
        self.relay.server.pipe().close();
        self.keeper.finish();
        self.tree.look();
        self.close_journal(EndReason::Signal);
        exit_byte(128 + signal)
    }

    fn close_journal(&self, reason: EndReason) {
        if let Some(change) = self.relay.gate.take_untold() {
            self.relay.note(&change);
        }
        self.relay.noise.sum_up(&self.relay.journal);
        self.relay.journal.end(reason);
    }

    fn leave_waiting(&self, reason: &str, outcome: Outcome) {
        let left = self.relay.pending.sever(Intake::Closed(reason.into()));
        let next = match outcome {
            Outcome::NotDelivered => NextStep::TellUser,
            _ => NextStep::CheckEffect,
        };
        self.answer_all(left, (reason, &next), outcome);
    }

    /// Gives each of these its one answer: that there is none.
    pub(crate) fn answer_all(
        &self,
        left: Vec<(IdKey, PendingRequest)>,
        (reason, next): (&str, &NextStep),
        outcome: Outcome,
    ) {
        for (id, asked) in left {
            let line = match &asked.what {
                RequestKind::Call(call, expects) => {
                    self.relay.journal.settle_one(call, outcome);
                    wording::unanswered(*expects, &id, reason, next, Some(&call.id().to_string()))
                }
                // Of our own requests nobody but us waits for an answer.
                what if !what.is_clients() => continue,
                RequestKind::Held(expects) => wording::unanswered(*expects, &id, reason, next, None),
                RequestKind::List { list, .. } => {
                    self.relay.lists.owe(*list);
                    wording::unanswered(Expects::Anything, &id, reason, next, None)
                }
                _ => wording::unanswered(Expects::Anything, &id, reason, next, None),
            };
            self.relay.to_client.post_last(line);
        }
    }
}

/// The session's record; without a usable home, one that admits nothing and says why.
fn open_journal(home: &Home, prepared: Result<(), HomeError>, info: &SessionInfo) -> Journal {
    let clock = Arc::new(SystemClock::default());
    let opened = prepared
        .map_err(|error| error.to_string())
        .and_then(|()| Journal::open(home, info, clock.clone()).map_err(|error| error.to_string()));
    opened.unwrap_or_else(|cause| {
        stdio::complain(&format!(
            "{}: calls are refused, because they cannot be recorded: {cause}",
            info.server
        ));
        Journal::without_home(home, info, clock, cause)
    })
}

/// Writes down what the server lists, for people who write rules for it.
fn keep_catalogue(
    home: &Home,
    server: &str,
    masker: Masker,
) -> Arc<dyn Fn(Vec<Listed>) -> bool + Send + Sync> {
    let (home, server) = (home.clone(), server.to_owned());
    Arc::new(move |tools| {
        // Nothing is decided by it.
        let listed = tools.iter().filter_map(|(name, text)| Some((name.as_str(), Raw::parse(text).ok()?)));
        catalogue::write(&home, &masker, &server, wall_ms(), listed).is_ok()
    })
}

/// A thread whose last word is news.
pub(crate) fn spawn(
    name: &str,
    relay: &Arc<Relay>,
    work: impl FnOnce(&Arc<Relay>) -> News + Send + 'static,
) -> io::Result<()> {
    let relay = relay.clone();
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            let last = work(&relay);
            relay.tell(last);
        })
        .map(drop)
}
