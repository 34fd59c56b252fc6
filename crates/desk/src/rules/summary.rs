//! All servers at once: what the rules of each come to. Servers that never ran are in it, and the default policy first.

use std::collections::{BTreeMap, BTreeSet};

use callgate_controls::catalogue;
use callgate_history::{History, ToolsSeen};
use callgate_home::DEFAULT_SERVER;
use callgate_policy::file::PolicyFile;

use super::table;
use crate::change::CurrentPolicy;
use crate::protection::Guards;
use crate::view::{RulesSummary, ServerState, ServerView, ToolState};
use crate::{Desk, DeskError, change};

pub(super) fn of(desk: &Desk) -> Result<Vec<RulesSummary>, DeskError> {
    let history = History::open_reader(&desk.home)?;
    let seen: BTreeMap<String, ServerView> =
        desk.servers()?.into_iter().map(|server| (server.name.clone(), server)).collect();
    let mut names: BTreeSet<String> = desk.inventory().configured();
    names.extend(seen.keys().cloned());
    names.remove(DEFAULT_SERVER);
    let mut guards = Guards::read(&desk.home, desk.clock.now());
    let mut rows = vec![default_policy(desk, &history, &mut guards, &names)?];
    for server in names {
        rows.push(one(desk, &history, &mut guards, &server, seen.get(&server))?);
    }
    Ok(rows)
}

fn default_policy(
    desk: &Desk,
    history: &History,
    guards: &mut Guards<'_>,
    servers: &BTreeSet<String>,
) -> Result<RulesSummary, DeskError> {
    let mut followers: BTreeSet<String> = change::followers(&desk.home)?.into_iter().collect();
    followers.extend(servers.iter().filter(|server| !desk.home.policy(server).exists()).cloned());
    Ok(RulesSummary {
        is_default: true,
        followers: u32::try_from(followers.len()).unwrap_or(u32::MAX),
        ..one(desk, history, guards, DEFAULT_SERVER, None)?
    })
}

fn one(
    desk: &Desk,
    history: &History,
    guards: &mut Guards<'_>,
    server: &str,
    view: Option<&ServerView>,
) -> Result<RulesSummary, DeskError> {
    let next = guards.for_next_session(server);
    let present = CurrentPolicy::read(&desk.home, server).ok();
    let file = present.as_ref().and_then(|present| PolicyFile::parse(present.text()).ok());
    let listed =
        catalogue::read(&desk.home, server).ok().flatten().map(|known| known.tools).unwrap_or_default();
    let policy = present.as_ref().and_then(|present| present.policy().ok());
    let classes = policy.map(|policy| table::classes_of(&policy, &listed)).unwrap_or_default();
    let tools =
        file.map(|file| table::tools(&file, &listed, &ToolsSeen::default(), &classes)).unwrap_or_default();
    let in_state = |state: ToolState| {
        let found = tools.iter().filter(|tool| tool.state == state).count();
        u32::try_from(found).unwrap_or(u32::MAX)
    };
    Ok(RulesSummary {
        server: server.to_owned(),
        is_default: false,
        own: present.is_some_and(|present| present.is_own()),
        followers: 0,
        state: view.map_or(ServerState::NeverStarted, |view| view.state),
        protection: view.map_or(next.protection, |view| view.protection),
        problem: view.map_or(next.problem.map(|problem| problem.1), |view| view.problem.clone()),
        tools: u32::try_from(tools.len().max(listed.len())).unwrap_or(u32::MAX),
        denied: in_state(ToolState::Deny),
        asked: in_state(ToolState::Ask),
        hidden: in_state(ToolState::Hide),
        capped: in_state(ToolState::Cap),
        custom: in_state(ToolState::Custom),
        calls_today: view.map_or(0, |view| view.calls_today),
        refused_today: view.map_or(0, |view| view.refused_today),
        last_call_ms: view.and_then(|view| view.last_call_ms),
        last_change_ms: history.timeline(server)?.last().map(|change| change.at_ms),
    })
}
