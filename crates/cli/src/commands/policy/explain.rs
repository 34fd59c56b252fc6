//! `policy explain`: what would happen to a call now, and by which rule.

use std::process::ExitCode;

use anyhow::Context;
use callgate_codegen_history::OnRecord;
use callgate_controls::allowance::{self, AllowanceScope};
use callgate_controls::limits::Readings;
use callgate_controls::{Disk, catalogue, pause};
use callgate_desk::view::Target;
use callgate_desk::{PIN_RULE, refused_by_pin};
use callgate_home::clock::{Clock, SystemClock};
use callgate_home::{Home, read_private};
use callgate_policy::{
    AskedIn, Call, Circumstances, Decision, Policy, ToolClass, Verdict, Waived, decide, wait_words,
};
use callgate_protocol::json::Raw;
use callgate_shim::rule_source::guard;
use serde_json::json;

use crate::act;
use crate::args::ExplainArgs;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let raw = args.args.as_deref().map(Raw::parse).transpose().context("--args is not one JSON value")?;
    let (server, tool) = (args.server.clone(), Some(args.tool.clone()));
    let asked = Target { server, tool, client: args.client.clone() };
    let asked = if args.new { asked } else { act::known(&asked)? };
    let client = asked.client.as_deref().unwrap_or("unknown");
    let policy = effective(&home, &args.server);
    let usage = Readings::open(&home, &args.server, client, std::sync::Arc::new(SystemClock::default()))?;
    let call = Call::tool(client, &args.tool, raw);
    let clock = SystemClock::default();
    let now = clock.now();
    // What a person has allowed for a while counts as in a session; a single call does not, because it is used up by that.
    let allowances = allowance::read(&home);
    let open = allowances.open(&args.server, &now).filter(|granted| granted.is_for(client));
    let waived = open.fold(Waived::Nothing, |waived, granted| match &granted.what {
        AllowanceScope::Observe => Waived::Enforcement,
        what if what.admits(&args.tool) && waived == Waived::Nothing => Waived::Denials,
        AllowanceScope::Tool(_) | AllowanceScope::Call { .. } => waived,
    });
    let files = Disk::new();
    let recordings = OnRecord::new(&home, &args.server, now.wall_ms);
    let circumstances = Circumstances { now_ms: now.wall_ms, files: &files, recordings: &recordings, waived };
    let verdict = match pause::reason_for(&home, &args.server, client) {
        Some(reason) => Verdict {
            decision: Decision::Deny,
            rule: "(paused)".to_owned(),
            reason,
            counters: Vec::new(),
            retry_after: None,
        },
        None => decide(&policy, &call, &circumstances, &usage),
    };
    let verdict = match verdict.decision {
        Decision::Allow if waived != Waived::Enforcement => {
            let pinned = refused_by_pin(&home, &args.server, &policy, (client, &args.tool), now.wall_ms);
            match pinned {
                Some(reason) => {
                    Verdict { decision: Decision::Deny, rule: PIN_RULE.to_owned(), reason, ..verdict }
                }
                None => verdict,
            }
        }
        _ => verdict,
    };
    let asked = (verdict.decision == Decision::Ask)
        .then(|| policy.ask_settings(client, &args.tool, now.wall_ms).asked_in.unwrap_or_default());
    let class = class_words(args, &policy, &verdict);
    print_verdict(args, &policy, (&verdict, asked), class.as_ref());
    Ok(ExitCode::SUCCESS)
}

/// The policy that a gate started now would enforce.
fn effective(home: &Home, server: &str) -> Policy {
    let own = home.policy(server);
    let path = if own.exists() { own } else { home.default_policy() };
    let parsed = read_private(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| Policy::parse(&text).map_err(|report| report.to_string()));
    match parsed {
        Ok(mut policy) => {
            guard(&mut policy, home.path(), None);
            catalogue::describe(home, server, &mut policy);
            policy
        }
        Err(reason) => Policy::refuse_all(format!("{}: {reason}", path.display())),
    }
}

/// What the tool can do and why that is thought, if a rule by class decides.
fn class_words(args: &ExplainArgs, policy: &Policy, verdict: &Verdict) -> Option<(ToolClass, String)> {
    let by_class = verdict.rule.split('/').any(|step| step == "classes");
    if !policy.asks_for_classes() || !by_class {
        return None;
    }
    match policy.known_class(&args.tool) {
        Some(class) => {
            let page = act::desk().ok().and_then(|desk| desk.tool(&args.server, &args.tool).ok());
            let why = match page {
                Some(page) if page.row.corrected => "you said so".to_owned(),
                Some(page) => page.reason,
                None => "its definition says so".to_owned(),
            };
            Some((class, why))
        }
        None => {
            let guess = policy.classes().map_or(ToolClass::CAUTIOUS, |classes| classes.guess(&args.tool));
            Some((guess, "its definition is not known, so this is the cautious guess".to_owned()))
        }
    }
}

/// With where a person would be asked, if one would.
fn print_verdict(
    args: &ExplainArgs,
    policy: &Policy,
    (verdict, asked): (&Verdict, Option<AskedIn>),
    class: Option<&(ToolClass, String)>,
) {
    let screen = Screen::new();
    let allowed = verdict.decision.allows();
    if args.json {
        let counters: Vec<_> = verdict
            .counters
            .iter()
            .map(|counter| {
                json!({
                    "rule": counter.pointer, "counter": counter.counter, "scope": counter.scope.to_string(),
                    "used": counter.used, "max": counter.max, "window_s": counter.window.map(|window| window.as_secs()),
                    "frees_in_s": counter.frees_in.map(|wait| wait.as_secs_f64()),
                })
            })
            .collect();
        let object = json!({
            "decision": if allowed { "allow" } else { "deny" },
            "kind": verdict.decision.word(),
            "rule": verdict.rule,
            "reason": verdict.reason,
            "asked_in": asked.map(AskedIn::word),
            "retry_after_s": verdict.retry_after.map(|wait| wait.as_secs_f64()),
            "policy": policy.version(),
            "class": class.map(|(class, _)| class.name()),
            "class_reason": class.map(|(_, why)| why),
            "counters": counters,
        });
        return screen.line(&object.to_string());
    }
    let word = match verdict.decision {
        _ if allowed => screen.paint(screen::GOOD, "allow"),
        Decision::Ask => screen.paint(screen::WARN, "ask"),
        _ => screen.paint(screen::BAD, "deny"),
    };
    let gap = if allowed { "   " } else { "    " };
    screen.line(&format!(
        "{word}{gap}{} on {}",
        screen::harmless(&args.tool),
        screen::harmless(&args.server)
    ));
    screen.line(&format!("rule    {}", screen::harmless(&verdict.rule)));
    if let Some((class, why)) = class {
        screen.line(&format!("class   {class}, because {}", screen::harmless(&lower_first(why))));
    }
    if verdict.decision == Decision::WouldDeny {
        screen.line("only observed: it passes, and is recorded as what would be denied");
    }
    if !verdict.reason.is_empty() {
        screen.line(&format!("reason  {}", screen::harmless(&verdict.reason)));
    }
    if let Some(asked) = asked {
        screen.line(&format!("asked   {}", asked.words()));
    }
    for counter in &verdict.counters {
        screen.line(&format!(
            "count   {} of {}, by {} ({})",
            counter.used, counter.words, counter.scope, counter.pointer
        ));
    }
    if let Some(wait) = verdict.retry_after {
        screen.line(&format!("passes  in {}", wait_words(wait)));
    }
}

/// A sentence, to be said after "because".
fn lower_first(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}
