//! One change taken back, whatever came after it.
//!
//! The change is known by the texts before and after it. What it did is found by comparing them part by part, and each of
//! these differences is undone in the text of now, if that place still stands as the change left it. A place that
//! was changed again is a conflict; then nothing is undone at all, because half of a change may be worse than all of it.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseResult, parse_to_ast};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Edited;
use super::comments;
use super::difference::{bare, quoted, rate, without_mark};
use super::draft::{Draft, New};
use super::merge::edited;
use super::shape::{Part, index, member, nothing_like, same, text};
use super::source::{Fresh, Origin};
use crate::file::json_with_comments;
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
    let (before, after) = (without_mark(before), without_mark(after));
    let (old, new, now) = (parse(before), parse(after), parse(without_mark(current)));
    let old = root(old.as_ref()).ok_or(RevertError::Unreadable { which: "before" })?;
    let new = root(new.as_ref()).ok_or(RevertError::Unreadable { which: "after" })?;
    let now = root(now.as_ref()).ok_or(RevertError::Unreadable { which: "after" })?;
    let mut undo = Undo {
        origin: Origin::of(before),
        before: comments::texts(before).into_iter().collect(),
        after: comments::texts(after).into_iter().collect(),
        now: comments::texts(without_mark(current)).into_iter().collect(),
        steps: Vec::new(),
        conflicts: Vec::new(),
    };
    undo.object(Part::Body, &mut Vec::new(), "", [old, new, now]);
    if !undo.conflicts.is_empty() {
        return Err(RevertError::Conflicts(undo.conflicts));
    }
    let mut draft = Draft::new(current);
    undo.make(&mut draft);
    Policy::parse(draft.text()).map_err(RevertError::Outcome)?;
    Ok(edited(current, draft.into_text()))
}

fn parse(text: &str) -> Option<ParseResult<'_>> {
    parse_to_ast(text, &CollectOptions::default(), &json_with_comments()).ok()
}

