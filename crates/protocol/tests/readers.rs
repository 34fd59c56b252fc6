//! What is hidden or judged must be so under every reading of a server's answer.
//!
//! Results are put together from members whose names some reader takes for others. A set of readers then looks for what
//! the strict reading claims is not there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use callgate_protocol::{
    input::input_requests,
    json::Raw,
    lists::{Filtered, List, filter},
    target::listened_uris,
    tools::learn_tools,
};
use proptest::prelude::*;

mod text;

use text::{json, string};

/// Whether this reader takes a member for the one it looks for.
type Reader = fn(&str, &str) -> bool;

const READERS: [Reader; 7] = [
    |name, wanted| name == wanted,
    |name, wanted| name.eq_ignore_ascii_case(wanted),
    |name, wanted| name.split('\0').next() == Some(wanted),
    |name, wanted| name.trim() == wanted,
    |name, wanted| name.chars().filter(|c| !matches!(c, '\u{200b}' | '\u{feff}' | '\0')).eq(wanted.chars()),
    |name, wanted| name == wanted || name == snake_case(wanted),
    |name, wanted| name.to_lowercase().replace('\u{17f}', "s") == wanted.to_lowercase(),
];

fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut out, c| {
        out.extend(c.is_ascii_uppercase().then_some('_').into_iter().chain([c.to_ascii_lowercase()]));
        out
    })
}

/// A name that is `wanted`, or that some reader takes for it, or another one.
fn spelled(wanted: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(wanted.to_owned()),
        1 => Just(wanted.to_uppercase()),
        2 => Just(snake_case(wanted)),
        1 => Just(format!("{wanted}\0x")),
        1 => Just(format!(" {wanted}")),
        1 => Just(format!("\u{feff}{wanted}")),
        1 => Just(wanted.replace('s', "\u{17f}")),
        1 => "[a-z]{1,3}",
    ]
}

/// An object of these members, without those whose name came before.
fn object(members: Vec<(String, String)>) -> String {
    let mut seen = HashSet::new();
    let members = members.into_iter().filter(|(name, _)| seen.insert(name.clone()));
    let members: Vec<String> =
        members.map(|(name, value)| format!("{}:{value}", serde_json::to_string(&name).unwrap())).collect();
    format!("{{{}}}", members.join(","))
}

/// All values that this reader could find under a name.
fn find<'a>(reader: Reader, object: Raw<'a>, wanted: &str) -> Vec<Raw<'a>> {
    object.members().filter(|(name, _)| reader(name, wanted)).map(|(_, value)| value).collect()
}

fn key_text() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "\"open\"",
        "\"secret\"",
        "\"\\u0073ecret\"",
        "\"secret\\ud800\"",
        "[\"secret\"]",
        "7",
        "null",
    ])
    .prop_map(str::to_owned)
}

fn list_result() -> impl Strategy<Value = (List, String)> {
    prop::sample::select(List::ALL.to_vec()).prop_flat_map(|list| {
        let entry = prop_oneof![
            8 => prop::collection::vec((spelled(list.key()), key_text()), 0..4).prop_map(object),
            1 => json(),
        ];
        let entries =
            prop::collection::vec(entry, 0..5).prop_map(|entries| format!("[{}]", entries.join(",")));
        let member = (
            prop_oneof![9 => Just(list.member().to_owned()).boxed(), 1 => spelled(list.member()).boxed()],
            entries,
        );
        prop::collection::vec(member, 1..3).prop_map(move |members| (list, object(members)))
    })
}

/// Requests as a map; "sampling/createMessage" is what readers look for.
fn requests() -> impl Strategy<Value = String> {
    let method = prop::sample::select(vec![
        "\"sampling/createMessage\"",
        "\"sampling\\/createMessage\"",
        "\"roots/list\"",
        "\"Sampling/CreateMessage\"",
        "null",
    ])
    .prop_map(str::to_owned);
    let request = prop_oneof![
        9 => prop::collection::vec((spelled("method"), method), 1..3).prop_map(object),
        1 => json(),
    ];
    prop_oneof![
        9 => prop::collection::vec(("[a-c]", request), 0..3).prop_map(object),
        1 => json(),
    ]
}

