//! What is different between two policy texts, in words: one sentence a change.

use callgate_document::{Document, Member, Node, Value, comments};
use rustc_hash::FxHashMap;

use super::observing::Mode;
use super::shape::{Part, canonical, index, member, same, text, window};
use crate::evaluate::Quantifier;
use crate::file::ArgumentKind;

/// The longest value that is shown.
const LONGEST: usize = 60;

/// Every change from one text to the other. Empty exactly if the texts are equal.
pub fn difference(before: &str, after: &str) -> Vec<String> {
    if before == after {
        return Vec::new();
    }
    let (old, new) = (Document::lenient(before), Document::lenient(after));
    let [old, new] = [&old, &new].map(|document| document.as_ref().and_then(|document| document.root.map()));
    let mut words = Words::default();
    match (old, new) {
        (Some(_), Some(_)) => words.body("", old, new),
        _ => words.say(unreadable(old.is_some())),
    }
    let changed = comments_changed(before, after);
    if changed > 0 {
        words.say(format!("{changed} {} changed", if changed == 1 { "comment" } else { "comments" }));
    }
    if words.said.is_empty() {
        words.say("only order or layout changed".to_owned());
    }
    words.said
}

fn unreadable(before_was_readable: bool) -> String {
    let what =
        if before_was_readable { "the new text is no policy" } else { "the text before was no policy" };
    format!("everything is replaced: {what}")
}

/// How many comments are new or gone; one that was rewritten counts once.
fn comments_changed(before: &str, after: &str) -> usize {
    let mut counts: FxHashMap<&str, i64> = FxHashMap::default();
    for comment in comments(after) {
        *counts.entry(comment).or_default() += 1;
    }
    for comment in comments(before) {
        *counts.entry(comment).or_default() -= 1;
    }
    let sum = |sign: i64| counts.values().map(|n| (n * sign).max(0)).sum::<i64>();
    usize::try_from(sum(1).max(sum(-1))).unwrap_or(0)
}

/// Who a sentence is about.
struct Subject {
    name: String,
    plural: bool,
}

impl Subject {
    fn new(name: impl Into<String>, plural: bool) -> Subject {
        Subject { name: name.into(), plural }
    }

    fn is(&self) -> String {
        format!("{} {}", self.name, if self.plural { "are" } else { "is" })
    }
}

#[derive(Default)]
struct Words {
    said: Vec<String>,
    /// What the new text says for the rules that say no mode themselves.
    mode: Mode,
}

type Side<'v> = Option<&'v Node>;

impl Words {
    fn say(&mut self, words: String) {
        self.said.push(words);
    }

    /// `lead`: for whom, where it is not for everyone.
    fn body(&mut self, lead: &str, old: Option<&[Member]>, new: Option<&[Member]>) {
        let above = self.mode.clone();
        if let Some(new) = new {
            self.mode = Mode::of(new, &above);
        }
        let rules = new.and_then(|new| object(member(new, "tools")));
        for (key, old, new) in members(old, new) {
            if both_same(old, new) {
                continue;
            }
            match Part::Body.member(key) {
                Part::Rules if key == "classes" => self.rules(old, new, |name| {
                    Subject::new(format!("{lead}tools of class {}", cut(name)), true)
                }),
                Part::Rules => {
                    self.rules(old, new, |name| Subject::new(format!("{lead}{}", quoted(name)), false))
                }
                Part::Rule => self.rule(&Subject::new(format!("{lead}all tools"), true), old, new),
                Part::Clients => self.clients(old, new),
                Part::Texts => {
                    let subject = |item: &Node| Subject::new(format!("{lead}{}", shown(item)), false);
                    let mode = self.mode.clone();
                    let but = |item: &Node| {
                        let Some(name) = item.text() else { return "" };
                        let rule = rules.and_then(|rules| object(member(rules, name)));
                        if mode.observes(rule) { ", but only observed" } else { "" }
                    };
                    self.list(Part::Texts, old, new, |item, added| match added {
                        true => format!("{} now hidden{}", subject(item).is(), but(item)),
                        false => format!("{} no longer hidden", subject(item).is()),
                    });
                }
                Part::Tests => self.tests(old, new),
                part @ (Part::Methods | Part::Settings) => {
                    let plural = matches!(key, "resources" | "prompts");
                    self.object(part, &Subject::new(format!("{lead}{key}"), plural), old, new);
                }
                _ => self.setting(&format!("{lead}{key}"), old, new),
            }
        }
        self.mode = above;
    }

