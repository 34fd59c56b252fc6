//! `callgate show CALL`: everything about one call, with the rule as it was.

use std::process::ExitCode;

use anyhow::bail;
use callgate_desk::CallObject;
use callgate_history::{BodyRow, CallRow};
use callgate_home::{CallId, Home};
use callgate_journal::Outcome;
use callgate_policy::excerpt;
use callgate_protocol::json::{Kind, Raw};

use crate::args::ShowArgs;
use crate::commands::log::current;
use crate::duration::local;
use crate::row;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let id: CallId = args.call.parse()?;
    let history = current(&home)?;
    let Some(call) = history.call(&id)? else {
        bail!(
            "there is no call {id} in the history: it was never made here, or it is older than what is kept"
        );
    };
    let policy = match &call.policy {
        Some(version) => history.policy_text(version, &call.server)?.map(|policy| policy.text),
        None => None,
    };
    let screen = Screen::new();
    if args.json {
        screen.line(&CallObject::of(&call).with_policy(policy).line());
    } else {
        print(&screen, &call, policy.as_deref());
    }
    Ok(ExitCode::SUCCESS)
}

fn print(screen: &Screen, call: &CallRow, policy: Option<&str>) {
    let field = |name: &str, text: &str| {
        if !text.is_empty() {
            screen.line(&format!("{}  {text}", screen.paint(screen::DIM, &screen::pad(name, 8))));
        }
    };
    let (status, style) = row::status(call);
    let title = format!("{}  {}", row::subject(call), screen.paint(style, &status));
    screen.line(&screen.paint(screen::BOLD, &title));
    field("call", &call.id.to_string());
    field("time", &local(call.at_ms).strftime("%Y-%m-%d %H:%M:%S").to_string());
    field("client", &screen::harmless(call.client.as_deref().unwrap_or("unknown")));
    field("server", &screen::harmless(&call.server));
    field("session", &format!("{}, run {}", call.session, call.run));
    field("took", &row::took(call));
    field("outcome", call.outcome.map_or("still running", Outcome::word));
    screen.line("");
    field("why", &screen::harmless(call.reason.as_deref().unwrap_or_default()));
    field("rule", &screen::harmless(call.rule.as_deref().unwrap_or_default()));
    if let Some(version) = &call.policy {
        field("policy", version);
    }
    if let Some(rule) = policy.zip(call.rule.as_deref()).and_then(|(text, rule)| excerpt(text, rule)) {
        screen.line(&screen.paint(screen::DIM, "the rule as it was"));
        rule.lines().for_each(|line| screen.line(&format!("    {}", screen::harmless(line))));
    }
    show_body(screen, "arguments", call.args.as_ref());
    show_body(screen, "result", call.result.as_ref());
}

fn show_body(screen: &Screen, name: &str, body: Option<&BodyRow>) {
    let Some(body) = body else { return };
    let mut notes = vec![format!("{} bytes", body.bytes)];
    if body.masked {
        notes.push("secrets masked".to_owned());
    }
    if body.cut {
        notes.push("only the beginning is kept".to_owned());
    }
    if body.withheld {
        notes.push("not kept: the policy or the settings ask for that".to_owned());
    }
    screen.line("");
    screen.line(&format!("{name} {}", screen.paint(screen::DIM, &format!("({})", notes.join(", ")))));
    if body.withheld {
        // Only the names of the arguments, if anything.
        let names = Raw::parse(&body.text)
            .map(|names| names.items().map(|name| screen::harmless(name.text())).collect::<Vec<_>>());
        names.iter().flatten().for_each(|name| screen.line(&format!("    {name}")));
        return;
    }
    let mut text = String::new();
    match Raw::parse(&body.text) {
        Ok(raw) => indented(raw, 1, &mut text),
        Err(_) => text.push_str(&screen::harmless(&body.text)),
    }
    screen.line(&format!("    {text}"));
}

/// JSON over several lines, each scalar exactly as it was kept, hostile characters shown.
fn indented(raw: Raw<'_>, depth: usize, out: &mut String) {
    const DEEPEST: usize = 40;
    let (open, close) = match raw.kind() {
        Kind::Object if depth < DEEPEST => ('{', '}'),
        Kind::Array if depth < DEEPEST => ('[', ']'),
        _ => return out.push_str(&screen::harmless(raw.text())),
    };
    out.push(open);
    let mut first = true;
    let mut begin = |out: &mut String| {
        out.push_str(if std::mem::take(&mut first) { "\n" } else { ",\n" });
        out.push_str(&"    ".repeat(depth + 1));
    };
    for (key, value) in raw.members() {
        begin(out);
        out.push_str(&format!("\"{}\": ", screen::harmless(&key)));
        indented(value, depth + 1, out);
    }
    for value in raw.items() {
        begin(out);
        indented(value, depth + 1, out);
    }
    if !first {
        out.push('\n');
        out.push_str(&"    ".repeat(depth));
    }
    out.push(close);
}
