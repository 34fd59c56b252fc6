//! Restricting: at once, without a question, never opening anything.

use std::num::NonZeroU32;
use std::time::Duration;

use callgate_codegen::Verb;
use callgate_controls::allowance::{self, Allowance};
use callgate_controls::pause::PauseScope;
use callgate_home::clock::Moment;
use callgate_journal::{EventKind, record_event};
use callgate_policy::edit::Edit;
use callgate_policy::{Policy, Rate, Window};
use callgate_text::name;
use callgate_wiring::client_name;

use super::undo::{Act, Edits, Undoable};
use super::{inverse, reach, words};
use crate::allowing;
use crate::change::{self, Change, CurrentPolicy};
use crate::pausing;
use crate::view::{Done, Restriction, Target, Undo};
use crate::{Desk, DeskError};

/// How long a restriction can be undone.
const UNDO: Duration = Duration::from_secs(10);
/// Longer is no reason but a text.
const LONGEST_REASON: usize = 1_000;

/// Minutes that a cap that ends by itself lasts at most: a week.
const LONGEST_CAP: u32 = 7 * 24 * 60;

/// Which allowances an edit would be defeated by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defeated {
    /// By whatever lets the tool, or the server, through.
    ByAny,
    /// Only while the whole policy is set aside.
    ByObserving,
}

/// One edit and its words.
struct Restricting {
    edit: Edit,
    defeated: Defeated,
    done: String,
    already: String,
    /// For the record only.
    note: Option<String>,
}

impl Desk {
    /// Restricts at once, and says what has to be known besides.
    pub fn restrict(&self, restriction: &Restriction) -> Result<Done, DeskError> {
        let done = self.restrict_first(restriction)?;
        // It holds by now: looking at clients' files takes its time.
        let caveats = match (restriction, restriction.about()) {
            (Restriction::Pause { .. }, None) => self.nothing_gated().into_iter().collect(),
            (_, Some(target)) => self.caveats(&target),
            (_, None) => Vec::new(),
        };
        Ok(self.with_unconfirmed(Done { caveats, ..done }))
    }

    /// Restricts at once, and looks at nothing else.
    fn restrict_first(&self, restriction: &Restriction) -> Result<Done, DeskError> {
        match restriction {
            Restriction::Pause { server, client, reason } => {
                let scope = PauseScope { server: server.as_deref(), client: client.as_deref() };
                self.pause(scope, reason.as_deref())
            }
            Restriction::EndAllowance { id } => self.end_allowance(id),
            Restriction::Enforce { server, client } => self.enforce(server, client.as_deref()),
            Restriction::Block { target, .. }
            | Restriction::Ask { target, .. }
            | Restriction::Cap { target, .. }
            | Restriction::Hide { target, .. }
            | Restriction::Refuse { target, .. } => self.restrict_by_rule(target, of(restriction)?),
            Restriction::CapFor { target, max, window, minutes } => {
                self.cap_for(target, (*max, window), *minutes)
            }
            Restriction::TakeOut { server, key } => self.take_out(server, key),
            Restriction::KeepRecordings { server } => {
                let tool = Some(Verb::Clear.tool().to_owned());
                let clear = Target { server: server.clone(), tool, client: None };
                self.restrict_by_rule(&clear, of(restriction)?)
            }
        }
    }