    fn rules(&mut self, old: Side<'_>, new: Side<'_>, subject: impl Fn(&str) -> Subject) {
        for (name, old, new) in members(object(old), object(new)) {
            let subject = subject(name);
            match (old, new) {
                (None, Some(rule)) => {
                    let denies = object(Some(rule)).is_some_and(|rule| text(rule, "action") == Some("deny"));
                    let now = if denies { "denied" } else { "listed" };
                    let but = if denies { self.mode.but(object(Some(rule))) } else { String::new() };
                    self.say(format!("{} now {now}{but}", subject.is()));
                    self.rule_but(&subject, None, Some(rule), if denies { &["action"] } else { &[] });
                }
                (Some(rule), None) => {
                    let denied = object(Some(rule)).is_some_and(|rule| text(rule, "action") == Some("deny"));
                    let was = if denied { " (it was denied)" } else { "" };
                    self.say(format!("{} no longer listed{was}", subject.is()));
                }
                _ => self.rule(&subject, old, new),
            }
        }
    }

    fn clients(&mut self, old: Side<'_>, new: Side<'_>) {
        for (client, old, new) in members(object(old), object(new)) {
            let lead = format!("client {}", quoted(client));
            match (old, new) {
                (None, Some(_)) => self.say(format!("{lead} now has its own rules")),
                (Some(_), None) => {
                    self.say(format!("{lead}: its own rules are removed"));
                    continue;
                }
                _ => {}
            }
            self.body(&format!("{lead}: "), object(old), object(new));
        }
    }

    fn rule(&mut self, subject: &Subject, old: Side<'_>, new: Side<'_>) {
        self.rule_but(subject, old, new, &[]);
    }

    fn rule_but(&mut self, subject: &Subject, old: Side<'_>, new: Side<'_>, said: &[&str]) {
        let rule = object(new);
        for (key, old, new) in members(object(old), object(new)) {
            if both_same(old, new) || said.contains(&key) {
                continue;
            }
            let name = &subject.name;
            match (Part::Rule.member(key), key) {
                (Part::Clauses, _) => {
                    let (kind, how) = match key {
                        "require" => ("required that", Quantifier::Every),
                        "deny_if" => ("denied when", Quantifier::Any),
                        _ => ("asked about when", Quantifier::Any),
                    };
                    let but = self.mode.but(rule);
                    self.list(Part::Clauses, old, new, |clause, added| {
                        let (now, but) = if added { ("now", but.as_str()) } else { ("no longer", "") };
                        match clause_words(clause, how) {
                            Some(words) => format!("{name}: {now} {kind} {words}"),
                            None if key == "deny_if" => format!("{} {now} always denied{but}", subject.is()),
                            None => format!("{name}: {now} an entry of {key} without conditions"),
                        }
                    });
                }
                (Part::Caps, _) => self.caps(subject, old, new),
                (Part::Cap, _) => self.cap(subject, None, old, new),
                (part @ Part::Settings, _) => {
                    self.object(part, &Subject::new(format!("{name}: {key}"), false), old, new);
                }
                (_, "action") => self.action(subject, &self.mode.but(rule), old, new),
                (_, "reason") => match new {
                    Some(reason) => self.say(format!("the reason of {name} is now {}", shown(reason))),
                    None => self.say(format!("{name}: no reason is given any more")),
                },
                _ => self.setting(&format!("{name}: {key}"), old, new),
            }
        }
    }

