//! One change taken back, whatever came after it.
//!
//! The change is known by the texts before and after it. What it did is found by comparing them part by part, and each of
//! these differences is undone in the text of now, if that place still stands as the change left it. A place that
//! was changed again is a conflict; then nothing is undone at all, because half of a change may be worse than all of it.

use callgate_document::{Document, Draft, Member, NewEntry, NewValue, Node, comments};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Edited;
use super::difference::{bare, quoted, rate_of};
use super::merge::edited;
use super::shape::{Part, index, member, same, text};
use crate::glob::Glob;
use crate::name;
use crate::policy::Policy;
use crate::problem::Report;

#[derive(Debug, thiserror::Error)]
pub enum RevertError {
    #[error("the policy is broken and has to be mended by hand first: {}", .0.headline())]
    Broken(Report),
    /// The texts of the change itself cannot be compared.
    #[error("the text {which} the change is no JSON object, so that it cannot be told what changed")]
    Unreadable { which: &'static str },
    #[error("the change cannot be taken back, because something was changed again since: {}", .0.join("; "))]
    Conflicts(Vec<String>),
    #[error("without the change the policy would be broken: {}", .0.headline())]
    Outcome(Report),
}

/// Undoes the change from `before` to `after` in `current`. If nothing was changed since, the result is `before`, byte
/// for byte; otherwise what came later stays, comments included.
pub fn revert(current: &str, before: &str, after: &str) -> Result<Edited, RevertError> {
    if current == after {
        Policy::parse(before).map_err(RevertError::Outcome)?;
        return Ok(edited(current, before.to_owned()));
    }
    Policy::parse(current).map_err(RevertError::Broken)?;
    let document = |which, text: &str| {
        let document = Document::lenient(text).filter(|document| document.root.map().is_some());
        document.ok_or(RevertError::Unreadable { which })
    };
    let (old, new, now) =
        (document("before", before)?, document("after", after)?, document("after", current)?);
    let mut undo = Undo {
        origin: &old,
        before: comments(before).into_iter().collect(),
        after: comments(after).into_iter().collect(),
        now: comments(current).into_iter().collect(),
        steps: Vec::new(),
        conflicts: Vec::new(),
    };
    let roots = [&old, &new, &now].map(|document| Some(&document.root));
    undo.inside(Part::Body, &mut Vec::new(), "", roots);
    if !undo.conflicts.is_empty() {
        return Err(RevertError::Conflicts(undo.conflicts));
    }
    let mut draft = Draft::new(current);
    undo.make(&mut draft);
    Policy::parse(draft.text()).map_err(RevertError::Outcome)?;
    Ok(edited(current, draft.into_text()))
}

/// One thing to do in the text of now. Paths and positions are those before anything is done.
#[derive(Clone)]
enum Step {
    Replace {
        path: Vec<String>,
        new: NewValue,
    },
    Remove {
        container: Vec<String>,
        at: usize,
        key: String,
    },
    Insert {
        container: Vec<String>,
        at: usize,
        fresh: Vec<NewEntry>,
    },
    /// A list that is not there any more, with what comes back into it.
    Anew {
        path: Vec<String>,
        items: Vec<NewValue>,
    },
}

impl Step {
    /// Replacements first; then from the inside out and from the back, so that no step moves the place of a later one.
    fn order(&self) -> (bool, std::cmp::Reverse<usize>, std::cmp::Reverse<usize>, bool) {
        use std::cmp::Reverse;
        match self {
            Step::Replace { path, .. } => (false, Reverse(path.len()), Reverse(0), false),
            Step::Remove { container, at, .. } => (true, Reverse(container.len()), Reverse(*at), false),
            Step::Insert { container, at, .. } => (true, Reverse(container.len()), Reverse(*at), true),
            // Behind all that is there: it moves nothing.
            Step::Anew { path, .. } => (true, Reverse(path.len()), Reverse(usize::MAX), true),
        }
    }

    fn is_in(&self, path: &[String]) -> bool {
        match self {
            Step::Replace { .. } | Step::Anew { .. } => false,
            Step::Remove { container, .. } | Step::Insert { container, .. } => container == path,
        }
    }
}

struct Undo<'t> {
    /// The text before the change: what comes back is cut out of it.
    origin: &'t Document,
    /// The comments of the three texts.
    before: FxHashSet<&'t str>,
    after: FxHashSet<&'t str>,
    now: FxHashSet<&'t str>,
    steps: Vec<Step>,
    conflicts: Vec<String>,
}

