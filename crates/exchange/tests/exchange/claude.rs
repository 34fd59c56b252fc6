//! Claude Code's permissions: what each list, pattern and mode means for calls of a server's tools.

use crate::gate::{Gate, Section, cases, name_and_args};
use callgate_exchange::claude as permissions;

#[test]
fn permissions_decide_as_claude_code_does() {
    let mut failures = Vec::new();
    for Section { title, source, lines } in cases("claude.txt") {
        let (server, source) = match source.strip_prefix("@server: ").and_then(|s| s.split_once('\n')) {
            Some((server, rest)) => (Some(server), rest),
            None => (None, source.as_str()),
        };
        let found = permissions::import(source, server);
        for line in lines {
            let shown = match (&found, line.split_once(' ').unwrap_or((&line, ""))) {
                (Err(report), _) => {
                    let told: Vec<_> = report
                        .problems
                        .iter()
                        .map(|p| format!("{}:{} {}", p.line, p.column, p.message))
                        .collect();
                    if told.contains(&line) { continue } else { told.join("\n") }
                }
                (Ok(found), ("servers", wanted)) => {
                    let servers: Vec<_> = found.policies.iter().map(|p| p.server.as_str()).collect();
                    if servers.join(" ") == wanted { continue } else { servers.join(" ") }
                }
                (Ok(found), ("skipped", wanted)) => {
                    let notes: Vec<_> = found.skipped.iter().map(ToString::to_string).collect();
                    if notes.iter().any(|n| n.contains(wanted)) { continue } else { notes.join("\n") }
                }
                (Ok(found), ("note", wanted)) => {
                    let notes: Vec<_> =
                        found.policies.iter().flat_map(|p| &p.notes).map(ToString::to_string).collect();
                    if notes.iter().any(|n| n.contains(wanted)) { continue } else { notes.join("\n") }
                }
                (Ok(found), (server, rest)) => {
                    let (call, expected) = rest.rsplit_once(" -> ").unwrap();
                    let policy = found
                        .policies
                        .iter()
                        .find(|p| p.server == server)
                        .unwrap_or_else(|| panic!("{title}: {line}"));
                    let (tool, args) = name_and_args(call.trim());
                    let decided = match Gate::new(&policy.text).call(&tool, args.as_deref()) {
                        Ok(()) => "allow",
                        Err((_, reason)) if reason.contains("approval") => "ask",
                        Err(_) => "deny",
                    };
                    if decided == expected { continue } else { format!("{decided}\n{}", policy.text) }
                }
            };
            failures.push(format!("{title}: {line}\n  found {shown}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
