//! The tools that servers listed: what each can do, what the rules make of it, how it is used, and the rule that fits it.
//!
//! A known server is told by what was installed. What a person says of a class wins, and is kept; rules by class go by the same.

mod answers;
mod arguments;
mod attacks;
pub(crate) mod badges;
mod cost;
mod facts;
mod installed;
mod known;
mod page;
mod server_page;
mod start;
mod surface;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use callgate_controls::catalogue::{self, Catalogue, KnownTool};
use callgate_controls::classes::{self, Classes, Correction};
use callgate_history::{History, ToolsSeen};
use callgate_journal::{EventKind, record_event};
use callgate_policy::compare;
use callgate_policy::file::PolicyFile;
use callgate_recommend::Recommendation;
use callgate_review::AskRule;
use callgate_risk::{KnownServer, RiskClass, RiskSeverity, ToolNames};
use callgate_text::name;

use crate::acts::Plan;
use crate::change::CurrentPolicy;
use crate::rules::table;
use crate::view::{Answer, Done, ToolPage, ToolRow, ToolRule, ToolServer, ToolsFrom, ToolsView};
use crate::{Desk, DeskError};
use facts::Tool;
use installed::Installed;

/// Somebody waits for the table; calls that are older than this reaches, over all servers, are not counted.
const PATIENCE: Duration = Duration::from_millis(400);
const LEAST_PATIENCE: Duration = Duration::from_millis(15);
/// Of a description in the table, in characters.
const ABOUT: usize = 160;

/// What a person says of one tool, worked out.
#[derive(Clone, Debug)]
pub(crate) struct ClassCorrection {
    pub(crate) server: String,
    pub(crate) tool: String,
    /// None: as its definition says.
    said: Option<Correction>,
    /// What was said when this was worked out.
    kept: Option<Correction>,
    before: RiskClass,
    after: RiskClass,
}

/// One server at one moment.
struct Server {
    name: String,
    known: Option<&'static KnownServer>,
    listed: Option<Catalogue>,
    /// The list, or what the catalogue has of a server that never listed here.
    entries: Vec<KnownTool>,
    tools: Vec<Tool>,
    /// By tool; empty if the policy cannot be used.
    rules: BTreeMap<String, ToolRule>,
    policy: Option<CurrentPolicy>,
    problem: Option<String>,
    seen: ToolsSeen,
}

impl Desk {
    /// Every tool of this server, or of all that are known.
    pub fn tools(&self, server: Option<&str>) -> Result<ToolsView, DeskError> {
        let (corrected, problem) = self.corrected();
        let installed = Installed::read(self);
        let names: BTreeSet<String> = match server {
            Some(server) => [server.to_owned()].into(),
            None => self.inventory().servers().map(str::to_owned).collect(),
        };
        let history = History::open_reader(&self.home)?;
        let patience = (PATIENCE / u32::try_from(names.len().max(1)).unwrap_or(u32::MAX)).max(LEAST_PATIENCE);
        let mut view = ToolsView { problem, ..ToolsView::default() };
        for name in names {
            let server = self.server_tools(&history, &installed, &corrected, &name, patience)?;
            let rows: Vec<ToolRow> = server.tools.iter().map(|tool| server.row(tool)).collect();
            view.servers.push(server.summary(&rows));
            view.tools.extend(rows);
        }
        Ok(view)
    }

    /// All that is told of one tool that its server listed.
    pub fn tool(&self, server: &str, tool: &str) -> Result<ToolPage, DeskError> {
        let history = History::open_reader(&self.home)?;
        let (corrected, _) = self.corrected();
        let read = self.server_tools(&history, &Installed::read(self), &corrected, server, PATIENCE)?;
        page::of(&read, read.find(tool)?)
    }

