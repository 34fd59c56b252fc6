//! What servers take, now and for the last quarter of an hour: one sampler for the tray, the window, and the records of trees.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callgate_desk::sampling::Sampler;
use callgate_desk::view::{Strays, SweepView, TreeView, Usage};
use callgate_desk::{Desk, DeskError};
use callgate_home::running;

/// The past that the window's lines show,
const PAST: Duration = Duration::from_secs(15 * 60);
/// with a point this often.
const POINT: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Takes {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Made when it is first needed; none if this system does not tell.
    sampler: Option<Sampler>,
    sampled: Option<Instant>,
    now: Vec<Usage>,
    past: VecDeque<(Instant, Vec<Usage>)>,
    /// Who was in each tree when it was last written down.
    noted: HashMap<String, BTreeSet<(u32, u64)>>,
    /// What dead sessions left, in words.
    left: Option<String>,
}

impl Takes {
    /// Looks now. None if this system does not tell.
    pub(crate) fn sample(&self, desk: &Desk, now_ms: i64) -> Option<Vec<Usage>> {
        let mut inner = self.lock();
        inner.sample(desk, now_ms)?;
        Some(inner.now.clone())
    }

    /// Looks, unless somebody did just before.
    pub(crate) fn keep_up(&self, desk: &Desk, now_ms: i64) {
        let mut inner = self.lock();
        if inner.sampled.is_none_or(|at| at.elapsed() >= POINT) {
            let _told = inner.sample(desk, now_ms);
        }
    }

    /// What was taken before, the oldest first.
    pub(crate) fn past(&self) -> Vec<Usage> {
        self.lock().past.iter().flat_map(|(_, usages)| usages.iter().cloned()).collect()
    }

    /// Memory of each running server at the last look.
    pub(crate) fn memory(&self) -> BTreeMap<String, u64> {
        let mut memory = BTreeMap::new();
        for usage in &self.lock().now {
            *memory.entry(usage.server.clone()).or_default() += usage.memory_bytes;
        }
        memory
    }

    /// Looks for what dead sessions left.
    pub(crate) fn look_for_left(&self, desk: &Desk) {
        let left = desk.left_words();
        self.lock().left = left;
    }

    /// What dead sessions had left when somebody looked last.
    pub(crate) fn left(&self) -> Option<String> {
        self.lock().left.clone()
    }

    /// The trees of one server at the last look.
    pub(crate) fn trees(&self, desk: &Desk, server: &str) -> Vec<TreeView> {
        let inner = self.lock();
        let leases: Vec<_> =
            running(desk.home()).into_iter().filter(|lease| lease.server == server).collect();
        inner.sampler.as_ref().map(|sampler| desk.trees(sampler, &leases)).unwrap_or_default()
    }

    pub(crate) fn strays(&self, desk: &Desk) -> Result<Strays, DeskError> {
        let mut inner = self.lock();
        let strays = match inner.sampler(desk) {
            Some(sampler) => desk.strays(sampler)?,
            None => Strays::default(),
        };
        if strays.leftovers.is_empty() {
            inner.left = None;
        }
        Ok(strays)
    }

    pub(crate) fn end_tree(&self, desk: &Desk, session: &str) -> Result<SweepView, DeskError> {
        desk.end_tree(session)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn sampler(&mut self, desk: &Desk) -> Option<&mut Sampler> {
        if self.sampler.is_none() {
            self.sampler = desk.sampler();
        }
        self.sampler.as_mut()
    }

    fn sample(&mut self, desk: &Desk, now_ms: i64) -> Option<()> {
        let leases = running(desk.home());
        let usages = self.sampler(desk)?.sample(&leases, now_ms);
        let noted = std::mem::take(&mut self.noted);
        for lease in &leases {
            let session = lease.session.to_string();
            let members = self.sampler(desk)?.members(&session);
            // Somebody came or went: what a double kill leaves is found by this.
            if noted.get(&session) != Some(&members) {
                desk.note_tree(lease);
            }
            self.noted.insert(session, members);
        }
        let at = Instant::now();
        // The first look at a process knows no share of a core.
        let first = self.sampled.is_none_or(|before| at.duration_since(before) > PAST);
        self.sampled = Some(at);
        self.now = usages;
        while self.past.front().is_some_and(|(then, _)| at.duration_since(*then) > PAST) {
            self.past.pop_front();
        }
        let due = self.past.back().is_none_or(|(then, _)| at.duration_since(*then) >= POINT);
        if due && !first && !self.now.is_empty() {
            self.past.push_back((at, self.now.clone()));
        }
        Some(())
    }
}
