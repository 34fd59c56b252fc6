//! Loosening: worked out, asked about, and done only if a person says yes in time and nothing changed meanwhile.

use std::time::Duration;

use callgate_controls::allowance::{self, AllowanceScope};
use callgate_controls::pause::{PauseScope, Pauses, Switch};
use callgate_controls::pin::{PinKind, Shown};
use callgate_controls::{catalogue, pause as switch};
use callgate_history::Forget;
use callgate_journal::Origin;
use callgate_policy::edit::{self, Edit};
use callgate_policy::file::PolicyFile;
use callgate_policy::{Rate, fits};
use callgate_text::{is_pattern, name};

use super::restrict::{cap, rate_of};
use super::{inverse, obstacle, reach, words};
use crate::allowing::{self, EVERY_TOOL, NoHelp, ONCE, Repeatable};
use crate::change::{self, Change, CurrentPolicy};
use crate::inventory::named_tools;
use crate::pausing;
use crate::protection::Unusable;
use crate::tools::ClassCorrection;
use crate::view::{Answer, Done, ErrorCode, Loosening, Question, Restriction, Target};
use crate::{Desk, DeskError};

/// How long a question waits for its answer.
const PATIENCE: Duration = Duration::from_secs(120);
const TOO_LATE: &str =
    "this question is answered already, or too old; nothing was changed. Ask for it once more.";

/// What will be done after a yes.
#[derive(Debug)]
pub(crate) enum Plan {
    Change {
        change: Change,
        done: String,
        /// The command that takes it back; none: the one that takes back this change.
        back: Option<String>,
        /// Whom it is for, if it is one act.
        target: Option<Target>,
    },
    Grant {
        server: String,
        /// None: every client.
        client: Option<String>,
        what: AllowanceScope,
        lasts: Duration,
        /// For the record.
        words: String,
        done: String,
        /// The policy that it was asked about.
        seen: CurrentPolicy,
    },
    Resume {
        server: Option<String>,
        client: Option<String>,
        seen: Switch,
    },
    /// What a limit has counted.
    ResetCounter {
        server: String,
        counter: String,
    },
    RestoreDefault {
        /// What was wrong with it.
        seen: Unusable,
    },
    Accept {
        server: String,
        shown: Vec<Shown>,
        /// In words.
        what: String,
    },
    ForgetPins {
        server: String,
    },
    RemovePins {
        server: String,
        gone: Vec<(PinKind, String)>,
        /// In words.
        what: String,
    },
    LetThrough {
        server: String,
        key: String,
    },
    CorrectClass(ClassCorrection),
    /// No loosening, and nothing that can be undone.
    Forget {
        what: Forget,
        /// Where the person is.
        place: String,
    },
}

impl Plan {
    /// Whom it is for; none if that is no single server.
    fn about(&self) -> Option<Target> {
        match self {
            Plan::Change { target, .. } => target.clone(),
            Plan::Grant { server, client, what, .. } => {
                let tool = match what {
                    AllowanceScope::Tool(tool) | AllowanceScope::Call { tool, .. } => Some(tool.clone()),
                    AllowanceScope::Observe => None,
                };
                Some(Target { server: server.clone(), tool, client: client.clone() })
            }
            Plan::Resume { server: Some(server), client, .. } => {
                Some(Target { server: server.clone(), tool: None, client: client.clone() })
            }
            Plan::CorrectClass(correction) => Some(Target {
                server: correction.server.clone(),
                tool: Some(correction.tool.clone()),
                client: None,
            }),
            Plan::Accept { server, .. }
            | Plan::ForgetPins { server }
            | Plan::RemovePins { server, .. }
            | Plan::LetThrough { server, .. } => {
                Some(Target { server: server.clone(), tool: None, client: None })
            }
            Plan::Resume { .. }
            | Plan::ResetCounter { .. }
            | Plan::RestoreDefault { .. }
            | Plan::Forget { .. } => None,
        }
    }
}