    /// What a person says that a tool can do; none: as its definition says. Where that lets more through, by rules for classes or by
    /// an answer of the client's, it is asked about first.
    pub fn correct_class(
        &self,
        server: &str,
        tool: &str,
        class: Option<RiskClass>,
    ) -> Result<Answer, DeskError> {
        let history = History::open_reader(&self.home)?;
        let (corrected, problem) = self.corrected();
        if let Some(problem) = problem {
            return Err(DeskError::Conflict(problem));
        }
        let read = self.server_tools(&history, &Installed::read(self), &corrected, server, Duration::ZERO)?;
        let found = read.find(tool)?;
        let before = found.assessment.class;
        let told = found.told.unwrap_or(before);
        // What is kept of a tool whose definition is another one by now does not count any more.
        let after = class.unwrap_or(told);
        let definition = read.entries.iter().find(|one| one.name == tool);
        let definition = definition.map(|one| one.definition.as_str()).unwrap_or_default();
        let correction = ClassCorrection {
            server: server.to_owned(),
            tool: tool.to_owned(),
            said: class.map(|class| Correction::of(class, definition)),
            kept: corrected.get(server).and_then(|all| all.get(tool)).cloned(),
            before,
            after,
        };
        let policy = read.policy.as_ref().and_then(|policy| policy.policy().ok());
        let [was, is] = [before, after].map(classes::in_rules);
        let asks = policy.as_ref().is_some_and(|policy| policy.speaks_of_asking());
        let mut loosened =
            policy.map(|policy| compare::loosened_by_class(&policy, tool, was, is)).unwrap_or_default();
        let is_grave = |class| matches!(class, RiskClass::Destructive | RiskClass::Financial);
        if asks && is_grave(before) && !is_grave(after) {
            let words = "where nobody can decide in Callgate, a form of the client may answer for it, and that may be no person";
            loosened.push(format!("{}: {words}", name(tool)));
        }
        if loosened.is_empty() {
            return self.keep_class(&correction, false).map(Answer::Done);
        }
        let words = format!(
            "Let {} on {} count as {}, so that more may pass?",
            name(tool),
            name(server),
            after.name()
        );
        self.ask(words, loosened, Plan::CorrectClass(correction)).map(Answer::Ask)
    }

    /// `loosens`: a person was asked, and said yes.
    pub(crate) fn keep_class(&self, correction: &ClassCorrection, loosens: bool) -> Result<Done, DeskError> {
        let ClassCorrection { server, tool, said, kept, before, after } = correction;
        if self.corrected().0.get(server).and_then(|all| all.get(tool)) != kept.as_ref() {
            return Err(DeskError::Conflict(format!(
                "somebody else said what {} can do meanwhile; nothing was changed. Look again.",
                name(tool)
            )));
        }
        let whose = if said.is_some() { "as you say" } else { "as its definition says" };
        let words = format!(
            "{} on {} counts as {} ({}), {whose}",
            name(tool),
            name(server),
            after.name(),
            after.severity().name().to_lowercase()
        );
        let noted = format!("{words}; before: {}", before.name());
        let kind = if loosens { EventKind::Loosened } else { EventKind::Note };
        let at = self.clock.now().wall_ms;
        let recorded = record_event(&self.home, at, kind, Some(server), Some(self.origin), &noted);
        if loosens {
            // What cannot be recorded is not loosened.
            recorded.map_err(DeskError::Unrecorded)?;
        }
        classes::set(&self.home, server, tool, said.as_ref())
            .map_err(|error| DeskError::disk("the class cannot be kept", error))?;
        Ok(Done::said(words, Some(server)))
    }

    /// A policy to begin with for a list of tools that this command listed, whatever its server is called.
    pub fn policy_of_command(
        &self,
        start: &str,
        server: &str,
        command: &[String],
        listed: &[KnownTool],
    ) -> Result<String, DeskError> {
        let (installed, known) = (Installed::read(self), installed::of_command(command));
        start::text(start, server, &facts::read(server, known, listed, &installed.names, None))
    }

    /// A policy to begin with for a server, from what it listed last or what the catalogue has of it.
    pub fn policy_to_begin(&self, start: &str, server: &str) -> Result<String, DeskError> {
        let history = History::open_reader(&self.home)?;
        let (corrected, _) = self.corrected();
        let read = self.server_tools(&history, &Installed::read(self), &corrected, server, Duration::ZERO)?;
        read.is_known()?;
        start::text(start, server, &read.tools)
    }

    pub(crate) fn recommended_rule(&self, server: &str, tool: &str) -> Result<Recommendation, DeskError> {
        let history = History::open_reader(&self.home)?;
        let (corrected, _) = self.corrected();
        let read = self.server_tools(&history, &Installed::read(self), &corrected, server, Duration::ZERO)?;
        Ok(read.find(tool)?.recommended())
    }

    /// The tools that a person should be asked about by what they can do, or by what is in their definitions.
    pub(crate) fn worth_asking(&self, server: &str) -> Result<BTreeMap<String, AskRule>, DeskError> {
        let history = History::open_reader(&self.home)?;
        let (corrected, _) = self.corrected();
        let read = self.server_tools(&history, &Installed::read(self), &corrected, server, Duration::ZERO)?;
        Ok(read.tools.iter().filter_map(|tool| Some((tool.name.clone(), tool.ask()?))).collect())
    }

    /// The tools that all servers listed last: names that are taken for others' are found by them.
    fn tool_names(&self, installed: &Installed) -> ToolNames {
        let mut names = ToolNames::default();
        for server in self.inventory().servers() {
            let is_known = installed.known(server).is_some();
            let listed = catalogue::read(&self.home, server).ok().flatten();
            for tool in listed.iter().flat_map(|listed| &listed.tools) {
                names.add(server, &tool.name, is_known);
            }
        }
        names
    }

