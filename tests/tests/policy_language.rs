//! The policy language through the real gate: what is written holds for real sessions, and is on record as it was decided.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use callgate_controls::allowance::{self, AllowanceScope};
use callgate_controls::pause;
use callgate_history::History;
use callgate_home::Home;
use callgate_home::clock::{Clock, SystemClock};
use callgate_journal::{EventKind, catch_up};
use callgate_tests::gate::{Bench, OPEN_POLICY, SERVER};
use callgate_tests::history::rows;
use callgate_tests::json::Json;
use callgate_tests::session::{PATIENCE, Session, error_code};
use rustix::process::Signal;

/// `ran`, or the sentence of the refusal.
fn call(session: &mut Session, id: usize, tool: &str, args: &str) -> String {
    let answer = session.ask(&id.to_string(), tool, args).unwrap();
    let text = answer.at(&["result", "content"]).and_then(|content| content.items().first().cloned());
    let text = text.and_then(|item| item.get("text").and_then(Json::as_text).map(str::to_owned));
    let text = text.unwrap_or_else(|| answer.to_text());
    if text.ends_with(" ran") { "ran".to_owned() } else { text }
}

fn request(session: &mut Session, id: usize, method: &str, params: &str) -> Json {
    session.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)).unwrap();
    session.answer(&id.to_string()).unwrap()
}

fn as_client(session: &mut Session, name: &str) {
    let params = format!(
        r#"{{"protocolVersion":"2025-06-18","capabilities":{{}},"clientInfo":{{"name":"{name}","version":"1"}}}}"#
    );
    request(session, 9000, "initialize", &params);
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
}

/// Decision, tool and rule of every recorded tool call.
fn decided(bench: &Bench) -> Vec<(String, String, String)> {
    let text = |row: &Json, key: &str| row.get(key).and_then(Json::as_text).unwrap_or_default().to_owned();
    rows(bench)
        .unwrap()
        .iter()
        .map(|row| (text(&row.0, "decision"), text(&row.0, "tool"), text(&row.0, "rule")))
        .collect()
}

fn listed(session: &mut Session, id: usize) -> String {
    request(session, id, "tools/list", "{}").to_text()
}

#[test]
fn an_observed_policy_refuses_nothing_and_records_what_it_would_refuse() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "deny", "mode": "observe", "hide": ["hidden_one"],
             "tools": { "danger": { "action": "deny" }, "safe": {},
                        "slow": { "limits": [ { "counter": "s", "window": "minute", "max": 1, "scope": "server" } ] } } }"#,
    )
    .unwrap();
    let mut session = bench.session("", &[]).unwrap();
    assert!(listed(&mut session, 1).contains("hidden_one"), "observed means seen, too");
    for (id, tool) in ["danger", "hidden_one", "safe", "slow", "slow", "big"].iter().enumerate() {
        assert_eq!(
            call(&mut session, 10 + id, tool, "{}"),
            if *tool == "big" { "" } else { "ran" },
            "{tool}"
        );
    }
    // Callgate's own rules are not observed.
    assert!(call(&mut session, 30, "Danger", "{}").contains("looks like"));
    session.finish().unwrap();
    let would = |tool: &str, rule: &str| ("would_deny".to_owned(), tool.to_owned(), rule.to_owned());
    let allowed = |tool: &str| ("allowed".to_owned(), tool.to_owned(), format!("/tools/{tool}"));
    let mut rows = decided(&bench);
    assert_eq!(rows.pop().unwrap().0, "denied");
    assert_eq!(
        rows,
        [
            would("danger", "/tools/danger/action"),
            would("hidden_one", "/hide/0"),
            allowed("safe"),
            allowed("slow"),
            would("slow", "/tools/slow/limits/0"),
            would("big", "/default"),
        ]
    );
}

#[test]
fn patterns_rule_over_names_that_nobody_wrote_down() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "deny", "hide": ["hidden_*"],
             "tools": { "*": {}, "da*": { "action": "deny", "reason": "no da" }, "dan": {} } }"#,
    )
    .unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let list = listed(&mut session, 1);
    assert!(!list.contains("hidden_one") && list.contains("danger"), "{list}");
    assert_eq!(call(&mut session, 2, "safe", "{}"), "ran");
    assert!(call(&mut session, 3, "danger", "{}").contains("no da"));
    assert!(call(&mut session, 4, "DANGER", "{}").contains("looks like"));
    let hidden = session.ask("5", "hidden_two", "{}").unwrap();
    assert_eq!(error_code(&hidden), Some(-32602), "hidden answers like unknown");
}