impl Desk {
    /// Loosens, or asks first.
    pub fn loosen(&self, loosening: &Loosening) -> Result<Answer, DeskError> {
        match loosening {
            Loosening::AllowNext { call, seconds } => self.allow_next(call, *seconds),
            Loosening::AllowFor { server, tool, client, seconds } => {
                self.allow_for((server, client.as_deref()), tool, *seconds)
            }
            Loosening::Observe { server, client, seconds } => {
                self.observe((server, client.as_deref()), *seconds)
            }
            Loosening::Allow { target } => self.allow(target, None),
            Loosening::AllowCapped { target, max, window } => {
                self.allow(target, Some(rate_of(*max, window)?))
            }
            Loosening::Uncap { target } => self.uncap(target),
            Loosening::Cap { target, max, window } => self.raise_cap(target, *max, window),
            Loosening::Resume { server, client } => {
                self.ask_to_resume(PauseScope { server: server.as_deref(), client: client.as_deref() })
            }
            Loosening::Revert { server, change } => self.revert(server, *change),
            Loosening::RestoreDefault => self.ask_to_restore_default(),
            Loosening::LastGood { server } => self.ask_for_last_good(server),
            Loosening::AcceptDefinitions { server, shown } => self.ask_to_accept(server, shown),
            Loosening::ForgetDefinitions { server } => self.ask_to_forget_pins(server),
            Loosening::RemoveDefinitions { server, gone } => self.ask_to_remove_pins(server, gone),
            Loosening::LetThrough { server, key } => self.ask_to_let_through(server, key),
        }
    }

    /// Yes to a question: once, in time, and only if everything is as it was when it was asked.
    pub fn confirm(&self, token: &str) -> Result<Done, DeskError> {
        let kept = self.questions().take(token, &self.clock.now()).ok_or(DeskError::TooLate(TOO_LATE))?;
        let done = self.carry_out(&kept.value);
        if done.as_ref().is_err_and(|error| error.code() == ErrorCode::Failed) {
            // The disk said no, not the person: they may try again.
            self.questions().put_back(kept);
            return done;
        }
        let caveats = kept.value.about().map(|target| self.caveats(&target)).unwrap_or_default();
        Ok(self.with_unconfirmed(Done { caveats, ..done? }))
    }

    /// Forgets a question: no, or never mind.
    pub fn dismiss(&self, token: &str) {
        drop(self.questions().take(token, &self.clock.now()));
    }

    /// Asks whether a change of the rules may be made. `done`: what is said after a yes.
    pub(crate) fn ask_to_change(
        &self,
        change: Change,
        words: String,
        done: String,
    ) -> Result<Question, DeskError> {
        let loosened = change.loosened().to_vec();
        self.ask(words, loosened, Plan::Change { change, done, back: None, target: None })
    }

    /// The same of one act, which has a command that takes it back.
    fn ask_to_act(
        &self,
        target: &Target,
        change: Change,
        words: String,
        done: String,
    ) -> Result<Answer, DeskError> {
        let loosened = change.loosened().to_vec();
        let (back, target) = (inverse::of_change(self, &change, target), Some(target.clone()));
        self.ask(words, loosened, Plan::Change { change, done, back, target }).map(Answer::Ask)
    }

    pub(crate) fn ask(
        &self,
        words: String,
        loosened: Vec<String>,
        plan: Plan,
    ) -> Result<Question, DeskError> {
        let token = self.questions().put(&self.clock.now(), PATIENCE, plan)?;
        Ok(Question { token, words, details: Vec::new(), loosened })
    }

