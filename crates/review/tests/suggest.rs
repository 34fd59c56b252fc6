//! Drafts as a person reads them.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::time::Duration;

use callgate_policy::{AsWritten, Policy};
use callgate_review::{MARGIN, Suggestion, Wish, suggest};
use common::{SERVER, START_MS, World};

fn draft(world: &mut World, catalogue: Option<&[String]>) -> Suggestion {
    let now_ms = world.now_ms();
    let history = world.history();
    let wish =
        Wish { server: SERVER, since_ms: START_MS, now_ms, margin: MARGIN, catalogue, files: &AsWritten };
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