    fn restrict_by_rule(&self, target: &Target, restricting: Restricting) -> Result<Done, DeskError> {
        let Restricting { edit, defeated, done, already, note } = restricting;
        let now = self.clock.now();
        let held = change::lock(&self.home)?;
        let change = self.plan(target, &edit)?;
        if !change.loosened().is_empty() {
            return Err(DeskError::NotConfirmed(change.loosened().to_vec()));
        }
        let server = target.server.as_str();
        let whose = (server, target.client.as_deref());
        let ended = match defeated {
            Defeated::ByAny => allowing::end_for_block(&self.home, &now, whose, target.tool.as_deref())?,
            Defeated::ByObserving => allowing::end_observing(&self.home, &now, whose)?,
        };
        let version = match change.commit(&held, &self.edit_context(), note.as_deref()) {
            Ok(version) => version,
            Err(error) => {
                // Nothing was done, so nothing is over either.
                let _restored = allowance::restore(&self.home, &now, &ended);
                return Err(error);
            }
        };
        drop(held);
        self.note_ended(&now, &ended);
        let changed = change.edited().changed;
        let missed = reach::missed(&self.home, target, &edit, &change, now.wall_ms)?;
        let mut said = if changed { done } else { already };
        if missed.is_some() {
            said = said.replacen(&words::what(target), &words::rest(target), 1);
        }
        let mut words = told(said, &change, &ended);
        words.extend(missed);
        let idle = self.idle_cap(target, &edit, &change)?;
        words.extend(idle.iter().map(String::as_str));
        let act = if changed { Act::Edit(Edits::of(target, edit, &change)) } else { Act::Nothing };
        let undo = match changed || !ended.is_empty() {
            true => Some(self.keep(&now, Undoable { words: words.clone(), act, ended })?),
            false => None,
        };
        // A cap that cannot come into play is enforced nowhere, and nobody is told so.
        let made = version.clone();
        let version = idle.is_none().then_some(version);
        let siblings = self.siblings(server, target.client.as_deref());
        let back = changed.then(|| {
            inverse::of_change(self, &change, target).unwrap_or_else(|| self.revert_command(server, &made))
        });
        Ok(Done { undo, version, siblings, back, ..Done::said(words, Some(server)) })
    }

    /// A cap that ends by itself: nobody has to remember to take it back.
    fn cap_for(&self, target: &Target, (max, window): (u32, &str), minutes: u32) -> Result<Done, DeskError> {
        let rate = rate_of(max, window)?;
        let minutes = minutes.clamp(1, LONGEST_CAP);
        let lasts = i64::from(minutes) * 60_000;
        let ends_ms = self.clock.now().wall_ms.saturating_add(lasts);
        let until = words::moment(ends_ms)?;
        let (what, shown) = (words::what(target), words::rate(rate));
        let (tool, Rate { max, window }) = (target.tool.clone(), rate);
        let restricting = Restricting {
            edit: Edit::CapUntil { tool, max, window, until },
            defeated: Defeated::ByObserving,
            done: format!(
                "Capped {what} at {shown} for {}, for {}",
                words::seconds(minutes.saturating_mul(60)),
                words::each(target)
            ),
            already: format!(
                "Nothing to change: {what} is capped at {shown} already, for {}",
                words::each(target)
            ),
            note: None,
        };
        Ok(Done { ends_ms: Some(ends_ms), ..self.restrict_by_rule(target, restricting)? })
    }

    /// What has to be said of a cap on something that is refused anyway.
    fn idle_cap(&self, target: &Target, edit: &Edit, change: &Change) -> Result<Option<String>, DeskError> {
        let (Edit::Cap { tool, .. } | Edit::CapUntil { tool: Some(tool), .. }) = edit else {
            return Ok(None);
        };
        let policy = Policy::parse(&change.edited().text).map_err(DeskError::BrokenText)?;
        let client = target.client.as_deref().unwrap_or_default();
        let refused = allowing::always_refused(&policy, client, tool, self.clock.now().wall_ms);
        Ok(refused.map(|(_, reason)| {
            let because = words::sentence(&reason);
            format!("; but it stays refused, because {because}. The cap takes effect only if that goes")
        }))
    }

    /// The edit, worked out on the policy of this moment. To be asked while the policies are locked.
    pub(super) fn plan(&self, target: &Target, edit: &Edit) -> Result<Change, DeskError> {
        let present = CurrentPolicy::read(&self.home, &target.server)?;
        let edited =
            present.edited(target.client.as_deref(), edit).map_err(|error| broken_where(error, &present))?;
        present.to(edited)
    }

