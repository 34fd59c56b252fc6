//! How a tool stands under the old policy and under the new one.

use rustc_hash::FxHashSet;

use super::{Findings, View};
use crate::applying::Applying;
use crate::evaluate::Clause;
use crate::file::{AskedIn, Pin};
use crate::layer::{Default, Rule};
use crate::limit::{Kind, Limit};
use crate::loops::LoopRule;
use crate::window::Window;

const ALL: &str = "all tools";

/// Why no call of a tool passes.
struct Shut {
    word: &'static str,
    /// By a rule for every tool.
    all: bool,
}

/// `None` if some calls may pass; what is only asked about counts as that.
fn shut(applying: &Applying<'_>) -> Option<Shut> {
    let shut = |word, all| Some(Shut { word, all });
    if applying.imitated().is_some() {
        return shut("refused", false);
    }
    if applying.observing() {
        return None;
    }
    if applying.hidden().is_some() {
        return shut("hidden", false);
    }
    if applying.rules_for_all().any(|rule| rule.denied.is_some()) {
        return shut("denied", true);
    }
    if applying.own_rules().any(|rule| rule.denied.is_some()) {
        return shut("denied", false);
    }
    if applying.default_action() == Default::Deny { shut("denied", false) } else { None }
}

pub(super) fn is_shut(applying: &Applying<'_>) -> bool {
    shut(applying).is_some()
}

/// May it have to be asked about at all?
fn may_ask(applying: &Applying<'_>) -> bool {
    applying.always_asks()
        || !applying.loops().is_empty()
        || applying.rules().any(|rule| !rule.ask_if.is_empty())
}

/// A yes that was a person's may now be the client's.
fn asked_in(old: AskedIn, new: AskedIn) -> Option<&'static str> {
    match new {
        _ if new >= old => None,
        AskedIn::Client => Some("the client asks now, and its answer may be no person's"),
        AskedIn::Either => {
            Some("the client may ask now where nobody could decide, and its answer may be no person's")
        }
        AskedIn::Callgate | AskedIn::Both => Some("the client need not ask any more, too"),
    }
}

