//! Ordinary traffic is never harmed: what is let through means the same on the other side, in both directions.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use callgate_tests::gate::{Bench, DENY_POLICY, OPEN_POLICY};
use callgate_tests::json::{Dialect, Json, on_big_stack};
use callgate_tests::processes::eventually;
use callgate_tests::session::{PATIENCE, Session, call_line, is_refusal, result_text};

/// Values that parsers like to change: they stand as arguments toward the server and as results toward the client.
const VALUES: &[&str] = &[
    r#"{"n":12345678901234567890123}"#,
    r#"{"n":1E400,"m":-1e-400}"#,
    r#"{"n":1.0,"m":1,"o":-0,"p":-0.0,"q":1.50,"r":1e2,"s":1E+02}"#,
    r#"{"n":9007199254740993,"m":0.1000000000000000055511151231257827}"#,
    r#"{"unknown":{"x-y":[null,true,false,{}]},"":"empty key"}"#,
    r#"{"text":"żółć 漢字 🦀 e\u0301 ﬁ","name":"ſ K"}"#,
    r#"{"text":"\u00e9\u001b\u0000\ud83e\udd80\/\"\\"}"#,
    r#"{"text":"\ud800 alone"}"#,
    r#"{"b":1,"a":2,"B":3,"A":4,"c ":5}"#,
    r#"{"proto":{"__proto__":{"x":1},"constructor":[]}}"#,
    r#"{"request":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"danger"}}}"#,
    r#"{"text":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\"}\r\n"}"#,
    r#"{"METHOD":"tools/call","Params":[],"result":{},"error":null,"id":[1.0]}"#,
    r#"{"blank" : [ 1 , 2 ,	3 ] , "nested" : { "k" : "v" } }"#,
];

fn parsed(text: &str) -> Json {
    Json::parse(text, Dialect::Strict).unwrap_or_else(|| panic!("not JSON: {text:.200}"))
}

fn open_bench() -> Bench {
    Bench::new(OPEN_POLICY).unwrap()
}

#[test]
fn arguments_reach_the_server_with_every_lexeme() {
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    for (index, value) in VALUES.iter().enumerate() {
        let line = call_line(&index.to_string(), "safe", value);
        session.send(&line).unwrap();
        session.answer(&index.to_string()).unwrap();
        let received = bench.server_lines().pop().unwrap();
        assert_eq!(parsed(&received), parsed(&line), "sent {line}");
    }
}

#[test]
fn every_other_part_of_a_request_reaches_the_server_too() {
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","_meta":{"progressToken":1.0,"a/b":[1E1]},"later":true}}"#,
        r#"{"id":"x","params":{"arguments":{},"name":"safe"},"method":"tools/call","jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":-3,"method":"custom/method","params":{"n":1.10},"trace":"t-1"}"#,
        r#"{"jsonrpc":"2.0","id":"","method":"resources/read","params":{"uri":"file:///a%20b"}}"#,
        r#"{"jsonrpc":"2.0","id":"ü\n","method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"debug"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#,
    ];
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    for line in lines {
        session.send(line).unwrap();
        session.answer(&parsed(line).get("id").unwrap().to_text()).unwrap();
        assert_eq!(parsed(&bench.server_lines().pop().unwrap()), parsed(line));
    }
}

#[test]
fn safe_bytes_are_forwarded_as_they_came() {
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","arguments":{"a":"\u00e9é","n":1.0}}}"#;
    session.send(line).unwrap();
    session.answer("1").unwrap();
    assert_eq!(bench.server_lines(), [line]);
}

#[test]
fn results_reach_the_client_with_every_lexeme() {
    let bench = open_bench();
    let answers: Vec<_> = VALUES
        .iter()
        .map(|value| {
            format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{{"content":[],"structuredContent":{value}}}}}"#)
        })
        .collect();
    let script: String = answers
        .iter()
        .enumerate()
        .map(|(index, line)| format!("on safe {}\nsend {line}\n", index + 1))
        .collect();
    let mut session = bench.session(&script, &[]).unwrap();
    for (index, answer) in answers.iter().enumerate() {
        let id = index.to_string();
        let got = session.ask(&id, "safe", "{}").unwrap();
        assert_eq!(got, parsed(&answer.replace("$id", &id)), "sent {answer}");
    }
}

