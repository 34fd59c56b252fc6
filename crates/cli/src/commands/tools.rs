//! `callgate tools`, `callgate tool`: what tools can do, in the words of the window's pages.

use std::process::ExitCode;

use callgate_desk::inventory::Purpose;
use callgate_desk::view::{
    Answer, Confidence, RiskClass, RiskSeverity, ServerCost, ToolPage, ToolRow, ToolState,
};
use callgate_text::{local, number};
use serde_json::{Value, json};

use crate::act::{desk, is_first, known_server, settle, told};
use crate::args::{ToolArgs, ToolsArgs};
use crate::screen::{self, BAD, BOLD, DIM, Screen, WARN, clip, count, harmless, pad};

/// The widest that names get.
const NAME: usize = 44;
const SERVER: usize = 20;
/// Tools of a server whose costs are shown.
const DEAREST: usize = 20;

pub(crate) fn list(args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    if let Some(server) = &args.server {
        known_server(server, Purpose::Look)?;
    }
    let screen = Screen::new();
    if args.costs || args.unused {
        return costs(&screen, args);
    }
    let view = desk()?.tools(args.server.as_deref()).map_err(told)?;
    if let Some(problem) = &view.problem {
        screen::hint(problem);
    }
    if args.json {
        view.tools.iter().for_each(|row| screen.line(&as_json(row).to_string()));
        return Ok(ExitCode::SUCCESS);
    }
    let widest = |of: fn(&ToolRow) -> &str, most: usize| {
        view.tools.iter().map(|row| harmless(of(row)).chars().count()).max().unwrap_or(0).min(most)
    };
    let (tool, server) = (widest(|row| &row.name, NAME), widest(|row| &row.server, SERVER));
    for row in &view.tools {
        screen.line(&line(&screen, row, server, tool));
    }
    for server in &view.servers {
        if server.listed_ms.is_none() && args.server.is_some() {
            screen::hint(
                "it has listed no tools yet: start it once in its client, or look at it with callgate scan -- COMMAND",
            );
        }
        if let Some(problem) = &server.problem {
            screen::hint(&format!("the policy of {} cannot be used: {problem}", harmless(&server.name)));
        }
    }
    if view.tools.is_empty() && args.server.is_none() {
        screen::hint(
            "no server has listed its tools yet: put the gate in front of one with callgate clients protect --all",
        );
        return Ok(ExitCode::SUCCESS);
    }
    let critical = view.tools.iter().filter(|row| row.severity == RiskSeverity::Critical).count();
    screen.line(&screen.paint(
        DIM,
        &format!(
            "{}, {critical} critical. All about one: callgate tool SERVER TOOL",
            count(view.tools.len(), "tool")
        ),
    ));
    Ok(ExitCode::SUCCESS)
}