/// Does a pattern among these overlays speak for the client, as long as none has its name? Then rules that it got of its
/// own are more than what was added to them.
fn has_pattern_for(clients: &[Member], client: &str) -> bool {
    let client = name::client_key(client);
    clients
        .iter()
        .map(|member| name::client_key(&member.key).into_owned())
        .any(|pattern| name::is_pattern(&pattern) && Glob::new(&pattern).matches(&client))
}

/// The same place in the three texts: before the change, after it, now.
type Three<'v> = [Option<&'v Node>; 3];

impl Undo<'_> {
    /// Undoes what happened inside of three maps or three lists. One that is missing is as good as empty.
    fn inside(&mut self, part: Part, path: &mut Vec<String>, place: &str, three: Three<'_>) {
        let lists = three.map(|node| node.and_then(Node::list));
        match lists.iter().any(Option::is_some) {
            true => self.list(part, path, place, three[0], lists.map(Option::unwrap_or_default)),
            false => {
                let maps = three.map(|node| node.and_then(Node::map).unwrap_or_default());
                self.map_or_cap(part, path, place, three[0], maps);
            }
        }
    }

    fn map(
        &mut self,
        part: Part,
        path: &mut Vec<String>,
        place: &str,
        origin: Option<&Node>,
        [before, after, now]: [&[Member]; 3],
    ) {
        let [old, new, here] = [before, after, now].map(index);
        let keys = before.iter().chain(after).map(|member| member.key.as_str());
        let mut seen = FxHashSet::default();
        let mut returning = FxHashSet::default();
        for key in keys.filter(|key| seen.insert(*key)) {
            let three = [&old, &new, &here].map(|index| index.get(key).map(|(_, member)| &member.value));
            let at = here.get(key).map(|(at, _)| *at);
            path.push(key.to_owned());
            let place = member_place(part, key, place);
            let as_empty =
                part.missing_is_empty(key) || (part == Part::Clients && !has_pattern_for(before, key));
            if self.member((part.member(key), as_empty), path, &place, three, at) {
                returning.insert(key);
            }
            path.pop();
        }
        let order: Vec<&str> = before.iter().map(|member| member.key.as_str()).collect();
        let positions: FxHashMap<&str, usize> = here.iter().map(|(key, (at, _))| (*key, *at)).collect();
        self.bring_back(path, origin, &order, &positions, &returning);
    }

    /// Undoes what happened to one member, which if missing may be as good as empty. True when it has to come back as
    /// it was.
    fn member(
        &mut self,
        (part, as_empty): (Part, bool),
        path: &mut Vec<String>,
        place: &str,
        three: Three<'_>,
        at: Option<usize>,
    ) -> bool {
        let [before, after, now] = three;
        if both_same(before, after) || both_same(before, now) {
            return false;
        }
        if can_be_undone_inside(part, as_empty, three)
            && !(before.is_none() && both_same(after, now))
            && !(now.is_none() && unchanged(after, now, as_empty))
        {
            let first = self.steps.len();
            self.inside(part, path, place, three);
            // What is not there any more has nothing to be removed from it, and nothing but names can come back into it.
            if now.is_none() && self.steps.len() > first {
                match anew(path, &self.steps[first..]) {
                    Some(steps) => self.steps.splice(first.., steps).for_each(drop),
                    None => {
                        self.steps.truncate(first);
                        self.conflict(place, after, now);
                    }
                }
            }
            // What the change had made goes as a whole when nothing of it is left.
            let entries = now.map_or(0, entries);
            let emptied = self.steps[first..].iter().filter(|step| step.is_in(path)).count() == entries
                && self.steps[first..].iter().all(|step| matches!(step, Step::Remove { .. }));
            if before.is_none() && emptied && entries > 0 {
                self.steps.truncate(first);
                self.remove(path, at);
            }
            return false;
        }
        match (before, after, now) {
            _ if !unchanged(after, now, as_empty) => {
                self.conflict(place, after, now);
                false
            }
            (None, _, Some(_)) => {
                self.remove(path, at);
                false
            }
            (Some(before), _, Some(_)) => {
                self.replace(path, before);
                false
            }
            (before, _, None) => before.is_some(),
        }
    }

    /// The numbers of a cap are one thing: half of them from one text and half from another would be a cap that nobody
    /// wrote.
    fn map_or_cap(
        &mut self,
        part: Part,
        path: &mut Vec<String>,
        place: &str,
        origin: Option<&Node>,
        [before, after, now]: [&[Member]; 3],
    ) {
        if part == Part::Cap {
            let numbers = |cap: &[Member]| {
                ["counter", "kind", "max", "window", "scope", "amount_from"]
                    .map(|key| member(cap, key).map(super::shape::canonical))
            };
            let [old, new, here] = [before, after, now].map(numbers);
            if old != new && new != here && old != here {
                self.conflict_shown(place, &rate_of(after), &rate_of(now));
                return;
            }
        }
        self.map(part, path, place, origin, [before, after, now]);
    }

    fn list(
        &mut self,
        part: Part,
        path: &mut Vec<String>,
        place: &str,
        origin: Option<&Node>,
        [before, after, now]: [&[Node]; 3],
    ) {
        let keys = part.keys([before, after, now]);
        let [old, new, here] = [(&keys[0], before), (&keys[1], after), (&keys[2], now)]
            .map(|(keys, list)| keys.iter().map(String::as_str).zip(list.iter().enumerate()));
        let (old, new, here): (FxHashMap<_, _>, FxHashMap<_, _>, FxHashMap<_, _>) =
            (old.collect(), new.collect(), here.collect());
        let mut seen = FxHashSet::default();
        let mut returning = FxHashSet::default();
        let all = keys[0].iter().chain(&keys[1]).map(String::as_str);
        for key in all.filter(|key| seen.insert(*key)) {
            let three = [&old, &new, &here].map(|index| index.get(key).map(|(_, value)| *value));
            let at = here.get(key).map(|(at, _)| *at);
            path.push(at.unwrap_or(0).to_string());
            let place = item_place(part, three, place);
            if self.item(part, path, &place, three, at) {
                returning.insert(key);
            }
            path.pop();
        }
        let order: Vec<&str> = keys[0].iter().map(String::as_str).collect();
        let positions: FxHashMap<&str, usize> = here.iter().map(|(key, (at, _))| (*key, *at)).collect();
        self.bring_back(path, origin, &order, &positions, &returning);
    }

    fn item(
        &mut self,
        part: Part,
        path: &mut Vec<String>,
        place: &str,
        three: Three<'_>,
        at: Option<usize>,
    ) -> bool {
        match three {
            three
                if part.item().is_object() && three.iter().all(|item| item.and_then(Node::map).is_some()) =>
            {
                self.inside(part.item(), path, place, three);
                false
            }
            [before, after, now] if both_same(before, after) || both_same(before, now) => false,
            [_, after, now] if !unchanged(after, now, false) => {
                self.conflict(place, after, now);
                false
            }
            [None, _, Some(_)] => {
                self.remove(path, at);
                false
            }
            [Some(before), _, Some(_)] => {
                self.replace(path, before);
                false
            }
            [before, _, None] => before.is_some(),
        }
    }

    /// Entries that come back stand where they stood: behind the one that was before them, else before the one that was
    /// behind; and where none of these is left, before what came later.
    fn bring_back(
        &mut self,
        path: &[String],
        origin: Option<&Node>,
        order: &[&str],
        positions: &FxHashMap<&str, usize>,
        returning: &FxHashSet<&str>,
    ) {
        let Some(origin) = origin else { return };
        let mut groups: Vec<(Option<usize>, Vec<NewEntry>)> = Vec::new();
        let mut behind: Option<usize> = None;
        for (i, key) in order.iter().enumerate() {
            if let Some(at) = positions.get(key) {
                // The first of those that come back may have had nothing before it.
                if let Some((place @ None, _)) = groups.last_mut() {
                    *place = Some(*at);
                }
                behind = Some(at + 1);
            } else if returning.contains(key)
                && let Some(fresh) = self.origin.entry(origin, i, &|comment| !self.now.contains(comment))
            {
                match groups.last_mut() {
                    Some((at, group)) if *at == behind => group.push(fresh),
                    _ => groups.push((behind, vec![fresh])),
                }
            }
        }
        for (at, fresh) in groups {
            self.steps.push(Step::Insert { container: path.to_vec(), at: at.unwrap_or(0), fresh });
        }
    }

    fn replace(&mut self, path: &[String], before: &Node) {
        let new = NewValue::Piece(self.origin.piece(before.span.clone()));
        self.steps.push(Step::Replace { path: path.to_vec(), new });
    }

    fn remove(&mut self, path: &[String], at: Option<usize>) {
        if let (Some((key, container)), Some(at)) = (path.split_last(), at) {
            self.steps.push(Step::Remove { container: container.to_vec(), at, key: key.clone() });
        }
    }

    fn conflict(&mut self, place: &str, after: Option<&Node>, now: Option<&Node>) {
        let shown = |value: Option<&Node>| value.map_or_else(|| "nothing".to_owned(), bare);
        self.conflict_shown(place, &shown(after), &shown(now));
    }

    fn conflict_shown(&mut self, place: &str, after: &str, now: &str) {
        self.conflicts.push(format!("{place} was {after} after the change and is {now} now"));
    }

    fn make(mut self, draft: &mut Draft) {
        self.steps.sort_by_key(Step::order);
        fn parts(path: &[String]) -> Vec<&str> {
            path.iter().map(String::as_str).collect()
        }
        for step in &self.steps {
            match step {
                // Comments that came after the change stay; those that it brought go with its value.
                Step::Replace { path, new } => {
                    draft.replace(&parts(path), new, &|comment| !self.after.contains(comment));
                }
                Step::Remove { container, key, .. } => {
                    let mut path = parts(container);
                    path.push(key);
                    draft.remove_comments(&path, &|comment| {
                        self.after.contains(comment) && !self.before.contains(comment)
                    });
                    draft.remove(&path);
                }
                Step::Insert { container, at, fresh } => draft.insert(&parts(container), *at, fresh),
                Step::Anew { path, items } => draft.set(&parts(path), NewValue::List(items.clone())),
            }
        }
    }
}

