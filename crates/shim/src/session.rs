//! One session from start to end: wires the threads, then waits for the reason to stop.
//!
//! Every way to end is in `endings`; how a session goes on without its server, or with another, is in `lifecycle`.

mod endings;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use callgate_controls::catalogue::{self, Lister};
use callgate_controls::pin::PinKind;
use callgate_controls::{Disk, KnownClasses};
use callgate_home::clock::{SystemClock, wall_ms};
use callgate_home::{CallId, Home, HomeError, Seal, SessionId};
use callgate_journal::{Journal, SessionInfo};
use callgate_logging::{Log, Program};
use callgate_protocol::json::Raw;
use callgate_redaction::secret_values;
use callgate_secrets::Secret;
use callgate_supervise::{Grace, Keeper, Launch, Pipes, Server};
use tracing::{error, info};

use crate::approvals::Approvals;
use crate::backoff::Backoff;
use crate::client::FromClient;
use crate::client_questions::ClientQuestions;
use crate::codegen_tracker::CodegenTracker;
use crate::definitions::DefinitionStore;
use crate::failed_start::refuse_all;
use crate::handshake::Handshake;
use crate::health::Health;
use crate::held::HeldRequests;
use crate::lifecycle::{self, ServerPhase};
use crate::lists::LastLists;
use crate::loop_tracker::LoopTracker;
use crate::outlet::Outlet;
use crate::pending::Pending;
use crate::pins::SessionPins;
use crate::relay::{ClientName, CurrentServer, News, Noise, Relay, ServerPipe};
use crate::rule_source::RuleSource;
use crate::secrets::OpenKeychain;
use crate::server_identity::ServerIdentity;
use crate::server_requests::ServerRequests;
use crate::stderr::StderrTee;
use crate::tool_cache::{LIST_WAIT, Learn, ListSink, ListedTool, ToolCache};
use crate::tree_record::{self, TreeRecord};
use crate::unknown_answers::UnknownAnswers;
use crate::vendor_members::VendorMembers;
use crate::{checker, file_watch, program, secrets, stdio};

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
    callgate_supervise::share_heaps();
    let log = Log::start(&options.home, Program::Gate);
    if let Err(error) = stdio::has_descriptors() {
        let reason = format!(
            "the server was not started, because Callgate has too few file descriptors ({error}); raise the limit (ulimit -n) of whoever \
             starts it to 64 or more, and connect again"
        );
        return not_begun(&options.server, &reason);
    }
    let session = SessionId::random();
    let began_ms = wall_ms();
    let path = program::path_for(&options);
    let launch = Launch {
        program: options.program.clone(),
        args: options.args.clone(),
        env: path.clone().map(|path| ("PATH".into(), path)).into_iter().collect(),
        session: session.to_string(),
        grace: Grace::default(),
        afterwards: tree_record::afterwards(&options.home, session),
    };
    // First of all, before any thread: the keeper is forked from here.
    let (server, secrets) = match secrets::start(&options, launch) {
        Ok(started) => started,
        Err(error) => return not_begun(&options.server, &error.to_string()),
    };
    match Session::open(options, path, (session, began_ms), server, &secrets, &log) {
        Ok(session) => {
            let tree = session.tree.clone();
            let code = session.conduct();
            tree.settle();
            code
        }
        Err(error) => {
            error!(%error, "the session cannot be set up");
            stdio::complain(&format!("the session cannot be set up: {error}"));
            1
        }
    }
}

/// Says so where people look, and to the client.
fn not_begun(server: &str, reason: &str) -> u8 {
    error!(server, reason, "session not begun");
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
    _watch: Option<file_watch::FileWatch>,
    pub(crate) phase: ServerPhase,
    /// Nothing is left of the server that was started last.
    pub(crate) gone: bool,
    pub(crate) backoff: Backoff,
    /// The request that is being dealt with.
    pub(crate) turn: Option<u64>,
    pub(crate) health: Health,
    /// Calls that a person cancelled, and when the client is answered if the server does not.
    pub(crate) cancelling: Vec<(Instant, CallId)>,
    /// When the gate asks for the server's tools, if nobody has by then.
    pub(crate) list_at: Option<Instant>,
}