fn asking_result() -> impl Strategy<Value = String> {
    let members = || {
        let requests = (spelled("inputRequests"), requests());
        prop_oneof![3 => requests.boxed(), 1 => (spelled("resultType"), string()).boxed()]
    };
    let inner = (
        prop_oneof![spelled("result"), spelled("task")],
        prop::collection::vec(members(), 0..3).prop_map(object),
    );
    let member = prop_oneof![4 => members().boxed(), 1 => inner.boxed()];
    prop::collection::vec(member, 0..4).prop_map(object)
}

fn asks_for_sampling(reader: Reader, result: Raw<'_>) -> bool {
    let inner = ["result", "task"].into_iter().flat_map(|name| find(reader, result, name));
    inner.chain([result]).flat_map(|object| find(reader, object, "inputRequests")).any(|requests| {
        requests.members().flat_map(|(_, request)| find(reader, request, "method")).any(|method| {
            method.as_str().is_some_and(|method| method.eq_ignore_ascii_case("sampling/createMessage"))
        })
    })
}

/// More than usual: many of them meet no doubt at all.
fn cases() -> u32 {
    ProptestConfig::default().cases.saturating_mul(4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn no_reader_finds_what_is_hidden((list, text) in list_result()) {
        let result = Raw::parse(&text).unwrap();
        let shown = match filter(list, result, |key| !key.contains("secret")) {
            Filtered::Unchanged => text.clone(),
            Filtered::Rewritten { result, .. } => String::from_utf8(result).unwrap(),
            Filtered::Unusable(_) => return Ok(()),
        };
        let shown = Raw::parse(&shown).unwrap();
        for reader in READERS {
            for entry in find(reader, shown, list.member()).into_iter().flat_map(Raw::items) {
                for key in find(reader, entry, list.key()) {
                    prop_assert_eq!(key.as_str().unwrap(), "open", "{}", text);
                }
            }
        }
    }

    #[test]
    fn what_is_learned_is_what_is_shown((list, text) in list_result(), schema in json()) {
        let text = text.replacen("{\"name\"", &format!("{{\"inputSchema\":{schema},\"name\""), 1);
        let Ok(result) = Raw::parse(&text) else { return Ok(()) };
        let mut names = Vec::new();
        let filtered = filter(List::Tools, result, |name| { names.push(name.to_owned()); true });
        let learned = learn_tools(result);
        match filtered {
            Filtered::Unusable(fault) => prop_assert_eq!(learned.unwrap_err(), fault),
            _ => {
                prop_assert!(list == List::Tools || learned.as_ref().unwrap().is_empty());
                let learned: Vec<String> = learned.unwrap().iter().map(|tool| tool.name.to_string()).collect();
                let mut seen = HashSet::new();
                names.retain(|name| seen.insert(name.clone()));
                prop_assert_eq!(learned, names);
            }
        }
    }

    #[test]
    fn no_reader_finds_a_request_that_was_not_read(text in asking_result()) {
        let result = Raw::parse(&text).unwrap();
        if let Ok(requests) = input_requests(result) {
            let seen = requests.iter().any(|request| request.method == "sampling/createMessage");
            for reader in READERS {
                prop_assert!(seen || !asks_for_sampling(reader, result), "{}", text);
            }
        }
    }

    #[test]
    fn no_reader_finds_a_subscription_that_was_not_read(
        members in prop::collection::vec((
            spelled("notifications"),
            prop::collection::vec((spelled("resourceSubscriptions"), prop::collection::vec(string(), 0..3)), 0..3),
        ), 0..3),
    ) {
        let members = members.into_iter().map(|(name, filter)| {
            let filter = filter.into_iter().map(|(name, uris)| (name, format!("[{}]", uris.join(","))));
            (name, object(filter.collect()))
        });
        let text = object(members.collect());
        let params = Raw::parse(&text).unwrap();
        if let Ok(uris) = listened_uris(Some(params)) {
            for reader in READERS {
                let filters = find(reader, params, "notifications").into_iter();
                let lists = filters.flat_map(|filter| find(reader, filter, "resourceSubscriptions"));
                for uri in lists.flat_map(Raw::items) {
                    prop_assert!(uris.contains(&uri.as_str().unwrap()), "{}", text);
                }
            }
        }
    }

    #[test]
    fn an_answer_without_requests_is_never_refused(results in prop::collection::vec(("[a-zA-Z]{1,9}", json()), 0..5)) {
        let text = object(results);
        let result = Raw::parse(&text).unwrap();
        prop_assert!(input_requests(result).unwrap().is_empty());
    }
}
