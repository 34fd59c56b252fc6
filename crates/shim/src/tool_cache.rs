//! Cache of what the server says its tools are, learned from the lists that pass by: schemas for `validate`, and the catalogue that
//! people see.
//!
//! Lists come in pages; only a whole one counts. Reading one takes a moment, so the thread that carries the answers only
//! copies the pages, and a clerk reads them and writes what is to be known of the server later. The clerk starts with the first list.

use std::hash::BuildHasher;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use callgate_protocol::digest::{Digest, definition_digest};
use callgate_protocol::json::Raw;
use callgate_protocol::lists::{Filtered, Page};
use callgate_protocol::tools::learn_tools;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::checker::{Checker, Start};
use crate::schema::{Misfit, ToolSchema};

/// How much of a server's list is read; a server that says more than this about its tools is not read to the end.
const MOST_BYTES: usize = 16 << 20;
/// How long a call waits for the list that its schema is in.
pub(crate) const LIST_WAIT: Duration = Duration::from_secs(2);
/// How long the first list is waited for that a client has got.
const FIRST_LIST: Duration = Duration::from_millis(500);
/// How soon after a list of ours another one may be asked for; after one that never came, twice as late each time,
const AGAIN: Duration = Duration::from_secs(5);
/// but not later than this.
const AGAIN_AT_LAST: Duration = Duration::from_mins(1);
/// Pages of one list. A server whose list never ends is not listened to for ever.
const MOST_PAGES: usize = 256;
/// How long a session's end waits for what is still to be written down: longer than whoever else writes it may take twice.
const LAST_WRITTEN: Duration = Duration::from_secs(2);

/// Whose request a page answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requester {
    Client,
    Callgate,
}

/// Digests of definitions, by the tools' names.
pub(crate) type Definitions = FxHashMap<String, Digest>;

/// One tool as the server listed it: name and definition.
pub(crate) type ListedTool = (String, String);

/// The same with its schema, if it has one.
pub(crate) type ToolEntry = (String, String, Option<String>);

/// Who is told of whole lists.
pub(crate) type Learn = dyn Fn(&[ToolEntry]) + Send + Sync;

#[derive(Debug)]
pub(crate) struct ToolCache {
    /// Pages of lists that are not whole yet: the client's, and ours.
    pages: Mutex<[Pages; 2]>,
    known: Arc<(Mutex<KnownTools>, Condvar)>,
    worker: Mutex<Option<ListWorker>>,
    sink: ListSink,
    checker: Checker,
    /// The first list was waited for.
    awaited: AtomicBool,
}

/// Where whole lists go.
#[derive(Clone)]
pub(crate) struct ListSink {
    /// Says whether the list is kept; if not, the next one is another chance, be it the same.
    pub(crate) keep: Arc<dyn Fn(Vec<ListedTool>) -> bool + Send + Sync>,
    /// Told of every list before calls are held against it.
    pub(crate) learn: Arc<Learn>,
    /// Called when the first list of a server that was started again is not the last one of the server before.
    pub(crate) differs: Arc<dyn Fn() + Send + Sync>,
}

impl std::fmt::Debug for ListSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ListSink")
    }
}

/// When a list came, by what the server has said of its lists until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListStamp {
    /// Counts the servers of the session.
    server: u64,
    /// Counts how often they said that their tools are not what they were.
    changes: u64,
}

/// A list that is not whole yet.
#[derive(Debug, Default)]
struct Pages {
    /// When its first page came; none if that was not seen, or something of it was lost.
    begun: Option<ListStamp>,
    texts: Vec<Arc<str>>,
    bytes: usize,
}

/// A whole list.
#[derive(Debug)]
struct Whole {
    pages: Vec<Arc<str>>,
    at: ListStamp,
}

/// What a clerk has to do, in the order in which it came.
enum Work {
    List(Whole),
    /// To write down what no list says. There are few of them in a session.
    Note(Box<dyn FnOnce() + Send>),
}