#[test]
fn an_overlay_counts_for_its_client_alone() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow",
             "clients": { "cursor": { "hide": ["hidden_one"], "tools": { "danger": { "action": "deny" } } } } }"#,
    )
    .unwrap();
    // Without --client: they say themselves who they are.
    let unnamed = || {
        let server = bench.fake_server("", &[]).unwrap();
        let mut command = bench.callgate(["run", "--server", SERVER, "--"]).unwrap();
        command.args(server);
        Session::start(command).unwrap()
    };
    let mut cursor = unnamed();
    as_client(&mut cursor, "cursor");
    assert!(!listed(&mut cursor, 1).contains("hidden_one"));
    assert!(call(&mut cursor, 2, "danger", "{}").contains("denied"));
    let mut other = unnamed();
    as_client(&mut other, "claude-ai");
    assert!(listed(&mut other, 1).contains("hidden_one"));
    assert_eq!(call(&mut other, 2, "danger", "{}"), "ran");
}

#[test]
fn calls_under_way_are_counted_over_all_sessions_and_freed_by_their_end() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow", "all_tools":
             { "limits": [ { "counter": "once", "kind": "concurrent", "max": 1, "scope": "server" } ] } }"#,
    )
    .unwrap();
    let mut one = bench.session("", &[]).unwrap();
    let mut two = bench.session("", &[]).unwrap();
    assert_eq!(call(&mut one, 1, "safe", "{}"), "ran");
    assert_eq!(call(&mut two, 2, "safe", "{}"), "ran", "an answered call is no longer under way");
    one.call("3", "never", "{}").unwrap();
    // In order behind it, so it is under way now.
    let refused = call(&mut one, 4, "safe", "{}");
    assert!(refused.contains("1 call at once"), "{refused}");
    assert!(call(&mut two, 5, "safe", "{}").contains("1 call at once"), "of another session too");
    one.signal(Signal::TERM);
    one.ended(PATIENCE).unwrap();
    assert_eq!(call(&mut two, 6, "safe", "{}"), "ran", "its session is over");
}