impl View<'_> {
    pub(super) fn stand(&self, what: &str, old: &Applying<'_>, new: &Applying<'_>, findings: &mut Findings) {
        self.kept(what, old, new, findings);
        if shut(new).is_some() {
            return;
        }
        if let Some(was) = shut(old) {
            let (what, verb) = if was.all { (ALL, "were") } else { (what, verb(what)) };
            let now = if new.observing() {
                "are now only observed"
            } else if new.always_asks() {
                "now need a person's word"
            } else if was.all {
                "now the rules decide"
            } else {
                "are now allowed"
            };
            let now = if verb == "was" {
                now.replacen("are ", "is ", 1).replacen("need", "needs", 1)
            } else {
                now.to_owned()
            };
            findings.push(self, &format!("{what} {verb} {}, {now}", was.word));
            return;
        }
        if old.observing() {
            return;
        }
        if new.observing() {
            if refuses_something(old) {
                findings.push(self, &format!("{what}: the rules are now only observed"));
            }
            return;
        }
        if old.always_asks() && !new.always_asks() {
            findings.push(self, &format!("{what}: no longer a matter of asking"));
        }
        if let Some(words) = asked_in(old.asked_in(), new.asked_in()).filter(|_| may_ask(old) && may_ask(new))
        {
            findings.push(self, &format!("{what}: {words}"));
        }
        if old.validate().is_some() && new.validate().is_none() {
            let words = "arguments are no longer checked against the tool's schema";
            findings.push(self, &format!("{what}: {words}"));
        }
        for before in old.loops().into_iter().filter(|old| !old.only_reports(self.old)) {
            let kept = |new: &&LoopRule| new.is_as_tight_as(before) && !new.only_reports(self.new);
            if !new.loops().iter().any(kept) {
                let words = format!("{what}: no longer refused {}", before.words());
                findings.push(self, &words);
            }
        }
        // Where nobody says it, it follows from what else is refused, and that is told already.
        let pins = if old.is_pin_said() || new.is_pin_said() {
            (self.old.effective_pin(old), self.new.effective_pin(new))
        } else {
            (Pin::Off, Pin::Off)
        };
        match pins {
            (Pin::Enforce, Pin::Report | Pin::Off) => {
                findings.push(self, &format!("{what}: a changed definition is no longer kept back"));
            }
            (Pin::Report, Pin::Off) => {
                findings.push(self, &format!("{what}: a changed definition is no longer told"));
            }
            _ => {}
        }
        for rule in old.own_rules() {
            self.rule(what, rule, new, findings);
        }
        for rule in old.rules_for_all() {
            self.rule(ALL, rule, new, findings);
        }
    }

    /// More of a call is kept than was: whoever set `record` did not want it on the disk, of refused calls neither.
    fn kept(&self, what: &str, old: &Applying<'_>, new: &Applying<'_>, findings: &mut Findings) {
        // No rule takes back what is wanted for every tool; so what that explains is said of all.
        let what = if old.keep() == old.keep_of_all() { ALL } else { what };
        if let Some(words) = new.keep().more_than(old.keep()) {
            findings.push(self, &format!("{what}: {words}"));
        }
    }

    /// Conditions that are gone, limits that are gone or wider.
    fn rule(&self, what: &str, old: &Rule, new: &Applying<'_>, findings: &mut Findings) {
        let denies = || new.rules().flat_map(|rule| &rule.deny_if);
        for clause in old.deny_if.iter().filter(|old| !denies().any(|new| denies_as_much(new, old))) {
            findings.push(self, &format!("{what}: no longer denied when {}", clause.words()));
        }
        let requires = || new.rules().flat_map(|rule| &rule.require);
        for clause in old.require.iter().filter(|old| !requires().any(|new| denies_as_much(old, new))) {
            // An empty one requires nothing.
            if !clause.conditions.is_empty() {
                findings.push(self, &format!("{what}: no longer required that {}", clause.words()));
            }
        }
        let asks = || new.rules().flat_map(|rule| &rule.ask_if).chain(denies());
        let kept = |old: &Clause| new.always_asks() || asks().any(|new| denies_as_much(new, old));
        for clause in old.ask_if.iter().filter(|old| !kept(old)) {
            findings.push(self, &format!("{what}: no longer asked when {}", clause.words()));
        }
        let limits = || new.rules().flat_map(|rule| rule.limits_at(self.now_ms));
        for before in old.limits_at(self.now_ms) {
            let same: Vec<&Limit> = limits()
                .filter(|limit| limit.counter == before.counter && same_kind(limit, before))
                .collect();
            if same.iter().any(|after| at_least_as_tight(after, before)) {
                continue;
            }
            findings.push(
                self,
                &match same.first() {
                    Some(after) => {
                        format!("{what}: the cap was {}, is now {}", shown(before), shown(after))
                    }
                    None => {
                        format!("{what}: the cap of {} (counter {:?}) is gone", shown(before), before.counter)
                    }
                },
            );
        }
    }
}

fn verb(what: &str) -> &'static str {
    if what.starts_with("tools ") { "were" } else { "was" }
}

fn refuses_something(old: &Applying<'_>) -> bool {
    let rule = |rule: &Rule| !rule.only_limits() || rule.limits_at(old.now_ms).next().is_some();
    let pinned = old.pin(|| Pin::Off) == Pin::Enforce;
    old.always_asks()
        || old.validate().is_some()
        || !old.loops().is_empty()
        || pinned
        || old.rules().any(rule)
}

/// With fewer conditions that have to hold together, more calls fit.
fn denies_as_much(wide: &Clause, narrow: &Clause) -> bool {
    let words: FxHashSet<&str> = narrow.conditions.iter().map(|c| c.words.as_str()).collect();
    wide.conditions.iter().all(|condition| words.contains(condition.words.as_str()))
}

fn same_kind(a: &Limit, b: &Limit) -> bool {
    std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind)
}

fn at_least_as_tight(new: &Limit, old: &Limit) -> bool {
    let same_amounts = match (&new.kind, &old.kind) {
        (Kind::Sum { from: new, .. }, Kind::Sum { from: old, .. }) => new.steps == old.steps,
        _ => true,
    };
    // Another scope is another counter, which starts empty: wider or not, it is not the same cap any more.
    new.max <= old.max && new.window() >= old.window() && new.scope == old.scope && same_amounts
}

fn shown(limit: &Limit) -> String {
    match limit.kind {
        Kind::Calls(window) => {
            let window =
                Window::from_seconds(window.as_secs()).map_or_else(|_| String::new(), |w| w.to_string());
            format!("{} per {window} {}", limit.max, limit.scope.words())
        }
        _ => format!("{} {}", limit.words(), limit.scope.words()),
    }
}