#[derive(Debug)]
struct ListWorker {
    work: Sender<Work>,
    /// One list waits while another is read; a server that lists faster than that is told of by its last ones.
    list_waits: Arc<AtomicBool>,
    /// Closed when the clerk is done.
    done: Receiver<()>,
}

#[derive(Debug, Default)]
struct KnownTools {
    /// By name; `None` for a tool without a schema.
    schemas: FxHashMap<String, Option<Arc<ToolSchema>>>,
    definitions: Definitions,
    /// A whole list was read, and the server has not said since that it changed.
    current: bool,
    /// How many lists were read.
    read: u64,
    own_listing: Option<OwnListing>,
    /// Tells one list from another.
    mark: u64,
    /// The pages that were read last, if they are kept: many clients ask again and again, and mostly get the same.
    pages: Vec<Arc<str>>,
    /// Those that were read last in any case.
    latest: Vec<Arc<str>>,
    /// The same, as digests.
    page_definitions: Vec<Arc<Definitions>>,
    /// The next list is the first of another server.
    another: bool,
    /// As of now.
    stamp: ListStamp,
}

/// What is known of how the server describes a tool.
pub(crate) struct Described {
    /// None: it did not list it.
    pub(crate) digest: Option<Digest>,
    /// A whole list was read, and the server has not said since that it changed.
    pub(crate) current: bool,
    /// It was asked for its tools, and has not answered yet.
    pub(crate) overdue: bool,
    /// How many lists were read.
    pub(crate) read: u64,
}

/// A list that we asked for.
#[derive(Clone, Copy, Debug)]
struct OwnListing {
    at: Instant,
    /// As [`KnownTools::read`] was.
    read: u64,
    /// How long the next one has to wait.
    pause: Duration,
}

impl ToolCache {
    pub(crate) fn new(sink: ListSink, checks: Start) -> ToolCache {
        ToolCache {
            pages: Mutex::default(),
            known: Arc::default(),
            worker: Mutex::default(),
            sink,
            checker: Checker::new(checks),
            awaited: AtomicBool::new(false),
        }
    }

    /// For a list that is just coming.
    pub(crate) fn stamp(&self) -> ListStamp {
        lock(&self.known.0).stamp
    }

