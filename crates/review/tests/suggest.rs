//! Drafts as a person reads them.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use callgate_journal::Outcome;
use callgate_policy::{AsWritten, Policy};
use callgate_protocol::json::Raw;
use callgate_review::{AskRule, MARGIN, Suggestion, SuggestionRequest, suggest};
use common::{SERVER, START_MS, World};

fn draft(world: &mut World, catalogue: Option<&[String]>) -> Suggestion {
    draft_asking(world, catalogue, &BTreeMap::new())
}

fn draft_asking(
    world: &mut World,
    catalogue: Option<&[String]>,
    asks: &BTreeMap<String, AskRule>,
) -> Suggestion {
    let now_ms = world.now_ms();
    let history = world.history();
    let wish = SuggestionRequest {
        server: SERVER,
        since_ms: START_MS,
        now_ms,
        margin: MARGIN,
        catalogue,
        asks,
        files: &AsWritten,
    };
    let suggestion = suggest(&history, &wish).unwrap();
    assert_eq!(suggest(&history, &wish).unwrap(), suggestion, "the same again");
    assert!(Policy::parse(&suggestion.text).is_ok(), "{}", suggestion.text);
    suggestion
}

#[test]
fn a_week_of_a_browser() {
    let mut world = World::new();
    let then = Policy::parse(
        r#"{ "version": "1", "default": "allow", "tools": {
             "evaluate": { "action": "deny" },
             "click": { "limits": [{ "counter": "c", "window": "minute", "max": 4 }] } } }"#,
    )
    .unwrap();
    let (one, two) = (world.session("claude"), world.session("cursor"));
    for day in 0..7u64 {
        for number in 0..4 {
            let (page, engine) = (day * 4 + number, ["chromium", "firefox"][(day % 2) as usize]);
            let navigate =
                format!(r#"{{"url":"https://shop.example/p/{page}","browser":"{engine}","headless":true}}"#);
            world.tool(one, &then, "navigate", &navigate);
            world.tool(one, &then, "click", &format!(r##"{{"selector":"#buy-{page}"}}"##));
            world.advance(Duration::from_secs(5));
        }
        for _ in 0..3 {
            world.tool(one, &then, "click", r##"{"selector":"#more"}"##);
            world.advance(Duration::from_secs(1));
        }
        let shot = format!(r#"{{"path":"/home/me/shots/day {day}.png","note":"for {day}"}}"#);
        world.tool(two, &then, "screenshot", &shot);
        world.tool(two, &then, "login", r#"{"user":"me","password":"hunter2hunter2"}"#);
        world.tool(two, &then, "evaluate", "{}");
        world.answer_all();
        world.advance(Duration::from_secs(86_400));
    }
    let catalogue = ["click", "close", "evaluate", "navigate", "screenshot", "upload"].map(str::to_owned);
    let suggestion = draft(&mut world, Some(&catalogue));
    assert!(suggestion.enough);
    insta::assert_snapshot!(suggestion.text);
}

#[test]
fn a_single_afternoon_says_that_it_is_not_enough() {
    let mut world = World::new();
    let then = Policy::parse(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let session = world.session("claude");
    world.tool(session, &then, "read", r#"{"path":"/home/me/a"}"#);
    world.advance(Duration::from_secs(3_600));
    world.tool(session, &then, "read", r#"{"path":"/srv/b"}"#);
    world.request(session, &then, "made/up", "", "{}");
    let suggestion = draft(&mut world, None);
    assert!(!suggestion.enough);
    insta::assert_snapshot!(suggestion.text);
}

#[test]
fn no_calls_at_all_still_make_a_policy() {
    let mut world = World::new();
    world.advance(Duration::from_secs(7 * 86_400));
    let suggestion = draft(&mut world, Some(&["read".to_owned()]));
    assert!(!suggestion.enough);
    insta::assert_snapshot!(suggestion.text);
}

#[test]
fn a_cap_leaves_room_for_calls_that_were_refused_then() {
    let mut world = World::new();
    let then = Policy::parse(
        r#"{ "version": "1", "default": "allow", "tools": { "t": {
             "limits": [{ "counter": "c", "window": "10s", "max": 1 }] } } }"#,
    )
    .unwrap();
    let session = world.session("claude");
    // A loop: of sixty calls in a minute six pass.
    for _ in 0..120 {
        world.tool(session, &then, "t", "{}");
        world.advance(Duration::from_secs(1));
    }
    let suggestion = draft(&mut world, None);
    let cap = "\"window\": \"minute\", \"max\": 100,";
    assert!(suggestion.text.contains(cap), "{}", suggestion.text);
    assert!(
        suggestion.text.contains("at most 6 in any minute, and 60 with those refused"),
        "{}",
        suggestion.text
    );
}

#[test]
fn names_that_a_server_made_up_break_no_draft() {
    let mut world = World::new();
    let then = Policy::parse(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let session = world.session("claude");
    for name in ["a/b", "a~b", "a\"b", "*/ } // x", "ü", "a.b", "Read", "read", "a*", "a?"] {
        for _ in 0..6 {
            world.tool(session, &then, name, r#"{"a.b":"x","c\"]d":"y","":"z","0":1}"#);
        }
    }
    let odd = ["*", "a*b", "", "x\ny", "\u{2028}", "READ", "fine"].map(str::to_owned);
    let suggestion = draft(&mut world, Some(&odd));
    insta::assert_snapshot!(suggestion.text);
}

/// An afternoon with a server of browsers, as `policy suggest` was first tried on one.
fn browsing() -> World {
    let mut world = World::new();
    let then = Policy::parse(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let session = world.session("claude");
    for number in 0..8 {
        let start =
            format!(r#"{{"options":{{"outputPath":"/home/me/tests/run{number}","template":"spec"}}}}"#);
        world.tool(session, &then, "start_codegen_session", &start);
        for _ in 0..6 {
            world.tool(session, &then, "get_codegen_session", r#"{"sessionId":"x"}"#);
        }
        let host = ["shop.example", "pay.example:8443"][number % 2];
        world.tool(session, &then, "navigate", &format!(r#"{{"url":"https://{host}/p/{number}"}}"#));
        let shot = match number {
            0..4 => format!(r#"{{"name":"a{number}","downloadsDir":"/home/me/shots/{number}"}}"#),
            _ => format!(r#"{{"name":"a{number}"}}"#),
        };
        world.tool(session, &then, "screenshot", &shot);
        let upload = format!(r#"{{"filePaths":["/home/me/work/a{number}","/home/me/work/b{number}"]}}"#);
        world.tool(session, &then, "upload_file", &upload);
        world.tool(session, &then, "playwright_evaluate", &format!(r#"{{"script":"return {number}"}}"#));
        world.answer_all();
        world.tool(session, &then, "no_such_tool", "{}");
        world.answer(session, 0, Outcome::ToolError);
        world.advance(Duration::from_secs(86_400 / 2));
    }
    world
}

const BROWSERS: [&str; 9] = [
    "start_codegen_session",
    "end_codegen_session",
    "get_codegen_session",
    "clear_codegen_session",
    "playwright_close",
    "playwright_evaluate",
    "navigate",
    "close_issue",
    "delete_all",
];

#[test]
fn a_draft_for_a_browser_leaves_a_way_to_close_it_and_holds_paths_and_hosts() {
    let catalogue = BROWSERS.map(str::to_owned);
    let suggestion = draft(&mut browsing(), Some(&catalogue));
    insta::assert_snapshot!(suggestion.text);
}

#[test]
fn what_frees_things_is_never_hidden() {
    let catalogue = BROWSERS.map(str::to_owned);
    let suggestion = draft(&mut browsing(), Some(&catalogue));
    let policy = Policy::parse(&suggestion.text).unwrap();
    for tool in ["playwright_close", "end_codegen_session", "clear_codegen_session"] {
        assert!(!policy.is_hidden("claude", tool), "{tool}");
        let rule = suggestion.rules.iter().find(|rule| rule.tool.as_deref() == Some(tool)).unwrap();
        assert_eq!(rule.words, "allowed");
    }
    assert!(policy.is_hidden("claude", "close_issue") && policy.is_hidden("claude", "delete_all"));
    assert!(suggestion.notes.iter().any(|note| note.contains("playwright_close")), "{:?}", suggestion.notes);
}

#[test]
fn a_tool_that_somebody_refused_is_not_opened_because_it_frees_something() {
    let mut world = World::new();
    let session = world.session("claude");
    world.refused(session, "playwright_close", "/tools/playwright_close/action");
    let suggestion = draft(&mut world, Some(&["playwright_close".to_owned()]));
    assert!(!suggestion.text.contains("\"playwright_close\""), "{}", suggestion.text);
}

#[test]
fn reads_are_not_capped_and_that_is_said() {
    let suggestion = draft(&mut browsing(), None);
    let policy = Policy::parse(&suggestion.text).unwrap();
    assert!(policy.limits("claude", "get_codegen_session", 0).is_empty(), "{}", suggestion.text);
    assert!(!policy.limits("claude", "navigate", 0).is_empty());
    assert!(suggestion.notes.iter().any(|note| note.contains("only read")), "{:?}", suggestion.notes);
}

#[test]
fn a_tool_that_only_ever_failed_is_left_out_and_named() {
    let suggestion = draft(&mut browsing(), None);
    assert!(!suggestion.text.contains("\"no_such_tool\""), "{}", suggestion.text);
    assert!(
        suggestion.notes.iter().any(|note| note.contains("failed: no_such_tool")),
        "{:?}",
        suggestion.notes
    );
    assert!(!suggestion.notes.iter().any(|note| note.contains("cannot allow")), "{:?}", suggestion.notes);
}

#[test]
fn tools_of_real_servers_that_free_things_stay_open() {
    const CATALOGUES: [&str; 2] = [
        include_str!("../../risk/catalogue/runautomation.json"),
        include_str!("../../risk/catalogue/playwright-stealth.json"),
    ];
    for (at, text) in CATALOGUES.into_iter().enumerate() {
        let catalogue = Raw::parse(text).unwrap();
        let classes = catalogue.get("tools").unwrap();
        let tools = classes.members().flat_map(|(_, tools)| tools.items());
        let names: BTreeSet<String> = tools.map(|tool| tool.as_str().unwrap().into_owned()).collect();
        let names: Vec<String> = names.into_iter().collect();
        assert_eq!(names.len(), [91, 29][at]);
        let suggestion = draft(&mut World::new(), Some(&names));
        let policy = Policy::parse(&suggestion.text).unwrap();
        let open: Vec<&String> = names.iter().filter(|name| !policy.is_hidden("c", name)).collect();
        let mut expected = vec!["clear_codegen_session", "end_codegen_session", "playwright_close"];
        if at == 0 {
            expected.extend([
                "cleanup_idle_sessions",
                "close_browser_session",
                "playwright_stop_video_recording",
            ]);
        }
        expected.sort_unstable();
        assert_eq!(open, expected);
    }
}

#[test]
fn what_a_person_should_be_asked_about_is_asked_about_and_keeps_what_use_says_of_it() {
    let mut world = World::new();
    let then = Policy::parse(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let session = world.session("claude");
    for number in 0..6 {
        world.tool(session, &then, "delete", &format!(r#"{{"path":"/home/me/work/{number}"}}"#));
        world.tool(session, &then, "read", "{}");
        world.advance(Duration::from_secs(3_600));
    }
    world.answer_all();
    let ask = AskRule {
        json: r#""action": "ask""#.to_owned(),
        words: "asked about".to_owned(),
        why: "Destructive: what it removes does not come back".to_owned(),
    };
    // Of one that was never used nothing is drawn.
    let asks = BTreeMap::from([("delete".to_owned(), ask.clone()), ("drop".to_owned(), ask)]);
    let suggestion = draft_asking(&mut world, None, &asks);
    let text = &suggestion.text;
    assert!(
        text.contains("\"action\": \"ask\", // Destructive: what it removes does not come back"),
        "{text}"
    );
    assert!(text.contains("/home/me/work") && text.contains("delete_minute"), "{text}");
    assert!(!text.contains("\"drop\""), "{text}");
    let asked: Vec<_> = suggestion.rules.iter().filter(|rule| rule.words == "asked about").collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].tool.as_deref(), Some("delete"));
}