fn root<'v, 't>(parsed: Option<&'v ParseResult<'t>>) -> Option<&'v Object<'t>> {
    match parsed?.value.as_ref()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// One thing to do in the text of now. Paths and positions are those before anything is done.
#[derive(Clone)]
enum Step {
    Replace {
        path: Vec<String>,
        new: New,
    },
    Remove {
        container: Vec<String>,
        at: usize,
        key: String,
    },
    Insert {
        container: Vec<String>,
        at: usize,
        fresh: Vec<Fresh>,
    },
    /// A list that is not there any more, with what comes back into it.
    Anew {
        path: Vec<String>,
        items: Vec<New>,
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
    origin: Origin<'t>,
    /// The comments of the three texts.
    before: FxHashSet<&'t str>,
    after: FxHashSet<&'t str>,
    now: FxHashSet<&'t str>,
    steps: Vec<Step>,
    conflicts: Vec<String>,
}

/// Does a pattern among these overlays speak for the client, as long as none has its name? Then rules that it got of its
/// own are more than what was added to them.
fn has_pattern_for(clients: &Object<'_>, client: &str) -> bool {
    let client = name::client_key(client);
    clients
        .properties
        .iter()
        .map(|p| name::client_key(p.name.as_str()).into_owned())
        .any(|pattern| name::is_pattern(&pattern) && Glob::new(&pattern).matches(&client))
}

/// The same place in the three texts: before the change, after it, now.
type Three<'v, 't> = [Option<&'v Value<'t>>; 3];

impl<'t> Undo<'t> {
    fn object(
        &mut self,
        part: Part,
        path: &mut Vec<String>,
        place: &str,
        [before, after, now]: [&Object<'t>; 3],
    ) {
        let [old, new, here] = [before, after, now].map(index);
        let keys = before.properties.iter().chain(&after.properties).map(|p| p.name.as_str());
        let mut seen = FxHashSet::default();
        let mut returning = Vec::new();
        for key in keys.filter(|key| seen.insert(*key)) {
            let three = [&old, &new, &here].map(|index| index.get(key).map(|(_, p)| &p.value));
            let at = here.get(key).map(|(at, _)| *at);
            path.push(key.to_owned());
            let place = member_place(part, key, place);
            let as_empty =
                part.missing_is_empty(key) || (part == Part::Clients && !has_pattern_for(before, key));
            let comes_back = self.member((part.member(key), as_empty), path, &place, three, at);
            path.pop();
            if comes_back {
                returning.push(key);
            }
        }
        let order: Vec<&str> = before.properties.iter().map(|p| p.name.as_str()).collect();
        let positions: FxHashMap<&str, usize> = here.iter().map(|(key, (at, _))| (*key, *at)).collect();
        let returning: FxHashSet<&str> = returning.into_iter().collect();
        self.bring_back(path, &order, &positions, &returning, |undo, position| {
            Fresh::member(&undo.origin, before, position, &|comment| !undo.now.contains(comment))
        });
    }

    /// Undoes what happened to one member, which if missing may be as good as empty. True when it has to come back as
    /// it was.
    fn member(
        &mut self,
        (part, as_empty): (Part, bool),
        path: &mut Vec<String>,
        place: &str,
        three: Three<'_, 't>,
        at: Option<usize>,
    ) -> bool {
        let [before, after, now] = three;
        if both_same(before, after) || both_same(before, now) {
            return false;
        }
        if let Some(inside) = inside(part, as_empty, three)
            && !(before.is_none() && both_same(after, now))
            && !(now.is_none() && unchanged(after, now, as_empty))
        {
            let first = self.steps.len();
            match &inside {
                [Value::Object(before), Value::Object(after), Value::Object(now)] => {
                    self.object_or_cap(part, path, place, [before, after, now]);
                }
                [Value::Array(before), Value::Array(after), Value::Array(now)] => {
                    self.list(part, path, place, [before, after, now]);
                }
                _ => {}
            }
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
    fn object_or_cap(
        &mut self,
        part: Part,
        path: &mut Vec<String>,
        place: &str,
        [before, after, now]: [&Object<'t>; 3],
    ) {
        if part == Part::Cap {
            let numbers = |cap: &Object<'_>| {
                ["counter", "kind", "max", "window", "scope", "amount_from"]
                    .map(|key| member(cap, key).map(super::shape::canonical))
            };
            let [old, new, here] = [before, after, now].map(numbers);
            if old != new && new != here && old != here {
                let [after, now] = [after, now].map(|cap| Value::Object(cap.clone()));
                self.conflict_shown(place, &rate(&after), &rate(&now));
                return;
            }
        }
        self.object(part, path, place, [before, after, now]);
    }

    fn list(
        &mut self,
        part: Part,
        path: &mut Vec<String>,
        place: &str,
        [before, after, now]: [&Array<'t>; 3],
    ) {
        let keys = part.keys([before, after, now]);
        let [old, new, here] = [(&keys[0], before), (&keys[1], after), (&keys[2], now)]
            .map(|(keys, list)| keys.iter().map(String::as_str).zip(list.elements.iter().enumerate()));
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
        self.bring_back(path, &order, &positions, &returning, |undo, position| {
            Fresh::item(&undo.origin, before, position, &|comment| !undo.now.contains(comment))
        });
    }

    fn item(
        &mut self,
        part: Part,
        path: &mut Vec<String>,
        place: &str,
        three: Three<'_, 't>,
        at: Option<usize>,
    ) -> bool {
        match three {
            [Some(Value::Object(before)), Some(Value::Object(after)), Some(Value::Object(now))]
                if part.item().is_object() =>
            {
                self.object_or_cap(part.item(), path, place, [before, after, now]);
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
        order: &[&str],
        positions: &FxHashMap<&str, usize>,
        returning: &FxHashSet<&str>,
        cut: impl Fn(&Self, usize) -> Option<Fresh>,
    ) {
        let mut groups: Vec<(Option<usize>, Vec<Fresh>)> = Vec::new();
        let mut behind: Option<usize> = None;
        for (i, key) in order.iter().enumerate() {
            if let Some(at) = positions.get(key) {
                // The first of those that come back may have had nothing before it.
                if let Some((place @ None, _)) = groups.last_mut() {
                    *place = Some(*at);
                }
                behind = Some(at + 1);
            } else if returning.contains(key)
                && let Some(fresh) = cut(self, i)
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

    fn replace(&mut self, path: &[String], before: &Value<'_>) {
        let new = New::Source(self.origin.cut(before.start(), before.end()));
        self.steps.push(Step::Replace { path: path.to_vec(), new });
    }

    fn remove(&mut self, path: &[String], at: Option<usize>) {
        if let (Some((key, container)), Some(at)) = (path.split_last(), at) {
            self.steps.push(Step::Remove { container: container.to_vec(), at, key: key.clone() });
        }
    }

    fn conflict(&mut self, place: &str, after: Option<&Value<'_>>, now: Option<&Value<'_>>) {
        let shown = |value: Option<&Value<'_>>| value.map_or_else(|| "nothing".to_owned(), bare);
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
                Step::Anew { path, items } => draft.set(&parts(path), New::List(items.clone())),
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
        let is_name = |one: &Fresh| one.key.is_none() && one.value.is_plain();
        if container != path || !fresh.iter().all(is_name) {
            return None;
        }
        items.extend(fresh.iter().map(|one| one.value.clone()));
    }
    Some(vec![Step::Anew { path: path.to_vec(), items }])
}

fn both_same(a: Option<&Value<'_>>, b: Option<&Value<'_>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Does the place stand as the change left it?
fn unchanged(after: Option<&Value<'_>>, now: Option<&Value<'_>>, missing_is_empty: bool) -> bool {
    let empty =
        |value: Option<&Value<'_>>| value.is_none_or(|value| is_container(value) && entries(value) == 0);
    both_same(after, now) || (missing_is_empty && empty(after) && empty(now))
}

fn is_container(value: &Value<'_>) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
}

fn entries(value: &Value<'_>) -> usize {
    match value {
        Value::Object(object) => object.properties.len(),
        Value::Array(array) => array.elements.len(),
        _ => 0,
    }
}

/// The three values, if the change can be undone inside of them.
fn inside<'t>(part: Part, missing_is_empty: bool, three: Three<'_, 't>) -> Option<[Value<'t>; 3]> {
    let some = *three.iter().flatten().next()?;
    let fits = |value: &Value<'_>| match value {
        Value::Object(_) => part.is_object(),
        Value::Array(_) => part.is_list(),
        _ => false,
    };
    let one = |value: Option<&Value<'t>>| match value {
        Some(value) => fits(value).then(|| value.clone()),
        None => missing_is_empty.then(|| nothing_like(some)),
    };
    let [before, after, now] = [one(three[0])?, one(three[1])?, one(three[2])?];
    Some([before, after, now])
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

fn item_place(part: Part, three: Three<'_, '_>, parent: &str) -> String {
    let item = three.iter().flatten().next();
    let Some(item) = item else { return parent.to_owned() };
    match (part, item) {
        (Part::Caps, Value::Object(limit)) => {
            let counter = text(limit, "counter").map(|c| format!(" {}", quoted(c))).unwrap_or_default();
            format!("the cap{counter} in {parent}")
        }
        _ => format!("{} in {parent}", bare(item)),
    }
}