    /// Takes in one page, given as it was read, and when it came; the cursor of the next, if there is one and it is wanted.
    pub(crate) fn page(
        &self,
        asker: Requester,
        first: bool,
        (result, page): (Raw<'_>, &Page<'_>),
        at: ListStamp,
    ) -> Option<String> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let pages = &mut pages[usize::from(asker == Requester::Callgate)];
        if first {
            *pages = Pages { begun: Some(at), ..Pages::default() };
        }
        let size = result.text().len();
        let fits = pages.bytes + size <= MOST_BYTES && pages.texts.len() < MOST_PAGES;
        // A page without those before it is no list, and neither is one that cannot be read.
        let Some(at) = pages.begun.filter(|_| fits && !matches!(page.filtered, Filtered::Unusable(_))) else {
            *pages = Pages::default();
            return None;
        };
        pages.bytes += size;
        let before = lock(&self.known.0).pages.get(pages.texts.len()).cloned();
        let same = before.filter(|before| **before == *result.text());
        pages.texts.push(same.unwrap_or_else(|| result.text().into()));
        if page.next.is_none() {
            // Without a clerk nothing is learned, and what needs it is refused.
            drop(self.hand_over(Work::List(Whole { pages: std::mem::take(pages).texts, at })));
        }
        page.next.as_deref().map(str::to_owned)
    }

    /// Has something written down by the clerk, after the lists that came before it: whoever carries answers does not wait
    /// for the disk.
    pub(crate) fn write_beside(&self, note: impl FnOnce() + Send + 'static) {
        drop(self.hand_over(Work::Note(Box::new(note))));
    }

    fn hand_over(&self, work: Work) -> io::Result<()> {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = match &mut *worker {
            Some(worker) => worker,
            empty => empty.insert(self.hire()?),
        };
        if matches!(work, Work::List(_)) && worker.list_waits.swap(true, Ordering::SeqCst) {
            return Err(io::Error::other("lists come faster than they are read"));
        }
        worker.work.send(work).map_err(|_| io::Error::other("the worker is gone"))
    }

    fn hire(&self) -> io::Result<ListWorker> {
        let (work, given) = mpsc::channel::<Work>();
        let (at_work, done) = mpsc::channel::<()>();
        let list_waits = Arc::new(AtomicBool::new(false));
        let (known, sink, waits) = (self.known.clone(), self.sink.clone(), list_waits.clone());
        let read = move || {
            let _at_work = at_work;
            for work in given {
                match work {
                    Work::List(list) => {
                        waits.store(false, Ordering::SeqCst);
                        take_in(list, &known, &sink);
                    }
                    Work::Note(write) => write(),
                }
            }
        };
        thread::Builder::new().name("tool-list".to_owned()).stack_size(512 * 1024).spawn(read)?;
        Ok(ListWorker { work, list_waits, done })
    }

    /// The server says that its tools are not what they were.
    pub(crate) fn outdated(&self) {
        let mut known = lock(&self.known.0);
        known.current = false;
        known.stamp.changes += 1;
        // Who says that may well answer now.
        if let Some(asked) = &mut known.own_listing {
            asked.pause = AGAIN;
        }
    }

    /// Another server has taken the place of the one that listed its tools.
    pub(crate) fn another_server(&self) {
        *self.pages.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
        let mut known = lock(&self.known.0);
        (known.current, known.own_listing) = (false, None);
        known.another = known.read > 0;
        known.stamp.server += 1;
    }

    /// Is what the server says of this tool unknown, and worth waiting for? It is while others wait for it, too.
    pub(crate) fn lacks_list(&self, tool: &str, others_wait: bool) -> bool {
        let known = lock(&self.known.0);
        !known.is_current_of(tool) && (others_wait || known.is_list_due(Instant::now()))
    }

    /// Is what the server has not known, or not any more, and worth waiting for?
    pub(crate) fn lacks_any_list(&self, others_wait: bool) -> bool {
        let known = lock(&self.known.0);
        !known.current && (others_wait || known.is_list_due(Instant::now()))
    }

    /// Should the server be asked for its tools, to check a call of this one? Says yes once in a while only; then it gives
    /// what [`wait_newer`](Self::wait_newer) needs to know.
    pub(crate) fn wants_list(&self, tool: &str, now: Instant) -> Option<u64> {
        let mut known = lock(&self.known.0);
        if known.is_current_of(tool) || !known.is_list_due(now) {
            return None;
        }
        Some(known.ask_for_list(now))
    }

    /// The same for the sake of knowing what there is.
    pub(crate) fn wants_any_list(&self, now: Instant) -> bool {
        let mut known = lock(&self.known.0);
        let wants = !known.current && known.is_list_due(now);
        if wants {
            known.ask_for_list(now);
        }
        wants
    }

    /// A list that was asked for a moment ago: what [`wait_newer`](Self::wait_newer) needs to know, and for how long.
    pub(crate) fn asked_for(&self) -> Option<(u64, Duration)> {
        let known = lock(&self.known.0);
        let asked = known.own_listing.filter(|asked| asked.read == known.read)?;
        Some((asked.read, LIST_WAIT.checked_sub(asked.at.elapsed())?))
    }

    /// Waits until another list was read; false after `limit`.
    pub(crate) fn wait_newer(&self, than: u64, limit: Duration) -> bool {
        let known = lock(&self.known.0);
        let (known, _) = self
            .known
            .1
            .wait_timeout_while(known, limit, |known| known.read <= than)
            .unwrap_or_else(PoisonError::into_inner);
        known.read > than
    }

    /// Is the tool in what the server listed last?
    pub(crate) fn lists(&self, tool: &str) -> bool {
        lock(&self.known.0).schemas.contains_key(tool)
    }

    /// Is the first list that a client has got still being read? Its next call is to be answered by it.
    pub(crate) fn reads_first_list(&self) -> bool {
        !self.awaited.load(Ordering::Relaxed) && lock(&self.known.0).read == 0
    }

    /// Waits until it is read; once a session, so that a list that never becomes whole costs nobody more than this moment.
    pub(crate) fn await_first_list(&self) {
        if !self.awaited.swap(true, Ordering::Relaxed) {
            self.wait_newer(0, FIRST_LIST);
        }
    }

    /// Is it known that the server has no such tool? Not as long as it may have listed others since.
    pub(crate) fn lacks(&self, tool: &str) -> bool {
        let known = lock(&self.known.0);
        known.current && !known.schemas.contains_key(tool)
    }

    /// Do these arguments fit what the server last said of the tool?
    pub(crate) fn check(&self, tool: &str, args: Option<Raw<'_>>) -> Result<(), Misfit> {
        let schema = {
            let known = lock(&self.known.0);
            if !known.current {
                return Err(Misfit::NotListedYet);
            }
            known.schemas.get(tool).cloned()
        };
        match schema {
            Some(Some(schema)) => self.checker.check(&schema, args),
            Some(None) => Err(Misfit::Uncheckable("the server gives the tool no schema".to_owned())),
            None => Err(Misfit::Uncheckable("the server lists no such tool".to_owned())),
        }
    }

    /// What the server last said of the tool, current or not: for rules that only read it better with a schema.
    pub(crate) fn schema(&self, tool: &str) -> Option<Arc<ToolSchema>> {
        lock(&self.known.0).schemas.get(tool).cloned().flatten()
    }

    /// How the server last described the tool, and whether that is known to be all there is.
    pub(crate) fn described(&self, tool: &str) -> Described {
        let known = lock(&self.known.0);
        let overdue = !known.current && known.own_listing.is_some_and(|asked| asked.read == known.read);
        let digest = known.definitions.get(tool).copied();
        Described { digest, current: known.current, overdue, read: known.read }
    }

    /// How many lists were read.
    pub(crate) fn lists_read(&self) -> u64 {
        lock(&self.known.0).read
    }

    /// What lists say is to be learned anew, even if they say the same.
    pub(crate) fn relearn(&self) {
        let mut known = lock(&self.known.0);
        (known.pages, known.page_definitions) = (Vec::new(), Vec::new());
        known.current = false;
        known.stamp.changes += 1;
    }

    /// Digest of what the server last said of the tool, if it said anything.
    pub(crate) fn definition(&self, tool: &str) -> Option<Digest> {
        lock(&self.known.0).definitions.get(tool).copied()
    }

    /// What the server last said of the tool, whole.
    pub(crate) fn definition_text(&self, tool: &str) -> Option<(Digest, String)> {
        let (digest, pages) = {
            let known = lock(&self.known.0);
            (*known.definitions.get(tool)?, known.latest.clone())
        };
        pages.iter().find_map(|page| {
            let tools = learn_tools(Raw::parse(page).ok()?).ok()?;
            let listed = tools.into_iter().find(|listed| listed.name == tool)?;
            (definition_digest(listed.definition) == digest)
                .then(|| (digest, listed.definition.text().to_owned()))
        })
    }

    /// Digests of the tools of one page. Of one that was read before they are known already.
    pub(crate) fn definitions_in(&self, result: Raw<'_>) -> Arc<Definitions> {
        {
            let known = lock(&self.known.0);
            let at = known.pages.iter().position(|page| **page == *result.text());
            if let Some(definitions) = at.and_then(|at| known.page_definitions.get(at)) {
                return definitions.clone();
            }
        }
        Arc::new(digests(result))
    }

    /// Lets the clerk finish what it has, at the end of a session.
    pub(crate) fn finish(&self) {
        self.checker.finish();
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ListWorker { work, done, .. }) = worker {
            drop(work);
            // Closed, or not in time: either way there is nothing more to wait for.
            let _closed = done.recv_timeout(LAST_WRITTEN);
        }
    }
}