/// The same steps where the list at this path, or what it stands in, is gone: a list of names alone comes back as itself,
/// since their order says nothing. Of anything else nobody knows what it would mean without the rest.
fn anew(path: &[String], steps: &[Step]) -> Option<Vec<Step>> {
    if steps.iter().all(|step| matches!(step, Step::Anew { .. })) {
        return Some(steps.to_vec());
    }
    let mut items = Vec::new();
    for step in steps {
        let Step::Insert { container, fresh, .. } = step else { return None };
        let is_name = |one: &NewEntry| one.key.is_none() && one.value.is_plain();
        if container != path || !fresh.iter().all(is_name) {
            return None;
        }
        items.extend(fresh.iter().map(|one| one.value.clone()));
    }
    Some(vec![Step::Anew { path: path.to_vec(), items }])
}

fn both_same(a: Option<&Node>, b: Option<&Node>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Does the place stand as the change left it?
fn unchanged(after: Option<&Node>, now: Option<&Node>, missing_is_empty: bool) -> bool {
    let empty = |value: Option<&Node>| value.is_none_or(|value| is_container(value) && entries(value) == 0);
    both_same(after, now) || (missing_is_empty && empty(after) && empty(now))
}

fn is_container(node: &Node) -> bool {
    node.map().is_some() || node.list().is_some()
}

fn entries(node: &Node) -> usize {
    node.parts().len()
}

/// Are all three, as far as they are there, of the kind whose parts are told apart?
fn can_be_undone_inside(part: Part, missing_is_empty: bool, three: Three<'_>) -> bool {
    let fits = |node: &Node| node.map().map_or(node.list().is_some() && part.is_list(), |_| part.is_object());
    three.iter().any(Option::is_some) && three.iter().all(|node| node.map_or(missing_is_empty, fits))
}

fn member_place(part: Part, key: &str, parent: &str) -> String {
    let inside = |what: String| if parent.is_empty() { what } else { format!("{what} of {parent}") };
    match part {
        Part::Rules => inside(format!("the rule of {}", quoted(key))),
        Part::Clients => format!("the rules of client {}", quoted(key)),
        // The names of lists of rules and of clients say nothing more.
        Part::Body if matches!(key, "tools" | "clients" | "classes") => parent.to_owned(),
        _ => inside(quoted(key)),
    }
}

fn item_place(part: Part, three: Three<'_>, parent: &str) -> String {
    let item = three.iter().flatten().next();
    let Some(item) = item else { return parent.to_owned() };
    match (part, item.map()) {
        (Part::Caps, Some(limit)) => {
            let counter = text(limit, "counter").map(|c| format!(" {}", quoted(c))).unwrap_or_default();
            format!("the cap{counter} in {parent}")
        }
        _ => format!("{} in {parent}", bare(item)),
    }
}