    /// `but`: what a denial lacks of being one.
    fn action<'s>(&mut self, subject: &Subject, but: &str, old: Side<'s>, new: Side<'s>) {
        let word = |side: Option<&'s Node>| side.and_then(Node::text).unwrap_or_default();
        match (word(old), word(new)) {
            (_, "deny") => self.say(format!("{} now denied{but}", subject.is())),
            ("deny", "" | "allow") => self.say(format!("{} no longer denied", subject.is())),
            _ => self.setting(&format!("{}: action", subject.name), old, new),
        }
    }

    fn caps(&mut self, subject: &Subject, old: Side<'_>, new: Side<'_>) {
        let (Some((old, new)), part) = (lists(old, new), Part::Caps) else {
            return self.setting(&format!("{}: limits", subject.name), old, new);
        };
        // With one cap on each side there is no need to say which.
        let many = old.len() > 1 || new.len() > 1;
        for (old, new) in pairs(part, old, new) {
            let counter = object(new.or(old)).and_then(|limit| text(limit, "counter"));
            self.cap(subject, counter.filter(|_| many), old, new);
        }
    }

    fn cap(&mut self, subject: &Subject, counter: Option<&str>, old: Side<'_>, new: Side<'_>) {
        let by = counter.map(|counter| format!(" (counter {})", quoted(counter))).unwrap_or_default();
        match (old, new) {
            (None, Some(new)) => self.say(format!("{} now capped at {}{by}", subject.is(), rate(new))),
            (Some(old), None) => self.say(format!("{} no longer capped at {}{by}", subject.is(), rate(old))),
            (Some(old), Some(new)) if same(old, new) => {}
            (Some(old), Some(new)) => {
                let (before, after) = (rate(old), rate(new));
                let cap = format!("cap of {}{by}", subject.name);
                if before != after {
                    self.say(format!("{cap} {before} → {after}"));
                }
                let told = ["max", "window", "kind", "amount_from"];
                let (Some(old), Some(new)) = (object(Some(old)), object(Some(new))) else { return };
                for (key, old, new) in members(Some(old), Some(new)) {
                    if !told.contains(&key) && !both_same(old, new) {
                        self.setting(&format!("{cap}: {key}"), old, new);
                    }
                }
            }
            (None, None) => {}
        }
    }

    fn object(&mut self, part: Part, subject: &Subject, old: Side<'_>, new: Side<'_>) {
        let plain = |side: Side<'_>| side.is_some_and(|value| object(Some(value)).is_none());
        if plain(old) || plain(new) {
            return self.setting(&subject.name, old, new);
        }
        let rules = match part {
            Part::Methods if subject.plural => "their own rules",
            Part::Methods => "its own rules",
            _ => "settings",
        };
        let have = if subject.plural { "have" } else { "has" };
        match (old, new) {
            (None, _) => self.say(format!("{} now {have} {rules}", subject.name)),
            (_, None) => return self.say(format!("{} no longer {have} {rules}", subject.name)),
            _ => {}
        }
        for (key, old, new) in members(object(old), object(new)) {
            if both_same(old, new) {
                continue;
            }
            match (part.member(key), key) {
                (Part::Caps, _) => self.caps(subject, old, new),
                (list @ Part::Texts, _) => self.list(list, old, new, |item, added| {
                    let now = if added { "now" } else { "no longer" };
                    format!("{}: {} {now} in {key}", subject.name, shown(item))
                }),
                (_, "action") => {
                    self.action(subject, &Mode { for_all: None, ..self.mode.clone() }.but(None), old, new)
                }
                _ => self.setting(&format!("{}: {key}", subject.name), old, new),
            }
        }
    }

    fn tests(&mut self, old: Side<'_>, new: Side<'_>) {
        let Some((old, new)) = lists(old, new) else { return self.setting("tests", old, new) };
        let (mut added, mut removed, mut changed) = (0, 0, 0);
        for (old, new) in pairs(Part::Tests, old, new) {
            match (old, new) {
                (None, _) => added += 1,
                (_, None) => removed += 1,
                (Some(old), Some(new)) => changed += usize::from(!same(old, new)),
            }
        }
        for (count, what) in [(added, "added"), (removed, "removed"), (changed, "changed")] {
            if count > 0 {
                self.say(format!("{count} {} {what}", if count == 1 { "test" } else { "tests" }));
            }
        }
    }

    /// A list whose items are added or removed as they are.
    fn list(&mut self, part: Part, old: Side<'_>, new: Side<'_>, words: impl Fn(&Node, bool) -> String) {
        let Some((old, new)) = lists(old, new) else { return self.setting("a list", old, new) };
        for (old, new) in pairs(part, old, new) {
            match (old, new) {
                (None, Some(item)) => self.say(words(item, true)),
                (Some(item), None) => self.say(words(item, false)),
                _ => {}
            }
        }
    }

    fn setting(&mut self, what: &str, old: Side<'_>, new: Side<'_>) {
        match (old, new) {
            (Some(old), Some(new)) if !same(old, new) => {
                self.say(format!("{what} {} → {}", bare(old), bare(new)));
            }
            (None, Some(new)) => self.say(format!("{what} is now {}", bare(new))),
            (Some(old), None) => self.say(format!("{what} {} is gone", bare(old))),
            _ => {}
        }
    }
}