/// Reads a whole list and keeps it.
fn take_in(Whole { pages, at }: Whole, known: &(Mutex<KnownTools>, Condvar), sink: &ListSink) {
    // What a server that is no more listed says nothing of the one in its place.
    let is_over = |known: &KnownTools| known.stamp.server != at.server;
    {
        let mut known_now = lock(&known.0);
        if is_over(&known_now) {
            return;
        }
        if known_now.came_again(&pages, at) {
            drop(known_now);
            known.1.notify_all();
            return;
        }
    }
    let tools = read(&pages);
    (sink.learn)(&tools);
    let mark = FxBuildHasher.hash_one(&tools);
    let page_definitions: Vec<Arc<Definitions>> =
        pages.iter().map(|page| Arc::new(Raw::parse(page).map(digests).unwrap_or_default())).collect();
    let mut definitions = Definitions::default();
    for (name, digest) in page_definitions.iter().flat_map(|page| page.iter()) {
        definitions.entry(name.clone()).or_insert(*digest);
    }
    let differs = {
        let mut known = lock(&known.0);
        if is_over(&known) {
            return;
        }
        // What is known of a schema (that it takes too long, above all) stays known while it is the same.
        let schemas = tools.iter().map(|(name, _, schema)| {
            let before = known.schemas.get(name).and_then(Option::as_ref);
            let kept = |text: &str| match before {
                Some(before) if before.is(text) => before.clone(),
                _ => Arc::new(ToolSchema::new(text)),
            };
            (name.clone(), schema.as_deref().map(kept))
        });
        known.schemas = schemas.collect();
        known.definitions = definitions;
        known.latest.clone_from(&pages);
        (known.pages, known.page_definitions) = (Vec::new(), page_definitions);
        known.current = known.stamp == at;
        known.read += 1;
        std::mem::take(&mut known.another) & (std::mem::replace(&mut known.mark, mark) != mark)
    };
    known.1.notify_all();
    if differs {
        (sink.differs)();
    }
    if (sink.keep)(tools.into_iter().map(|(name, definition, _)| (name, definition)).collect()) {
        lock(&known.0).pages = pages;
    }
}

