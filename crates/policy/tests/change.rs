//! Policies merged, replaced and reverted, and the words for it: the tables under `cases/`.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use callgate_policy::edit::{
    Edit, EditError, Edited, RevertError, apply_for, difference, merge, replace, revert,
};
use callgate_policy::{DEFAULT_POLICY, Policy};
use common::{Story, stories};

/// Plays each story; on a difference it prints how the story reads now.
fn play(file: &str, given: usize, ending: impl Fn(&Story) -> Vec<(&'static str, String)>) {
    let stories = stories(file);
    assert!(!stories.is_empty(), "{file} holds no stories");
    let mut failures = Vec::new();
    for story in stories {
        let mut parts: Vec<(String, String)> = story.parts[..given].to_vec();
        parts.extend(ending(&story).into_iter().map(|(name, text)| (name.to_owned(), text)));
        if parts != story.parts {
            failures.push(Story { title: story.title, parts }.to_string());
        }
    }
    assert!(failures.is_empty(), "{file}: these stories now read:\n\n{}", failures.join("\n"));
}

fn told<E: std::error::Error>(result: Result<Edited, E>) -> Vec<(&'static str, String)> {
    match result {
        Ok(edited) => {
            Policy::parse(&edited.text).unwrap();
            vec![("becomes", edited.text), ("says", lines(&edited.summary))]
        }
        Err(error) => vec![("refused", format!("{error}\n"))],
    }
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_is_pasted_is_merged_into_the_policy() {
    play("merge.txt", 2, |story| {
        let (current, pasted) = (story.part("current"), story.part("pasted"));
        let merged = merge(current, pasted);
        if let Ok(once) = &merged {
            let twice = merge(&once.text, pasted).unwrap();
            assert_eq!((twice.text.as_str(), twice.changed), (once.text.as_str(), false), "{}", story.title);
            assert_eq!(once.changed, once.text != current);
        }
        told(merged)
    });
}

#[test]
fn one_change_is_taken_back_and_what_came_later_stays() {
    play("revert.txt", 3, |story| {
        let (before, after, now) = (story.part("before"), story.part("after"), story.part("now"));
        assert_eq!(revert(after, before, after).unwrap().text, before, "{}", story.title);
        told(revert(now, before, after))
    });
}

#[test]
fn differences_are_said_in_words() {
    play("difference.txt", 2, |story| {
        let (before, after) = (story.part("before"), story.part("after"));
        assert!(difference(before, before).is_empty());
        vec![("says", lines(&difference(before, after)))]
    });
}

#[test]
fn replacing_takes_the_new_text_as_it_is() {
    let new = "// mine\n{ \"version\": \"1\", \"default\": \"allow\", }";
    let edited = replace("{ \"version\": \"1\", \"default\": \"deny\" }", new).unwrap();
    assert_eq!((edited.text.as_str(), edited.changed), (new, true));
    assert_eq!(edited.summary, ["default deny → allow", "1 comment changed"]);
    assert!(!replace(new, new).unwrap().changed);
    // A broken policy can be replaced; by a broken one nothing is.
    assert_eq!(
        replace("{ broken", new).unwrap().summary,
        ["everything is replaced: the text before was no policy", "1 comment changed"]
    );
    assert!(matches!(replace(new, "{}"), Err(EditError::Pasted(_))));
}

#[test]
fn errors_of_a_pasted_part_are_placed_in_it() {
    let Err(EditError::Pasted(report)) =
        merge(DEFAULT_POLICY, "{\n  \"tools\": { \"x\": { \"acton\": 1 } } }")
    else {
        panic!("a misspelled key was merged");
    };
    assert_eq!((report.problems.len(), report.problems[0].line, report.problems[0].column), (1, 2, 21));
    for pasted in ["", "[]", "{", "{ \"version\": \"2\" }", "{ \"hide\": [], \"hide\": [] }"] {
        assert!(matches!(merge(DEFAULT_POLICY, pasted), Err(EditError::Pasted(_))), "{pasted}");
    }
    assert!(matches!(merge("{ broken", "{}"), Err(EditError::Broken(_))));
    assert!(matches!(merge("{}", "{ \"hide\": [\"x\"] }"), Err(EditError::Outcome(_))));
    assert!(merge("{}", DEFAULT_POLICY).unwrap().changed);
}

#[test]
fn merging_keeps_tabs_line_ends_and_a_byte_order_mark() {
    let current = "\u{feff}{\r\n\t\"version\": \"1\",\r\n\t\"default\": \"allow\"\r\n}\r\n";
    let pasted = "{\n  \"tools\": {\n    // why\n    \"x\": {\n      \"action\": \"deny\"\n    }\n  }\n}";
    let expected = "\u{feff}{\r\n\t\"version\": \"1\",\r\n\t\"default\": \"allow\",\r\n\t\"tools\": {\r\n\t\t// why\r\n\t\t\"x\": {\r\n\t\t\t\"action\": \"deny\"\r\n\t\t}\r\n\t}\r\n}\r\n";
    assert_eq!(merge(current, pasted).unwrap().text, expected);
    let one_line = "{ \"version\": \"1\", \"default\": \"allow\" }";
    assert_eq!(
        merge(one_line, "{\n  \"hide\": [\n    \"a\"\n  ]\n}").unwrap().text,
        "{ \"version\": \"1\", \"default\": \"allow\", \"hide\": [ \"a\" ] }"
    );
}

#[test]
fn reverting_says_what_it_cannot_read() {
    let policy = "{ \"version\": \"1\", \"default\": \"deny\" }";
    assert!(matches!(revert(policy, "", "{}"), Err(RevertError::Unreadable { which: "before" })));
    assert!(matches!(revert(policy, "{}", "[]"), Err(RevertError::Unreadable { which: "after" })));
    assert!(matches!(revert("{}", "{}", policy), Err(RevertError::Broken(_))));
    // The first policy of all cannot be undone: there was none before it.
    assert!(matches!(revert(policy, "", policy), Err(RevertError::Outcome(_))));
}

#[test]
fn a_hidden_tool_comes_back_although_a_later_allow_emptied_the_list() {
    let shown = |text: &str, tool: &str, client: Option<&str>| {
        apply_for(text, client, &Edit::Allow { tool: tool.to_owned() }).unwrap().text
    };
    let everyone = r#"{"version":"1","default":"allow","hide":["a","b","c"]}"#;
    let client = r#"{"version":"1","default":"allow","clients":{"cursor":{"hide":["a","b","c"]}}}"#;
    for (before, whose) in [(everyone, None), (client, Some("cursor"))] {
        let one = shown(before, "b", whose);
        let none = shown(&shown(&one, "a", whose), "c", whose);
        assert!(!none.contains("hide"), "{none}");
        let reverted = revert(&none, before, &one).unwrap();
        assert!(reverted.changed && reverted.text.contains(r#""hide":"#), "{}", reverted.text);
        let expected = before.replace(r#"["a","b","c"]"#, r#"["b"]"#);
        assert_eq!(
            difference(&expected, &reverted.text),
            ["only order or layout changed"],
            "{}",
            reverted.text
        );
    }
    // Conditions mean something by what stands around them: those stay a conflict.
    let ruled = r#"{"version":"1","default":"allow","tools":{"x":{"deny_if":[{"path":"args.a","op":"exists"}],"require":[{"path":"args.b","op":"exists"}]}}}"#;
    let without =
        r#"{"version":"1","default":"allow","tools":{"x":{"require":[{"path":"args.b","op":"exists"}]}}}"#;
    let gone = r#"{"version":"1","default":"allow"}"#;
    assert!(matches!(revert(gone, ruled, without), Err(RevertError::Conflicts(_))));
}