    fn carry_out(&self, plan: &Plan) -> Result<Done, DeskError> {
        match plan {
            Plan::Change { change, done, back, .. } => {
                let held = change::lock(&self.home)?;
                let done = self.make(&held, change, done.clone())?;
                let siblings = self.siblings(change.server(), None);
                let of_version =
                    || done.version.as_deref().map(|version| self.revert_command(change.server(), version));
                let back = back.clone().or_else(of_version);
                Ok(Done { siblings, back, ..done })
            }
            Plan::Grant { server, client, what, lasts, words, done, seen } => {
                let _held = change::lock(&self.home)?;
                if CurrentPolicy::read(&self.home, server)? != *seen {
                    let shown = name(server);
                    return Err(DeskError::Conflict(format!(
                        "the rules of {shown} were changed meanwhile; nothing was allowed. Look at them, and ask once more."
                    )));
                }
                let granted = allowing::grant(
                    &self.edit_context(),
                    (server, client.as_deref()),
                    what.clone(),
                    *lasts,
                    words,
                )?;
                let back = Some(format!("callgate allow --end {}", granted.id));
                let siblings = self.siblings(server, client.as_deref());
                let ends_ms = Some(granted.ends_ms);
                Ok(Done { ends_ms, siblings, back, ..Done::said(done.clone(), Some(server)) })
            }
            Plan::ResetCounter { server, counter } => self.reset_counter(server, counter),
            Plan::RestoreDefault { seen } => self.restore_default(seen),
            Plan::Accept { server, shown, what } => self.accept(server, shown, what),
            Plan::ForgetPins { server } => self.forget_pins(server),
            Plan::RemovePins { server, gone, what } => self.remove_pins(server, gone, what),
            Plan::LetThrough { server, key } => self.let_through(server, key),
            Plan::CorrectClass(correction) => self.keep_class(correction, true),
            Plan::Forget { what, place } => self.forget(what, place),
            Plan::Resume { server, client, seen } => {
                let scope = PauseScope { server: server.as_deref(), client: client.as_deref() };
                pausing::resume_seen(&self.edit_context(), scope, seen)?;
                let mut words =
                    format!("Resumed: calls of {} are judged by their rules again", pausing::describe(scope));
                words.extend(self.still_paused(scope.server, scope.client));
                let siblings = scope.server.map(|server| self.siblings(server, scope.client));
                let back = Some(inverse::of_resumption(self, scope, seen));
                Ok(Done { siblings: siblings.unwrap_or_default(), back, ..Done::said(words, scope.server) })
            }
        }
    }

    fn make(&self, held: &callgate_home::Locked, change: &Change, words: String) -> Result<Done, DeskError> {
        let version = Some(change.commit(held, &self.edit_context(), None)?);
        Ok(Done { version, ..Done::said(words, Some(change.server())) })
    }

    fn allow_next(&self, call: &str, seconds: Option<u32>) -> Result<Answer, DeskError> {
        let lasts = seconds.map_or(Ok(ONCE), span)?;
        let within = words::seconds(u32::try_from(lasts.as_secs()).unwrap_or(u32::MAX));
        let call = Repeatable::find(&self.history_now()?, call)?;
        let Repeatable { id, server, client, tool, .. } = &call;
        let (shown, on, whom) = (name(tool), name(server), words::client(client.as_deref()));
        let once = format!("the next call of {shown} on {on} with exactly the arguments of {id}");
        let plan = Plan::Grant {
            server: server.clone(),
            client: client.clone(),
            what: call.what(),
            lasts,
            words: format!("let {once} pass once, for {whom}, within {within}"),
            done: format!("Allowed {once}: once, for {whom}, within {within}"),
            seen: CurrentPolicy::read(&self.home, server)?,
        };
        let words = format!("Let {once} pass once, for {whom}, within {within}?");
        self.ask(words, Vec::new(), plan).map(Answer::Ask)
    }

