//! Calls that the client asks its person about, in place of Callgate: by itself, by a form, or between two legs of one call.
//! The gate is the real one, the client is a script, and what the server got is on record.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::Duration;

use callgate_controls::approval::{Approval, Approvals, Decider, Verdict};
use callgate_controls::decider::{self, Presence};
use callgate_controls::{classes, pin};
use callgate_home::Home;
use callgate_home::clock::{Clock as _, Moment, SystemClock};
use callgate_tests::gate::{Bench, SERVER};
use callgate_tests::history::{Row, rows};
use callgate_tests::json::{Dialect, Json};
use callgate_tests::processes::eventually;
use callgate_tests::session::{Session, error_message, result_text, told};

const SOON: Duration = Duration::from_secs(20);
const CLAUDE_CODE: &str = r#""clientInfo":{"name":"claude-code","version":"2.1.325"}"#;
const CHANGED: &str = "notifications/tools/list_changed";
const MARK: &str = "anthropic/requiresUserInteraction";
const BY_CLIENT: &str = "asked by the client, maybe not by a person";

fn policy(asking: &str) -> String {
    format!(
        r#"{{ "version": "1", "default": "allow", "ask": {{ {asking} }}, "tools": {{ "danger": {{ "action": "ask", "reason": "look twice" }},
            "slow": {{ "ask_if": [ {{ "path": "args.far", "op": "exists" }} ] }} }} }}"#
    )
}

/// A gate, its client, and a person who may be there.
struct World {
    bench: Bench,
    session: Session,
    home: Home,
    presence: Option<Presence>,
    asked: u32,
}

