#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn answer(form: &UnknownForm, id: &str, name: &str) -> String {
    String::from_utf8(form.answer(Thing::Tool, &IdKey::from_lexeme(id).unwrap(), name)).unwrap()
}

fn seen(line: &str, name: &str, args: &str) -> Option<UnknownForm> {
    let call = UnlistedCall { thing: Thing::Tool, name, args: Some(Raw::parse(args).unwrap()) };
    UnknownForm::seen(line, &call, |word| word == "read_file")
}

#[test]
fn an_id_that_holds_the_name_teaches_nothing_and_breaks_nothing() {
    for (id, name) in [("123", "123"), ("\"abc-1\"", "abc"), ("\"search-17\"", "search")] {
        for text in [format!("Tool {name} not found"), "No such tool".to_owned()] {
            let line = format!(
                r#"{{"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}},"jsonrpc":"2.0","id":{id}}}"#
            );
            assert!(seen(&line, name, "{}").is_none(), "{line}");
        }
    }
}

/// What the SDKs' servers answered to `initialize`, and for a tool, a resource and a prompt of the name `no_such`.
const SDKS: [(&str, [&str; 3]); 7] = [
    (
        r#"{"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#,
        [
            r#"{"result":{"content":[{"type":"text","text":"MCP error -32602: Tool no_such not found"}],"isError":true},"jsonrpc":"2.0","id":10}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"MCP error -32602: Resource s://no_such not found"}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"MCP error -32602: Prompt no_such not found"}}"#,
        ],
    ),
    (
        r#"{"result":{"protocolVersion":"2025-06-18","capabilities":{"resources":{},"tools":{}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#,
        [
            r#"{"result":{"content":[{"type":"text","text":"Unknown tool: no_such"}],"isError":true},"jsonrpc":"2.0","id":10}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32603,"message":"Unknown resource: s://no_such"}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32603,"message":"Unknown prompt: no_such"}}"#,
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{},"prompts":{"listChanged":false},"resources":{"subscribe":false,"listChanged":false},"tools":{"listChanged":false}},"serverInfo":{"name":"s","version":"1"}}}"#,
        [
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"type":"text","text":"Unknown tool: no_such"}],"isError":true}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown resource: s://no_such"}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown prompt: no_such"}}"#,
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"prompts":{"listChanged":false},"resources":{"listChanged":false,"subscribe":false},"tools":{"listChanged":false}},"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":""}}}"#,
        [
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: no_such","type":"text"}],"isError":true}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown resource: s://no_such","data":{"uri":"s://no_such"}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown prompt: no_such"}}"#,
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"prompts":{"listChanged":true},"resources":{"subscribe":false,"listChanged":true},"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"4"}}}"#,
        [
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: 'no_such'","type":"text"}],"isError":true}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Resource not found: 's://no_such'","data":{"uri":"s://no_such"}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown prompt: 'no_such'"}}"#,
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{},"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"2"}}}"#,
        [
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"type":"text","text":"Unknown tool: 'no_such'"}],"isError":true}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown resource: 's://no_such'"}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown prompt: 'no_such'"}}"#,
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
        [
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown tool: no_such"}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32002,"message":"Resource not found: s://no_such"}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown prompt: no_such"}}"#,
        ],
    ),
];

/// The first list of those that need no handshake, and the same answers.
const STATELESS: [(&str, [&str; 3]); 3] = [
    (
        r#"{"result":{"tools":[{"name":"safe","inputSchema":{"type":"object"}}]},"jsonrpc":"2.0","id":1}"#,
        [
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Tool no_such not found"}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Resource not found: s://no_such","data":{"uri":"s://no_such"}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Prompt no_such not found"}}"#,
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"result":{"cacheScope":"private","resultType":"complete","tools":[],"ttlMs":0,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":""}}}}"#,
        [
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: no_such","type":"text"}],"isError":true,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":""}}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown resource: s://no_such","data":{"uri":"s://no_such"}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32603,"message":"Internal server error"}}"#,
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"result":{"resources":[{"_meta":{"fastmcp":{"tags":[]}},"name":"text","uri":"s://text"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"4"}}}}"#,
        [
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: 'no_such'","type":"text"}],"isError":true,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"4"}}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Resource not found: 's://no_such'","data":{"uri":"s://no_such"}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown prompt: 'no_such'"}}"#,
        ],
    ),
];

fn named(thing: Thing, name: &str) -> String {
    if thing.listed_as() == Thing::Resource { format!("s://{name}") } else { name.to_owned() }
}