    fn allow_for(
        &self,
        (server, client): (&str, Option<&str>),
        tool: &str,
        seconds: u32,
    ) -> Result<Answer, DeskError> {
        let lasts = span(seconds)?;
        // In a window the name is that of a call, which an agent may have made up.
        if self.origin != Origin::Cli && is_pattern(tool) {
            let on = name(server);
            return Err(DeskError::BadInput(format!(
                "the name {tool:?} would count as a pattern, and let in whatever fits it; nothing was changed. If that is meant: callgate allow {on} '{}' --for {seconds}s",
                name(tool)
            )));
        }
        let seen = CurrentPolicy::read(&self.home, server)?;
        let whole = tool == EVERY_TOOL;
        let target = Target {
            server: server.to_owned(),
            tool: (!whole).then(|| tool.to_owned()),
            client: client.map(str::to_owned),
        };
        let (what, whom) = (words::what(&target), words::client(client));
        let no_help =
            allowing::would_help(&seen, client, &self.meant(&target, &seen), self.clock.now().wall_ms)?;
        match no_help {
            Some(NoHelp::AllowedAlready { limited }) => {
                let within = match limited {
                    true => {
                        ", within its limits (one refused call can be let through by its id, or the whole policy set aside with Only watch)"
                    }
                    false => "",
                };
                return Err(DeskError::BadInput(format!(
                    "{what} is allowed already, for {whom}{within}; nothing was changed"
                )));
            }
            Some(NoHelp::StillRefused { rule, reason }) => {
                return Err(obstacle::still_refused(&seen, &target, &rule, &reason));
            }
            None => {}
        }
        let time = words::seconds(seconds);
        let stays =
            if whole { ". Conditions and limits stay; to set all rules aside use Only watch" } else { "" };
        let recorded = match is_pattern(tool) {
            true => format!("let {whom} call {what} for {time}"),
            false => format!("let {whom} call \"{}\" on server {} for {time}", name(tool), name(server)),
        };
        let plan = Plan::Grant {
            server: server.to_owned(),
            client: client.map(str::to_owned),
            what: AllowanceScope::Tool(tool.to_owned()),
            lasts,
            words: recorded,
            done: format!("Allowed {what}, for {whom}, for {time}"),
            seen,
        };
        let words = format!("Let {whom} call {what} for {time}?{stays}");
        self.ask(words, Vec::new(), plan).map(Answer::Ask)
    }

    /// The tools that a target means, as far as they are known: by its name, or those listed and ruled that fit its pattern
    /// and one that nobody knows yet. The name of a pattern in a rule stands for what it fits.
    fn meant(&self, target: &Target, seen: &CurrentPolicy) -> Vec<String> {
        let pattern = target.tool.as_deref().unwrap_or(EVERY_TOOL);
        if !is_pattern(pattern) {
            return vec![pattern.to_owned()];
        }
        let listed = catalogue::read(&self.home, &target.server).ok().flatten();
        let listed = listed.into_iter().flat_map(|listed| listed.tools).map(|tool| tool.name);
        let ruled = PolicyFile::parse(seen.text()).map(|file| named_tools(&file)).unwrap_or_default();
        let known = listed.chain(ruled).filter(|tool| fits(pattern, tool));
        known.chain([pattern.to_owned()]).collect()
    }

    fn observe(&self, (server, client): (&str, Option<&str>), seconds: u32) -> Result<Answer, DeskError> {
        let (lasts, time) = (span(seconds)?, words::seconds(seconds));
        let (shown, whom) = (name(server), words::client(client));
        let plan = Plan::Grant {
            server: server.to_owned(),
            client: client.map(str::to_owned),
            what: AllowanceScope::Observe,
            lasts,
            words: format!(
                "let through whatever the policy of server {shown} refuses, for {whom}, for {time}"
            ),
            done: format!("Only watching {shown}, for {whom}, for {time}"),
            seen: CurrentPolicy::read(&self.home, server)?,
        };
        let words = format!(
            "Let everything through that the rules of {shown} refuse, for {whom}, for {time}? It is kept on record."
        );
        self.ask(words, Vec::new(), plan).map(Answer::Ask)
    }

