//! Calls that the client asks its person about, in place of Callgate: by itself, by a form, or between two legs of one call.
//! The gate is the real one, the client is a script, and what the server got is on record.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::Duration;

use callgate_controls::approval::{Approval, Approvals, Decider, Verdict};
use callgate_controls::decider::{self, Presence};
use callgate_controls::pin;
use callgate_home::Home;
use callgate_home::clock::{Clock as _, Moment, SystemClock};
use callgate_tests::gate::{Bench, SERVER};
use callgate_tests::history::{Row, rows};
use callgate_tests::json::Json;
use callgate_tests::processes::eventually;
use callgate_tests::session::{Session, result_text, told};

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
    let learned = || pin::read(&world.home, SERVER).ok().flatten().filter(|pins| pins.tools.len() == 2);
    eventually("pins", SOON, learned);
    assert!(world.call("danger", "{}").contains("danger ran"), "what the gate put in is no other definition");
    assert_eq!(world.marked(), ["safe"], "what its server put in is");
    assert!(world.call("danger", "{}").contains("describes it otherwise than when the user accepted it"));
    assert!(world.call("safe", "{}").contains("safe ran"));
    assert_eq!(world.rows("safe")[0].0.get("rule").unwrap().as_text(), Some("/default"));
    assert_eq!(world.runs("danger"), 1);
}