impl Session {
    /// `path`: where the server's program was looked for, if not in our own `PATH`; `moved`: values that the server got from the
    /// keychain.
    fn open(
        options: Options,
        path: Option<OsString>,
        (session, began_ms): (SessionId, i64),
        server: Server,
        moved: &[Secret],
        log: &Log,
    ) -> io::Result<Session> {
        let Options { home, server: name, client, started_by, program, args, demo, .. } = options;
        let Server { pipes: Pipes { stdin, stdout, stderr }, keeper, held } = server;
        stdio::widen(&stdin);
        stdio::widen(&stdout);
        let prepared = callgate_controls::prepare_home(&home);
        let command: Vec<String> =
            std::iter::once(&program).chain(&args).map(|arg| arg.to_string_lossy().into_owned()).collect();
        let classes = Arc::new(KnownClasses::new(&home, &name, &command));
        let rule_source = RuleSource::new(home.clone(), &name).with_classes(classes.clone());
        let (rules, changes) = rule_source.poll();
        // What the server inherits as a secret must not be written down when the server repeats it.
        let mut secrets = secret_values(std::env::vars_os());
        secrets.extend(moved.iter().cloned());
        let info = SessionInfo {
            id: session,
            server: name.clone(),
            client: started_by.or_else(|| client.clone()),
            command,
            policy_version: rules.policy.broken().is_none().then(|| rules.policy.version().to_owned()),
            watch_only: rules.policy.watch_only(),
            demo,
            secrets,
        };
        let identity = ServerIdentity::new(program, args, path);
        let journal = open_journal(&home, prepared, &info);
        // One for all that is written of the session: what it masks once stays masked in the log, too.
        let masker = journal.masker();
        log.of_session(session, masker.clone());
        classes.keep_with(masker.clone());
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
        let definitions = DefinitionStore {
            home: home.clone(),
            server: name.clone(),
            masker: masker.clone(),
            tell: tell.clone(),
        };
        let sink = ListSink {
            keep: keep_lists(definitions.clone(), classes.installed()),
            learn: learn_classes(&classes),
            differs: Arc::new(differs),
        };
        let relay = Arc::new(Relay {
            rule_source,
            journal,
            pending: Pending::default(),
            held: HeldRequests::default(),
            approvals: Approvals::new(&home, &name, session, identity),
            questions: ClientQuestions::default(),
            server_requests: ServerRequests::default(),
            to_client: Outlet::new("to-client", to_client),
            server: CurrentServer::new(ServerPipe::new(0, stdin)),
            handshake: Handshake::default(),
            news: tell.clone(),
            client: ClientName::new(client.as_deref()),
            parent: OnceLock::new(),
            listed: AtomicBool::new(false),
            list_due: AtomicBool::new(false),
            noise: Noise::default(),
            lists: LastLists::default(),
            tools: ToolCache::new(sink, checker::start),
            classes,
            pins: SessionPins::default(),
            definitions,
            vendor_members: VendorMembers::default(),
            unknown_answers: UnknownAnswers::new(home.clone(), &name, masker.clone()),
            seal: Seal::of(&home).ok(),
            files: Disk::new(),
            codegen: CodegenTracker::new(home.clone(), &name),
            loops: LoopTracker::default(),
            own_requests: AtomicU32::new(1),
        });
        changes.iter().for_each(|change| relay.note(change));
        // Before it could be exchanged, as far as that can be.
        relay.learn_program();
        let keeper = Arc::new(keeper);
        let tree = TreeRecord::new(&home, &info, began_ms, keeper.id(), masker.clone());
        let tee = StderrTee::new(&home, &name, session, masker)?;
        tee.follow(stderr)?;
        lifecycle::attend(&relay, &keeper, &tree, relay.server.pipe(), stdout)?;
        spawn("from-client", &relay, |relay| FromClient::new(relay.clone()).run(stdio::stdin()))?;
        stdio::on_signal(move |signal| drop(tell.send(News::Signal(signal))))?;
        drop(held);
        let watch = file_watch::FileWatch::start(&home, relay.clone());
        tree.keep(relay.clone())?;
        let (client, version) = (relay.client.name(), env!("CARGO_PKG_VERSION"));
        info!(server = name, %client, version, "session started");
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
            phase: ServerPhase::Serving,
            gone: false,
            backoff: Backoff::default(),
            turn: None,
            health: Health::new(),
            cancelling: Vec::new(),
            list_at: None,
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
                Some(News::Control(request)) => self.control(&request),
                Some(News::Cancel(call)) => {
                    self.cancel(call);
                    None
                }
                Some(News::ToolsDiffer) => {
                    self.relay.tell_list_changed();
                    None
                }
                Some(News::Definitions(news)) => {
                    self.relay.definitions_differ(news);
                    None
                }
                Some(News::ListDue) => {
                    self.list_at.get_or_insert_with(|| Instant::now() + LIST_WAIT);
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
}

/// The session's record; without a usable home, one that admits nothing and says why.
fn open_journal(home: &Home, prepared: Result<(), HomeError>, info: &SessionInfo) -> Journal {
    let clock = Arc::new(SystemClock::default());
    let opened = prepared
        .map_err(|error| error.to_string())
        .and_then(|()| Journal::open(home, info, clock.clone()).map_err(|error| error.to_string()));
    opened.unwrap_or_else(|cause| {
        error!(cause, "calls are refused, because they cannot be recorded");
        stdio::complain(&format!(
            "{}: calls are refused, because they cannot be recorded: {cause}",
            info.server
        ));
        Journal::without_home(home, info, clock, cause)
    })
}

/// Hands whole lists to those who know what tools can do.
fn learn_classes(classes: &Arc<KnownClasses>) -> Arc<Learn> {
    let classes = classes.clone();
    Arc::new(move |tools| classes.learn(tools.iter().map(|(name, text, _)| (name.as_str(), text.as_str()))))
}

/// Pins what the server lists, and writes it down for people who write rules for it.
fn keep_lists(
    store: DefinitionStore,
    installed: Option<&'static str>,
) -> Arc<dyn Fn(Vec<ListedTool>) -> bool + Send + Sync> {
    Arc::new(move |tools| {
        let pinned = store.learn(PinKind::Tool, &tools);
        let listed = tools.iter().filter_map(|(name, text)| Some((name.as_str(), Raw::parse(text).ok()?)));
        // Nothing is decided by it.
        let lister = Lister { server: &store.server, installed };
        catalogue::write(&store.home, &store.masker, lister, wall_ms(), listed).is_ok() && pinned
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