/// The members of both, in the order of the new one, then those that are gone.
fn members<'v>(old: Option<&'v [Member]>, new: Option<&'v [Member]>) -> Vec<(&'v str, Side<'v>, Side<'v>)> {
    let old_index = old.map(index).unwrap_or_default();
    let new_index = new.map(index).unwrap_or_default();
    let mut out = Vec::new();
    for (i, member) in new.into_iter().flatten().enumerate() {
        let key = member.key.as_str();
        if new_index.get(key).is_some_and(|(first, _)| *first == i) {
            out.push((key, old_index.get(key).map(|(_, old)| &old.value), Some(&member.value)));
        }
    }
    for (i, member) in old.into_iter().flatten().enumerate() {
        let key = member.key.as_str();
        if !new_index.contains_key(key) && old_index.get(key).is_some_and(|(first, _)| *first == i) {
            out.push((key, Some(&member.value), None));
        }
    }
    out
}

/// The items of both lists, matched.
fn pairs<'v>(part: Part, old: &'v [Node], new: &'v [Node]) -> Vec<(Side<'v>, Side<'v>)> {
    let [old_keys, new_keys] = part.keys([old, new]);
    let mut left: FxHashMap<&str, &'v Node> = old_keys.iter().map(String::as_str).zip(old).collect();
    let mut out: Vec<(Side<'v>, Side<'v>)> = Vec::new();
    for (key, item) in new_keys.iter().zip(new) {
        out.push((left.remove(key.as_str()), Some(item)));
    }
    for (key, item) in old_keys.iter().zip(old) {
        if left.contains_key(key.as_str()) {
            out.push((Some(item), None));
        }
    }
    out
}

fn both_same(old: Side<'_>, new: Side<'_>) -> bool {
    old.zip(new).is_some_and(|(old, new)| same(old, new))
}

fn object(value: Side<'_>) -> Option<&[Member]> {
    value.and_then(Node::map)
}

/// Both sides as lists, a missing one empty.
fn lists<'v>(old: Side<'v>, new: Side<'v>) -> Option<(&'v [Node], &'v [Node])> {
    let list = |side: Side<'v>| side.map_or(Some(&[][..]), Node::list);
    Some((list(old)?, list(new)?))
}

/// `10/minute`, `3 at once`, `100 in total`, `500 of args.amount/day`
pub(super) fn rate(limit: &Node) -> String {
    limit.map().map_or_else(|| bare(limit), rate_of)
}

pub(super) fn rate_of(limit: &[Member]) -> String {
    let max = member(limit, "max").map_or_else(|| "?".to_owned(), bare);
    let window = window(limit).unwrap_or_else(|| "?".to_owned());
    match text(limit, "kind") {
        Some("concurrent") => format!("{max} at once"),
        Some("total") => format!("{max} in total"),
        Some("sum") => format!("{max} of {}/{window}", cut(text(limit, "amount_from").unwrap_or("?"))),
        _ => format!("{max}/{window}"),
    }
}

/// None for a clause without conditions.
fn clause_words(clause: &Node, how: Quantifier) -> Option<String> {
    let Some(clause) = clause.map() else { return Some(shown(clause)) };
    let conditions = match member(clause, "conditions").and_then(Node::list) {
        Some(conditions) => conditions.iter().filter_map(Node::map).collect(),
        None => vec![clause],
    };
    let words = conditions.into_iter().map(|condition| {
        let part = |key: &str| text(condition, key).unwrap_or("?");
        let value = member(condition, "value").map(|value| format!(" {}", shown(value))).unwrap_or_default();
        let subject = match text(condition, "args") {
            Some(kind) => ArgumentKind::of_word(kind).map_or(kind, |kind| how.words(kind)),
            None => part("path"),
        };
        format!("{} {}{value}", cut(subject), cut(part("op")))
    });
    words.reduce(|all, words| format!("{all} and {words}"))
}

/// A value in one line, cut where it is long; a text without its quotes.
pub(super) fn bare(node: &Node) -> String {
    match &node.value {
        Value::Text(text) if text.chars().all(|c| c.is_ascii_graphic()) => cut(text),
        _ => shown(node),
    }
}

pub(super) fn shown(node: &Node) -> String {
    cut(&canonical(node))
}

/// A server's word may be of any length.
pub(crate) fn quoted(name: &str) -> String {
    format!("{:?}", cut(name))
}

pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