    fn corrected(&self) -> (Classes, Option<String>) {
        match classes::read(&self.home) {
            Ok(classes) => (classes, None),
            Err(error) => {
                let path = self.home.classes();
                let problem = format!(
                    "{} cannot be read, so classes are as definitions have them: {error}. Mend it, or remove it",
                    path.display()
                );
                (Classes::new(), Some(problem))
            }
        }
    }

    fn server_tools(
        &self,
        history: &History,
        installed: &Installed,
        corrected: &Classes,
        server: &str,
        patience: Duration,
    ) -> Result<Server, DeskError> {
        // What a server listed is for people; without it there is nothing to tell.
        let listed = catalogue::read(&self.home, server).ok().flatten();
        self.server_from(history, installed, corrected, server, listed, patience)
    }

    fn server_from(
        &self,
        history: &History,
        installed: &Installed,
        corrected: &Classes,
        server: &str,
        listed: Option<Catalogue>,
        patience: Duration,
    ) -> Result<Server, DeskError> {
        let known = installed.known(server);
        let entries = match (&listed, known) {
            (Some(listed), _) => listed.tools.clone(),
            (None, Some(known)) => facts::of_catalogue(known),
            (None, None) => Vec::new(),
        };
        let tools = facts::read(server, known, &entries, &installed.names, corrected.get(server));
        let seen =
            if patience.is_zero() { ToolsSeen::default() } else { history.tools_seen(server, patience)? };
        let policy = CurrentPolicy::read(&self.home, server);
        let file = policy
            .as_ref()
            .map_err(ToString::to_string)
            .and_then(|policy| PolicyFile::parse(policy.text()).map_err(|report| report.headline()));
        let (rules, problem) = match file {
            Ok(file) => {
                let classes =
                    tools.iter().map(|tool| (tool.name.as_str(), classes::in_rules(tool.assessment.class)));
                (table::tools(&file, &entries, &seen, &classes.collect()), None)
            }
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let rules = rules.into_iter().map(|rule| (rule.name.clone(), rule)).collect();
        Ok(Server {
            name: server.to_owned(),
            known,
            listed,
            entries,
            tools,
            rules,
            policy: policy.ok(),
            problem,
            seen,
        })
    }
}

impl Server {
    /// Its policy refuses nothing of itself.
    fn is_watch_only(&self) -> bool {
        let policy = self.policy.as_ref().and_then(|policy| policy.policy().ok());
        policy.is_some_and(|policy| policy.watch_only())
    }

    fn from(&self) -> ToolsFrom {
        match (&self.listed, self.known) {
            (Some(_), _) => ToolsFrom::Listed,
            (None, Some(_)) => ToolsFrom::Catalogue,
            (None, None) => ToolsFrom::Nothing,
        }
    }

    /// An error where nothing is known of its tools.
    fn is_known(&self) -> Result<(), DeskError> {
        match self.from() {
            ToolsFrom::Listed | ToolsFrom::Catalogue => Ok(()),
            ToolsFrom::Nothing => Err(DeskError::NotFound(format!(
                "{} has listed no tools yet: start it once in its client, or scan it in Overview",
                name(&self.name)
            ))),
        }
    }

    fn find(&self, tool: &str) -> Result<&Tool, DeskError> {
        self.is_known()?;
        self.tools.iter().find(|one| one.name == tool).ok_or_else(|| {
            DeskError::NotFound(format!("{} did not list {:?} last", name(&self.name), name(tool)))
        })
    }

    fn row(&self, tool: &Tool) -> ToolRow {
        let rule = self.rules.get(&tool.name);
        let hits = self.seen.tools.get(&tool.name).cloned().unwrap_or_default();
        ToolRow {
            server: self.name.clone(),
            name: tool.name.clone(),
            about: tool.text("description").trim().chars().take(ABOUT).collect(),
            class: tool.assessment.class,
            severity: tool.assessment.severity,
            confidence: tool.assessment.confidence,
            corrected: tool.told.is_some(),
            findings: u32::try_from(tool.findings.len()).unwrap_or(u32::MAX),
            state: rule.map(|rule| rule.state),
            words: rule
                .map_or_else(|| "refused: the policy cannot be used".to_owned(), |rule| rule.words.clone()),
            calls: hits.calls,
            refused: hits.refused,
            last_call_ms: hits.last_ms,
        }
    }

    fn summary(&self, rows: &[ToolRow]) -> ToolServer {
        let critical = rows.iter().filter(|row| row.severity == RiskSeverity::Critical).count();
        ToolServer {
            name: self.name.clone(),
            known: self.known.map(|known| known.server.clone()),
            from: self.from(),
            listed_ms: self.listed.as_ref().map(|listed| listed.seen_ms),
            tools: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            critical: u32::try_from(critical).unwrap_or(u32::MAX),
            cut: self.listed.as_ref().is_some_and(|listed| listed.cut),
            problem: self.problem.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