impl KnownTools {
    /// The server is asked for its tools now; how many lists were read before.
    fn ask_for_list(&mut self, now: Instant) -> u64 {
        let read = self.read;
        // Each list that does not come costs a call its patience.
        let pause = match self.own_listing {
            Some(asked) if asked.read == read => (asked.pause * 2).min(AGAIN_AT_LAST),
            _ => AGAIN,
        };
        self.own_listing = Some(OwnListing { at: now, read, pause });
        read
    }

    fn is_current_of(&self, tool: &str) -> bool {
        self.current && self.schemas.contains_key(tool)
    }

    /// A list that is outdated is due at once, if the last one that was asked for came.
    fn is_list_due(&self, now: Instant) -> bool {
        self.own_listing.is_none_or(|asked| {
            let came = asked.read < self.read;
            (came && !self.current) || now.saturating_duration_since(asked.at) > asked.pause
        })
    }

    /// Is it the list that was read last, to the letter? Then everything about it is known.
    fn came_again(&mut self, pages: &[Arc<str>], at: ListStamp) -> bool {
        let same = self.pages == pages;
        if same {
            (self.current, self.another) = (self.stamp == at, false);
            self.read += 1;
        }
        same
    }
}

fn lock(known: &Mutex<KnownTools>) -> MutexGuard<'_, KnownTools> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Of one page. Of two tools with one name the first counts.
fn digests(result: Raw<'_>) -> Definitions {
    let mut definitions = Definitions::default();
    for tool in learn_tools(result).unwrap_or_default() {
        definitions.entry(tool.name.into_owned()).or_insert_with(|| definition_digest(tool.definition));
    }
    definitions
}

/// Name, definition, schema. Of two tools with one name the first counts, as it does for a client.
fn read(pages: &[Arc<str>]) -> Vec<ToolEntry> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut out = Vec::new();
    for page in pages {
        let Ok(result) = Raw::parse(page) else { continue };
        for tool in learn_tools(result).unwrap_or_default() {
            if seen.insert(tool.name.to_string()) {
                let schema = tool.input_schema.map(|schema| schema.text().to_owned());
                out.push((tool.name.into_owned(), tool.definition.text().to_owned(), schema));
            }
        }
    }
    out
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests;