#[test]
fn errors_and_notifications_of_the_server_reach_the_client_unchanged() {
    let lines = [
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"n":1.00}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:y","_meta":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/future","params":{"k":[12345678901234567890123]},"extra":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Resource not found","data":{"uri":"x","n":1E2}}}"#,
    ];
    let bench = open_bench();
    let script = format!("on safe 1\n{}", lines.map(|line| format!("send {line}\n")).concat());
    let mut session = bench.session(&script, &[]).unwrap();
    session.call("1", "safe", "{}").unwrap();
    session.answer("1").unwrap();
    let got: Vec<_> = session.out.text().lines().map(parsed).collect();
    assert_eq!(got, lines.map(parsed));
}

#[test]
fn deep_and_big_messages_pass_both_ways() {
    let deep = format!(r#"{{"x":{}1{}}}"#, "[".repeat(1_000), "]".repeat(1_000));
    let big = format!(r#"{{"x":"{}"}}"#, "ü".repeat(2 << 20));
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    for (id, value) in [("1", &deep), ("2", &big)] {
        session.call(id, "safe", value).unwrap();
        let answer = session.answer(id).unwrap();
        on_big_stack(|| {
            assert!(*answer.at(&["result", "structuredContent", "echo"]).unwrap() == parsed(value), "{id}")
        });
    }
}

#[test]
fn messages_of_up_to_64_mib_pass() {
    const SIZE: usize = (64 << 20) - 4096;
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    let answer = session.ask("1", "big", &format!(r#"{{"bytes":{SIZE}}}"#)).unwrap();
    assert_eq!(result_text(&answer).map(str::len), Some(SIZE));
    let before = bench.server_got().len();
    let line = call_line("2", "safe", &format!(r#"{{"x":"{}"}}"#, "y".repeat(SIZE)));
    session.send(&line).unwrap();
    // The fake server only records a line of this size.
    let received = || {
        std::fs::metadata(bench.path("received")).is_ok_and(|file| file.len() > (before + line.len()) as u64)
    };
    eventually("the whole line has arrived", PATIENCE, || received().then_some(()));
    assert!(bench.server_got()[before..] == *format!("{line}\n").as_bytes(), "the line arrived changed");
}

#[test]
fn what_a_server_asks_of_the_client_is_relayed_and_answered() {
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    let asked = [
        (
            "sampling/createMessage",
            r#"{"messages":[],"maxTokens":10,"temperature":1.0}"#,
            r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}"#,
        ),
        (
            "elicitation/create",
            r#"{"message":"Name?","requestedSchema":{"type":"object"}}"#,
            r#"{"action":"accept","content":{"n":1.50}}"#,
        ),
        ("roots/list", "{}", r#"{"roots":[{"uri":"file:///tmp"}]}"#),
    ];
    for (index, (method, params, reply)) in asked.into_iter().enumerate() {
        let id = index.to_string();
        session.call(&id, "ask", &format!(r#"{{"method":"{method}","params":{params}}}"#)).unwrap();
        let request = parsed(&session.line_with(&format!(r#""method":"{method}""#)).unwrap());
        assert_eq!(request.get("params"), Some(&parsed(params)));
        session
            .send(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{reply}}}"#,
                request.get("id").unwrap().to_text()
            ))
            .unwrap();
        let answer = session.answer(&id).unwrap();
        assert_eq!(answer.at(&["result", "structuredContent", "reply"]), Some(&parsed(reply)), "{method}");
    }
}

#[test]
fn progress_comes_before_the_answer_and_in_order() {
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    session
        .send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"steps":50},"_meta":{"progressToken":"t"}}}"#)
        .unwrap();
    session.answer("1").unwrap();
    let steps: Vec<_> = session
        .out
        .text()
        .lines()
        .map(parsed)
        .filter_map(|line| Some(line.at(&["params", "progress"])?.to_text()))
        .collect();
    assert_eq!(steps, (1..=50).map(|step| step.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_cancellation_reaches_the_server_and_needs_no_answer() {
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    session.call("1", "never", "{}").unwrap();
    let cancel =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}"#;
    session.send(cancel).unwrap();
    session.ask("2", "safe", "{}").unwrap();
    assert!(bench.server_lines().iter().any(|line| line == cancel));
    let finished = session.finish().unwrap();
    assert!(
        !String::from_utf8(finished.out).unwrap().contains(r#""id":1,"#),
        "a cancelled call is not answered"
    );
}

#[test]
fn answers_may_come_in_any_order() {
    let bench = open_bench();
    let mut session = bench.session("on safe\nhold\non slow\nanswer\nrelease\n", &[]).unwrap();
    session.call("1", "safe", r#"{"first":1}"#).unwrap();
    session.call("2", "safe", r#"{"second":2}"#).unwrap();
    // `slow` is answered first and lets the two before it go.
    session.call("3", "slow", "{}").unwrap();
    session.answer("2").unwrap();
    session.call("\"late\"", "later", r#"{"ms":300}"#).unwrap();
    session.call("\"early\"", "later", r#"{"ms":0}"#).unwrap();
    session.answer("\"late\"").unwrap();
    let order: Vec<_> =
        session.out.text().lines().map(|line| parsed(line).get("id").unwrap().to_text()).collect();
    assert_eq!(order, ["3", "1", "2", "\"early\"", "\"late\""]);
}

#[test]
fn requests_and_notifications_keep_their_order() {
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    let sent: Vec<_> = (0..500)
        .map(|n| match n % 3 {
            0 => call_line(&n.to_string(), "safe", "{}"),
            1 => format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{n},"progress":1}}}}"#),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"ping"}}"#),
        })
        .collect();
    session.send(&sent.join("\n")).unwrap();
    session.answer("498").unwrap();
    session.answer("497").unwrap();
    assert_eq!(bench.server_lines()[..499], sent[..499]);
}

#[test]
fn lists_are_filtered_on_every_page_and_keep_their_cursor() {
    let page = |tools: &str, rest: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{tools}]{rest}}}}}"#)
    };
    let script = [
        ("1", page(r#"{"name":"safe","n":1.0},{"name":"hidden_one"}"#, r#","nextCursor":"b""#)),
        ("2", page(r#"{"name":"hidden_one"}"#, r#","nextCursor":"c","_meta":{"k":1E1}"#)),
        ("3", page(r#"{"name":"slow"}"#, "")),
    ]
    .map(|(nth, line)| format!("on tools/list {nth}\nsend {line}\n"))
    .concat();
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut session = bench.session(&script, &[]).unwrap();
    for id in ["1", "2", "3"] {
        session.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#)).unwrap();
        session.answer(id).unwrap();
    }
    let results: Vec<_> =
        session.out.text().lines().map(|line| parsed(line).get("result").unwrap().clone()).collect();
    let expected = [
        r#"{"tools":[{"name":"safe","n":1.0}],"nextCursor":"b"}"#,
        r#"{"tools":[],"nextCursor":"c","_meta":{"k":1E1}}"#,
        r#"{"tools":[{"name":"slow"}]}"#,
    ];
    assert_eq!(results, expected.map(parsed));
}

fn stateless(id: &str, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

#[test]
fn the_stateless_revision_needs_no_handshake_and_is_judged_all_the_same() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut session: Session = bench.session("", &[]).unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#).unwrap();
    let discovered = session.answer("0").unwrap();
    assert_eq!(discovered.at(&["result", "supportedVersions"]), Some(&parsed(r#"["2026-07-28"]"#)));
    session.send(&stateless("1", "safe")).unwrap();
    assert_eq!(result_text(&session.answer("1").unwrap()), Some("safe ran"));
    session.send(&stateless("2", "danger")).unwrap();
    let denied = session.answer("2").unwrap();
    assert!(is_refusal(&denied));
    assert_eq!(denied.at(&["result", "resultType"]), Some(&parsed("\"complete\"")));
    session.send(&stateless("3", "hidden_one")).unwrap();
    let absent = r#"{"content":[{"text":"Unknown tool: hidden_one","type":"text"}],"isError":true,"resultType":"complete"}"#;
    assert_eq!(session.answer("3").unwrap().get("result"), Some(&parsed(absent)));
}

#[test]
fn an_unknown_method_is_answered_by_the_server_itself() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"server/discover2"}"#).unwrap();
    let answer = session.answer("1").unwrap();
    assert_eq!(
        answer.at(&["error"]),
        Some(&parsed(r#"{"code":-32601,"message":"Method not found: server/discover2"}"#))
    );
}

#[test]
fn what_the_server_says_on_stderr_is_passed_on() {
    let bench = open_bench();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("1", "stderr", r#"{"text":"a word from the server"}"#).unwrap();
    session
        .err
        .wait("the server's words", PATIENCE, |bytes, _| {
            String::from_utf8_lossy(bytes).contains("a word from the server").then_some(())
        })
        .unwrap();
}