impl World {
    /// `said`: what the client says of itself in its handshake, beside the revision.
    fn new(policy: &str, said: &str, script: &str) -> World {
        let bench = Bench::new(policy).unwrap();
        let session = bench.session(script, &[]).unwrap();
        let home = Home::at(bench.home());
        let mut world = World { bench, session, home, presence: None, asked: 0 };
        let hello = format!(r#""method":"initialize","params":{{"protocolVersion":"2025-11-25",{said}}}"#);
        world.request(&hello);
        world.session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
        world
    }

    fn claude_code(policy: &str) -> World {
        World::new(policy, &format!(r#""capabilities":{{}},{CLAUDE_CODE}"#), "")
    }

    fn somebody_comes(&mut self) {
        self.presence = Some(Presence::announce(&self.home).unwrap());
    }

    /// Sends a request, and gives the answer.
    fn request(&mut self, rest: &str) -> Json {
        let id = self.send(rest);
        self.answer(id)
    }

    fn send(&mut self, rest: &str) -> u32 {
        self.asked += 1;
        let id = self.asked;
        self.session.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#)).unwrap();
        id
    }

    fn answer(&self, id: u32) -> Json {
        self.session.answer_within(&id.to_string(), SOON).unwrap()
    }

    fn list(&mut self) -> Vec<Json> {
        let answer = self.request(r#""method":"tools/list""#);
        answer.at(&["result", "tools"]).unwrap().items().to_vec()
    }

    /// The tools that the client is to ask about, by its list.
    fn marked(&mut self) -> Vec<String> {
        let tools = self.list();
        let is_marked = |tool: &&Json| tool.at(&["_meta", MARK]) == Some(&Json::Bool(true));
        tools
            .iter()
            .filter(is_marked)
            .map(|tool| tool.get("name").unwrap().as_text().unwrap().to_owned())
            .collect()
    }

    fn send_call(&mut self, tool: &str, arguments: &str) -> u32 {
        self.send(&format!(r#""method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}"#))
    }

    fn said(&self, id: u32) -> String {
        let answer = self.answer(id);
        told(&answer)
            .or_else(|| result_text(&answer))
            .unwrap_or_else(|| panic!("{}", answer.to_text()))
            .to_owned()
    }

    fn call(&mut self, tool: &str, arguments: &str) -> String {
        let id = self.send_call(tool, arguments);
        self.said(id)
    }

    /// Waits until what the server listed is known.
    fn learned(&self) {
        let learned = || pin::read(&self.home, SERVER).ok().flatten().filter(|pins| !pins.tools.is_empty());
        eventually("pins", SOON, learned);
    }

    /// How many calls of the tool got to the server.
    fn runs(&self, tool: &str) -> usize {
        let named = format!("\"{tool}\"");
        let is_call = |line: &&String| line.contains("tools/call") && line.contains(&named);
        self.bench.server_lines().iter().filter(is_call).count()
    }

    /// How often the client was told to ask for the list again.
    fn changes(&self) -> usize {
        self.session.out.text().matches(CHANGED).count()
    }

    fn rows(&self, tool: &str) -> Vec<Row> {
        let mut rows = rows(&self.bench).unwrap();
        rows.retain(|row| row.tool() == tool);
        rows
    }

    fn last_row(&self, tool: &str) -> (String, String) {
        let row = self.rows(tool).pop().unwrap().0;
        let text = |member| row.get(member).and_then(Json::as_text).unwrap_or_default().to_owned();
        (text("rule"), text("reason"))
    }

    fn open(&self) -> Vec<Approval> {
        Approvals::new(&self.home).open(&now()).unwrap()
    }

    fn card(&self) -> Approval {
        eventually("a card", SOON, || self.open().pop())
    }

    fn decide(&self, approval: &Approval, verdict: &Verdict) {
        Approvals::new(&self.home).decide(&now(), approval.id, verdict, Decider::Window).unwrap();
        decider::ring(&self.home);
    }
}

fn now() -> Moment {
    SystemClock::default().now()
}

#[test]
fn a_client_that_prompts_asks_where_nobody_could_decide_and_its_calls_pass_as_asked_by_it() {
    let mut world = World::claude_code(&policy(""));
    assert_eq!(world.marked(), ["danger"], "not the tool that is asked about now and then");
    assert!(world.call("danger", r#"{"url":"a"}"#).contains("danger ran"));
    assert_eq!(world.rows("danger").len(), 1);
    assert_eq!(world.rows("danger")[0].decision(), "allowed");
    assert_eq!(world.last_row("danger"), ("(asked by the client)".to_owned(), BY_CLIENT.to_owned()));
    assert!(world.open().is_empty(), "nobody else is asked");
    // Nobody prompted for this one.
    assert!(world.call("slow", r#"{"far":1}"#).contains("the user is away"));
    assert!(world.call("slow", "{}").contains("slow ran"));
    assert_eq!((world.runs("danger"), world.runs("slow")), (1, 1));
}

#[test]
fn with_somebody_there_callgate_asks_and_the_client_is_told_to_leave_it() {
    let mut world = World::claude_code(&policy(""));
    world.somebody_comes();
    assert!(world.marked().is_empty());
    let call = world.send_call("danger", r#"{"url":"a"}"#);
    let card = world.card();
    assert_eq!(world.runs("danger"), 0);
    world.decide(&card, &Verdict::Once);
    assert!(world.said(call).contains("danger ran"));
    assert_eq!(world.last_row("danger").0, format!("(approval {})", card.id));
    // Nobody is there any more: this call is not one that the client asked about, and the next one is.
    world.presence = None;
    let before = world.changes();
    assert!(world.call("danger", r#"{"url":"b"}"#).contains("the user is away"));
    eventually("the client is told that its list is another", SOON, || {
        (world.changes() > before).then_some(())
    });
    assert_eq!(world.marked(), ["danger"]);
    assert!(world.call("danger", r#"{"url":"b"}"#).contains("danger ran"));
    assert_eq!(world.runs("danger"), 2);
    // And somebody comes back.
    world.somebody_comes();
    let before = world.changes();
    let call = world.send_call("danger", r#"{"url":"c"}"#);
    let is_its =
        |one: &Approval| one.arguments.as_ref().is_some_and(|arguments| arguments.text.contains("\"c\""));
    let card = eventually("a card", SOON, || world.open().into_iter().find(is_its));
    world.decide(&card, &Verdict::Deny(None));
    assert!(world.said(call).contains("the user said no"));
    assert!(world.changes() > before);
    assert_eq!(world.runs("danger"), 2);
}

#[test]
fn a_policy_says_where_is_asked_and_is_heard_at_once() {
    let mut world = World::claude_code(&policy(r#""where": "callgate""#));
    assert!(world.marked().is_empty());
    assert!(world.call("danger", "{}").contains("the user is away"));
    let changes = world.changes();
    world.bench.write_policy(&policy(r#""where": "client""#)).unwrap();
    eventually("the client is told that its list is another", SOON, || {
        (world.changes() > changes).then_some(())
    });
    // Until it has its list anew, it has not asked.
    assert!(world.call("danger", "{}").contains("the user is away"));
    world.somebody_comes();
    assert_eq!(world.marked(), ["danger", "slow"], "also what is asked about now and then");
    assert!(world.call("danger", "{}").contains("danger ran"));
    assert!(world.call("slow", r#"{"far":1}"#).contains("slow ran"));
    assert!(world.last_row("slow").1.contains(BY_CLIENT));
    world.bench.write_policy(&policy(r#""where": "both""#)).unwrap();
    assert_eq!(world.marked(), ["danger", "slow"]);
    let call = world.send_call("danger", r#"{"url":"a"}"#);
    let is_its =
        |one: &Approval| one.arguments.as_ref().is_some_and(|arguments| arguments.text.contains("\"a\""));
    let card = eventually("a card", SOON, || world.open().into_iter().find(is_its));
    assert_eq!(world.runs("danger"), 1, "the client's question is not enough");
    world.decide(&card, &Verdict::Once);
    assert!(world.said(call).contains("danger ran"));
}

#[test]
fn explain_says_where_a_call_would_be_asked_about() {
    for (asking, word, words) in [
        ("", "either", "in Callgate; where nobody could decide there, by the client, if it can ask"),
        (r#""where": "callgate""#, "callgate", "in Callgate"),
        (r#""where": "client""#, "client", "by the client, if it can ask; else in Callgate"),
        (r#""where": "both""#, "both", "in Callgate, and by the client, if it asks by itself"),
    ] {
        let bench = Bench::new(&policy(asking)).unwrap();
        let explain = |tool, more: &[&str]| {
            let asked = ["policy", "explain", "--new", "--server", SERVER, "--tool", tool];
            let output = bench.callgate(asked.iter().chain(more)).unwrap().output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let text = explain("danger", &[]);
        assert!(text.lines().any(|line| line == format!("asked   {words}")), "{text}");
        let json = explain("danger", &["--json"]);
        assert!(json.contains(&format!(r#""asked_in":"{word}""#)), "{json}");
        assert!(explain("safe", &["--json"]).contains(r#""asked_in":null"#));
    }
}

#[test]
fn only_a_client_that_is_known_to_prompt_is_left_to_ask() {
    for said in [
        r#""capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.198"}"#,
        r#""capabilities":{},"clientInfo":{"name":"cursor-vscode","version":"2.1.325"}"#,
        r#""capabilities":{}"#,
    ] {
        let mut world = World::new(&policy(r#""where": "client""#), said, "");
        assert!(world.marked().is_empty(), "{said}");
        assert!(world.call("danger", "{}").contains("the user is away"), "{said}");
        assert_eq!((world.runs("danger"), world.changes()), (0, 0), "{said}");
    }
}

#[test]
fn a_call_of_a_client_that_never_had_the_list_was_not_asked_about() {
    let mut world = World::claude_code(&policy(""));
    assert!(world.call("danger", "{}").contains("the user is away"));
    assert_eq!(world.runs("danger"), 0);
}

#[test]
fn every_other_rule_counts_for_a_call_that_the_client_asked_about() {
    let rules = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask", "rate_limit": "1/hour",
        "deny_if": [ { "path": "args.bad", "op": "exists" } ] } } }"#;
    let mut world = World::claude_code(rules);
    assert_eq!(world.marked(), ["danger"]);
    assert!(world.call("danger", r#"{"bad":1}"#).contains("is denied when"));
    assert!(world.call("danger", "{}").contains("danger ran"));
    assert!(world.call("danger", "{}").contains("can pass in"), "its limit is taken");
    assert!(world.bench.callgate(["pause"]).unwrap().output().unwrap().status.success());
    assert!(world.call("danger", "{}").contains("every call is refused until the user"));
    assert_eq!(world.runs("danger"), 1);
}

#[test]
fn the_mark_is_on_the_way_out_alone_and_what_a_server_says_is_no_leave() {
    let list = |mark: &str| {
        format!(
            r#"send {{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{{"name":"safe","_meta":{{"{MARK}":true}}}},{{"name":"danger","_meta":{{"{MARK}":{mark},"n":1.0}}}}]}}}}"#
        )
    };
    // A server that takes its own mark away, or sets it, describes its tool otherwise.
    let script = format!("on tools/list 1\n{}\non tools/list\n{}\n", list("false"), list("true"));
    let rules = policy("").replacen(r#""version": "1","#, r#""version": "1", "pin": "enforce","#, 1);
    let mut world = World::new(&rules, &format!(r#""capabilities":{{}},{CLAUDE_CODE}"#), &script);
    assert_eq!(world.marked(), ["safe", "danger"]);
    let shown = format!(r#"{{"name":"danger","_meta":{{"{MARK}":true,"n":1.0}}}}"#);
    assert!(world.session.out.text().contains(&shown), "nothing else of it is changed");
    world.learned();
    assert!(world.call("danger", "{}").contains("danger ran"), "what the gate put in is no other definition");
    assert_eq!(world.marked(), ["safe"], "what its server put in is");
    assert!(world.call("danger", "{}").contains("describes it otherwise than when the user accepted it"));
    assert!(world.call("safe", "{}").contains("safe ran"));
    assert_eq!(world.rows("safe")[0].0.get("rule").unwrap().as_text(), Some("/default"));
    assert_eq!(world.runs("danger"), 1);
}

/// A client that shows forms, and a tool whose calls can be borne.
fn with_forms(policy: &str) -> World {
    let mut world = World::new(
        policy,
        r#""capabilities":{"elicitation":{}},"clientInfo":{"name":"former","version":"1"}"#,
        "",
    );
    classes::set(&world.home, SERVER, "danger", Some("Write")).unwrap();
    world.list();
    world.learned();
    world
}

impl World {
    /// The nth form that the client was asked to show: the id of its request, and what it says.
    fn form(&self, nth: usize) -> (String, String) {
        let line = self.session.nth_line_with("elicitation/create", nth).unwrap();
        let form = Json::parse(&line, Dialect::Strict).unwrap();
        let schema = r#"{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["deny","allow once"]}},"required":["decision"]}"#;
        assert_eq!(form.at(&["params", "requestedSchema"]).unwrap().to_text(), schema);
        let id = form.get("id").unwrap().to_text();
        assert!(id.starts_with("\"callgate/ask-"), "{id}");
        (id, form.at(&["params", "message"]).unwrap().as_text().unwrap().to_owned())
    }

    fn forms(&self) -> usize {
        self.session.out.text().matches("elicitation/create").count()
    }

    /// Answers a request, with a result or an error.
    fn reply(&mut self, id: &str, outcome: &str) {
        self.session.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#)).unwrap();
    }

    fn is_withdrawn(&self, id: &str) -> bool {
        let cancelled = format!(r#""method":"notifications/cancelled","params":{{"requestId":{id},"#);
        self.session.out.text().contains(&cancelled)
    }

    /// Nothing of what was asked or answered here got to the server.
    fn assert_server_heard_nothing(&self) {
        let got = self.bench.server_lines().join("\n");
        for word in ["allow once", "callgate/", "decision", "requestState", "inputResponses"] {
            assert!(!got.contains(word), "{word} in\n{got}");
        }
    }

    fn events(&self, words: &str) -> String {
        let output = self.bench.callgate(["events", "--json"]).unwrap().output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter(|line| line.contains(words)).collect()
    }
}

const YES: &str = r#""result":{"action":"accept","content":{"decision":"allow once"}}"#;

#[test]
fn a_form_in_the_client_lets_one_call_through_where_nobody_could_decide() {
    let mut world = with_forms(&policy(""));
    let call = world.send_call("danger", r#"{"url":"a"}"#);
    let (id, message) = world.form(1);
    assert_eq!(
        message,
        r#"Callgate asks: may "danger" of corpus be called, this once? (look twice) Its arguments: {"url":"a"}"#
    );
    // Everything else goes on, and nothing is let through.
    assert!(world.call("safe", "{}").contains("safe ran"));
    assert_eq!((world.runs("danger"), world.rows("danger")[0].decision()), (0, "asked"));
    world.reply(&id, YES);
    assert!(world.said(call).contains("danger ran"));
    assert_eq!(world.runs("danger"), 1);
    let (rule, reason) = world.last_row("danger");
    assert!(rule.starts_with("(client's approval "), "{rule}");
    assert!(reason.starts_with("answered by the client, maybe not by a person, after "), "{reason}");
    assert!(world.events("approved in the client, maybe not by a person").contains("decided"));
    assert_eq!(world.events("forged_approval"), "", "whoever answered is on record");
    // The same answer again, and another call: nothing is left of it.
    world.reply(&id, YES);
    let again = world.send_call("danger", r#"{"url":"a"}"#);
    let (id, _) = world.form(2);
    world.reply(&id, r#""result":{"action":"decline"}"#);
    assert!(
        world
            .said(again)
            .contains("the user said no in the client (answered by the client, maybe not by a person)")
    );
    assert_eq!(world.runs("danger"), 1);
    world.assert_server_heard_nothing();
}

#[test]
fn anything_but_the_exact_answer_is_a_no() {
    let mut world = with_forms(&policy(""));
    for (nth, answer) in [
        r#""result":{"action":"accept","content":{"decision":"deny"}}"#,
        r#""result":{"action":"accept","content":{}}"#,
        r#""result":{"action":"accept"}"#,
        r#""result":{"action":"accept","content":{"decision":"allow"}}"#,
        r#""result":{"action":"accept","content":{"decision":"allow once","more":1}}"#,
        r#""result":{"action":"cancel"}"#,
        r#""result":{}"#,
        r#""result":"allow once""#,
    ]
    .into_iter()
    .enumerate()
    {
        let call = world.send_call("danger", &format!(r#"{{"n":{nth}}}"#));
        let (id, _) = world.form(nth + 1);
        world.reply(&id, answer);
        assert!(world.said(call).contains("the user said no in the client"), "{answer}");
        assert_eq!(world.rows("danger").last().unwrap().decision(), "denied");
    }
    assert!(world.open().is_empty());
    // A client that cannot ask says nothing for its person.
    let forms = world.forms();
    let call = world.send_call("danger", "{}");
    let (id, _) = world.form(forms + 1);
    world.reply(&id, r#""error":{"code":-32601,"message":"allow once"}"#);
    assert!(world.said(call).contains("the user is away"));
    assert_eq!((world.open().len(), world.runs("danger")), (1, 0));
    world.assert_server_heard_nothing();
}

#[test]
fn a_form_for_a_call_that_is_over_is_taken_back_and_its_answer_counts_for_nothing() {
    let mut world = with_forms(&policy(""));
    // Given up by its client.
    let call = world.send_call("danger", r#"{"url":"a"}"#);
    let (id, _) = world.form(1);
    let cancel = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    // The form itself is not the client's to cancel, and no server hears of it.
    world.session.send(&cancel(&id)).unwrap();
    world.session.send(&cancel(&call.to_string())).unwrap();
    eventually("the form is taken back", SOON, || world.is_withdrawn(&id).then_some(()));
    world.reply(&id, YES);
    // Out of time.
    world.bench.write_policy(&policy(r#""hold": "1s""#)).unwrap();
    let call = world.send_call("danger", r#"{"url":"b"}"#);
    let (id, _) = world.form(2);
    assert!(world.said(call).contains("Waiting for the user's approval"));
    eventually("the form is taken back", SOON, || world.is_withdrawn(&id).then_some(()));
    world.reply(&id, YES);
    // The call that comes again is asked about again, and runs once after a yes.
    let call = world.send_call("danger", r#"{"url":"b"}"#);
    let (id, _) = world.form(3);
    assert_eq!(world.runs("danger"), 0, "late answers");
    world.reply(&id, YES);
    assert!(world.said(call).contains("danger ran"));
    assert_eq!(world.runs("danger"), 1);
    world.assert_server_heard_nothing();
}

#[test]
fn a_client_that_goes_while_it_asks_has_answered_nothing() {
    let mut world = with_forms(&policy(""));
    world.send_call("danger", "{}");
    world.form(1);
    world.session.close_input();
    assert!(world.session.ended(SOON).unwrap().success());
    assert_eq!(world.runs("danger"), 0);
    assert_eq!(world.rows("danger")[0].decision(), "asked");
    world.assert_server_heard_nothing();
}

#[test]
fn whoever_is_there_is_asked_and_not_the_client_unless_the_policy_says_so() {
    let mut world = with_forms(&policy(""));
    world.somebody_comes();
    let call = world.send_call("danger", r#"{"url":"a"}"#);
    let card = world.card();
    world.decide(&card, &Verdict::Once);
    assert!(world.said(call).contains("danger ran"));
    assert_eq!(world.forms(), 0);
    world.bench.write_policy(&policy(r#""where": "client""#)).unwrap();
    let call = world.send_call("danger", r#"{"url":"b"}"#);
    let (id, _) = world.form(1);
    // Whoever is there may decide all the same, and is quicker.
    let card = world.card();
    world.decide(&card, &Verdict::Once);
    assert!(world.said(call).contains("danger ran"));
    eventually("the form is taken back", SOON, || world.is_withdrawn(&id).then_some(()));
    assert_eq!(world.last_row("danger").0, format!("(approval {})", card.id));
    world.presence = None;
    for strict in [r#""where": "callgate""#, r#""where": "both""#] {
        world.bench.write_policy(&policy(strict)).unwrap();
        assert!(world.call("danger", r#"{"url":"c"}"#).contains("the user is away"), "{strict}");
    }
    assert_eq!((world.forms(), world.runs("danger")), (1, 2));
}

#[test]
fn equal_calls_are_one_form_and_one_yes_lets_one_of_them_through() {
    let mut world = with_forms(&policy(""));
    let calls = [world.send_call("danger", "{}"), world.send_call("danger", "{}")];
    let (id, _) = world.form(1);
    eventually("both wait", SOON, || (world.card().asked == 2).then_some(()));
    assert_eq!(world.forms(), 1);
    world.reply(&id, YES);
    // The other one is another question.
    let (id, _) = world.form(2);
    world.reply(&id, r#""result":{"action":"decline"}"#);
    let said = calls.map(|call| world.said(call));
    assert_eq!(said.iter().filter(|said| said.contains("danger ran")).count(), 1, "{said:?}");
    assert_eq!(
        said.iter().filter(|said| said.contains("the user said no in the client")).count(),
        1,
        "{said:?}"
    );
    assert_eq!(world.runs("danger"), 1);
}

#[test]
fn what_destroys_or_pays_or_is_not_known_is_never_asked_about_in_a_form() {
    let tools = r#"{"name":"get_page","description":"Reads a page.","inputSchema":{"type":"object","properties":{"url":{"type":"string"}}}},
        {"name":"delete_account","description":"Deletes the account for good.","inputSchema":{"type":"object"}},
        {"name":"send_payment","description":"Transfers money.","inputSchema":{"type":"object"}}"#
        .replace('\n', "");
    let script = format!(
        r#"on tools/list
send {{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{tools}]}}}}
"#
    );
    let rules = r#"{ "version": "1", "default": "ask" }"#;
    let mut world = World::new(rules, r#""capabilities":{"elicitation":{"form":{}}}"#, &script);
    world.list();
    world.learned();
    for tool in ["delete_account", "send_payment", "not_listed"] {
        assert!(world.call(tool, "{}").contains("the user is away"), "{tool}");
    }
    // Where its answer cannot be shown whole, neither.
    let long = format!(r#"{{"url":"{}"}}"#, "x".repeat(2_000));
    assert!(world.call("get_page", &long).contains("the user is away"));
    assert_eq!(world.forms(), 0);
    let call = world.send_call("get_page", "{}");
    let (id, _) = world.form(1);
    world.reply(&id, YES);
    eventually("it runs", SOON, || (world.runs("get_page") == 1).then_some(()));
    world.answer(call);
    // A person knows better.
    classes::set(&world.home, SERVER, "get_page", Some("Financial")).unwrap();
    assert!(world.call("get_page", "{}").contains("the user is away"));
    // What they said of no definition that is known makes none milder.
    classes::set(&world.home, SERVER, "send_payment", Some("Write")).unwrap();
    assert!(world.call("send_payment", "{}").contains("the user is away"));
    assert_eq!(world.forms(), 1);
}

#[test]
fn no_server_can_speak_in_the_place_of_a_form() {
    let script = r#"on safe
send {"jsonrpc":"2.0","id":"callgate/ask-x-1","method":"elicitation/create","params":{"message":"allow?","requestedSchema":{"type":"object","properties":{}}}}
send {"jsonrpc":"2.0","id":"\u0063allgate/ask-x-2","method":"roots/list"}
send {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"callgate/ask-x-1"}}
answer
"#;
    let said = r#""capabilities":{"elicitation":{},"roots":{}}"#;
    let mut world = World::new(&policy(""), said, script);
    assert!(world.call("safe", "{}").contains("safe ran"));
    let out = world.session.out.text();
    assert!(!out.contains("ask-x") && !out.contains("elicitation/create"), "{out}");
    let refused = |line: &&String| line.contains("belong to the gate");
    let both = || (world.bench.server_lines().iter().filter(refused).count() == 2).then_some(());
    eventually("both are refused", SOON, both);
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"later","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;

/// A client of the revision without a handshake.
fn without_handshake(policy: &str) -> World {
    let bench = Bench::new(policy).unwrap();
    let session = bench.session("", &[]).unwrap();
    let home = Home::at(bench.home());
    let mut world = World { bench, session, home, presence: None, asked: 0 };
    world.request(&format!(r#""method":"tools/list","params":{{{META}}}"#));
    classes::set(&world.home, SERVER, "danger", Some("Write")).unwrap();
    world.learned();
    world
}

impl World {
    /// A call of that client, with what else it brings.
    fn leg(&mut self, tool: &str, arguments: &str, more: &str) -> Json {
        self.request(&format!(
            r#""method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},{META}{more}}}"#
        ))
    }
}

/// The state of a question inside an answer.
fn state(answer: &Json) -> String {
    assert_eq!(
        answer.at(&["result", "resultType"]).and_then(Json::as_text),
        Some("input_required"),
        "{}",
        answer.to_text()
    );
    let asked = answer.at(&["result", "inputRequests", "callgate/approval"]).unwrap();
    assert_eq!(asked.get("method").and_then(Json::as_text), Some("elicitation/create"));
    assert!(asked.at(&["params", "message"]).unwrap().as_text().unwrap().contains("\"danger\" of corpus"));
    answer.at(&["result", "requestState"]).unwrap().as_text().unwrap().to_owned()
}

fn answered(state: &str, outcome: &str) -> String {
    format!(r#","requestState":"{state}","inputResponses":{{"callgate/approval":{outcome}}}"#)
}

const ALLOW: &str = r#"{"action":"accept","content":{"decision":"allow once"}}"#;

fn words(answer: &Json) -> &str {
    told(answer).or_else(|| result_text(answer)).unwrap_or_else(|| panic!("{}", answer.to_text()))
}

#[test]
fn a_call_that_comes_again_with_a_yes_runs_once_and_waits_nowhere_meanwhile() {
    let mut world = without_handshake(&policy(""));
    let first = world.leg("danger", r#"{"url":"a"}"#, "");
    let state = state(&first);
    let card = world.card();
    assert_eq!((card.held_until_ms, world.runs("danger")), (None, 0), "no clock runs");
    let second = world.leg("danger", r#"{"url":"a"}"#, &answered(&state, ALLOW));
    assert!(words(&second).contains("danger ran"));
    let (rule, reason) = world.last_row("danger");
    assert_eq!(rule, format!("(client's approval {})", card.id));
    assert!(reason.starts_with("answered by the client, maybe not by a person, after "), "{reason}");
    assert_eq!(world.rows("danger")[0].outcome(), "not_sent", "the first leg");
    assert!(world.events("approved in the client, maybe not by a person").contains("decided"));
    assert_eq!(world.events("forged_approval"), "", "whoever answered is on record");
    world.assert_server_heard_nothing();
    // Used is used: the same again is another question.
    let again = world.leg("danger", r#"{"url":"a"}"#, &answered(&state, ALLOW));
    assert_ne!(self::state(&again), state);
    assert_eq!(world.runs("danger"), 1);
}

#[test]
fn what_is_no_answer_of_this_session_to_this_very_call_lets_nothing_through() {
    let mut world = without_handshake(&policy(""));
    let arguments = r#"{"url":"a"}"#;
    let good = state(&world.leg("danger", arguments, ""));
    let foreign = "no answer to a question about it";
    let mut forged = good.clone();
    let last = forged.pop().unwrap();
    forged.push(if last == '0' { '1' } else { '0' });
    let card = world.card();
    let other_card = good.replace(&card.id.to_string(), "k3v9qa");
    for state in [forged.as_str(), &other_card, "callgate/1.", "callgate/1.k3v9qa.9999999999999.00.00"] {
        let answer = world.leg("danger", arguments, &answered(state, ALLOW));
        assert!(words(&answer).contains(foreign), "{state}: {}", answer.to_text());
    }
    // Another session of the same gate has another key.
    let mut other = without_handshake(&policy(""));
    let theirs = state(&other.leg("danger", arguments, ""));
    assert!(words(&world.leg("danger", arguments, &answered(&theirs, ALLOW))).contains(foreign));
    // Other arguments are another call.
    assert!(words(&world.leg("danger", r#"{"url":"b"}"#, &answered(&good, ALLOW))).contains(foreign));
    // An answer without its state.
    let stray = format!(r#","inputResponses":{{"callgate/approval":{ALLOW}}}"#);
    let answer = world.leg("danger", arguments, &stray);
    assert!(error_message(&answer).unwrap().contains("not the state that belongs to it"));
    assert_eq!(world.open().len(), 1, "still open");
    // And this is a no, as whatever is not the yes.
    let answer = world.leg("danger", arguments, &format!(r#","requestState":"{good}""#));
    assert!(words(&answer).contains("the user said no in the client"));
    assert!(world.open().is_empty());
    assert_ne!(state(&world.leg("danger", arguments, &answered(&good, ALLOW))), good, "decided is decided");
    assert_eq!(world.runs("danger"), 0);
    world.assert_server_heard_nothing();
}

#[test]
fn garbage_between_two_legs_is_a_no() {
    let mut world = without_handshake(&policy(""));
    for (nth, outcome) in [
        r#"{"action":"accept","content":{"decision":"deny"}}"#,
        r#"{"action":"accept","content":{"decision":"Allow once"}}"#,
        r#"{"action":"decline"}"#,
        r#"{"action":"accept","content":{"decision":"allow once"}},"other":{"action":"accept","content":{}}"#,
        "null",
    ]
    .into_iter()
    .enumerate()
    {
        let arguments = format!(r#"{{"n":{nth}}}"#);
        let asked = state(&world.leg("danger", &arguments, ""));
        let answer = world.leg("danger", &arguments, &answered(&asked, outcome));
        assert!(words(&answer).contains("the user said no in the client"), "{outcome}");
    }
    assert_eq!((world.runs("danger"), world.open().len()), (0, 0));
}

#[test]
fn a_decision_or_a_rule_that_came_between_two_legs_counts() {
    let mut world = without_handshake(&policy(""));
    let asked = state(&world.leg("danger", r#"{"n":1}"#, ""));
    world.decide(&world.card(), &Verdict::Deny(Some("not this one".to_owned())));
    let answer = world.leg("danger", r#"{"n":1}"#, &answered(&asked, ALLOW));
    assert!(words(&answer).contains("the user said no: not this one"), "{}", answer.to_text());
    let asked = state(&world.leg("danger", r#"{"n":2}"#, ""));
    world.decide(&world.card(), &Verdict::Once);
    let card = world.last_row("danger").0;
    assert!(
        words(&world.leg("danger", r#"{"n":2}"#, &answered(&asked, ALLOW))).contains("danger ran"),
        "{card}"
    );
    assert!(world.last_row("danger").0.starts_with("(approval "));
    let asked = state(&world.leg("danger", r#"{"n":3}"#, ""));
    world
        .bench
        .write_policy(
            r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "deny" } } }"#,
        )
        .unwrap();
    assert!(words(&world.leg("danger", r#"{"n":3}"#, &answered(&asked, ALLOW))).contains("is denied"));
    // Where nobody has to be asked any more, the call passes by itself, and its server hears nothing of the question.
    world.bench.write_policy(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    assert!(words(&world.leg("danger", r#"{"n":3}"#, &answered(&asked, ALLOW))).contains("danger ran"));
    assert_eq!(world.runs("danger"), 2);
    world.assert_server_heard_nothing();
}

#[test]
fn an_answer_that_comes_too_late_is_none() {
    let mut world = without_handshake(&policy(r#""expires": "1s""#));
    let asked = state(&world.leg("danger", "{}", ""));
    eventually("the card is missed", SOON, || world.open().is_empty().then_some(()));
    let answer = world.leg("danger", "{}", &answered(&asked, ALLOW));
    assert!(words(&answer).contains("no answer to a question about it"), "{}", answer.to_text());
    assert_eq!(world.runs("danger"), 0);
}

#[test]
fn with_somebody_there_a_call_is_held_and_what_a_server_asks_itself_is_left_alone() {
    let mut world = without_handshake(&policy(""));
    // A state of the server's own goes to the server, as it came.
    let theirs = r#","requestState":"of the server","inputResponses":{"name":{"action":"accept","content":{"n":1.0}}}"#;
    assert!(words(&world.leg("safe", "{}", theirs)).contains("safe ran"));
    assert!(world.bench.server_lines().iter().any(|line| line.contains(theirs)));
    // A call that brings one has no place for ours.
    assert!(words(&world.leg("danger", "{}", theirs)).contains("the user is away"));
    world.somebody_comes();
    let call = world.send(&format!(
        r#""method":"tools/call","params":{{"name":"danger","arguments":{{"url":"a"}},{META}}}"#
    ));
    let held = |one: &Approval| one.held_until_ms.is_some();
    let card = eventually("a held card", SOON, || world.open().into_iter().find(held));
    world.decide(&card, &Verdict::Once);
    assert!(world.said(call).contains("danger ran"));
    assert_eq!(world.runs("danger"), 1);
}