    fn allow(&self, target: &Target, at: Option<Rate>) -> Result<Answer, DeskError> {
        let (what, whom) = (words::what(target), words::whom(target));
        let edit = match target.tool.clone() {
            Some(tool) => Edit::Allow { tool },
            None => Edit::AllowServer,
        };
        let capped = at.map(|rate| format!(", at most {}", words::rate(rate))).unwrap_or_default();
        let words = match target.tool {
            Some(_) => format!("Let {whom} call {what}{capped} from now on?"),
            None => format!("Take back the block of the whole server {}, for {whom}?", name(&target.server)),
        };
        let held = change::lock(&self.home)?;
        let change =
            self.plan(target, &edit).map_err(|error| obstacle::explained(&self.home, target, error))?;
        let change = match at.filter(|_| change.edited().changed) {
            Some(rate) => change.then(target.client.as_deref(), &cap(target, rate))?,
            None => change,
        };
        let now_ms = self.clock.now().wall_ms;
        let others = obstacle::others_refused(&change, target, now_ms)?;
        let paused = self.still_paused(Some(&target.server), target.client.as_deref());
        let paused = paused.unwrap_or_default();
        let refusing = reach::still_refusing(&change, target)?;
        if change.edited().changed {
            drop(held);
            let done = format!("Allowed {what}{capped}, for {whom}{others}{refusing}{paused}");
            return self.ask_to_act(target, change, words, done);
        }
        if !others.is_empty() {
            return Err(DeskError::BadInput(format!(
                "nothing was changed: no rule for {whom} denies {what}{others}"
            )));
        }
        let words = match refusing.is_empty() {
            true => format!("Nothing to change: {what} is not denied by a rule for {whom}{paused}"),
            false => {
                let what = if target.tool.is_some() {
                    what
                } else {
                    format!("the whole of {}", name(&target.server))
                };
                format!("Nothing was changed: no rule blocks {what} for {whom}{refusing}{paused}")
            }
        };
        self.nothing_done(held, &change, target, words)
    }

    /// What an act says that changes nothing.
    fn nothing_done(
        &self,
        held: callgate_home::Locked,
        change: &Change,
        target: &Target,
        words: String,
    ) -> Result<Answer, DeskError> {
        let done = self.make(&held, change, words)?;
        drop(held);
        Ok(Answer::Done(Done { caveats: self.caveats(target), ..done }))
    }

