//! One act of a person at the terminal: the names are held against what is known, the desk does it, and what it says is
//! printed. What loosens asks the person first.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use callgate_desk::inventory::{Inventory, Purpose};
use callgate_desk::view::{Answer, Done, Loosening, Question, Restriction, Target};
use callgate_desk::{Desk, DeskError};
use callgate_history::CallFilter;
use callgate_home::Home;
use callgate_home::clock::SystemClock;
use callgate_journal::Origin;
use callgate_text::local;
use callgate_wiring::client_name;

use crate::args::WhomArgs;
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn desk() -> anyhow::Result<Desk> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    Ok(Desk::new(home, Arc::new(SystemClock::default()), Origin::Cli))
}

/// An act as it was typed.
pub(crate) struct TypedAct<'a> {
    pub(crate) verb: &'static str,
    pub(crate) server: &'a str,
    pub(crate) tool: Option<&'a str>,
    /// Words that stand after the tool in this command: a rate.
    pub(crate) tail: &'a [&'a str],
    /// Options of this command with their values: how long, why.
    pub(crate) options: &'a [(&'a str, Option<&'a str>)],
    pub(crate) whom: &'a WhomArgs,
}

impl TypedAct<'_> {
    /// Restricts, at every server that is meant.
    pub(crate) fn restrict(&self, make: impl Fn(Target) -> Restriction) -> anyhow::Result<ExitCode> {
        self.restrict_known(Purpose::Restrict, make)
    }

    /// The same, for what was there before: names that only rules know will do.
    pub(crate) fn restrict_known(
        &self,
        purpose: Purpose,
        make: impl Fn(Target) -> Restriction,
    ) -> anyhow::Result<ExitCode> {
        let desk = desk()?;
        let targets = self.targets(&desk, purpose)?;
        let mut code = ExitCode::SUCCESS;
        for target in &targets {
            let first = is_first(&desk, &target.server);
            match desk.restrict(&make(target.clone())) {
                Ok(done) => self.tell(&desk, &done, first, targets.len()),
                // Of several servers those that can be restricted are.
                Err(error) if targets.len() > 1 => {
                    screen::error(&unrestricted(&desk, error, target));
                    code = ExitCode::FAILURE;
                }
                Err(error) => return Err(unrestricted(&desk, error, target)),
            }
        }
        Ok(code)
    }

    /// Loosens, at every server that is meant, after one question for all of them.
    pub(crate) fn loosen(&self, word: &str, make: impl Fn(Target) -> Loosening) -> anyhow::Result<ExitCode> {
        self.loosen_known(Purpose::Loosen, word, make)
    }

    /// A cap restricts, unless it is higher than the one before.
    pub(crate) fn cap(&self, make: impl Fn(Target) -> Loosening) -> anyhow::Result<ExitCode> {
        self.loosen_known(Purpose::Restrict, "cap", make)
    }

    fn loosen_known(
        &self,
        purpose: Purpose,
        word: &str,
        make: impl Fn(Target) -> Loosening,
    ) -> anyhow::Result<ExitCode> {
        let desk = desk()?;
        let targets = self.targets(&desk, purpose)?;
        let mut questions: Vec<(Question, bool)> = Vec::new();
        for target in &targets {
            let first = is_first(&desk, &target.server);
            let answer = desk.loosen(&make(target.clone())).map_err(|error| match purpose {
                Purpose::Restrict => unrestricted(&desk, error, target),
                Purpose::Loosen | Purpose::Look => told(error),
            })?;
            match answer {
                Answer::Done(done) => self.tell(&desk, &done, first, targets.len()),
                Answer::Ask(question) => questions.push((question, first)),
            }
        }
        if questions.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        confirm::questions(questions.iter().map(|(question, _)| question), word)?;
        for (question, first) in questions {
            let done = desk.confirm(&question.token).map_err(told)?;
            self.tell(&desk, &done, first, targets.len());
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Whom it is for: every name in it is known, or was said to be new.
    fn targets(&self, desk: &Desk, purpose: Purpose) -> anyhow::Result<Vec<Target>> {
        let typed = Target {
            server: self.server.to_owned(),
            tool: self.tool.map(str::to_owned),
            client: self.whom.client.clone(),
        };
        if !self.whom.all_named && !self.is_whole() && (self.whom.new || desk.is_plainly_known(&typed)) {
            return Ok(vec![typed]);
        }
        let mut inventory = desk.inventory();
        if self.whom.all_named {
            return self.all_named(&mut inventory, typed, purpose);
        }
        let target = if self.whom.new { typed } else { inventory.check(&typed, purpose).map_err(told)? };
        let siblings = inventory.siblings(self.server, target.client.as_deref());
        if siblings.is_empty() || self.whom.only || !self.is_whole() || !inventory.is_bare(self.server) {
            return Ok(vec![target]);
        }
        let chosen = self.ask_which(&inventory, &siblings)?;
        Ok(chosen.into_iter().map(|server| Target { server, ..target.clone() }).collect())
    }

    /// Every server of the name, without those that the client that is meant does not have.
    fn all_named(
        &self,
        inventory: &mut Inventory<'_>,
        typed: Target,
        purpose: Purpose,
    ) -> anyhow::Result<Vec<Target>> {
        let mut target = typed;
        if !self.whom.new {
            inventory.check_server(self.server, purpose).map_err(told)?;
            if let Some(client) = &target.client {
                target.client = Some(inventory.known_client(self.server, client, purpose).map_err(told)?);
            }
        }
        let all = std::iter::once(self.server.to_owned()).chain(inventory.siblings(self.server, None));
        let (meant, left): (Vec<String>, Vec<String>) = all.partition(|server| match &target.client {
            Some(client) => inventory.may_have(server, client),
            None => true,
        });
        if let (Some(client), false) = (&target.client, left.is_empty()) {
            let client = client_name(client);
            if meant.is_empty() {
                bail!("{client} has no server of this name ({}), so nothing was changed", left.join(", "));
            }
            screen::hint(&screen::harmless(&format!(
                "left out {}: {client} does not have it",
                left.join(", ")
            )));
        }
        if let (Some(tool), false) = (self.tool, self.whom.new) {
            let found: Vec<_> =
                meant.iter().map(|server| inventory.check_tool(server, tool, purpose)).collect();
            if found.iter().all(Result::is_err) {
                found.into_iter().collect::<Result<(), DeskError>>().map_err(told)?;
            }
        }
        Ok(meant.into_iter().map(|server| Target { server, ..target.clone() }).collect())
    }

    fn is_whole(&self) -> bool {
        self.tool.is_none() && matches!(self.verb, "block" | "pause")
    }

    /// A whole server is meant, and several have the name.
    fn ask_which(&self, inventory: &Inventory<'_>, siblings: &[String]) -> anyhow::Result<Vec<String>> {
        let all: Vec<String> =
            std::iter::once(self.server.to_owned()).chain(siblings.iter().cloned()).collect();
        let named = all.iter().map(|server| {
            let users = inventory.users(server).join(", ");
            let users = if users.is_empty() { users } else { format!(" ({users})") };
            screen::harmless(&format!("{server}{users}"))
        });
        let several = format!("several servers have this name: {}", named.collect::<Vec<_>>().join(", "));
        let Some(typed) =
            confirm::choose(&format!("To {} which one? {several}.", self.verb), "all, or one name")?
        else {
            bail!(
                "{several}; nothing was changed. Say which:\n  {}\n  {}",
                self.command(self.server, " --only"),
                self.command(self.server, " --all-named")
            );
        };
        match typed.as_str() {
            "all" => Ok(all),
            one if all.iter().any(|server| server == one) => Ok(vec![one.to_owned()]),
            other => bail!("{other:?} is none of them; nothing was changed"),
        }
    }

    /// This act, for a server.
    fn command(&self, server: &str, option: &str) -> String {
        let mut words = vec!["callgate".to_owned(), self.verb.to_owned(), screen::quoted(server)];
        words.extend(self.tool.into_iter().chain(self.tail.iter().copied()).map(screen::quoted));
        if let Some(client) = &self.whom.client {
            words.extend(["--client".to_owned(), screen::quoted(client)]);
        }
        for (name, value) in self.options {
            words.push((*name).to_owned());
            words.extend(value.map(screen::quoted));
        }
        if self.whom.new {
            words.push("--new".to_owned());
        }
        format!("{}{option}", words.join(" "))
    }

    /// What was done, where it stands, what takes it back, and whom it does not cover.
    fn tell(&self, desk: &Desk, done: &Done, first: bool, covered: usize) {
        let screen = Screen::new();
        tell(&screen, desk, done, first);
        if covered > 1 {
            return;
        }
        let done_for = self.whom.client.as_deref();
        for sibling in &done.siblings {
            let only = if self.is_whole() { desk.only_option(sibling, done_for) } else { "" };
            let words = format!("not for  {}, another server of this name: ", screen::harmless(sibling));
            screen.line(&format!("{}{}", screen.paint(screen::WARN, &words), self.command(sibling, only)));
        }
        if !done.siblings.is_empty() {
            screen.line(&format!("         all of them: {}", self.command(self.server, " --all-named")));
        }
    }
}

/// For commands that name a server and are no act: it has to be known, too. `purpose`: whether rules for it would do.
pub(crate) fn known_server(server: &str, purpose: Purpose) -> anyhow::Result<()> {
    desk()?.inventory().check_server(server, purpose).map_err(|error| match purpose {
        Purpose::Restrict => told(error),
        Purpose::Loosen | Purpose::Look => error.into(),
    })
}

/// For commands that say what holds for somebody: of a name that nobody knows they would say what holds for nobody.
pub(crate) fn known(target: &Target) -> anyhow::Result<Target> {
    desk()?.inventory().check(target, Purpose::Look).map_err(told)
}

/// Where nothing was found: the name among those that were asked for that nobody knows, in words.
pub(crate) fn unknown(filter: &CallFilter) -> Option<String> {
    let desk = desk().ok()?;
    let mut inventory = desk.inventory();
    let [server, tool, client] = [&filter.server, &filter.tool, &filter.client].map(Option::as_deref);
    let named = server.filter(|server| !server.is_empty());
    let mut found = Ok(());
    if let Some(server) = named {
        found = inventory.check_server(server, Purpose::Look);
    }
    if let (Some(server), Some(tool), Ok(())) = (named, tool, &found) {
        found = inventory.check_tool(server, tool, Purpose::Look);
    }
    if let (Some(client), Ok(())) = (client.filter(|client| !client.is_empty()), &found) {
        found = inventory.check_client(named.unwrap_or_default(), client, Purpose::Look).map(drop);
    }
    found.err().map(|error| screen::harmless(&error.to_string()))
}

/// The client that is named, where no server is.
pub(crate) fn client(whom: &WhomArgs, purpose: Purpose) -> anyhow::Result<Option<String>> {
    match (&whom.client, whom.new) {
        (Some(client), false) => {
            Ok(Some(desk()?.inventory().check_client("", client, purpose).map_err(told)?))
        }
        (client, _) => Ok(client.clone()),
    }
}

/// A restriction that names no server.
pub(crate) fn end(restriction: &Restriction) -> anyhow::Result<ExitCode> {
    let desk = desk()?;
    let done = desk.restrict(restriction).map_err(told)?;
    tell(&Screen::new(), &desk, &done, false);
    Ok(ExitCode::SUCCESS)
}

/// A loosening that names no server.
pub(crate) fn ask(loosening: &Loosening, word: &str) -> anyhow::Result<ExitCode> {
    let desk = desk()?;
    settle(&desk, desk.loosen(loosening).map_err(told)?, word, false)
}

/// What the desk did, or does after a yes. `first`: the server had no policy of its own before.
pub(crate) fn settle(desk: &Desk, answer: Answer, word: &str, first: bool) -> anyhow::Result<ExitCode> {
    let done = match answer {
        Answer::Done(done) => done,
        Answer::Ask(question) => {
            confirm::questions([&question], word)?;
            desk.confirm(&question.token).map_err(told)?
        }
    };
    tell(&Screen::new(), desk, &done, first);
    Ok(ExitCode::SUCCESS)
}

/// What a limit has counted is forgotten.
pub(crate) fn reset(server: &str, counter: &str) -> anyhow::Result<ExitCode> {
    let desk = desk()?;
    let question = desk.ask_to_reset(server, counter).map_err(told)?;
    confirm::questions([&question], "reset")?;
    let done = desk.confirm(&question.token).map_err(told)?;
    tell(&Screen::new(), &desk, &done, false);
    Ok(ExitCode::SUCCESS)
}

/// Whether a server has no policy of its own yet.
pub(crate) fn is_first(desk: &Desk, server: &str) -> bool {
    !desk.home().policy(server).exists()
}

/// `first`: the server had no policy of its own before.
fn tell(screen: &Screen, desk: &Desk, done: &Done, first: bool) {
    screen.line(&screen::harmless(&done.words));
    tell_back(screen, desk, done, first);
    for caveat in &done.caveats {
        screen.line(&screen.paint(screen::WARN, &format!("but      {}", screen::harmless(caveat))));
    }
}

/// Where it stands, how long, and what takes it back.
fn tell_back(screen: &Screen, desk: &Desk, done: &Done, first: bool) {
    let Some(back) = &done.back else { return };
    if let (Some(server), Some(_)) = (&done.server, &done.version) {
        if first {
            let server = screen::harmless(server);
            screen.line(&format!(
                "         {server} now has a policy of its own; it had the default one before"
            ));
        }
        screen.line(&format!("in       {}", desk.home().policy(server).display()));
    }
    if let Some(ends_ms) = done.ends_ms {
        screen.line(&format!("until    {}", local(ends_ms).strftime("%Y-%m-%d %H:%M:%S")));
    }
    screen.line(&format!("undo     {back}"));
}

/// The same of what should have been restricted: rules that are broken cannot be, a server can be paused all the same.
fn unrestricted(desk: &Desk, error: DeskError, target: &Target) -> anyhow::Error {
    let broken = matches!(error, DeskError::BrokenPolicy { .. });
    let error = told(error);
    if !broken {
        return error;
    }
    let client = target.client.as_deref();
    let for_client = client.map(|client| format!(" --client {}", screen::quoted(client))).unwrap_or_default();
    let only = desk.only_option(&target.server, client);
    let pause = format!("callgate pause {}{for_client}{only}", screen::quoted(&target.server));
    error.context(format!("nothing was changed; to refuse every call until it is mended: {pause}"))
}

/// An error of the desk, with what helps at a terminal.
pub(crate) fn told(error: DeskError) -> anyhow::Error {
    match error {
        DeskError::UnknownName(name) => {
            let name = name.to_string();
            let stop = if name.ends_with(['?', '.']) { "" } else { "." };
            anyhow!("{name}{stop} If it is right all the same, add --new.")
        }
        DeskError::ChangedMeanwhile { .. } => anyhow!("{error}. Run the command again."),
        DeskError::BrokenPolicy { path, report } => {
            let first = format!("{} is broken; `callgate policy check` says all of it", path.display());
            anyhow::Error::new(report).context(first)
        }
        other => other.into(),
    }
}
