//! What holds for all policies, calls and edits.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;
mod made;

use std::num::NonZeroU32;
use std::sync::Arc;

use callgate_policy::edit::{Edit, When, apply, apply_for};
use callgate_policy::{
    Call, Circumstances, Decision, Judgement, Policy, Report, Standing, Taking, ToolClass, Unused, Usage,
    Waived, Window, compare, decide,
};
use callgate_protocol::json::Raw;
use common::classes::Told;
use common::recordings::FakeRecordings;
use made::{Made, NAMES, change, made, name, overlay, policy};
use proptest::prelude::*;

const ARGS: [&str; 6] = [
    "{}",
    r#"{"a":1}"#,
    r#"{"a":2,"b":{"c":["x"]}}"#,
    r#"{"a":[1]}"#,
    r#"{"b":"x","a":-1}"#,
    r#"{"b":"/x","paths":["x","1"],"url":1}"#,
];

fn edit() -> impl Strategy<Value = Edit> {
    let rate = (1u32..6).prop_map(|max| NonZeroU32::new(max).unwrap());
    prop_oneof![
        (name(), prop::option::of(Just("why".to_owned())))
            .prop_map(|(tool, reason)| Edit::Block { tool, reason }),
        name().prop_map(|tool| Edit::Hide { tool }),
        prop::option::of(Just("why".to_owned())).prop_map(|reason| Edit::BlockServer { reason }),
        (name(), rate).prop_map(|(tool, max)| Edit::Cap { tool, max, window: Window::MINUTE }),
    ]
}

/// For everyone, or for clients with and without rules of their own, by name and by pattern.
fn client() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(vec![None, Some("cursor"), Some("claude"), Some("Codex")])
}

/// All that restricts, whole servers and arguments included.
fn restriction() -> impl Strategy<Value = Edit> {
    let max = (1u32..6).prop_map(|max| NonZeroU32::new(max).unwrap());
    let when = prop::sample::select(vec![
        When::StartsWith { path: "args.b".to_owned(), prefix: "x".to_owned() },
        When::Equals { path: "args.a".to_owned(), value: "1".to_owned() },
        When::NotInside { path: "args.a".to_owned(), folder: "/srv".to_owned() },
    ]);
    prop_oneof![
        3 => edit(),
        1 => max.prop_map(|max| Edit::CapServer { max, window: Window::MINUTE }),
        1 => (prop::option::of(name()), when).prop_map(|(tool, when)| Edit::Refuse { tool, when, reason: None }),
    ]
}

/// Where somebody knows of some tools what they can do.
fn parsed(text: &str) -> Result<Policy, Report> {
    let mut classes = Told::default();
    for (tool, class) in
        NAMES.into_iter().zip([ToolClass::Read, ToolClass::Write, ToolClass::Execute].into_iter().cycle())
    {
        if tool != "zeta" {
            classes.tell(tool, class);
        }
    }
    let mut policy = Policy::parse(text)?;
    policy.know_classes(Arc::new(classes));
    Ok(policy)
}

/// So much of every counter is used.
struct Used(u64);

impl Usage for Used {
    fn standing(&self, taking: &Taking<'_>) -> Standing {
        let unit = taking.limit.ceiling() / u64::from(taking.limit.max.get());
        Standing { used: self.0 * unit, frees_in: taking.limit.window() }
    }
}

/// Before, between and after the moments at which made rules end.
const TIMES: [i64; 3] = [i64::MIN, made::FIRST_END_MS, made::LAST_END_MS];

/// By which rule a call is refused: with nothing used up, with two of everything used up, and if its arguments do not
/// fit the tool's schema.
type Refusals = [Option<String>; 3];

fn refusals(policy: &Policy, call: &Call<'_>, now_ms: i64) -> Refusals {
    let mut recordings = FakeRecordings::default();
    recordings.set("open", "A 3");
    match policy.judge(call, &Circumstances { now_ms, recordings: &recordings, ..Circumstances::timeless() })
    {
        Judgement::Refuse(refusal) => [const { None }; 3].map(|_: Option<()>| Some(refusal.rule.clone())),
        Judgement::Pass(pass) if pass.observing => [const { None }; 3],
        Judgement::Pass(pass) => {
            let full = |used| {
                let no_room = |taking: &&Taking<'_>| {
                    Used(used).standing(taking).used + taking.amount > taking.limit.ceiling()
                };
                pass.limits.iter().find(no_room).map(|taking| taking.limit.pointer.clone())
            };
            [full(0), full(2), pass.validate.map(str::to_owned)]
        }
    }
}