    /// That calls stay paused, and what ends that.
    fn still_paused(&self, server: Option<&str>, client: Option<&str>) -> Option<String> {
        let switch = switch::read(&self.home);
        let Switch::Readable(pauses) = &switch else {
            return Some("; but all calls stay paused: callgate resume".to_owned());
        };
        let scopes = [
            PauseScope::default(),
            PauseScope { server, client: None },
            PauseScope { server: None, client },
            PauseScope { server, client },
        ];
        let told = |paused: PauseScope<'_>| {
            let command = inverse::of_pause(paused);
            format!("; but calls of {} stay paused: {command}", pausing::describe(paused))
        };
        if let Some(paused) = scopes.into_iter().find(|scope| pauses.get(*scope).is_some()) {
            return Some(told(paused));
        }
        let single: String = stays_with(pauses, server, client).map(told).collect();
        (!single.is_empty()).then_some(single)
    }

    fn uncap(&self, target: &Target) -> Result<Answer, DeskError> {
        let (what, whom) = (words::what(target), words::whom(target));
        let edit = match target.tool.clone() {
            Some(tool) => Edit::Uncap { tool },
            None => Edit::UncapServer,
        };
        let present = self.present_cap(target)?;
        let cap = present.map(|rate| format!(" of {}", words::rate(rate))).unwrap_or_default();
        let words = format!("Take the cap{cap} off {what}, for {whom}?");
        let done = format!("Took the cap{cap} off {what}, for {whom}");
        let held = change::lock(&self.home)?;
        let change = self.plan(target, &edit)?;
        if !change.edited().changed {
            let words = format!("Nothing to change: {what} has no cap of this kind for {whom}");
            return self.nothing_done(held, &change, target, words);
        }
        drop(held);
        self.ask_to_act(target, change, words, done)
    }

    fn raise_cap(&self, target: &Target, max: u32, window: &str) -> Result<Answer, DeskError> {
        let rate = rate_of(max, window)?;
        let (what, whom, shown) = (words::what(target), words::whom(target), words::rate(rate));
        let edit = cap(target, rate);
        let change = self.plan(target, &edit)?;
        if change.loosened().is_empty() {
            let window = window.to_owned();
            return self
                .restrict(&Restriction::Cap { target: target.clone(), max, window })
                .map(Answer::Done);
        }
        let missed = reach::missed(&self.home, target, &edit, &change, self.clock.now().wall_ms)?;
        let what = if missed.is_some() { words::rest(target) } else { what };
        let missed = missed.unwrap_or_default();
        let words = format!("Let {whom} make up to {shown} calls of {what}{missed}?");
        let done = format!("Capped {what} at {shown}, for {}{missed}", words::each(target));
        self.ask_to_act(target, change, words, done)
    }

    /// The cap that was set by a click or a command, for exactly this target.
    pub(super) fn present_cap(&self, target: &Target) -> Result<Option<Rate>, DeskError> {
        let present = CurrentPolicy::read(&self.home, &target.server)?;
        Ok(edit::present_cap(present.text(), target.client.as_deref(), target.tool.as_deref()))
    }

    fn ask_to_resume(&self, scope: PauseScope<'_>) -> Result<Answer, DeskError> {
        let seen = switch::read(&self.home);
        let shown = pausing::describe(scope);
        if !pausing::is_paused(&seen, scope) {
            let mut words = format!("Nothing to change: no pause is set for {shown}");
            words.extend(self.still_paused(scope.server, scope.client));
            return Ok(Answer::Done(Done::said(words, scope.server)));
        }
        let also = match &seen {
            Switch::Readable(pauses) if scope != PauseScope::default() && pauses.all.is_some() => {
                " All servers are paused besides; that stays.".to_owned()
            }
            Switch::Readable(pauses) => stays_with(pauses, scope.server, scope.client)
                .map(|paused| {
                    format!(" Calls of {} are paused besides; that stays.", pausing::describe(paused))
                })
                .collect(),
            Switch::Broken(_) => String::new(),
        };
        let whom = if scope.client.is_some() { "" } else { ", for every client" };
        let words = format!("Let calls of {shown} pass again, as their rules say{whom}?{also}");
        let (server, client) = (scope.server.map(str::to_owned), scope.client.map(str::to_owned));
        self.ask(words, Vec::new(), Plan::Resume { server, client, seen }).map(Answer::Ask)
    }

    fn revert(&self, server: &str, id: i64) -> Result<Answer, DeskError> {
        let history = self.history_now()?;
        let known = history.timeline(server)?.into_iter().find(|change| change.id == id);
        let shown = name(server);
        let known = known
            .ok_or_else(|| DeskError::NotFound(format!("there is no such change of {shown} on record")))?;
        let (before, after) = change::texts_of(&history, server, &known)?;
        let held = change::lock(&self.home)?;
        let present = CurrentPolicy::read(&self.home, server)?;
        let edited = edit::revert(present.text(), &before, &after)?;
        let change = present.rewritten(edited)?;
        let summary = words::sentence(&known.summary);
        if !change.edited().changed {
            let words = format!("Nothing to change: {shown} is without this already: {summary}");
            return self.make(&held, &change, words).map(Answer::Done);
        }
        let done = format!("Took back a change of {shown}: {summary}");
        if change.loosened().is_empty() {
            let done = self.make(&held, &change, done)?;
            let back = done.version.as_deref().map(|version| self.revert_command(server, version));
            return Ok(Answer::Done(self.with_unconfirmed(Done { back, ..done })));
        }
        drop(held);
        let words = format!("Take back this change of {shown}?");
        let mut question = self.ask_to_change(change, words, done)?;
        question.details = known.summary.split("; ").map(words::sentence).collect();
        Ok(Answer::Ask(question))
    }
}

/// What stays paused for single clients when something is opened for every client of a server.
fn stays_with<'a>(
    pauses: &'a Pauses,
    server: Option<&'a str>,
    client: Option<&str>,
) -> impl Iterator<Item = PauseScope<'a>> {
    server.filter(|_| client.is_none()).into_iter().flat_map(|server| pauses.clients_with(server))
}

fn span(seconds: u32) -> Result<Duration, DeskError> {
    let lasts = Duration::from_secs(u64::from(seconds));
    if seconds == 0 || lasts > allowance::LONGEST {
        return Err(DeskError::BadInput(
            "something can be allowed for a second up to 7 days; for longer, change the rules".to_owned(),
        ));
    }
    Ok(lasts)
}