fn costs(screen: &Screen, args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    let desk = desk()?;
    let all = desk.costs(args.server.as_deref()).map_err(told)?;
    for cost in &all {
        let unused = cost.unused.as_ref();
        if args.json {
            screen.line(&cost_as_json(cost).to_string());
        } else if args.unused {
            let Some(unused) = unused else { continue };
            screen.line(&format!("{}: {}", harmless(&cost.server), unused.words));
            let names: Vec<String> = unused.names.iter().map(|name| harmless(name)).collect();
            told_line(screen, &names.join(", "));
            if !args.hide {
                let hide = format!("callgate tools {} --unused --hide", screen::quoted(&cost.server));
                told_line(screen, &format!("Hide them: {hide}"));
            }
        } else {
            screen.line(&format!(
                "{}: about {} tokens at every start; {} in the last 7 days answered about {}",
                screen.paint(BOLD, &harmless(&cost.server)),
                number(cost.definitions),
                count(usize::try_from(cost.calls).unwrap_or(usize::MAX), "call"),
                number(cost.results)
            ));
            for tool in cost.tools.iter().take(DEAREST) {
                let hidden = if tool.hidden { " (hidden)" } else { "" };
                screen.line(&format!(
                    "  {}  {:>8} {:>10}{hidden}",
                    pad(&clip(&harmless(&tool.name), NAME), NAME),
                    number(tool.definition),
                    number(tool.results)
                ));
            }
            for (client, results) in &cost.clients {
                told_line(screen, &format!("{client}: about {} in answers", number(*results)));
            }
        }
        if let (true, Some(unused)) = (args.hide, unused) {
            let first = is_first(&desk, &cost.server);
            let done = desk.hide_unused(&cost.server, &unused.names).map_err(told)?;
            settle(&desk, Answer::Done(done), "hide", first)?;
        }
    }
    if all.is_empty() || (args.unused && all.iter().all(|cost| cost.unused.is_none())) {
        screen::hint("there is nothing to tell: no list of tools, or no day of calls on record yet");
    } else if !args.json {
        screen.line(&screen.paint(
            DIM,
            "Estimates: bytes of UTF-8 divided by four. Your client's model may count a third more or less.",
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn cost_as_json(cost: &ServerCost) -> Value {
    let clients: serde_json::Map<String, Value> =
        cost.clients.iter().map(|(client, results)| (client.clone(), json!(results))).collect();
    json!({
        "server": cost.server, "definitions": cost.definitions, "calls": cost.calls, "results": cost.results,
        "clients": clients, "tools": cost.tools, "unused": cost.unused,
    })
}

fn line(screen: &Screen, row: &ToolRow, server: usize, tool: usize) -> String {
    let cut = |text: &str, width: usize| pad(&clip(&harmless(text), width), width);
    let class = format!("{}{}", class_words(row.class, row.severity), marks(row));
    let used = match row.calls {
        0 => String::new(),
        calls => count(usize::try_from(calls).unwrap_or(usize::MAX), "call"),
    };
    format!(
        "{}  {}  {}  {}  {used}",
        cut(&row.server, server),
        cut(&row.name, tool),
        screen.paint(style(row.severity), &pad(&class, 28)),
        pad(state_word(row.state), 8),
    )
    .trim_end()
    .to_owned()
}

fn class_words(class: RiskClass, severity: RiskSeverity) -> String {
    format!("{} ({})", class.name(), severity.name().to_lowercase())
}

fn marks(row: &ToolRow) -> &'static str {
    match (row.findings > 0, row.corrected, row.confidence) {
        (true, ..) => ", look",
        (_, true, _) => ", yours",
        (_, _, Confidence::Low) => ", guess",
        _ => "",
    }
}

fn style(severity: RiskSeverity) -> anstyle::Style {
    match severity {
        RiskSeverity::Critical => BAD,
        RiskSeverity::High => WARN,
        RiskSeverity::Low | RiskSeverity::Medium => DIM,
    }
}

fn state_word(state: Option<ToolState>) -> &'static str {
    match state {
        Some(ToolState::Allow) => "allowed",
        Some(ToolState::Deny) => "denied",
        Some(ToolState::Hide) => "hidden",
        Some(ToolState::Ask) => "asked",
        Some(ToolState::Cap) => "limited",
        Some(ToolState::Custom) => "custom",
        None => "broken",
    }
}

fn as_json(row: &ToolRow) -> Value {
    json!({
        "server": row.server,
        "tool": row.name,
        "class": row.class,
        "severity": row.severity,
        "confidence": row.confidence,
        "corrected": row.corrected,
        "findings": row.findings,
        "state": row.state.map(|state| state_word(Some(state))),
        "rule": row.words,
        "calls": row.calls,
        "refused": row.refused,
        "last_call": row.last_call_ms.map(time),
    })
}

fn time(ms: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(ms).ok().map(|time| format!("{time:.3}"))
}

pub(crate) fn page(args: &ToolArgs) -> anyhow::Result<ExitCode> {
    known_server(&args.server, Purpose::Look)?;
    let (desk, screen) = (desk()?, Screen::new());
    if let Some(class) = &args.class {
        let class = match class.as_str() {
            "none" => None,
            class => Some(RiskClass::from_name(class).ok_or_else(|| {
                let all: Vec<&str> = RiskClass::ALL.iter().map(|class| class.name()).collect();
                anyhow::anyhow!("{class:?} is no class: write one of {}, or none", all.join(", "))
            })?),
        };
        let first = is_first(&desk, &args.server);
        let answer = desk.correct_class(&args.server, &args.tool, class).map_err(told)?;
        return settle(&desk, answer, "correct", first);
    }
    if args.apply {
        let first = is_first(&desk, &args.server);
        let answer = desk.apply_recommended(&args.server, &args.tool).map_err(told)?;
        return settle(&desk, answer, "apply", first);
    }
    let page = desk.tool(&args.server, &args.tool).map_err(told)?;
    match args.json {
        true => screen.line(&page_as_json(&page).to_string()),
        false => show(&screen, &page),
    }
    Ok(ExitCode::SUCCESS)
}

fn page_as_json(page: &ToolPage) -> Value {
    let mut all = as_json(&page.row);
    let rule: Value = serde_json::from_str(&page.recommended.text).unwrap_or_default();
    let more = json!({
        "title": page.title,
        "description": page.description,
        "provider": page.provider,
        "told": page.told,
        "reason": page.reason,
        "evidence": page.evidence,
        "uncertain": page.uncertain,
        "flags": page.flags,
        "operations": page.operations,
        "found": page.findings,
        "undo": page.undo,
        "recommended": {
            "act": page.recommended.act,
            "words": page.recommended.words,
            "reason": page.recommended.reason,
            "rule": rule,
            "in_force": page.recommended.in_force,
            "notes": page.recommended.notes,
        },
        "current": page.current,
        "from": page.from,
        "arguments": page.arguments,
        "related": page.related,
        "attacks": page.attacks,
        "questions": page.questions,
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}

fn show(screen: &Screen, page: &ToolPage) {
    let row = &page.row;
    let class = screen.paint(style(row.severity), &class_words(row.class, row.severity));
    screen.line(&format!(
        "{} on {}  {class}{}",
        screen.paint(BOLD, &harmless(&row.name)),
        harmless(&row.server),
        marks(row)
    ));
    for line in page.description.lines().take(12) {
        screen.line(&format!("  {}", harmless(line)));
    }
    heading(screen, "What it can do");
    told_line(screen, &page.reason);
    for one in &page.evidence {
        screen.line(&format!("  {}: “{}” → {}", one.place, harmless(&one.quote), one.suggests.name()));
    }
    page.uncertain.iter().for_each(|words| told_line(screen, words));
    if !page.flags.is_empty() {
        told_line(screen, &format!("It {}.", page.flags.join(", ")));
    }
    for one in &page.operations {
        told_line(screen, &format!("{} {}: {}", one.argument, one.value, one.class.name()));
    }
    for one in &page.findings {
        let found = format!("{} in {}: {} “{}”", one.code, one.place, one.explanation, one.quote);
        screen.line(&format!("  {}", screen.paint(BAD, &harmless(&found))));
    }
    heading(screen, "Can it be undone?");
    told_line(screen, &page.undo);
    heading(screen, "Recommended rule");
    let standing = if page.recommended.in_force { " (in force)" } else { "" };
    told_line(
        screen,
        &format!(
            "{}: {}{standing}. {}",
            page.recommended.label, page.recommended.words, page.recommended.reason
        ),
    );
    page.recommended.text.lines().for_each(|line| screen.line(&format!("  {line}")));
    page.recommended.notes.iter().for_each(|note| told_line(screen, note));
    if !page.recommended.in_force {
        let words =
            format!("callgate tool {} {} --apply", screen::quoted(&row.server), screen::quoted(&row.name));
        told_line(screen, &format!("Put it in force: {words}"));
    }
    heading(screen, "Rule now");
    let from = if page.from.is_empty() { String::new() } else { format!(" ({})", page.from) };
    told_line(screen, &format!("{}{from}", row.words));
    if let Some(rule) = &page.current {
        rule.lines().for_each(|line| screen.line(&format!("  {}", harmless(line))));
    }
    if !page.arguments.is_empty() {
        heading(screen, "Arguments");
        let width =
            page.arguments.iter().map(|one| harmless(&one.name).chars().count()).max().unwrap_or(0).min(NAME);
        for one in &page.arguments {
            let required = if one.required { ", required" } else { "" };
            let about = if one.about.is_empty() {
                String::new()
            } else {
                format!(": {}", clip(&harmless(&one.about), 100))
            };
            screen.line(&format!(
                "  {}  {}{required}{about}",
                pad(&harmless(&one.name), width),
                harmless(&one.kind)
            ));
        }
    }
    heading(screen, "Use");
    let last = row
        .last_call_ms
        .map(|ms| format!(", the last on {}", local(ms).strftime("%Y-%m-%d at %H:%M")))
        .unwrap_or_default();
    let calls = count(usize::try_from(row.calls).unwrap_or(usize::MAX), "call");
    told_line(screen, &format!("{calls} on record, {} refused{last}", row.refused));
    if !page.related.is_empty() {
        heading(screen, "Related tools");
        for one in &page.related {
            told_line(screen, &format!("{} ({})", one.name, one.class.name()));
        }
    }
    if !page.attacks.is_empty() {
        heading(screen, "What was done with tools of this kind");
        for one in &page.attacks {
            told_line(screen, &format!("{}: {} ({}) Here: {}", one.title, one.words, one.source, one.gate));
        }
    }
    heading(screen, "Questions");
    for one in &page.questions {
        screen.line(&format!("  {}", screen.paint(BOLD, &harmless(&one.question))));
        told_line(screen, &one.answer);
    }
}

fn heading(screen: &Screen, words: &str) {
    screen.line("");
    screen.line(&screen.paint(BOLD, words));
}

/// A paragraph, indented, in lines that fit.
fn told_line(screen: &Screen, words: &str) {
    let width = Screen::columns().clamp(40, 110) - 2;
    for line in textwrap::wrap(&harmless(words), width) {
        screen.line(&format!("  {line}"));
    }
}