/// How every call of a small world fares, first under one policy, then under another.
fn world(old: &Policy, new: &Policy, mut visit: impl FnMut(&str, &str, Refusals, Refusals)) {
    let args: Vec<Raw<'_>> = ARGS.iter().map(|args| Raw::parse(args).unwrap()).collect();
    for client in ["claude", "cursor", "Codex"] {
        let recorded = ["start_codegen_session", "end_codegen_session", "clear_codegen_session"];
        let others = ["ALPHA", "unknown", "gx", "BETa", "a\0b"];
        for tool in NAMES.iter().chain(&others).chain(&recorded) {
            for args in &args {
                for now_ms in TIMES {
                    let call = Call::tool(client, tool, Some(*args));
                    let (was, is) = (refusals(old, &call, now_ms), refusals(new, &call, now_ms));
                    visit(tool, &format!("{client} {tool} {args:?} at {now_ms}"), was, is);
                }
            }
        }
    }
    for method in ["resources/read", "made/up", "tools/list"] {
        let call = Call::method("cursor", method, None);
        visit("", method, refusals(old, &call, i64::MIN), refusals(new, &call, i64::MIN));
    }
}

/// The first call that was refused and passes now, with the rule that refused it.
fn opened(old: &Policy, new: &Policy) -> Option<(String, String)> {
    let mut found = None;
    world(old, new, |_, call, was, is| {
        for (was, is) in was.into_iter().zip(is) {
            if let (Some(rule), None) = (was, is) {
                found.get_or_insert((call.to_owned(), rule));
            }
        }
    });
    found
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.bytes();
    part.bytes().all(|b| rest.any(|other| other == b))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsing_any_text_never_panics(text in "\\PC{0,60}") {
        let _ = parsed(&text);
        let _ = apply(&text, &Edit::Hide { tool: "x".to_owned() });
    }

    #[test]
    fn parsing_a_damaged_policy_never_panics(text in policy(), at in any::<prop::sample::Index>(), junk in "[\\[\\]{}\",:/*x\\\\é\n]{0,3}") {
        let mut cut = at.index(text.len() + 1);
        while !text.is_char_boundary(cut) { cut -= 1; }
        let damaged = format!("{}{junk}{}", &text[..cut], text[cut..].chars().skip(1).collect::<String>());
        let _ = parsed(&damaged);
        let _ = parsed(&text[..cut]);
        let _ = apply(&damaged, &Edit::Block { tool: "x".to_owned(), reason: None });
    }

    #[test]
    fn every_call_gets_an_answer(text in policy(), client in "\\PC{0,8}", tool in "\\PC{0,12}", now_ms: i64) {
        let Ok(policy) = parsed(&text) else { return Ok(()) };
        for waived in [Waived::Nothing, Waived::Denials, Waived::Everything] {
            let circumstances = Circumstances { now_ms, waived, ..Circumstances::timeless() };
            for args in ARGS {
                let call = Call::tool(&client, &tool, Some(Raw::parse(args).unwrap()));
                let free = decide(&policy, &call, &circumstances, &Unused);
                let full = decide(&policy, &call, &circumstances, &Used(u64::from(u32::MAX)));
                prop_assert!(!free.rule.is_empty() && !free.reason.is_empty());
                let counts = free.counters.iter().any(|counter| !counter.has_room) || !free.counters.is_empty();
                let Judgement::Pass(pass) = policy.judge(&call, &circumstances) else {
                    prop_assert!(!free.decision.allows() && full.decision == free.decision);
                    continue;
                };
                let restrict = waived != Waived::Everything && !pass.observing;
                prop_assert_eq!(full.decision == Decision::Capped, counts && restrict);
                prop_assert_eq!(free.decision == Decision::WouldDeny, pass.would.is_some());
                prop_assert!(pass.would.is_none() || pass.observing);
                if waived == Waived::Everything {
                    prop_assert!(pass.validate.is_none() && pass.would.is_none());
                }
            }
        }
        decide(&policy, &Call::method(&client, &tool, None), &Circumstances::timeless(), &Unused);
    }

    #[test]
    fn deny_wins(text in policy(), tool in name()) {
        let Ok(blocked) = apply(&text, &Edit::Block { tool: tool.clone(), reason: None }) else { return Ok(()) };
        let policy = parsed(&blocked.text).unwrap();
        for (client, args) in ["claude", "cursor", "Codex"].into_iter().flat_map(|c| ARGS.map(|args| (c, args))) {
            let call = Call::tool(client, &tool, Some(Raw::parse(args).unwrap()));
            let decision = decide(&policy, &call, &Circumstances::timeless(), &Unused).decision;
            prop_assert_ne!(decision, Decision::Allow);
        }
    }

    #[test]
    fn a_waiver_opens_and_never_shuts(text in policy()) {
        let Ok(policy) = parsed(&text) else { return Ok(()) };
        for (tool, args) in NAMES.into_iter().flat_map(|tool| ARGS.map(|args| (tool, args))) {
            let call = Call::tool("cursor", tool, Some(Raw::parse(args).unwrap()));
            let passes = [Waived::Nothing, Waived::Denials, Waived::Everything].map(|waived| {
                matches!(policy.judge(&call, &Circumstances { waived, ..Circumstances::timeless() }), Judgement::Pass(_))
            });
            prop_assert!(passes.is_sorted(), "{} {}: {:?}", tool, args, passes);
        }
    }

    #[test]
    fn tightening_never_loosens(text in policy(), edit in edit()) {
        let Ok(old) = parsed(&text) else { return Ok(()) };
        let Ok(edited) = apply(&text, &edit) else { return Ok(()) };
        let new = parsed(&edited.text).unwrap();
        let looser = compare::loosened(&old, &new);
        // A cap may be higher than the one before, and it names the tool, which takes it out of a pattern's reach; then
        // it is called looser. Nothing else may be.
        prop_assert!(looser.is_empty() || matches!(edit, Edit::Cap { .. }), "{:?}\n{}", looser, edited.text);
        if looser.is_empty() {
            prop_assert_eq!(opened(&old, &new), None, "\n{}\n{}", text, edited.text);
        }
    }

    #[test]
    fn restricting_one_client_opens_nothing_and_touches_no_other(
        text in policy(), client in client(), edit in restriction(),
    ) {
        let Ok(old) = parsed(&text) else { return Ok(()) };
        let Ok(edited) = apply_for(&text, client, &edit) else { return Ok(()) };
        let new = parsed(&edited.text).unwrap();
        prop_assert_eq!(&apply_for(&edited.text, client, &edit).unwrap().text, &edited.text);
        let looser = compare::loosened(&old, &new);
        // A cap may be called looser, and then asks: it names its tool, or copies limits that have no names.
        let caps = matches!(edit, Edit::Cap { .. } | Edit::CapServer { .. });
        prop_assert!(looser.is_empty() || caps, "{:?}\n{}\n{}", looser, text, edited.text);
        if looser.is_empty() {
            prop_assert_eq!(opened(&old, &new), None, "\n{}\n{}", text, edited.text);
        }
        let others = |call: &str| client.is_some_and(|client| !call.starts_with(client));
        world(&old, &new, |_, call, was, is| {
            assert!(!others(call) || was == is, "{call}:\n{}\n{}", text, edited.text);
        });
    }

    #[test]
    fn a_client_is_denied_what_was_blocked_for_it(text in policy(), client in client(), tool in name()) {
        let edit = Edit::Block { tool: tool.clone(), reason: None };
        let Ok(blocked) = apply_for(&text, client, &edit) else { return Ok(()) };
        let policy = parsed(&blocked.text).unwrap();
        for args in ARGS {
            let call = Call::tool(client.unwrap_or("zed"), &tool, Some(Raw::parse(args).unwrap()));
            let decision = decide(&policy, &call, &Circumstances::timeless(), &Unused).decision;
            prop_assert_ne!(decision, Decision::Allow, "{}", blocked.text);
        }
    }

    #[test]
    fn a_change_that_is_not_called_looser_lets_nothing_more_through((a, b) in change()) {
        let (a, b) = (a.text(), b.text());
        let (Ok(old), Ok(new)) = (parsed(&a), parsed(&b)) else { return Ok(()) };
        for (a, b, old, new) in [(&a, &b, &old, &new), (&b, &a, &new, &old)] {
            if compare::loosened(old, new).is_empty() {
                prop_assert_eq!(opened(old, new), None, "\n{}\n{}", a, b);
            }
        }
        prop_assert_eq!(compare::loosened(&old, &old), Vec::<String>::new());
    }

    #[test]
    fn whatever_was_loosened_some_of_it_is_called_so(a in policy(), b in policy()) {
        let (Ok(old), Ok(new)) = (parsed(&a), parsed(&b)) else { return Ok(()) };
        if compare::loosened(&old, &new).is_empty() {
            prop_assert_eq!(opened(&old, &new), None);
        }
    }

    #[test]
    fn an_overlay_takes_away_nothing_that_refuses(base in made(), added in overlay()) {
        let base = Made { clients: Default::default(), ..base };
        let mut with = base.clone();
        with.clients.insert("cursor".to_owned(), added);
        let (Ok(old), Ok(new)) = (parsed(&base.text()), parsed(&with.text())) else { return Ok(()) };
        // It may list a tool; that is the one thing that it can give.
        let not_listed = |rule: &str| rule == "/default" || rule == "/unlisted";
        world(&old, &new, |_, call, was, is| {
            for (was, is) in was.iter().zip(&is) {
                let kept = is.is_some() || was.as_deref().is_none_or(not_listed);
                assert!(kept, "{call} was refused by {was:?}:\n{}", with.text());
            }
        });
    }

    #[test]
    fn a_rule_by_class_loosens_no_rule_by_name(base in made(), class in 0..5usize, said in 0..3usize) {
        let mut without = base;
        for body in without.clients.values_mut().chain([&mut without.base]) {
            body.top.remove("classes");
        }
        let mut with = without.clone();
        let action = ["allow", "deny", "ask"][said];
        let rule = format!("{{\"{}\":{{\"action\":\"{action}\"}}}}", ToolClass::ALL[class].key());
        with.base.top.insert("classes", rule);
        let (Ok(old), Ok(new)) = (parsed(&without.text()), parsed(&with.text())) else { return Ok(()) };
        let named = |rule: &str| !rule.ends_with("/default") && !rule.ends_with("/unlisted");
        world(&old, &new, |_, call, was, is| {
            for (was, is) in was.iter().zip(&is) {
                let kept = is.is_some() || was.as_deref().is_none_or(|rule| !named(rule));
                assert!(kept, "{call} was refused by {was:?}:\n{}", with.text());
            }
        });
    }

    #[test]
    fn lists_leave_out_what_would_be_answered_as_hidden(text in policy()) {
        let Ok(policy) = parsed(&text) else { return Ok(()) };
        for (client, tool) in ["claude", "cursor"].into_iter().flat_map(|c| NAMES.map(|tool| (c, tool))) {
            let hidden_at = |now_ms| {
                let circumstances = Circumstances { now_ms, ..Circumstances::timeless() };
                let verdict = decide(&policy, &Call::tool(client, tool, None), &circumstances, &Unused);
                verdict.decision == Decision::Hidden && !verdict.rule.starts_with('(')
            };
            if TIMES.into_iter().any(hidden_at) {
                prop_assert!(policy.is_hidden(client, tool) && policy.hides_anything(), "{} {}", client, tool);
            }
        }
        prop_assert_eq!(policy.visibility("cursor"), policy.visibility("Cursor"));
    }

    #[test]
    fn policies_that_look_the_same_list_the_same((a, b) in change()) {
        let (Ok(a), Ok(b)) = (parsed(&a.text()), parsed(&b.text())) else { return Ok(()) };
        for client in ["claude", "cursor", "Codex"] {
            let same = NAMES.iter().chain(&["gx", "unknown"]).all(|tool| a.is_hidden(client, tool) == b.is_hidden(client, tool));
            prop_assert!(same || a.visibility(client) != b.visibility(client));
        }
    }

    #[test]
    fn edits_touch_nothing_but_their_place(text in policy(), edit in edit()) {
        let Ok(once) = apply(&text, &edit) else { return Ok(()) };
        let twice = apply(&once.text, &edit).unwrap();
        prop_assert_eq!(&twice.text, &once.text);
        // Nothing is taken away but the value that is replaced.
        let kept = ["\"action\":\"allow\"", "\"action\":\"ask\"", "\"reason\":\"r\""]
            .iter()
            .fold(text.clone(), |kept, gone| kept.replace(gone, &gone[..9]));
        // A denial takes away what would end it, or let it pass: those have tables of their own.
        let ends = matches!(edit, Edit::Block { .. } | Edit::BlockServer { .. } | Edit::Hide { .. })
            && (text.contains("\"until\"") || text.contains("\"observe\""));
        prop_assert!(ends || is_subsequence(&kept, &once.text), "{}\n{}", text, once.text);
        // One added entry: what stands before and after it is the same, byte for byte.
        if matches!(edit, Edit::Hide { .. }) && !ends {
            let before = text.bytes().zip(once.text.bytes()).take_while(|(a, b)| a == b).count();
            let after = text.bytes().rev().zip(once.text.bytes().rev()).take_while(|(a, b)| a == b).count();
            prop_assert!(before + after >= text.len(), "{}\n{}", text, once.text);
        }
    }

    #[test]
    fn allowing_opens_the_tool_and_nothing_else(text in policy(), client in client(), tool in name()) {
        let Ok(old) = parsed(&text) else { return Ok(()) };
        let edit = Edit::Allow { tool: tool.clone() };
        let Ok(edited) = apply_for(&text, client, &edit) else { return Ok(()) };
        let new = parsed(&edited.text).unwrap();
        world(&old, &new, |about, call, was, is| {
            let about = about.to_lowercase() == tool.to_lowercase();
            let same = was.iter().zip(&is).all(|(was, is)| was.is_some() == is.is_some());
            assert!(about || same, "{call}:\n{}\n{}", text, edited.text);
        });
    }
}