    fn pause(&self, scope: PauseScope<'_>, reason: Option<&str>) -> Result<Done, DeskError> {
        let now = self.clock.now();
        let paused = pausing::begin(&self.edit_context(), scope, reason_of(reason)?.as_deref())?;
        let (server, client) = (scope.server.map(name), scope.client.map(client_name));
        if paused.is_nothing_new() {
            // Not ours to take back.
            let what = match (server, client) {
                (None, None) => "everything".to_owned(),
                (Some(server), None) => server,
                (None, Some(client)) => client,
                (Some(server), Some(client)) => format!("{server} for {client}"),
            };
            let words = format!("Nothing to change: {what} is paused already");
            return Ok(Done::said(words, scope.server));
        }
        let words = match (server, client) {
            (Some(server), None) => {
                format!("Paused {server}: every call of every client is refused until it is resumed")
            }
            (None, None) => "Paused every server: every call is refused until they are resumed".to_owned(),
            (Some(server), Some(client)) => {
                format!("Paused {server} for {client}: its calls are refused until it is resumed")
            }
            (None, Some(client)) => {
                format!("Paused {client}: its calls of every server are refused until it is resumed")
            }
        };
        // One that was there before is not brought back by a resumption.
        let back = paused.before.is_none().then(|| inverse::of_pause(scope));
        let siblings = scope.server.map(|server| self.siblings(server, scope.client)).unwrap_or_default();
        let act = Act::Pause(paused);
        let undo = Some(self.keep(&now, Undoable { words: words.clone(), act, ended: Vec::new() })?);
        Ok(Done { undo, siblings, back, ..Done::said(words, scope.server) })
    }

    fn end_allowance(&self, id: &str) -> Result<Done, DeskError> {
        let now = self.clock.now();
        let ended = allowing::end(&self.home, &now, id)?;
        let ended = ended.ok_or_else(|| {
            DeskError::NotFound("this is over already: nothing is allowed by it".to_owned())
        })?;
        self.ended(&now, vec![ended])
    }

    fn enforce(&self, server: &str, client: Option<&str>) -> Result<Done, DeskError> {
        let now = self.clock.now();
        let ended = allowing::end_observing(&self.home, &now, (server, client))?;
        if ended.is_empty() {
            let (shown, whom) = (name(server), words::client(client));
            let words = format!("Nothing to change: the rules of {shown} are not set aside for {whom}");
            return Ok(Done::said(words, Some(server)));
        }
        self.ended(&now, ended)
    }

    /// What was allowed for a while is over.
    fn ended(&self, now: &Moment, ended: Vec<Allowance>) -> Result<Done, DeskError> {
        self.note_ended(now, &ended);
        let all: Vec<String> = ended.iter().map(allowing::no_longer).collect();
        let words = format!("Ended: {}", all.join("; "));
        let server = ended.first().map(|one| one.server.clone());
        let undoable = Undoable { words: words.clone(), act: Act::Nothing, ended };
        let undo = Some(self.keep(now, undoable)?);
        Ok(Done { undo, ..Done::said(words, server.as_deref()) })
    }

    pub(super) fn keep(&self, now: &Moment, undoable: Undoable) -> Result<Undo, DeskError> {
        let token = self.undos().put(now, UNDO, undoable)?;
        let lasts = i64::try_from(UNDO.as_millis()).unwrap_or(i64::MAX);
        Ok(Undo { token, until_ms: now.wall_ms.saturating_add(lasts) })
    }

    /// Ending restricts, so it holds whether it is on record or not.
    pub(super) fn note_ended(&self, now: &Moment, ended: &[Allowance]) {
        for one in ended {
            let words = format!("ended: {}", allowing::described(one));
            let _noted = record_event(
                &self.home,
                now.wall_ms,
                EventKind::Note,
                Some(&one.server),
                Some(self.origin),
                &words,
            );
        }
    }
}