#[test]
fn before_anything_was_seen_an_answer_is_that_of_the_servers_sdk() {
    let handshakes = SDKS.map(|(line, unknown)| (Sdk::of_handshake(line), unknown));
    let lists = STATELESS.map(|(line, unknown)| (Sdk::stateless(Some(line)), unknown));
    for (sdk, unknown) in handshakes.into_iter().chain(lists) {
        for (thing, unknown) in Thing::ALL.into_iter().zip(unknown) {
            let id = IdKey::from_lexeme("10").unwrap();
            let said = sdk.unknown(thing).answer(thing, &id, &named(thing, "no_such"));
            assert_eq!(String::from_utf8(said).unwrap(), unknown, "{sdk:?}");
        }
    }
    let (_, [specified, ..]) = SDKS[6];
    for broken in ["", "{}", "no JSON"] {
        assert_eq!(answer(&Sdk::of_handshake(broken).unknown(Thing::Tool), "10", "no_such"), specified);
    }
    let whole = answer(&Sdk::stateless(None).unknown(Thing::Tool), "10", "no_such");
    assert!(whole.ends_with(r#""isError":true,"resultType":"complete"}}"#), "{whole}");
}

/// As measured with a server of each SDK that says nothing of subscriptions, in the order above, and with one that does.
#[test]
fn a_subscription_to_a_hidden_resource_is_answered_as_the_servers_sdk_answers_any() {
    const PLAIN: &str = r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32601,"message":"Method not found"}}"#;
    const WITH_DATA: &str = r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32601,"message":"Method not found","data":"resources/subscribe"}}"#;
    let id = IdKey::from_lexeme("10").unwrap();
    let said = |form: UnknownForm| String::from_utf8(form.answer(Thing::Subscription, &id, "s://x")).unwrap();
    for ((line, _), wanted) in SDKS.iter().zip([PLAIN, PLAIN, PLAIN, WITH_DATA, WITH_DATA, PLAIN, PLAIN]) {
        let sdk = Sdk::of_handshake(line);
        assert_eq!(said(sdk.unknown(Thing::Subscription)), wanted, "{line}");
        let completion = said(sdk.unknown_completion(Thing::Prompt));
        assert_eq!(completion, wanted.replace("resources/subscribe", "completion/complete"), "{line}");
        assert_eq!(
            said(sdk.unknown(Thing::Unsubscription)),
            wanted.replace("subscribe", "unsubscribe"),
            "{line}"
        );
        let taken = said(sdk.that_subscribes().unknown(Thing::Subscription));
        assert!(Thing::Subscription.is_accepted_by(&taken) && !Thing::Resource.is_accepted_by(&taken));
        assert_eq!(taken.starts_with(r#"{"result":{}"#), line.starts_with(r#"{"result""#), "{line}");
    }
    let everything = r#"{"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#;
    let sdk = Sdk::of_handshake(everything);
    for thing in [Thing::Subscription, Thing::Unsubscription] {
        assert_eq!(said(sdk.unknown(thing)), r#"{"result":{},"jsonrpc":"2.0","id":10}"#);
    }
    let template = r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"MCP error -32602: Resource template s://x not found"}}"#;
    assert_eq!(said(sdk.unknown_completion(Thing::Resource)), template);
}

#[test]
fn what_was_seen_of_each_thing_is_said_again_with_another_name_and_id() {
    for (_, unknown) in SDKS.into_iter().chain(STATELESS) {
        for (thing, unknown) in Thing::ALL.into_iter().zip(unknown) {
            let (name, other) = (named(thing, "no_such"), named(thing, "move_file"));
            let call = UnlistedCall { thing, name: &name, args: None };
            let form = UnknownForm::seen(unknown, &call, |_| false).unwrap();
            let expected = unknown.replace(&name, &other).replace("\"id\":10", "\"id\":\"a\"");
            let said = form.answer(thing, &IdKey::from_lexeme("\"a\"").unwrap(), &other);
            assert_eq!(String::from_utf8(said).unwrap(), expected);
            assert_eq!(form.fits(&expected, thing, &other), Some(true));
            assert_eq!(UnknownForm::from_text(form.as_text()), Some(form));
        }
    }
}

#[test]
fn an_address_that_a_server_may_write_otherwise_tells_nothing() {
    let line = r#"{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"Unknown resource: X"}}"#;
    let form =
        UnknownForm::from_text(&line.replace("\"id\":1", "\"id\":\u{1}").replace('X', "\u{2}")).unwrap();
    for uri in [
        "no address",
        "S://no_such",
        "s://No/such",
        "http://host",
        "http://host:80/x",
        "s://a/../b",
        "s://a//b",
        "s://a?b",
    ] {
        let line = line.replace('X', uri);
        let call = UnlistedCall { thing: Thing::Resource, name: uri, args: None };
        assert_eq!(UnknownForm::seen(&line, &call, |_| false), None, "{uri}");
        assert_eq!(form.fits(&line, Thing::Resource, uri), None, "{uri}");
    }
    for uri in ["s://no_such", "file:///a/b.txt", "http://host/x", "urn:a:b", "s://host/A/b"] {
        let call = UnlistedCall { thing: Thing::Resource, name: uri, args: None };
        assert_eq!(UnknownForm::seen(&line.replace('X', uri), &call, |_| false), Some(form.clone()), "{uri}");
    }
}

