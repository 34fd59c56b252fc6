//! What holds for all rules about requests that call no tool, and what is called looser.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use callgate_policy::{Call, Circumstances, Judgement, Listing, Policy, compare};
use callgate_protocol::json::Raw;
use proptest::prelude::*;

const CLIENTS: [&str; 4] = ["claude", "cursor", "cursor-nightly", "other"];

const REQUESTS: [(&str, &str); 24] = [
    ("resources/read", r#"{"uri":"file:///a"}"#),
    ("resources/read", r#"{"uri":"file:///a/b"}"#),
    ("resources/read", r#"{"uri":"file:///a/../c"}"#),
    ("resources/read", r#"{"uri":"file:///A/%62"}"#),
    ("resources/read", r#"{"uri":"db://a"}"#),
    ("resources/read", r#"{"uri":"db://u@a/x?y"}"#),
    ("resources/read", r#"{"uri":"note:x"}"#),
    ("resources/read", r#"{"uri":"bad\u0001"}"#),
    ("resources/read", "{}"),
    ("resources/subscribe", r#"{"uri":"file:///a"}"#),
    ("resources/unsubscribe", r#"{"uri":"file:///c"}"#),
    ("subscriptions/listen", r#"{"notifications":{"resourceSubscriptions":["file:///a","db://a"]}}"#),
    ("prompts/get", r#"{"name":"one"}"#),
    ("prompts/get", r#"{"name":"One"}"#),
    ("prompts/get", r#"{"name":"two"}"#),
    ("completion/complete", r#"{"ref":{"type":"ref/prompt","name":"one"}}"#),
    ("completion/complete", r#"{"ref":{"type":"ref/resource","uri":"file:///a/{x}"}}"#),
    ("sampling/createMessage", "{}"),
    ("sampling/createMessage", r#"{"tools":[{}]}"#),
    ("elicitation/create", "{}"),
    ("elicitation/create", r#"{"mode":"url","url":"u"}"#),
    ("resources/unknown", "{}"),
    ("Sampling/createMessage", "{}"),
    ("made/up", "{}"),
];

/// The requests that the policy refuses, in the order of [`REQUESTS`], client by client.
fn refused<'c>(policy: &Policy, clients: &[&'c str]) -> Vec<(&'c str, (&'static str, &'static str), bool)> {
    static PARSED: LazyLock<Vec<Raw<'static>>> =
        LazyLock::new(|| REQUESTS.iter().map(|(_, params)| Raw::parse(params).unwrap()).collect());
    let mut out = Vec::new();
    for client in clients {
        for (request, params) in REQUESTS.into_iter().zip(PARSED.iter()) {
            let call = Call::method(client, request.0, Some(*params));
            let judged = policy.judge(&call, &Circumstances::timeless());
            out.push((*client, request, matches!(judged, Judgement::Refuse(_))));
        }
    }
    out
}

fn joined(parts: Vec<Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(",")
}

fn entries(key: &'static str, from: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    let list = prop::collection::btree_set(prop::sample::select(from), 0..3);
    list.prop_map(move |list| {
        let quoted: Vec<String> = list.iter().map(|entry| format!("\"{entry}\"")).collect();
        (!quoted.is_empty()).then(|| format!("\"{key}\":[{}]", quoted.join(",")))
    })
}

fn default() -> impl Strategy<Value = Option<String>> {
    prop_oneof![3 => Just(None), 1 => Just(Some("\"default\":\"deny\"".to_owned())),
        1 => Just(Some("\"default\":\"allow\"".to_owned())), 1 => Just(Some("\"default\":\"ask\"".to_owned()))]
}

fn resources() -> impl Strategy<Value = Option<String>> {
    const URIS: &[&str] = &["file:///a", "file:///a/b", "file:", "db://*", "db://a", "file:///c", "*"];
    let schemes = entries("schemes", &["file", "db", "note"]);
    let parts = (entries("hide", URIS), entries("deny", URIS), entries("allow", URIS), schemes, default());
    prop::option::of(
        parts.prop_map(|(a, b, c, d, e)| format!("\"resources\":{{{}}}", joined(vec![a, b, c, d, e]))),
    )
}

fn prompts() -> impl Strategy<Value = Option<String>> {
    const NAMES: &[&str] = &["one", "two", "t*", "*", "ONE"];
    let parts = (entries("hide", NAMES), entries("deny", NAMES), entries("allow", NAMES), default());
    prop::option::of(parts.prop_map(|(a, b, c, d)| format!("\"prompts\":{{{}}}", joined(vec![a, b, c, d]))))
}

fn plain() -> impl Strategy<Value = Option<String>> {
    let rules = prop::sample::select(vec![
        "\"sampling\":{}",
        "\"sampling\":{\"tools\":true}",
        "\"sampling\":{\"action\":\"deny\"}",
        "\"elicitation\":{\"urls\":true}",
        "\"elicitation\":{\"action\":\"ask\"}",
        "\"completion\":{\"action\":\"deny\"}",
        "\"completion\":{}",
        "\"other_methods\":\"deny\"",
        "\"mode\":\"observe\"",
        "\"mode\":\"enforce\"",
    ]);
    prop::option::of(rules.prop_map(str::to_owned))
}

/// Resources, prompts, and one of the others.
type Body = [Option<String>; 3];

fn parts() -> impl Strategy<Value = Body> {
    (resources(), prompts(), plain()).prop_map(|(a, b, c)| [a, b, c])
}

fn body() -> impl Strategy<Value = String> {
    parts().prop_map(|parts| joined(parts.to_vec()))
}

/// A policy in parts, so that one of them can be changed.
#[derive(Clone, Debug)]
struct Made {
    body: Body,
    clients: BTreeMap<&'static str, Body>,
}

impl Made {
    fn text(&self) -> String {
        let overlay = |(name, body): (&&str, &Body)| format!("\"{name}\":{{{}}}", joined(body.to_vec()));
        let overlays: Vec<String> = self.clients.iter().map(overlay).collect();
        let clients = (!overlays.is_empty()).then(|| format!("\"clients\":{{{}}}", overlays.join(",")));
        let head = "\"version\":\"1\",\"default\":\"allow\"".to_owned();
        let body = Some(joined(self.body.to_vec())).filter(|body| !body.is_empty());
        format!("{{{}}}", joined(vec![Some(head), body, clients]))
    }
}

const OVERLAYS: [&str; 4] = ["cursor", "cursor*", "*r", "c*"];

fn made() -> impl Strategy<Value = Made> {
    let clients = prop::collection::btree_map(prop::sample::select(OVERLAYS.to_vec()), parts(), 0..3);
    (parts(), clients).prop_map(|(body, clients)| Made { body, clients })
}

fn policy() -> impl Strategy<Value = String> {
    made().prop_map(|made| made.text())
}

/// A policy, and the same after one change: a part of it replaced, an overlay added or gone.
fn changed() -> impl Strategy<Value = (String, String)> {
    let whom = prop::option::of(prop::sample::select(OVERLAYS.to_vec()));
    (made(), whom, parts(), 0usize..4).prop_map(|(old, whom, new, which)| {
        let mut changed = old.clone();
        match whom {
            Some(client) if which == 3 && changed.clients.remove(client).is_some() => {}
            Some(client) => {
                let body = changed.clients.entry(client).or_insert_with(Body::default);
                body[which % 3].clone_from(&new[which % 3]);
            }
            None => changed.body[which % 3].clone_from(&new[which % 3]),
        }
        (old.text(), changed.text())
    })
}

/// What the comparison of tools says is not meant here.
fn looser(old: &Policy, new: &Policy) -> Vec<String> {
    compare::loosened(old, new)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_that_is_not_called_looser_lets_no_more_requests_through((a, b) in changed()) {
        let (old, new) = (Policy::parse(&a).unwrap(), Policy::parse(&b).unwrap());
        for (old, new) in [(&old, &new), (&new, &old)] {
            if looser(old, new).is_empty() {
                for ((client, request, was), (_, _, is)) in refused(old, &CLIENTS).into_iter().zip(refused(new, &CLIENTS)) {
                    prop_assert!(is || !was, "{client} {request:?} was refused and passes now:\n{a}\n{b}");
                }
            }
        }
        prop_assert_eq!(looser(&old, &old), Vec::<String>::new());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_overlay_adds_and_never_takes_away(base in body(), overlay in body()) {
        // Who observes takes away by intention.
        let [base, overlay] = [base, overlay].map(|body| body.replace("\"mode\":\"observe\"", "\"mode\":\"enforce\""));
        let base = if base.is_empty() { base } else { format!(",{base}") };
        let plain = format!("{{\"version\":\"1\",\"default\":\"allow\"{base}}}");
        let with = format!("{{\"version\":\"1\",\"default\":\"allow\"{base},\"clients\":{{\"*\":{{{overlay}}}}}}}");
        let (plain, with) = (Policy::parse(&plain).unwrap(), Policy::parse(&with).unwrap());
        for ((_, request, was), (_, _, is)) in refused(&plain, &["one"]).into_iter().zip(refused(&with, &["one"])) {
            prop_assert!(is || !was, "{request:?} was refused and passes now");
        }
        prop_assert_eq!(looser(&plain, &with), Vec::<String>::new());
    }

    #[test]
    fn what_is_hidden_from_lists_cannot_be_had(text in policy(), uri in "(file:///|db://|x:)[aAbc%2ef./]{0,8}") {
        let policy = Policy::parse(&text).unwrap();
        for client in CLIENTS {
            if !policy.is_listed(Listing::Resources, client, &uri) {
                let params = format!("{{\"uri\":\"{uri}\"}}");
                let call = Call::method(client, "resources/read", Some(Raw::parse(&params).unwrap()));
                let judged = policy.judge(&call, &Circumstances::timeless());
                prop_assert!(matches!(judged, Judgement::Refuse(_)), "{uri}: {text}");
            }
        }
    }

    /// Whatever is denied stays denied when every character of it is written as a percent sign and digits.
    #[test]
    fn no_uri_escapes_a_denial_by_another_spelling(
        entry in prop::sample::select(vec!["file:///a", "db://a", "x:a", "*"]),
        tail in "(/\\PC{0,20})?",
        upper in any::<bool>(),
        encoded in 0usize..3,
    ) {
        let policy = format!("{{\"version\":\"1\",\"default\":\"deny\",\"resources\":{{\"deny\":[\"{entry}\"]}}}}");
        let policy = Policy::parse(&policy).unwrap();
        let mut uri = format!("{}{tail}", if entry == "*" { "y:" } else { entry });
        if upper {
            uri = uri.to_uppercase();
        }
        for _ in 0..encoded {
            uri = uri.bytes().map(|byte| format!("%{byte:02X}")).collect();
        }
        let params = format!("{{\"uri\":{}}}", serde_json::to_string(&uri).unwrap());
        let call = Call::method("claude", "resources/read", Some(Raw::parse(&params).unwrap()));
        let judged = policy.judge(&call, &Circumstances::timeless());
        prop_assert!(matches!(judged, Judgement::Refuse(_)), "{uri} passes a denial of {entry}");
    }

    #[test]
    fn where_nothing_is_allowed_no_uri_passes(uri in "\\PC{0,40}") {
        let policy = Policy::parse(r#"{"version":"1","default":"deny","resources":{"default":"deny"}}"#).unwrap();
        let params = format!("{{\"uri\":{}}}", serde_json::to_string(&uri).unwrap());
        let call = Call::method("claude", "resources/read", Some(Raw::parse(&params).unwrap()));
        prop_assert!(matches!(policy.judge(&call, &Circumstances::timeless()), Judgement::Refuse(_)));
    }

    /// A URI that goes up, however it is written, never counts as being below the entry.
    #[test]
    fn no_spelling_of_a_way_up_is_allowed(
        up in prop::sample::select(vec!["..", "%2e%2e", "%2E.", ".%2e", "%252e%252e"]),
        slash in prop::sample::select(vec!["/", "%2f", "\\\\", "%5c", "%252F"]),
        tail in prop::sample::select(vec!["", "?", "#", "?x=", "/."]),
        depth in 1usize..4,
    ) {
        let policy = r#"{"version":"1","default":"deny","resources":{"allow":["file:///w/in"]}}"#;
        let policy = Policy::parse(policy).unwrap();
        let uri = format!("file:///w/in{}{}etc{tail}", slash, format!("{up}{slash}").repeat(depth));
        let params = format!("{{\"uri\":\"{uri}\"}}");
        let call = Call::method("claude", "resources/read", Some(Raw::parse(&params).unwrap()));
        let judged = policy.judge(&call, &Circumstances::timeless());
        prop_assert!(matches!(judged, Judgement::Refuse(_)), "{uri}");
    }
}

#[test]
fn what_became_looser_is_said_in_words() {
    let policy = |rest: &str| {
        let rest = if rest.is_empty() { String::new() } else { format!(",{rest}") };
        Policy::parse(&format!("{{\"version\":\"1\",\"default\":\"deny\"{rest}}}")).unwrap()
    };
    for (old, new, words) in [
        (r#""sampling":{"action":"deny"}"#, r#""sampling":{}"#, "sampling was denied, is now allowed"),
        (
            r#""sampling":{"action":"deny"}"#,
            r#""sampling":{"action":"ask"}"#,
            "sampling was denied, is now asked for",
        ),
        (
            r#""resources":{"default":"deny"}"#,
            r#""resources":{"default":"ask"}"#,
            "resources: what is not listed was denied, is now asked for",
        ),
        (
            r#""resources":{"default":"deny","deny":["x:a"]}"#,
            r#""resources":{"default":"ask"}"#,
            "resources: \"x:a\" is no longer denied",
        ),
        (
            r#""prompts":{"deny":["straße"]}"#,
            r#""prompts":{"deny":["stra?e"]}"#,
            "prompts: \"straße\" is no longer denied",
        ),
        (
            r#""resources":{"deny":["*straße"]}"#,
            r#""resources":{"deny":["*stra?e"]}"#,
            "resources: \"*straße\" is no longer denied",
        ),
        (
            r#""clients":{"c＊":{"sampling":{"action":"deny"}}}"#,
            r#""clients":{"c*":{}}"#,
            "for clients named \"c*\": sampling was denied, is now allowed",
        ),
        (r#""sampling":{}"#, r#""sampling":{"tools":true}"#, "sampling may offer tools now"),
        (r#""sampling":{}"#, "", "nothing rules over sampling any more"),
        (
            r#""elicitation":{}"#,
            r#""elicitation":{"urls":true}"#,
            "elicitation may send people to addresses now",
        ),
        (r#""resources":{"deny":["x:a"]}"#, r#""resources":{}"#, "resources: \"x:a\" is no longer denied"),
        (
            r#""resources":{"allow":["x:a"]}"#,
            r#""resources":{"allow":["x:a","x:b"]}"#,
            "resources: \"x:b\" is now allowed",
        ),
        (
            r#""resources":{"allow":["x:a"]}"#,
            r#""resources":{}"#,
            "resources: what is not listed was refused, is now allowed",
        ),
        (
            r#""resources":{"schemes":["https"]}"#,
            r#""resources":{"schemes":["https","file"]}"#,
            "resources: other schemes than https are let through",
        ),
        (
            r#""prompts":{"hide":["p*"]}"#,
            r#""prompts":{"hide":["pa*"]}"#,
            "prompts: \"p*\" is no longer hidden",
        ),
        (
            r#""completion":{"limits":[{"counter":"c","window":"minute","max":5}]}"#,
            r#""completion":{"limits":[{"counter":"c","window":"minute","max":6}]}"#,
            "completion: the cap was 5 calls per minute per client, is now 6 calls per minute per client",
        ),
        (
            r#""clients":{"cursor":{"sampling":{"action":"deny"}}}"#,
            r#""clients":{"cursor":{}}"#,
            "for the client \"cursor\": sampling was denied, is now allowed",
        ),
        (
            r#""clients":{"c*":{"sampling":{"action":"deny"}}}"#,
            r#""clients":{"c*":{"sampling":{"action":"deny"}},"cursor":{}}"#,
            "for the client \"cursor\": sampling was denied, is now allowed",
        ),
        (
            r#""other_methods":"deny""#,
            "",
            "methods that the protocol does not know were denied, are now let through",
        ),
    ] {
        let found = looser(&policy(old), &policy(new));
        assert!(found.iter().any(|said| said == words), "{old} -> {new}: {found:?}");
        let tighter = looser(&policy(new), &policy(old));
        assert!(!tighter.iter().any(|said| said == words), "{new} -> {old}: {tighter:?}");
    }
    // Tightening is silent.
    for (old, new) in [
        ("", r#""resources":{"default":"deny"}"#),
        (r#""resources":{"deny":["x:a"]}"#, r#""resources":{"deny":["x:"]}"#),
        (r#""resources":{"deny":["x:a/b"]}"#, r#""resources":{"hide":["x:a"]}"#),
        (r#""resources":{"allow":["x:a"]}"#, r#""resources":{"allow":["x:a/b"]}"#),
        (r#""prompts":{"deny":["a"]}"#, r#""prompts":{"default":"deny"}"#),
        (r#""sampling":{"tools":true}"#, r#""sampling":{}"#),
    ] {
        assert_eq!(looser(&policy(old), &policy(new)), Vec::<String>::new(), "{old} -> {new}");
    }
}

#[test]
fn a_policy_that_refuses_no_request_only_watches() {
    let policy = |rest: &str| {
        Policy::parse(&format!("{{\"version\":\"1\",\"default\":\"allow\",{rest}}}")).unwrap().watch_only()
    };
    assert!(policy(r#""resources":{"limits":[{"counter":"c","window":"minute","max":5}]}"#));
    for rest in [
        r#""resources":{"hide":["x:"]}"#,
        r#""prompts":{"default":"ask"}"#,
        r#""sampling":{}"#,
        r#""completion":{"action":"deny"}"#,
        r#""other_methods":"deny""#,
    ] {
        assert!(!policy(rest), "{rest}");
    }
}

#[test]
fn the_same_entries_hide_the_same_things() {
    let policy =
        |rest: &str| Policy::parse(&format!("{{\"version\":\"1\",\"default\":\"allow\",{rest}}}")).unwrap();
    let a = policy(r#""resources":{"hide":["x:a","x:b"]},"prompts":{"hide":["p"]}"#);
    let b = policy(r#""resources":{"hide":["x:b","x:a"],"deny":["x:c"]}"#);
    assert_eq!(a.unlisted(Listing::Resources, "c"), b.unlisted(Listing::Resources, "c"));
    assert_ne!(a.unlisted(Listing::Prompts, "c"), b.unlisted(Listing::Prompts, "c"));
    let observed = policy(r#""mode":"observe","resources":{"hide":["x:a"]}"#);
    assert!(observed.unlisted(Listing::Resources, "c").is_empty());
}

#[test]
fn lists_that_allow_nothing_are_errors() {
    for rest in [
        r#""resources":{"allow":[]}"#,
        r#""resources":{"schemes":[]}"#,
        r#""prompts":{"deny":[""]}"#,
        r#""sampling":{"limits":[{"counter":"c","window":"minute","max":1},{"counter":"c","window":"hour","max":2}]}"#,
        r#""sampling":{"limits":[{"counter":"c","window":"minute","max":1}]},"clients":{"x":{"sampling":{"limits":[{"counter":"c","window":"minute","max":1}]}}}"#,
    ] {
        let text = format!("{{\"version\":\"1\",\"default\":\"allow\",{rest}}}");
        assert!(Policy::parse(&text).is_err(), "{rest}");
    }
}