#[test]
fn a_call_beyond_a_budget_is_told_what_is_left_of_it_and_not_what_it_was() {
    for scope in ["session", "server"] {
        let bench = Bench::new(&format!(
            r#"{{ "version": "1", "default": "allow", "tools": {{ "safe": {{ "limits": [
                 {{ "counter": "a", "kind": "sum", "amount_from": "args.a", "window": "day", "max": 10, "scope": "{scope}" }} ] }} }} }}"#
        ))
        .unwrap();
        let mut session = bench.session("", &[]).unwrap();
        let told = call(&mut session, 1, "safe", r#"{"a":1000}"#);
        assert!(told.contains("args.a of at most 10 can pass now"), "{told}");
        assert_eq!(call(&mut session, 2, "safe", r#"{"a":7.5}"#), "ran");
        let told = call(&mut session, 3, "safe", r#"{"a":1000}"#);
        assert!(told.contains("args.a of at most 2.5 can pass now"), "{told}");
        assert_eq!(call(&mut session, 4, "safe", r#"{"a":2.5}"#), "ran");
        let told = call(&mut session, 5, "safe", r#"{"a":1000}"#);
        assert!(told.contains("nothing of that is left; the first of it is free in 24 h"), "{told}");
        assert!(!told.contains("can pass now"), "{told}");
    }
}

#[test]
fn totals_and_sums_are_kept_over_sessions() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow", "tools": {
             "safe": { "limits": [ { "counter": "ever", "kind": "total", "max": 2, "scope": "server" } ] },
             "slow": { "limits": [ { "counter": "spent", "kind": "sum", "amount_from": "args.amount", "window": "day", "max": 10 } ] } } }"#,
    )
    .unwrap();
    let mut session = bench.session("", &[]).unwrap();
    assert_eq!(call(&mut session, 1, "safe", "{}"), "ran");
    assert_eq!(call(&mut session, 2, "slow", r#"{"amount":7.5}"#), "ran");
    for (id, bad) in
        [r#"{"amount":2.6}"#, r#"{"amount":-5}"#, r#"{"amount":"many"}"#, "{}"].iter().enumerate()
    {
        assert_ne!(call(&mut session, 10 + id, "slow", bad), "ran", "{bad}");
    }
    session.finish().unwrap();
    let mut session = bench.session("", &[]).unwrap();
    assert_eq!(call(&mut session, 3, "safe", "{}"), "ran");
    assert!(call(&mut session, 4, "safe", "{}").contains("2 calls in all"));
    assert_eq!(call(&mut session, 5, "slow", r#"{"amount":2.5}"#), "ran", "up to the last cent");
    assert_ne!(call(&mut session, 6, "slow", r#"{"amount":0.000001}"#), "ran");
}

const SCHEMA_LIST: &str = concat!(
    "on tools/list\n",
    r#"send {"jsonrpc":"2.0","id":$id,"result":{"tools":[{"name":"safe","inputSchema":{"type":"object","required":["url"],"properties":{"url":{"type":"string"}}}},{"name":"slow","inputSchema":{"type":"object"}}]}}"#,
    "\n"
);
const VALIDATE: &str = r#"{ "version": "1", "default": "allow", "validate": true }"#;

#[test]
fn arguments_are_checked_against_a_schema_that_the_gate_fetches_by_itself() {
    let bench = Bench::new(VALIDATE).unwrap();
    let mut session = bench.session(SCHEMA_LIST, &[]).unwrap();
    let refused =
        call(&mut session, 1, "safe", r#"{"url":"secret 7","more":1}"#.replace("\"secret 7\"", "7").as_str());
    assert!(refused.contains("args.url must be of type string"), "{refused}");
    assert_eq!(call(&mut session, 2, "safe", r#"{"url":"https://x"}"#), "ran");
    assert!(call(&mut session, 3, "danger", "{}").contains("Unknown tool: danger"));
    let got = String::from_utf8(bench.server_got()).unwrap();
    assert_eq!(got.matches("tools/list").count(), 1, "{got}");
    let heard = session.out.text();
    assert!(
        !heard.contains("inputSchema") && !heard.contains(r#""id":"callgate/"#),
        "the client hears nothing of it: {heard}"
    );
    // What the client lists itself is as good.
    listed(&mut session, 4);
    assert_eq!(call(&mut session, 5, "slow", "{}"), "ran");
    session.finish().unwrap();
    let rules: Vec<String> = decided(&bench).into_iter().map(|(_, _, rule)| rule).collect();
    assert_eq!(rules[0], "/validate");
}

#[test]
fn a_server_that_never_says_its_schema_gets_no_call_that_needs_one() {
    let bench = Bench::new(VALIDATE).unwrap();
    let mut session = bench.session("on tools/list\n", &[]).unwrap();
    let refused = call(&mut session, 1, "safe", "{}");
    assert!(refused.contains("did not say in time"), "{refused}");
    assert!(!String::from_utf8(bench.server_got()).unwrap().contains("tools/call"));
}

#[test]
fn a_stateless_server_is_asked_for_its_schema_in_its_own_words() {
    let bench = Bench::new(VALIDATE).unwrap();
    let mut session = bench.session(SCHEMA_LIST, &[]).unwrap();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let params = format!(r#"{{"name":"safe","arguments":{{"url":"x"}},{meta}}}"#);
    let answer = request(&mut session, 1, "tools/call", &params).to_text();
    assert!(answer.contains("safe ran"), "{answer}");
    let list = bench.server_lines().into_iter().find(|line| line.contains("tools/list")).unwrap();
    assert!(list.contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#), "{list}");
}

#[test]
fn what_nobody_allowed_is_neither_listed_nor_there_until_it_is_allowed() {
    let policy = r#"{ "version": "1", "default": "deny", "unlisted": "hide", "tools": { "safe": {} } }"#;
    let bench = Bench::new(policy).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let list = listed(&mut session, 1);
    assert!(list.contains("safe") && !list.contains("danger"), "{list}");
    let hidden = request(&mut session, 2, "tools/call", r#"{"name":"danger","arguments":{}}"#).to_text();
    let absent = request(&mut session, 3, "tools/call", r#"{"name":"no_such","arguments":{}}"#).to_text();
    assert_eq!(hidden.replace("danger", "no_such").replace("\"id\":2", "\"id\":3"), absent);
    std::fs::write(
        home(&bench).policy(SERVER),
        policy.replace(r#""safe": {}"#, r#""safe": {}, "danger": {}"#),
    )
    .unwrap();
    assert_eq!(call(&mut session, 4, "danger", "{}"), "ran");
    session.line_with("notifications/tools/list_changed").unwrap();
    assert!(listed(&mut session, 5).contains("danger"));
}

#[test]
fn a_rule_for_paths_holds_what_the_servers_schema_calls_a_path() {
    let policy = r#"{ "version": "1", "default": "allow", "all_tools": { "require": [
        { "args": "paths", "op": "inside", "value": "/nowhere/at/all" } ] } }"#;
    let bench = Bench::new(policy).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    assert!(
        call(&mut session, 1, "safe", r#"{"paths":["/nowhere/at/all/x","/etc/passwd"]}"#)
            .contains("args.paths[1]")
    );
    assert!(
        call(&mut session, 2, "safe", r#"{"anything":{"deep":["/etc/passwd"]}}"#)
            .contains("args.anything.deep[0]")
    );
    assert_eq!(call(&mut session, 3, "safe", r#"{"source":"/nowhere/at/all/y","text":"/etc"}"#), "ran");
}

fn home(bench: &Bench) -> Home {
    let home = Home::at(bench.home());
    callgate_controls::prepare_home(&home).unwrap();
    home
}

const DENY_DANGER: &str = r#"{ "version": "1", "default": "allow", "hide": ["hidden_one"], "tools": { "danger": { "action": "deny" } } }"#;

#[test]
fn what_is_allowed_for_a_while_passes_until_it_is_taken_back() {
    let bench = Bench::new(DENY_DANGER).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    assert!(!listed(&mut session, 1).contains("hidden_one"));
    assert!(call(&mut session, 2, "danger", "{}").contains("denied"));
    let minutes = Duration::from_secs(900);
    let now = || SystemClock::default().now();
    for tool in ["danger", "hidden_one"] {
        allowance::grant(&home(&bench), &now(), SERVER, AllowanceScope::Tool(tool.to_owned()), minutes)
            .unwrap();
    }
    assert_eq!(call(&mut session, 3, "danger", "{}"), "ran");
    session.line_with("notifications/tools/list_changed").unwrap();
    assert!(listed(&mut session, 4).contains("hidden_one"));
    assert_eq!(call(&mut session, 5, "hidden_one", "{}"), "ran");
    assert!(bench.callgate(["block", SERVER, "danger"]).unwrap().output().unwrap().status.success());
    assert!(call(&mut session, 6, "danger", "{}").contains("denied"), "blocking ends what was allowed");
    assert_eq!(call(&mut session, 7, "hidden_one", "{}"), "ran", "and nothing else");
    session.finish().unwrap();
    let status = bench.callgate(["status"]).unwrap().output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("\"hidden_one\" on corpus is allowed"), "{status}");
    let rules: Vec<String> = decided(&bench).into_iter().map(|(_, _, rule)| rule).collect();
    assert!(rules[1].starts_with("(allowance "), "{rules:?}");
}

#[test]
fn what_is_only_watched_by_an_allowance_is_on_record_under_its_name() {
    let policy = DENY_DANGER.replace(
        r#""tools": { "#,
        r#""tools": { "slow": { "limits": [{ "counter": "c", "window": "hour", "max": 1 }] }, "#,
    );
    let bench = Bench::new(&policy).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let (now, minutes) = (SystemClock::default().now(), Duration::from_secs(900));
    let granted = allowance::grant(&home(&bench), &now, SERVER, AllowanceScope::Observe, minutes).unwrap();
    for (id, tool) in [(1, "danger"), (2, "slow"), (3, "slow"), (4, "safe")] {
        assert_eq!(call(&mut session, id, tool, "{}"), "ran");
    }
    session.finish().unwrap();
    let name = format!("(allowance {})", granted.id);
    let rules: Vec<String> = decided(&bench).into_iter().map(|(_, _, rule)| rule).collect();
    assert_eq!((&rules[0], &rules[2]), (&name, &name), "denied by a rule, and over a limit: {rules:?}");
    assert!(!rules[1].contains("allowance") && !rules[3].contains("allowance"), "not by it: {rules:?}");
}

#[test]
fn a_pattern_that_is_allowed_for_a_while_lets_its_tools_in_and_no_others() {
    let bench = Bench::new(DENY_DANGER).unwrap();
    let (home, now) = (home(&bench), SystemClock::default().now());
    let grant = |what: &str| {
        let lasts = Duration::from_secs(900);
        allowance::grant(&home, &now, SERVER, AllowanceScope::Tool(what.to_owned()), lasts).unwrap();
    };
    let mut session = bench.session("", &[]).unwrap();
    grant("hidden_*");
    assert_eq!(call(&mut session, 1, "hidden_one", "{}"), "ran");
    assert!(call(&mut session, 2, "danger", "{}").contains("denied"));
    grant("*");
    assert_eq!(call(&mut session, 3, "danger", "{}"), "ran");
}

#[test]
fn an_allowance_that_nobody_granted_is_an_event() {
    let bench = Bench::new(DENY_DANGER).unwrap();
    let (home, now) = (home(&bench), SystemClock::default().now());
    let granted = |what| allowance::grant(&home, &now, SERVER, what, Duration::from_secs(900)).unwrap();
    granted(AllowanceScope::Tool("hidden_one".to_owned()));
    let text = std::fs::read_to_string(home.allowances()).unwrap();
    let events = || {
        catch_up(&home, &SystemClock::default()).unwrap();
        let events = History::open_reader(&home).unwrap().events(None, 100).unwrap();
        let loosened = events.into_iter().filter(|event| event.kind == EventKind::Loosened);
        loosened.map(|event| event.text).collect::<Vec<_>>()
    };
    let mut session = bench.session("", &[]).unwrap();
    assert_eq!(call(&mut session, 1, "hidden_one", "{}"), "ran");
    // Under a running session, and with an id that nobody has.
    let forged = text.replacen("hidden_one", "danger", 1);
    let id = forged.split(r#""id": ""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
    let forged = forged.replace(&id, "forged");
    callgate_home::atomic::replace(&home.allowances(), forged.as_bytes()).unwrap();
    assert_eq!(call(&mut session, 2, "danger", "{}"), "ran");
    session.finish().unwrap();
    assert!(
        matches!(&events()[..], [one] if one.contains("\"danger\"") && one.contains("forged")),
        "{:?}",
        events()
    );
    // Told once, also to the next session; what was granted is never told so.
    let mut session = bench.session("", &[]).unwrap();
    assert_eq!(call(&mut session, 3, "danger", "{}"), "ran");
    session.finish().unwrap();
    assert_eq!(events().len(), 1);
}

#[test]
fn what_one_client_is_allowed_stays_refused_to_another() {
    let bench = Bench::new(DENY_DANGER).unwrap();
    let of = |client: &str| {
        let server = bench.fake_server("", &[]).unwrap();
        let mut command = bench.callgate(["run", "--server", SERVER, "--"]).unwrap();
        command.args(server);
        let mut session = Session::start(command).unwrap();
        as_client(&mut session, client);
        session
    };
    let (mut cursor, mut other) = (of("cursor"), of("claude-ai"));
    let refused = |session: &mut Session, id| call(session, id, "danger", "{}").contains("denied");
    assert!(refused(&mut cursor, 2) && refused(&mut other, 2));
    let (home, minutes) = (home(&bench), Duration::from_secs(900));
    let now = || SystemClock::default().now();
    let grant = |what| allowance::grant_to(&home, &now(), (SERVER, Some("cursor")), what, minutes).unwrap();
    for tool in ["danger", "hidden_one"] {
        grant(AllowanceScope::Tool(tool.to_owned()));
    }
    assert_eq!(call(&mut cursor, 3, "danger", "{}"), "ran");
    assert!(listed(&mut cursor, 4).contains("hidden_one"));
    assert!(refused(&mut other, 3), "the same call of another client");
    assert!(!listed(&mut other, 4).contains("hidden_one"));
    grant(AllowanceScope::Observe);
    assert_eq!(call(&mut cursor, 5, "danger", r#"{"a":1}"#), "ran");
    assert!(refused(&mut other, 5), "only watched is the one client");

    // One exact repetition, too, is only for the one that was refused.
    let end = allowance::Revoke::Server { server: SERVER, client: None };
    assert_eq!(allowance::revoke(&home, &now(), end).unwrap().len(), 3);
    assert!(refused(&mut cursor, 6));
    let id = cursor.answer("6").unwrap().to_text();
    let id = id.split("(call ").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
    catch_up(&home, &SystemClock::default()).unwrap();
    let digest = History::open_reader(&home).unwrap().call(&id).unwrap().unwrap().digest.unwrap();
    grant(AllowanceScope::Call { tool: "danger".to_owned(), digest, call: id });
    assert!(refused(&mut other, 7));
    assert_eq!(call(&mut cursor, 7, "danger", "{}"), "ran");
    assert!(refused(&mut cursor, 8), "once is once");
}

#[test]
fn an_allowance_that_is_over_or_of_another_server_allows_nothing() {
    let bench = Bench::new(DENY_DANGER).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let mut past = SystemClock::default().now();
    past.wall_ms -= 3_600_000;
    past.uptime_ms = past.uptime_ms.saturating_sub(3_600_000);
    let danger = || AllowanceScope::Tool("danger".to_owned());
    allowance::grant(&home(&bench), &past, SERVER, danger(), Duration::from_secs(60)).unwrap();
    let now = SystemClock::default().now();
    allowance::grant(&home(&bench), &now, "another", danger(), Duration::from_secs(60)).unwrap();
    assert!(call(&mut session, 1, "danger", "{}").contains("denied"));
    std::fs::write(bench.home().join("control/allowances.json"), "{ nonsense").unwrap();
    assert!(call(&mut session, 2, "danger", "{}").contains("denied"), "what cannot be read allows nothing");
}

#[test]
fn one_call_is_allowed_once_however_its_arguments_are_spelled() {
    let bench = Bench::new(DENY_DANGER).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    call(&mut session, 1, "danger", r#"{"a":1,"b":"x"}"#);
    let refused = session.answer("1").unwrap().to_text();
    let id = refused.split("(call ").nth(1).unwrap().split(')').next().unwrap().to_owned();
    let home = home(&bench);
    let digest = || {
        catch_up(&home, &SystemClock::default()).unwrap();
        History::open_reader(&home).unwrap().call(&id.parse().unwrap()).unwrap().unwrap().digest.unwrap()
    };
    let what =
        AllowanceScope::Call { tool: "danger".to_owned(), digest: digest(), call: id.parse().unwrap() };
    let now = SystemClock::default().now();
    allowance::grant(&home, &now, SERVER, what, Duration::from_secs(600)).unwrap();
    assert!(call(&mut session, 2, "danger", r#"{"a":2,"b":"x"}"#).contains("denied"), "another call");
    pause::pause(&home, None, None, &now).unwrap();
    assert!(call(&mut session, 20, "danger", r#"{"a":1,"b":"x"}"#).contains("paused"), "a pause is for all");
    pause::resume(&home, None).unwrap();
    assert_eq!(call(&mut session, 3, "danger", r#"{ "b":"\u0078", "a":1 }"#), "ran");
    assert!(call(&mut session, 4, "danger", r#"{"a":1,"b":"x"}"#).contains("denied"), "once is once");
    let mut second = bench.session("", &[]).unwrap();
    assert!(call(&mut second, 5, "danger", r#"{"a":1,"b":"x"}"#).contains("denied"), "in every session");
}

#[test]
fn a_server_that_is_observed_for_a_while_refuses_nothing() {
    let bench = Bench::new(DENY_DANGER).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let now = SystemClock::default().now();
    allowance::grant(&home(&bench), &now, SERVER, AllowanceScope::Observe, Duration::from_secs(60)).unwrap();
    assert_eq!(call(&mut session, 1, "danger", "{}"), "ran");
    assert!(bench.callgate(["observe", SERVER, "--off"]).unwrap().output().unwrap().status.success());
    assert!(call(&mut session, 2, "danger", "{}").contains("denied"));
    session.finish().unwrap();
    let decisions: Vec<String> = decided(&bench).into_iter().map(|(decision, _, _)| decision).collect();
    assert_eq!(decisions, ["would_deny", "denied"]);
}

#[test]
fn a_policy_can_keep_values_out_of_the_record() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow",
             "tools": { "safe": { "record": "keys" }, "slow": { "record": "none" },
                        "danger": { "record": "none", "action": "deny" } } }"#,
    )
    .unwrap();
    let mut session = bench.session("", &[]).unwrap();
    for (id, tool) in ["safe", "slow", "danger"].iter().enumerate() {
        call(&mut session, id, tool, r#"{"name":"Ada Lovelace"}"#);
    }
    session.finish().unwrap();
    let log = bench.callgate(["log", "--json"]).unwrap().output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert_eq!(log.lines().count(), 3);
    assert!(!log.contains("Lovelace"), "{log}");
    assert!(log.lines().next().unwrap().contains("name"), "the names of arguments are kept: {log}");
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(bench.home()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        kept.extend(std::fs::read(entry.path()).unwrap());
    }
    assert!(!String::from_utf8_lossy(&kept).contains("Lovelace"), "nor anywhere in the home");
}

#[test]
fn rules_about_resources_hold_for_reading_and_for_lists() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow",
             "resources": { "hide": ["secret://"], "deny": ["file:///etc"], "reason": "not those" },
             "prompts": { "hide": ["inject*"] } }"#,
    )
    .unwrap();
    let script = concat!(
        "on resources/list\n",
        r#"send {"jsonrpc":"2.0","id":$id,"result":{"resources":[{"uri":"file:///a","name":"a"},{"uri":"secret://b","name":"b"}],"nextCursor":"n"}}"#,
        "\non prompts/list\n",
        r#"send {"jsonrpc":"2.0","id":$id,"result":{"prompts":[{"name":"greet"},{"name":"inject_me"}]}}"#,
        "\non resources/read\n",
        r#"send {"jsonrpc":"2.0","id":$id,"result":{"contents":[]}}"#,
        "\n"
    );
    let mut session = bench.session(script, &[]).unwrap();
    let list = request(&mut session, 1, "resources/list", "{}").to_text();
    assert!(list.contains("file:///a") && !list.contains("secret:") && list.contains("nextCursor"), "{list}");
    let list = request(&mut session, 2, "prompts/list", "{}").to_text();
    assert!(list.contains("greet") && !list.contains("inject"), "{list}");
    let mut read =
        |id: usize, uri: &str| request(&mut session, id, "resources/read", &format!(r#"{{"uri":"{uri}"}}"#));
    assert_eq!(error_code(&read(3, "file:///a")), None);
    for (id, uri) in
        ["file:///etc/passwd", "FILE:///etc/passwd", "file:///x/%2e%2e/etc/passwd"].iter().enumerate()
    {
        let answer = read(10 + id, uri);
        assert_eq!(error_code(&answer), Some(-31403), "{uri}");
        assert!(answer.to_text().contains("not those"), "{uri}");
    }
    assert_eq!(error_code(&read(20, "secret://b")), Some(-32002), "as if it were not there");
    let got = String::from_utf8(bench.server_got()).unwrap();
    assert_eq!(got.matches("resources/read").count(), 1, "{got}");
}

const NO_SAMPLING: &str =
    r#"{ "version": "1", "default": "allow", "sampling": { "action": "deny", "reason": "not my model" } }"#;

#[test]
fn a_server_that_asks_for_sampling_is_refused_by_request() {
    let bench = Bench::new(NO_SAMPLING).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let answer =
        session.ask("1", "ask", r#"{"method":"sampling/createMessage","params":{"messages":[]}}"#).unwrap();
    assert!(answer.to_text().contains("not my model"), "the server got our refusal: {}", answer.to_text());
    assert!(!session.out.text().contains("sampling/createMessage"), "{}", session.out.text());
    session.finish().unwrap();
    let rows = decided(&bench);
    assert!(
        rows.iter().any(|(decision, _, rule)| decision == "denied" && rule.starts_with("/sampling")),
        "{rows:?}"
    );
}

#[test]
fn a_server_that_asks_for_sampling_is_refused_inside_a_result() {
    let bench = Bench::new(NO_SAMPLING).unwrap();
    let script = concat!(
        "on safe\n",
        r#"send {"jsonrpc":"2.0","id":$id,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"sampling/createMessage","params":{"messages":[]}}}}}"#,
        "\n"
    );
    let mut session = bench.session(script, &[]).unwrap();
    let refused = call(&mut session, 1, "safe", "{}");
    assert!(refused.contains("not my model"), "{refused}");
    assert!(!session.out.text().contains("inputRequests"));
}

#[test]
fn sampling_is_capped_and_on_record_with_its_answer() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow",
             "sampling": { "limits": [ { "counter": "model", "window": "hour", "max": 1 } ] } }"#,
    )
    .unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let ask = r#"{"method":"sampling/createMessage","params":{"messages":[]}}"#;
    session.call("1", "ask", ask).unwrap();
    session.line_with("sampling/createMessage").unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":"s1","result":{"role":"assistant","content":{"type":"text","text":"hi"}}}"#).unwrap();
    assert!(session.answer("1").unwrap().to_text().contains("hi"));
    let capped = session.ask("2", "ask", ask).unwrap().to_text();
    assert!(capped.contains("1 call per hour"), "{capped}");
    session.finish().unwrap();
    let rows = rows(&bench).unwrap();
    let sampling: Vec<(&str, &str)> = rows
        .iter()
        .filter(|row| row.0.get("method").and_then(Json::as_text) == Some("sampling/createMessage"))
        .map(|row| (row.decision(), row.outcome()))
        .collect();
    assert_eq!(sampling, [("allowed", "ok"), ("capped", "not_sent")]);
}

#[test]
fn a_simulation_with_the_policy_in_force_decides_as_the_gate_did() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "deny", "hide": ["hidden_*"],
             "tools": { "safe": { "deny_if": [ { "path": "args.x", "op": "gt", "value": 5 } ] },
                        "s*": { "limits": [ { "counter": "slow", "window": "hour", "max": 3 } ] } },
             "all_tools": { "limits": [ { "counter": "all", "window": "minute", "max": 9, "scope": "session" } ] } }"#,
    )
    .unwrap();
    for _ in 0..2 {
        let mut session = bench.session("", &[]).unwrap();
        for id in 0..14 {
            let tool = ["safe", "slow", "danger", "hidden_one", "stderr"][id % 5];
            call(&mut session, id, tool, &format!(r#"{{"x":{id}}}"#));
        }
        session.finish().unwrap();
    }
    let mut by_rule = std::collections::BTreeMap::<String, u64>::new();
    let decided = decided(&bench);
    for (_, _, rule) in decided.iter().filter(|(decision, _, _)| decision != "allowed") {
        *by_rule.entry(rule.clone()).or_default() += 1;
    }
    assert!(by_rule.len() >= 4, "every kind of refusal: {by_rule:?}");
    let policy = bench.policy_file();
    let words = ["policy", "simulate", policy.to_str().unwrap(), "--server", SERVER, "--json"];
    let output = bench.callgate(words).unwrap().output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let simulated: std::collections::BTreeMap<String, u64> = said["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| {
            let count = |key: &str| rule[key].as_u64().unwrap();
            (rule["rule"].as_str().unwrap().to_owned(), count("denied") + count("hidden") + count("capped"))
        })
        .collect();
    assert_eq!(simulated, by_rule);
    assert_eq!((&said["newly_refused"], &said["newly_passed"]), (&0.into(), &0.into()));
    assert_eq!(said["calls"], decided.len());
}

/// Whoever asks for the schema in the client's words must not carry a second message in them: servers that end lines at a
/// bare CR would run it.
#[test]
fn the_gates_own_request_smuggles_nothing() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow", "tools": { "safe": { "validate": true }, "danger": { "action": "deny" } } }"#,
    )
    .unwrap();
    let mut session = bench.session(SCHEMA_LIST, &[]).unwrap();
    let hidden =
        r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"danger","arguments":{}}}"#;
    let meta = format!(
        "{{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientInfo\":{{\"x\":\r{hidden}\r}}}}"
    );
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"safe\",\"arguments\":{{\"url\":\"x\"}},\"_meta\":{meta}}}}}\n"
    );
    session.send_bytes(line.as_bytes()).unwrap();
    assert!(session.answer("1").unwrap().to_text().contains("safe ran"));
    let got = bench.server_got();
    assert!(String::from_utf8_lossy(&got).contains("tools/list"), "it was asked");
    assert!(!got.contains(&b'\r'), "{}", String::from_utf8_lossy(&got));
}

#[test]
fn an_id_of_the_gates_own_is_not_for_clients() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let answer = session.ask("\"callgate/x-1\"", "safe", "{}").unwrap();
    assert_eq!(error_code(&answer), Some(-32600), "{}", answer.to_text());
    assert!(!String::from_utf8(bench.server_got()).unwrap().contains("callgate/x-1"));
}

#[test]
fn calls_one_after_the_other_never_count_as_two_at_once() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow", "all_tools":
             { "limits": [ { "counter": "c", "kind": "concurrent", "max": 1 },
                           { "counter": "s", "kind": "concurrent", "max": 1, "scope": "session" } ] } }"#,
    )
    .unwrap();
    for _ in 0..5 {
        let mut session = bench.session("", &[]).unwrap();
        for id in 0..30 {
            assert_eq!(call(&mut session, id, "safe", "{}"), "ran", "call {id}");
        }
        session.finish().unwrap();
    }
}

#[test]
fn a_request_of_the_server_inside_the_answer_to_a_list_is_judged_too() {
    let bench = Bench::new(NO_SAMPLING).unwrap();
    let script = concat!(
        "on tools/list\n",
        r#"send {"jsonrpc":"2.0","id":$id,"result":{"tools":[],"inputRequests":{"q":{"method":"sampling/createMessage","params":{"messages":[]}}}}}"#,
        "\n"
    );
    let mut session = bench.session(script, &[]).unwrap();
    let answer = request(&mut session, 1, "tools/list", "{}");
    assert_eq!(error_code(&answer), Some(-31403), "{}", answer.to_text());
}

/// Its place is free a minute later, as for calls that a client gives up; its id at once.
#[test]
fn a_request_that_the_server_takes_back_is_over() {
    let bench = Bench::new(r#"{ "version": "1", "default": "allow", "sampling": {} }"#).unwrap();
    let script = concat!(
        "on safe\n",
        r#"send {"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[]}}"#,
        "\n",
        r#"send {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#,
        "\nanswer\n"
    );
    let mut session = bench.session(script, &[]).unwrap();
    for id in 1..=3 {
        call(&mut session, id, "safe", "{}");
    }
    session.nth_line_with("sampling/createMessage", 3).unwrap();
    session.finish().unwrap();
    let rows = rows(&bench).unwrap();
    let sampling =
        rows.iter().filter(|row| row.tool().is_empty()).map(|row| row.outcome()).collect::<Vec<_>>();
    assert_eq!(sampling, ["cancelled"; 3]);
}

#[test]
fn a_pause_holds_for_what_servers_ask_and_keeps_what_the_policy_withholds() {
    let bench = Bench::new(r#"{ "version": "1", "default": "allow", "record": "none" }"#).unwrap();
    let script = concat!(
        "on ping\n",
        r#"send {"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[]}}"#,
        "\nanswer\n"
    );
    assert!(bench.callgate(["pause"]).unwrap().status().unwrap().success());
    let mut session = bench.session(script, &[]).unwrap();
    request(&mut session, 1, "ping", "{}");
    assert!(call(&mut session, 2, "safe", r#"{"name":"Ada Lovelace"}"#).contains("paused"));
    assert!(!session.out.text().contains("sampling/createMessage"), "{}", session.out.text());
    session.finish().unwrap();
    let log = bench.callgate(["log", "--json"]).unwrap().output().unwrap();
    assert!(!String::from_utf8_lossy(&log.stdout).contains("Lovelace"));
}

#[test]
fn a_path_that_only_the_schema_tells_of_is_held_before_and_while_the_list_is_read() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow",
             "all_tools": { "deny_if": [{ "args": "paths", "op": "eq", "value": "etc/passwd" }] } }"#,
    )
    .unwrap();
    let tool = r#"{"name":"get","inputSchema":{"properties":{"target":{"type":"string","description":"Path of it"}}}}"#;
    let server =
        format!("on tools/list\nsend {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{{\"tools\":[{tool}]}}}}\n");
    let args = r#"{"target":"etc/passwd"}"#;
    let refused = |text: String| assert!(text.contains("args.target"), "{text}");
    // The first session of a server has nothing on disk; the second has.
    for round in 0..2 {
        let mut session = bench.session(&server, &[]).unwrap();
        refused(call(&mut session, 1, "get", args));
        session.finish().unwrap();
        let mut session = bench.session(&server, &[]).unwrap();
        // In one write.
        session
            .send(&format!(
                "{}\n{}",
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
                format_args!(
                    r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"get","arguments":{args}}}}}"#
                )
            ))
            .unwrap();
        let answer = session.answer("2").unwrap().to_text();
        assert!(answer.contains("args.target"), "{round}: {answer}");
        refused(call(&mut session, 3, "get", args));
        assert_eq!(call(&mut session, 4, "get", r#"{"target":"x"}"#), "ran");
        session.finish().unwrap();
    }
}