/// The edit that a restriction is.
fn of(restriction: &Restriction) -> Result<Restricting, DeskError> {
    Ok(match restriction {
        Restriction::Block { target, reason } => {
            let (what, whom, reason) =
                (words::what(target), words::whom(target), reason_of(reason.as_deref())?);
            Restricting {
                edit: match target.tool.clone() {
                    Some(tool) => Edit::Block { tool, reason },
                    None => Edit::BlockServer { reason },
                },
                note: None,
                defeated: Defeated::ByAny,
                done: format!("Blocked {what}, for {whom}"),
                already: format!("Nothing to change: {what} is blocked already, for {whom}"),
            }
        }
        Restriction::Ask { target, reason } => {
            let (what, whom) = (words::what(target), words::whom(target));
            let Some(tool) = target.tool.clone() else {
                return Err(DeskError::BadInput(
                    "name the tool to be asked about; for every tool of a server write \"default\": \"ask\" in its rules"
                        .to_owned(),
                ));
            };
            Restricting {
                edit: Edit::Ask { tool, reason: reason_of(reason.as_deref())? },
                note: None,
                defeated: Defeated::ByAny,
                done: format!(
                    "Asking you about every call of {what}, for {whom}, in the window or with `callgate approvals --follow`"
                ),
                already: format!(
                    "Nothing to change: {what} is asked about already, or refused without a question, for {whom}"
                ),
            }
        }
        Restriction::Hide { target, note } => {
            let (what, whom) = (words::what(target), words::whom(target));
            let Some(tool) = target.tool.clone() else {
                return Err(DeskError::BadInput(
                    "a whole server cannot be hidden: name a tool, or block the server".to_owned(),
                ));
            };
            Restricting {
                edit: Edit::Hide { tool },
                note: reason_of(note.as_deref())?,
                defeated: Defeated::ByAny,
                done: format!("Hid {what} from {whom}"),
                already: format!("Nothing to change: {what} is hidden from {whom} already"),
            }
        }
        Restriction::Cap { target, max, window } => {
            let rate = rate_of(*max, window)?;
            let (what, shown) = (words::what(target), words::rate(rate));
            Restricting {
                edit: cap(target, rate),
                note: None,
                defeated: Defeated::ByObserving,
                done: format!("Capped {what} at {shown}, for {}", words::each(target)),
                already: format!(
                    "Nothing to change: {what} is capped at {shown} already, for {}",
                    words::each(target)
                ),
            }
        }
        Restriction::Refuse { target, rule, reason } => {
            let (what, whom) = (words::what(target), words::whom(target));
            let when = words::condition(rule);
            let reason = reason_of(reason.as_deref())?;
            Restricting {
                edit: Edit::Refuse { tool: target.tool.clone(), when: words::when(rule), reason },
                note: None,
                defeated: Defeated::ByObserving,
                done: format!("Refusing {what} {when}, for {whom}"),
                already: format!("Nothing to change: {what} is refused {when} already, for {whom}"),
            }
        }
        Restriction::KeepRecordings { server } => {
            let server = name(server);
            Restricting {
                edit: Edit::KeepUnfinished,
                note: None,
                defeated: Defeated::ByAny,
                done: format!(
                    "Clearing a recording on {server} is refused until it has ended, for every client"
                ),
                already: format!(
                    "Nothing to change: clearing a recording on {server} is refused already until it has ended"
                ),
            }
        }
        Restriction::Pause { .. }
        | Restriction::EndAllowance { .. }
        | Restriction::Enforce { .. }
        | Restriction::TakeOut { .. }
        | Restriction::CapFor { .. } => {
            return Err(DeskError::BadInput("this is no rule".to_owned()));
        }
    })
}

pub(super) fn cap(target: &Target, rate: Rate) -> Edit {
    let Rate { max, window } = rate;
    match target.tool.clone() {
        Some(tool) => Edit::Cap { tool, max, window },
        None => Edit::CapServer { max, window },
    }
}

pub(super) fn rate_of(max: u32, window: &str) -> Result<Rate, DeskError> {
    let max = NonZeroU32::new(max)
        .ok_or_else(|| DeskError::BadInput("a cap of 0 lets nothing through: block it instead".to_owned()))?;
    let window: Window =
        window.parse().map_err(|error| DeskError::BadInput(format!("{window:?} is no window: {error}")))?;
    Ok(Rate { max, window })
}

/// A reason as it is told to the agent; one of blanks is none.
pub(super) fn reason_of(reason: Option<&str>) -> Result<Option<String>, DeskError> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    if reason.is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
        return Err(DeskError::BadInput(format!("a reason has at most {LONGEST_REASON} characters")));
    }
    Ok(reason.map(str::to_owned))
}

/// A broken policy is named by its file.
pub(crate) fn broken_where(error: callgate_policy::edit::EditError, present: &CurrentPolicy) -> DeskError {
    use callgate_policy::edit::EditError;
    match error {
        EditError::Broken(report) => DeskError::BrokenPolicy { path: present.source().to_owned(), report },
        other => other.into(),
    }
}

/// What was done, and what has to be known with it: that it is only observed, and what is over by it.
fn told(done: String, change: &Change, ended: &[Allowance]) -> String {
    let buts = change.edited().summary.iter().filter(|line| line.starts_with("but "));
    let buts = buts.map(|line| words::sentence(line));
    let over = ended.iter().map(|one| format!("ended with it: {}", allowing::no_longer(one)));
    std::iter::once(done).chain(buts).chain(over).collect::<Vec<_>>().join("; ")
}
