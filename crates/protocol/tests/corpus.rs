//! The bypass corpus, as far as it concerns reading one line. Ids are those of the security study.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use callgate_protocol::{
    Answer, Cause, Malformed,
    id::IdKey,
    json::{MAX_DEPTH, Problem, Raw},
    message::{Body, Incoming, Message, Outcome, Side, read, repair},
};

/// `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{…}}`
fn call(params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{params}}}}}"#)
}

fn bad(side: Side, line: &[u8]) -> Malformed {
    match read(side, line) {
        Incoming::Bad(malformed) => malformed,
        other => panic!("{} came out as {other:?}", String::from_utf8_lossy(line)),
    }
}

fn good(side: Side, line: &[u8]) -> Message<'_> {
    match read(side, line) {
        Incoming::One(message) => message,
        other => panic!("{} came out as {other:?}", String::from_utf8_lossy(line)),
    }
}

fn tool_of(line: &str) -> String {
    good(Side::Client, line.as_bytes()).tool_call().unwrap().name.into_owned()
}

#[test]
fn the_method_of_a_refused_message_is_known_unless_there_are_two() {
    for (line, method) in [
        (call(r#""name":"a","Name":"b""#), Some("tools/call")),
        (call(r#""name":"a","name":"b""#), Some("tools/call")),
        (r#"{"jsonrpc":"1.0","id":1,"method":"tools\/list"}"#.to_owned(), Some("tools/list")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#.to_owned(), None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}"#.to_owned(), None),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#.to_owned(), None),
        ("nonsense".to_owned(), None),
    ] {
        assert_eq!(bad(Side::Client, line.as_bytes()).method.as_deref(), method, "{line}");
    }
}

fn to_1() -> Answer {
    Answer::To(IdKey::from_lexeme("1").unwrap())
}

fn settles_1() -> Answer {
    Answer::Settles(IdKey::from_lexeme("1").unwrap())
}

/// Refused with −32600, and the asker is told under its id.
#[test]
fn ambiguous_client_messages_are_refused_under_their_id() {
    let padding = " ".repeat(70_000);
    let cases = [
        ("b01", call(r#""name":"safe","name":"danger""#)),
        ("b02", call(r#""name":"danger","name":"safe""#)),
        ("b03", call(r#""name":"safe","name":"danger","name":"safe""#)),
        ("b04", r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#.into()),
        ("b05", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}"#.into()),
        ("b06", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"},"params":{"name":"danger"}}"#.into()),
        ("b07", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger"},"params":{"name":"safe"}}"#.into()),
        ("b08", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"},"params":{"arguments":{}}}"#.into()),
        ("b11", call(r#""name":"safe","n\u0061me":"danger""#)),
        ("b12", call(r#""n\u0061me":"danger","name":"safe""#)),
        ("b13", call(r#""name":"safe","arguments":{},"arguments":{"x":1}"#)),
        ("b14", call(r#""name":"safe","arguments":{"x":1,"x":2}"#)),
        ("b15", call(r#""name":"safe","_meta":{},"_meta":{"a":1}"#)),
        ("b16", call(r#""name":"safe","arguments":{"a":[{"x":1,"\u0078":2}]}"#)),
        ("b17", call(&format!(r#""name":"safe",{padding}"name":"danger""#))),
        ("b18", r#"{"jsonrpc":"2.0","id":1,"result":{},"method":"tools/call","params":{"name":"danger"}}"#.into()),
        ("b19", r#"{"jsonrpc":"2.0","id":1,"error":{},"method":"tools/call","params":{"name":"danger"}}"#.into()),
        ("b20", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger"},"result":null}"#.into()),
        ("d01", r#"{"jsonrpc":"2.0","id":1,"METHOD":"tools/call","PARAMS":{"NAME":"danger"}}"#.into()),
        ("d02", r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#.into()),
        ("d03", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"},"Params":{"name":"danger"}}"#.into()),
        ("d04", call(r#""name":"safe","Name":"danger""#)),
        ("d05", call(r#""name":"safe","NAME":"danger""#)),
        ("d06", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"},"param\u017f":{"name":"danger"}}"#.into()),
        ("d06 raw", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"},"paramſ":{"name":"danger"}}"#.into()),
        ("d07", call(r#""name":"safe","argument\u017f":{}"#)),
        ("d08", call(r#""name":"safe","arguments":{},"Arguments":{"x":1}"#)),
        ("d09", call(r#""name":"safe","tas\u212a":{}"#)),
        ("d10", call(r#""name":"safe","name\u0000":"danger""#)),
        ("d11", r#"{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"tools/call"}"#.into()),
        ("d14", call(r#""name":"safe","name ":"danger""#)),
        ("d14 envelope", r#"{"jsonrpc":"2.0","id":1,"method":"ping","method ":"tools/call"}"#.into()),
        ("d15", call(r#""name":"safe","na\u200bme":"danger""#)),
        ("d17 escaped look-alike", call(r#""name":"safe","\u004eame":"danger""#)),
        ("e01", r#"{"jsonrpc":"2.0","id":1,"method":"TOOLS/CALL","params":{"name":"danger"}}"#.into()),
        ("e02", r#"{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"danger"}}"#.into()),
        ("e03", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call ","params":{"name":"danger"}}"#.into()),
        ("e04", r#"{"jsonrpc":"2.0","id":1,"method":" tools/call","params":{"name":"danger"}}"#.into()),
        ("e05", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call\u0000","params":{"name":"danger"}}"#.into()),
        ("e06", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call\n","params":{"name":"danger"}}"#.into()),
        ("e07", r#"{"jsonrpc":"2.0","id":1,"method":"ｔｏｏｌｓ／ｃａｌｌ","params":{"name":"danger"}}"#.into()),
        ("e08", r#"{"jsonrpc":"2.0","id":1,"method":"tools//call","params":{"name":"danger"}}"#.into()),
        ("e09", r#"{"jsonrpc":"2.0","id":1,"method":"tools\\call","params":{"name":"danger"}}"#.into()),
        ("e10", r#"{"jsonrpc":"2.0","id":1,"method":"tools\u2215call","params":{"name":"danger"}}"#.into()),
        ("e11", r#"{"jsonrpc":"2.0","id":1,"method":"tool\u017f/call","params":{"name":"danger"}}"#.into()),
        ("e12", r#"{"jsonrpc":"2.0","id":1,"method":"\ufefftools/call","params":{"name":"danger"}}"#.into()),
        ("l21", r#"{"jsonrpc":"2.0","id":1,"method":"Tools/List"}"#.into()),
        ("l20", r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#.into()),
        ("e20", r#"{"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"danger"}}"#.into()),
        ("e21", r#"{"jsonrpc":"2.0","id":1,"method":{"a":1},"params":{"name":"danger"}}"#.into()),
        ("e22", r#"{"jsonrpc":"2.0","id":1,"method":null,"params":{"name":"danger"}}"#.into()),
        ("e23", r#"{"jsonrpc":"2.0","id":1,"params":{"name":"danger"}}"#.into()),
        ("e25", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}"#.into()),
        ("e26", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["danger"]}"#.into()),
        ("e27", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[{"name":"danger"}]}"#.into()),
        ("e28", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"{\"name\":\"danger\"}"}"#.into()),
        ("e50", r#"{"id":1,"method":"tools/call","params":{"name":"danger"}}"#.into()),
        ("e51", r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"danger"}}"#.into()),
        ("e52", r#"{"jsonrpc":2.0,"id":1,"method":"tools/call","params":{"name":"danger"}}"#.into()),
        ("method with a lone surrogate", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call\ud800"}"#.into()),
        ("j03", call(&format!(r#""name":"danger","arguments":{{"x":{}{}}}"#, "[".repeat(20_000), "]".repeat(20_000)))),
    ];
    for (id, line) in cases {
        let malformed = bad(Side::Client, line.as_bytes());
        assert_eq!(malformed.answer, to_1(), "{id}: {}", malformed.cause);
        assert_eq!(malformed.code(), -32600, "{id}");
    }
}

/// Refused, but no id is beyond doubt: answered to null.
#[test]
fn messages_without_one_clear_id_are_refused_unaddressed() {
    for (id, line) in [
        ("b09", r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#),
        ("b10", r#"{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}"#),
        ("d16", r#"{"jsonrpc":"2.0","ID":2,"id":1,"method":"ping"}"#),
        ("d16 alone", r#"{"jsonrpc":"2.0","Id":2,"method":"ping"}"#),
        ("h07 as a fraction", r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#),
        ("h08", r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#),
        ("h11", r#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#),
        ("-0", r#"{"jsonrpc":"2.0","id":-0,"method":"ping"}"#),
        ("h12", r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#),
        ("h13", r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#),
        ("h14", r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#),
        ("h16", &format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(300_000))),
        ("f49 scalar", "7"),
        ("f49 string", r#""tools/call""#),
        ("f49 null", "null"),
        ("i05 empty", "[]"),
        ("empty object", "{}"),
    ] {
        let malformed = bad(Side::Client, line.as_bytes());
        assert_eq!(malformed.answer, Answer::Unaddressed, "{id}: {}", malformed.cause);
        assert_eq!(malformed.code(), -32600, "{id}");
    }
}

#[test]
fn calls_that_cannot_be_answered_are_refused_in_silence() {
    for (id, line) in [
        ("h01", r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"danger"}}"#),
        ("h02", r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"danger"}}"#),
        ("h03", r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"safe"}}"#),
        ("other guarded method", r#"{"jsonrpc":"2.0","method":"resources/read","params":{"uri":"x"}}"#),
        ("bad notification", r#"{"jsonrpc":"2.0","method":"notifications/x","params":[]}"#),
        ("f10 without id", r#"{"jsonrpc":"2.0","result":{}}"#),
    ] {
        assert_eq!(bad(Side::Client, line.as_bytes()).answer, Answer::Nobody, "{id}");
    }
}

/// Not JSON, or not one value: −32700, id null, whatever id the text seems to hold.
#[test]
fn lines_that_are_not_one_json_value_are_refused() {
    let danger = call(r#""name":"danger""#);
    let safe = call(r#""name":"safe""#);
    let mut lines: Vec<(&str, Vec<u8>)> = vec![
        ("f01", format!("\u{feff}{danger}").into()),
        ("f11", format!("{safe}\r{danger}").into()),
        ("f12", format!("{safe}{danger}").into()),
        ("f13", format!("{safe} {danger}").into()),
        ("f14", format!("{safe},{danger}").into()),
        ("f17", format!("{safe}\u{b}{danger}").into()),
        ("f19", format!("{safe}\u{2028}{danger}").into()),
        ("f20", format!("{safe}\u{85}{danger}").into()),
        ("f28", format!("{safe}\0{danger}").into()),
        ("FF", format!("\u{c}{danger}").into()),
        ("f15", format!("{danger}x").into()),
        ("f16", format!("x{danger}").into()),
        ("f46", format!("data: {danger}").into()),
        ("f47", format!("\u{1e}{danger}").into()),
        ("f21", "{".into()),
        ("f22", r#""jsonrpc":"2.0","#.into()),
        ("f23", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dan"#.into()),
        ("f50", r#"{"jsonrpc":"2.0","id":1,"method":"tools/"#.into()),
        ("f27", format!("\0{danger}").into()),
        ("f29", call("\"name\":\"dan\0ger\"").into()),
        ("raw newline in a string", call("\"name\":\"dan\nger\"").into()),
        ("raw tab in a string", call("\"name\":\"dan\tger\"").into()),
        ("f36", call(r#"/* x */"name":"danger""#).into()),
        ("f37", format!("{danger} // x").into()),
        ("f38", call(r#""name":"danger","#).into()),
        ("f39", danger.replace('"', "'").into()),
        ("f40", call(r#""name":"danger","arguments":{"x":NaN}"#).into()),
        ("f40 infinity", call(r#""name":"danger","arguments":{"x":-Infinity}"#).into()),
        ("f41", call(r#"name:"danger""#).into()),
        ("f42", call(r#""name":"danger","arguments":{"x":01}"#).into()),
        ("f42 plus", call(r#""name":"danger","arguments":{"x":+1}"#).into()),
        ("f42 dot", call(r#""name":"danger","arguments":{"x":1.}"#).into()),
        ("f42 bare dot", call(r#""name":"danger","arguments":{"x":.5}"#).into()),
        ("f42 hex", call(r#""name":"danger","arguments":{"x":0x10}"#).into()),
        ("f42 exponent", call(r#""name":"danger","arguments":{"x":1e}"#).into()),
        ("f43", call(r#""name":"\x64anger""#).into()),
        ("f43 short", call(r#""name":"\u006""#).into()),
        ("f44", format!(")]}}'{danger}").into()),
        ("f45", "Content-Length: 70".into()),
        ("f48", "junk".into()),
        ("True", call(r#""name":"danger","arguments":{"x":True}"#).into()),
        ("mismatched", r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[1}]}"#.into()),
        ("j02", "[".repeat(100_000).into()),
    ];
    // f30-f35: overlong slash, stray byte, CESU-8, UTF-16, cut sequence.
    for bytes in
        [&b"\xc0\xaf"[..], b"\xff", b"\xed\xa0\xbd\xed\xb8\x80", b"\xe2\x80", b"\xf8\x88\x80\x80\x80"]
    {
        let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger"#.to_vec();
        line.extend_from_slice(bytes);
        line.extend_from_slice(br#""}}"#);
        lines.push(("f30-f34", line));
    }
    lines.push(("f35", danger.encode_utf16().flat_map(u16::to_le_bytes).collect()));
    for (id, line) in lines {
        let malformed = bad(Side::Client, &line);
        assert_eq!(
            (malformed.code(), &malformed.answer),
            (-32700, &Answer::Unaddressed),
            "{id}: {}",
            malformed.cause
        );
    }
}

/// Escapes and outer blanks are other clothes for the same call, and are seen through.
#[test]
fn calls_in_other_clothes_are_the_same_call() {
    for (id, line, tool) in [
        (
            "c01",
            r#"{"jsonrpc":"2.0","id":1,"\u006dethod":"tools/call","params":{"name":"danger"}}"#,
            "danger",
        ),
        ("c02", r#"{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"danger"}}"#, "danger"),
        (
            "c03",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"d\u0061nger"}}"#,
            "danger",
        ),
        (
            "c04",
            r#"{"jsonrpc":"2.0","id":1,"method":"t\u006fols/call","p\u0061rams":{"n\u0061me":"danger"}}"#,
            "danger",
        ),
        (
            "c05",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hidden\u005fone"}}"#,
            "hidden_one",
        ),
        (
            "c06",
            r#"{"\u006asonrpc":"\u0032.0","\u0069d":1,"method":"tools/call","params":{"name":"danger"}}"#,
            "danger",
        ),
        ("c07", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s\u0061fe"}}"#, "safe"),
        ("k13", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sl\u006fw"}}"#, "slow"),
        (
            "f02",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"danger\"}}\r",
            "danger",
        ),
        (
            "f03",
            "\r \t{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"danger\"}} \r\r",
            "danger",
        ),
        (
            "params first",
            r#"{"params":{"task":{},"arguments":{},"name":"danger"},"method":"tools/call","id":1,"jsonrpc":"2.0"}"#,
            "danger",
        ),
    ] {
        assert_eq!(tool_of(line), tool, "{id}");
        let message = good(Side::Client, line.as_bytes());
        let wire = message.wire();
        assert!(matches!(&message.body, Body::Request { method, .. } if method == "tools/call"), "{id}");
        assert_eq!(wire, line.trim().as_bytes(), "{id}: safe bytes are forwarded as they came");
    }
}

#[test]
fn look_alikes_inside_arguments_are_ordinary_data() {
    for (id, params) in [
        (
            "d18",
            r#""name":"safe","arguments":{"Name":"danger","name":"x","NAME":1,"method":"tools/call","METHOD":2}"#,
        ),
        (
            "a17",
            r#""name":"safe","arguments":{"x":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger"}}}"#,
        ),
        (
            "a18",
            r#""name":"safe","arguments":{"x":"{\"method\":\"tools/call\",\"params\":{\"name\":\"danger\"}}"}"#,
        ),
        ("e53", r#""name":"safe","arguments":{"name ":"danger","name\u0000":1,"na\u200bme":2}"#),
        (
            "k01",
            r#""name":"safe","task":{"ttl":60000},"inputResponses":{"Name":1},"requestState":"x","_meta":{"progressToken":1,"Name":2}"#,
        ),
    ] {
        assert_eq!(tool_of(&call(params)), "safe", "{id}");
    }
    // An extension's own params are its own business.
    good(Side::Client, br#"{"jsonrpc":"2.0","id":1,"method":"acme/x","params":{"Name":1,"name":2}}"#);
    good(Side::Client, br#"{"jsonrpc":"2.0","id":1,"method":"ping","x-trace":{"ID":1,"id":2}}"#);
}

/// The forwarded line holds nothing that any reader takes for a line end.
#[test]
fn line_ends_inside_a_message_never_reach_the_other_side() {
    let nested = call(r#""name":"danger""#);
    for (id, side, line) in [
        ("f07", Side::Client, call(&format!("\"name\":\"safe\",\"arguments\":{{\"x\":\r{nested}\r}}"))),
        ("f08", Side::Client, call(&format!("\"name\":\"safe\",\"_meta\":{{\"x\":\r{nested}\r}}"))),
        (
            "f09",
            Side::Client,
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{{\"x\":\r{nested}\r}}}}"
            ),
        ),
        ("f10", Side::Client, format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\r{nested}\r}}")),
        ("l33", Side::Server, format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\r{nested}\r}}")),
        (
            "U+2028",
            Side::Client,
            call("\"name\":\"safe\",\"arguments\":{\"x\":\"a\u{2028}b\u{2029}c\u{85}d\u{7f}\"}"),
        ),
        ("tab", Side::Client, call("\"name\":\t\"safe\"")),
    ] {
        let wire = good(side, line.as_bytes()).wire().into_owned();
        let text = String::from_utf8(wire).unwrap();
        assert!(
            !text.contains(|c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}'),
            "{id}: {text:?}"
        );
        let meaning = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(meaning(&text), meaning(&line), "{id}");
    }
    let line = call("\"name\":\"safe\",\"arguments\":{\"x\" : \r[1.0 ,\"\u{2028}\\n \"]}");
    assert_eq!(
        good(Side::Client, line.as_bytes()).wire(),
        call(r#""name":"safe","arguments":{"x":[1.0,"\u2028\n "]}"#).as_bytes()
    );
}

#[test]
fn ids_are_kept_apart_and_exact() {
    for (id, lexeme) in [
        ("h05", "9007199254740993"),
        ("h06", "123456789012345678901234567890"),
        ("h10", r#""1""#),
        ("h15", r#""a\u0007\u001b[2J""#),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{lexeme},"method":"ping"}}"#);
        let Body::Request { id: read, .. } = good(Side::Client, line.as_bytes()).body else { panic!("{id}") };
        assert_eq!(read.lexeme(), lexeme, "{id}");
        assert_eq!(read.as_key().to_lexeme(), lexeme, "{id}");
    }
}

#[test]
fn each_element_of_a_batch_is_judged_alone() {
    let danger = call(r#""name":"danger""#);
    let twice = call(r#""name":"safe","name":"danger""#);
    let line = format!("[{danger}, {twice} ,[{danger}],7,\"x\",null,\r{danger}]");
    let Incoming::Batch(elements) = read(Side::Client, line.as_bytes()) else { panic!() };
    assert_eq!(elements.len(), 7);
    for place in [0, 6] {
        let message = elements[place].as_ref().unwrap();
        assert_eq!(message.tool_call().unwrap().name, "danger");
        assert_eq!(message.wire(), danger.as_bytes());
    }
    assert_eq!(elements[1].as_ref().unwrap_err().answer, to_1());
    for element in &elements[2..6] {
        let malformed = element.as_ref().unwrap_err();
        assert_eq!((&malformed.cause, &malformed.answer), (&Cause::NotAnObject, &Answer::Unaddressed));
    }
    // i14: CR inside an element
    let line = format!("[{}]", call(&format!("\"name\":\"safe\",\"arguments\":{{\"x\":\r{danger}\r}}")));
    let Incoming::Batch(elements) = read(Side::Client, line.as_bytes()) else { panic!() };
    assert!(!elements[0].as_ref().unwrap().wire().contains(&b'\r'));
    // i09: an element that is not JSON spoils the line, because where it ends is anyone's guess.
    assert_eq!(bad(Side::Client, format!("[{danger},{{]").as_bytes()).code(), -32700);
    assert!(matches!(bad(Side::Client, b" [ ] ").cause, Cause::EmptyBatch));
    let many = format!("[{}1]", "1,".repeat(100_000));
    assert!(matches!(bad(Side::Client, many.as_bytes()).cause, Cause::BatchTooLong { .. }));
}

#[test]
fn what_a_server_may_not_say_is_refused_and_the_asker_known() {
    for (id, line, answer) in [
        (
            "l02",
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"tools":[{"name":"hidden_one"}]}}"#,
            settles_1(),
        ),
        (
            "l03",
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]},"result":{"tools":[{"name":"hidden_one"}]}}"#,
            settles_1(),
        ),
        (
            "l09",
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"safe","name":"hidden_one"}]}}"#,
            settles_1(),
        ),
        ("l35", r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#, settles_1()),
        ("l36", r#"{"jsonrpc":"2.0","id":1,"result":{"isError":false,"isError":true}}"#, settles_1()),
        ("look-alike result", r#"{"jsonrpc":"2.0","id":1,"result":{},"Result":{}}"#, settles_1()),
        ("both kinds", r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#, settles_1()),
        ("error as text", r#"{"jsonrpc":"2.0","id":1,"error":"broken"}"#, settles_1()),
        ("no version", r#"{"id":1,"result":{}}"#, settles_1()),
        ("response with params", r#"{"jsonrpc":"2.0","id":1,"result":{},"params":{}}"#, settles_1()),
        ("l04", r#"{"jsonrpc":"2.0","id":1.0,"result":{}}"#, Answer::Nobody),
        (
            "error to null",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#,
            Answer::Nobody,
        ),
        ("no id", r#"{"jsonrpc":"2.0","result":{}}"#, Answer::Nobody),
        ("two ids", r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#, Answer::Nobody),
        ("server request", r#"{"jsonrpc":"2.0","id":1,"method":"Sampling/createMessage"}"#, to_1()),
        ("l30", "Server listening on stdio", Answer::Unaddressed),
        (
            "l34",
            r#"{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","id":1,"result":{}}"#,
            Answer::Unaddressed,
        ),
        ("l52", "{", Answer::Unaddressed),
    ] {
        let malformed = bad(Side::Server, line.as_bytes());
        assert_eq!(malformed.answer, answer, "{id}: {}", malformed.cause);
    }
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#, "[".repeat(9000), "]".repeat(9000));
    assert_eq!(bad(Side::Server, deep.as_bytes()).answer, settles_1());
    // A client's reply is about the server's request; the client itself waits for nothing.
    assert_eq!(bad(Side::Client, br#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#).answer, settles_1());
}

#[test]
fn what_a_server_may_say_reaches_the_client() {
    let depth_1000 =
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
    for (id, line) in [
        ("l38", r#"{"jsonrpc":"2.0","id":1,"result":{"x":"a\ud800b"}}"#),
        ("l39", depth_1000.as_str()),
        ("l40", r#"{"jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890123456789,"m":1.0e400}}"#),
        ("l43", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"\\u001b[2J\u{202e}<b>\"}}"),
        ("l54", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"x","data":{"Message":1}}}"#),
        ("l50", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r"),
    ] {
        assert_eq!(good(Side::Server, line.as_bytes()).wire(), line.trim().as_bytes(), "{id}");
    }
    // l51
    let wire = good(Side::Server, "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".as_bytes()).wire();
    assert_eq!(wire, &br#"{"jsonrpc":"2.0","id":1,"result":{}}"#[..]);
    bad(Side::Server, "\u{feff}\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".as_bytes());
    let message = good(Side::Server, br#"{"jsonrpc":"2.0","method":"notifications/message","params":null}"#);
    assert!(matches!(message.body, Body::Notification { params: None, .. }));
    // l37
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"a\xffb\"}}";
    let offset = line.iter().position(|&byte| byte == 0xff).unwrap();
    assert_eq!(bad(Side::Server, line).cause, Cause::Utf8 { offset });
    let repaired = repair(line).unwrap();
    assert!(
        matches!(&good(Side::Server, &repaired).body, Body::Response { outcome: Outcome::Result(result), .. }
        if result.get("x").unwrap().as_str().unwrap() == "a\u{fffd}b")
    );
    assert_eq!(repair(&repaired), None);
}

#[test]
fn a_tool_that_says_it_failed_is_heard_in_the_result_alone() {
    for (line, failed) in [
        (r#""id":1,"result":{"content":[],"isError":true}"#, true),
        (r#""result":{"is\u0045rror": true ,"content":[]},"id":1"#, true),
        (r#""id":1,"result":{"content":[{"isError":true}],"isError":false}"#, false),
        (r#""id":1,"result":{"content":[{"isError":true}]}"#, false),
        (r#""id":1,"result":{"isError":"true"}"#, false),
        (r#""id":1,"result":[{"isError":true}]"#, false),
        (r#""id":1,"result":{},"isError":true"#, false),
        (r#""id":1,"error":{"isError":true}"#, false),
        (r#""id":1,"method":"x","params":{"isError":true}"#, false),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0",{line}}}"#);
        assert_eq!(good(Side::Server, line.as_bytes()).tool_failed(), failed, "{line}");
    }
}

#[test]
fn a_new_outcome_takes_the_place_of_the_old_one_only() {
    let message = good(Side::Server, br#"{"id":"\u0061","x":1.00,"result":{"a":[1]} ,"jsonrpc":"2.0"}"#);
    assert_eq!(message.with_outcome(b"{}"), br#"{"id":"\u0061","x":1.00,"result":{} ,"jsonrpc":"2.0"}"#);
    let message = good(Side::Server, b"{\"id\":1,\r\"result\":1,\"jsonrpc\":\"2.0\"}");
    assert_eq!(message.with_outcome(b"[]"), br#"{"id":1,"result":[],"jsonrpc":"2.0"}"#);
}

#[test]
fn blank_lines_are_nothing() {
    for line in [&b""[..], b" ", b"\r", b" \t\r\n"] {
        assert!(matches!(read(Side::Client, line), Incoming::Blank));
    }
    assert!(matches!(read(Side::Server, "\u{feff} ".as_bytes()), Incoming::Blank));
}

/// j01-j05, j10: hostile sizes cost time in proportion, and no stack.
#[test]
fn hostile_shapes_are_read_fast() {
    let start = Instant::now();
    let nest = |open: &str, close: &str, depth| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    assert!(Raw::parse(&nest("[", "]", MAX_DEPTH)).is_ok());
    assert!(Raw::parse(&nest(r#"{"a":"#, "}", MAX_DEPTH)).is_ok());
    for text in [nest("[", "]", MAX_DEPTH + 1), nest(r#"{"a":"#, "}", 100_000), nest("[", "]", 100_000)] {
        assert_eq!(Raw::parse(&text).unwrap_err().problem, Problem::Deep);
    }
    assert_eq!(Raw::parse(&"[".repeat(1_000_000)).unwrap_err().problem, Problem::End);

    let prefix = "x".repeat(100);
    let keys: Vec<String> = (0..50_000).map(|n| format!(r#""{prefix}{n}{prefix}":{n}"#)).collect();
    let object = format!("{{{}}}", keys.join(","));
    assert_eq!(Raw::parse(&object).unwrap().members().count(), 50_000);
    let again = format!("{{{},\"\\u0078{}{}{prefix}\":0}}", keys.join(","), &prefix[1..], 777);
    assert_eq!(Raw::parse(&again).unwrap_err().problem, Problem::Duplicate);
    let line = call(&format!(r#""name":"safe","arguments":{object}"#));
    assert_eq!(tool_of(&line), "safe");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