#[test]
fn a_name_with_quotes_stays_json_in_a_form_that_has_some() {
    let quoted = r####"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"### Error\nTool \"no.such\" not found."}],"isError":true}}"####;
    let form = seen(quoted, "no.such", "{}").unwrap();
    assert_eq!(answer(&form, "1", "a\"b"), quoted.replace("no.such", r#"a\"b"#), "and stays JSON");
}

#[test]
fn an_answer_that_is_about_more_than_the_name_is_not_learned() {
    let result = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}}}}"#
        )
    };
    for (text, name, args) in [
        ("Unknown tool: no_such", "No-Such", "{}"),
        ("Unknown tool: no_such", "space.no_such_x", "{}"),
        ("Unknown tool: no_such_lo...", "no_such_long_name", "{}"),
        ("Gone.\\no_such", "no_such", "{}"),
        ("Try read_file", "no_such", "{}"),
        ("no_such: no_such_thing is unknown", "no_such", "{}"),
        ("no_such_thing is unknown", "no_such", "{}"),
        ("Unknown tool: read_fil. Did you mean read_file?", "read_fil", "{}"),
        ("Unknown tool: no_such(hunter2)", "no_such", r#"{"p":["hunter2"]}"#),
        ("Unknown tool: ab", "ab", "{}"),
        ("Unknown tool: no such", "no such", "{}"),
    ] {
        assert_eq!(seen(&result(text), name, args), None, "{text}");
    }
    let long = result(&format!("Unknown tool: no_such {}", "x".repeat(LONGEST)));
    assert_eq!(seen(&long, "no_such", "{}"), None, "too long");
    let passed = result("no_such ran").replace("true", "false");
    assert_eq!(seen(&passed, "no_such", "{}"), None, "it is there after all");
    assert_eq!(seen(r#"{"jsonrpc":"2.0","method":"no_such"}"#, "no_such", "{}"), None, "no answer");
}

#[test]
fn an_answer_without_the_name_is_a_form_too() {
    let line = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"No such tool"}}"#;
    let form = seen(line, "secret", "{}").unwrap();
    assert_eq!(seen(&line.replace("\"id\":1", "\"id\":\"b\""), "other", "{}"), Some(form.clone()));
    assert_eq!(answer(&form, "1", "anything"), line);
    assert_eq!(
        form.fits(line, Thing::Tool, "tool"),
        Some(true),
        "a name that is part of it says nothing against it"
    );
    assert_eq!(form.fits(&line.replace("No such tool", "Busy"), Thing::Tool, "third"), Some(false));
    assert_eq!(
        form.fits(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#, Thing::Tool, "third"),
        None,
        "it is there"
    );
    assert_eq!(form.fits(&line.replace("tool", "t\\u00f6\\u00f6l"), Thing::Tool, "t\u{f6}\u{f6}l"), None);
}

#[test]
fn a_tool_called_like_a_word_of_the_protocol_does_not_make_a_malformed_form() {
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"No such tool","data":{"why":"none","kind":["absent"]}}}"#;
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"No such tool"}],"isError":true,"resultType":"complete"}}"#;
    for name in [
        "message",
        "error",
        "code",
        "data",
        "why",
        "kind",
        "jsonrpc",
        "2.0",
        "32602",
        "-32602",
        "result",
        "content",
        "type",
        "text",
        "isError",
        "true",
        "resultType",
        "complete",
    ] {
        for line in [error, result].into_iter().filter(|line| line.contains(name)) {
            assert_eq!(seen(line, name, "{}"), None, "{name}: {line}");
        }
    }
    for name in ["none", "absent"] {
        assert!(seen(error, name, "{}").is_some(), "{name} stands in the text of its data");
    }
    for malformed in
        [r#""message":"no_such""#, r#""code":"x","message":"no_such""#, r#""code":1,"message":7"#]
    {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{{malformed}}}}}"#);
        assert_eq!(seen(&line, "no_such", "{}"), None, "{line}");
    }
}

#[test]
fn a_form_from_a_file_that_makes_no_answer_is_not_used() {
    for text in [
        "",
        "\u{1}\u{2}",
        r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
        "{\"jsonrpc\":\"2.0\",\"id\":\u{1},\"result\":{\"x\":\"\u{2}\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\u{1},\"error\":{\"code\":1,\"\u{2}\":\"a\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\u{1},\"error\":{\"code\":1,\"message\":\"a\",\"\u{2}\":\"a\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\u{1},\"error\":{\"code\":1,\"message\":\"\\\u{2}\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":1,\"message\":\"\u{1} \u{2}\"}}",
    ] {
        assert_eq!(UnknownForm::from_text(text), None, "{text:?}");
    }
}
