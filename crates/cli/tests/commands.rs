//! The commands as a person runs them: the real binary, a home of its own, and a real terminal where one is needed.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use serde_json::Value;
use std::fs;
use std::process::Stdio;

use common::Callgate;

#[test]
fn the_first_edit_gives_a_server_its_own_copy_of_the_default_policy() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    let said = callgate.say(&["block", "pw", "evaluate", "--reason", "no scripts"]);
    assert!(
        said.contains("policy of its own") && said.contains("undo     callgate allow pw evaluate"),
        "{said}"
    );
    let policy = callgate.policy("pw");
    assert!(policy.contains("safety_net") && policy.contains("no scripts"), "{policy}");
    let verdict = callgate.explain(&["--server", "pw", "--tool", "evaluate"]);
    assert_eq!(
        (&verdict["decision"], &verdict["rule"], &verdict["reason"]),
        (&"deny".into(), &"/tools/evaluate/action".into(), &"no scripts".into())
    );
    assert_eq!(callgate.explain(&["--server", "other", "--tool", "evaluate", "--new"])["decision"], "allow");
}

#[test]
fn comments_and_order_survive_every_edit() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.say(&["block", "s", "x"]);
    let path = callgate.folder.path().join("home/policies/s.json");
    let text =
        "// mine\n{\n\t\"default\": \"allow\", // open\n\t\"version\": \"1\",\n\t\"tools\": {} // none\n}\n";
    fs::write(&path, text).unwrap();
    for words in [["hide", "s", "a"].as_slice(), &["cap", "s", "b", "10/minute"], &["block", "s", "c"]] {
        callgate.say(words);
    }
    let edited = callgate.policy("s");
    for kept in ["// mine\n", "\"default\": \"allow\", // open\n\t\"version\": \"1\"", "// none"] {
        assert!(edited.contains(kept), "{kept:?} is gone:\n{edited}");
    }
    assert_eq!(callgate.explain(&["--server", "s", "--tool", "a"])["kind"], "hidden");
    assert_eq!(callgate.explain(&["--server", "s", "--tool", "b"])["counters"][0]["max"], 10);
    assert_eq!(callgate.explain(&["--server", "s", "--tool", "c"])["decision"], "deny");
}

#[test]
fn blocks_at_the_same_time_are_all_in_the_file() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    let tools: Vec<String> = (0..8).map(|n| format!("tool{n}")).collect();
    let blocks: Vec<_> = tools
        .iter()
        .map(|tool| {
            let mut command = callgate.command(&["block", "s", tool]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for block in blocks {
        let output = block.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let policy = callgate.policy("s");
    for tool in &tools {
        assert!(policy.contains(&format!("{tool:?}")), "{tool} is not blocked:\n{policy}");
    }
}

#[test]
fn loosening_needs_a_person_at_a_terminal() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.say(&["block", "s", "x"]);
    callgate.say(&["cap", "s", "y", "5/minute"]);
    callgate.say(&["pause"]);
    let before = callgate.policy("s");
    for words in [
        ["allow", "s", "x"].as_slice(),
        &["cap", "s", "y", "50/minute"],
        &["cap", "s", "y", "none"],
        &["resume"],
    ] {
        assert!(callgate.fail(words).contains("needs a person at a terminal"), "{words:?}");
    }
    assert_eq!(callgate.policy("s"), before);
    assert!(callgate.say(&["status"]).contains("All calls are paused (callgate resume)"));
}

#[test]
fn a_person_who_types_the_word_loosens_and_it_is_on_record() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.say(&["block", "s", "x"]);
    let (done, screen) = callgate.at_terminal(&["allow", "s", "x"], "perhaps");
    assert!(!done && screen.contains("nothing was changed"), "{screen}");
    assert_eq!(callgate.explain(&["--server", "s", "--tool", "x"])["decision"], "deny");
    let (done, screen) = callgate.at_terminal(&["allow", "s", "x"], "allow");
    assert!(done, "{screen}");
    assert_eq!(callgate.explain(&["--server", "s", "--tool", "x"])["decision"], "allow");
    callgate.say(&["pause", "s"]);
    let (done, screen) = callgate.at_terminal(&["resume", "s"], "resume");
    assert!(done, "{screen}");
    let loosened: Vec<Value> = callgate
        .say(&["events", "--json"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|event: &Value| event["kind"] == "loosened")
        .collect();
    let told = |words: &str| loosened.iter().any(|event| event["text"].as_str().unwrap().contains(words));
    assert!(told("\"x\"") && told("server s resumed"), "{loosened:#?}");
    assert!(loosened.iter().all(|event| event["origin"] == "cli" && event["server"] == "s"));
}

#[test]
fn below_a_gated_session_nothing_is_loosened_even_at_a_terminal() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.say(&["block", "s", "x"]);
    let mut command = callgate.command(&["allow", "s", "x"]);
    let output = command.env("CALLGATE_SESSION", "abcdef").stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("below session abcdef"));
}

#[test]
fn a_policy_check_names_every_error_with_its_place_and_its_fix() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    let path = callgate.folder.path().join("bad.json");
    fs::write(&path, "{\n  \"version\": \"1\",\n  \"defalt\": \"deny\",\n  \"tools\": { \"x\": { \"limits\": [{ \"max\": 0 }] } }\n}\n").unwrap();
    let output = callgate.run(&["policy", "check", "--json", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let problems: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(problems.len() >= 3, "{problems:?}");
    assert!(
        problems.iter().any(|problem| problem["line"] == 3 && problem["fix"] == "did you mean \"default\"?")
    );
    assert!(
        problems.iter().all(|problem| problem["severity"] == "error" && problem["column"].as_u64() > Some(0))
    );
}

#[test]
fn warnings_are_told_and_the_policy_is_good_all_the_same() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    let path = callgate.folder.path().join("hide.json");
    fs::write(&path, r#"{"version":"1","default":"deny","hide":["clear_codegen_session"]}"#).unwrap();
    let said = callgate.say(&["policy", "check", path.to_str().unwrap()]);
    assert!(said.contains("warning") && said.contains("good, 0 errors"), "{said}");
}

#[test]
fn wrong_words_get_an_answer_that_helps() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    for (words, help) in [
        (["show", "nonsense"].as_slice(), "k3v9qa-1z"),
        (&["show", "aaaaaa-1"], "no call aaaaaa-1"),
        (&["log", "--decision", "maybe"], "allowed, denied"),
        (&["log", "--since", "soon"], "15m"),
        (&["log", "--search", "::"], "--grep looks for any text"),
        (&["log", "--search", "a", "--grep", "b"], "do not go together"),
        (&["cap", "s", "x", "often"], "10/minute"),
        (&["policy", "explain", "--server", "s", "--tool", "x", "--args", "{"], "not one JSON value"),
        (&["policy", "check", "/nowhere/p.json"], "/nowhere/p.json"),
        (&["forget"], "--before"),
    ] {
        assert!(callgate.fail(words).contains(help), "{words:?}: {}", callgate.fail(words));
    }
}

#[test]
fn the_demo_shows_every_promise_and_leaves_no_trace_when_removed() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    let shown = callgate.say(&["demo"]);
    for promise in [
        "sees 7: clear_codegen_session is hidden",
        "scripts are not for agents",
        "local files are not for agents",
        "has reached its cap of 5 calls per minute",
        "Unknown tool: clear_codegen_session",
        "× 35",
    ] {
        assert!(shown.contains(promise), "{promise:?} is missing:\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "plain text when piped");
    let rows: Vec<Value> =
        callgate.say(&["log", "--json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 48);
    assert!(rows.iter().all(|row| row["demo"] == true && row["client"] == "demo-agent"));
    assert!(!rows.iter().any(|row| row.to_string().contains("correct horse")), "the password was masked");
    let call = rows[0]["id"].as_str().unwrap();
    assert!(callgate.say(&["show", call]).contains("the rule as it was"));
    let last = callgate.say(&["log", "-n", "4"]);
    assert!(
        last.lines().count() == 4 && last.contains("capped × 35"),
        "a loop is one line, fully counted: {last}"
    );
    let named = |words: &[&str]| callgate.say(words).lines().count();
    let tool = rows[0]["tool"].as_str().unwrap();
    let begun = &tool[..tool.len() - 1];
    let of_tool = rows.iter().filter(|row| row.to_string().contains(tool)).count();
    assert_eq!(named(&["log", "--json", "--search", begun]), of_tool, "a word that is only begun finds it");
    assert!(
        named(&["log", "--json", "--search", &format!("{tool} nosuchword")]) == 0,
        "all words must be there"
    );
    let ended_well = ["ok", "cancelled", "not_sent"];
    let failed = rows.iter().filter(|row| !ended_well.contains(&row["outcome"].as_str().unwrap())).count();
    assert_eq!(named(&["log", "--json", "--failed"]), failed);
    assert_eq!(
        named(&["log", "--json", "--failed", "--decision", "denied"]),
        0,
        "what is refused did not fail"
    );
    assert!(callgate.folder.path().join("home/search.db").exists());
    callgate.say(&["demo", "--remove"]);
    for (words, told) in
        [(["log"].as_slice(), "No calls yet"), (&["log", "--search", begun], "No calls match")]
    {
        let output = callgate.run(words);
        assert!(output.status.success() && output.stdout.is_empty(), "nothing is no line");
        assert!(String::from_utf8_lossy(&output.stderr).contains(told), "{words:?}");
    }
}

#[test]
fn a_number_below_one_or_in_quotes_is_refused_and_found_with_what_counts_meanwhile() {
    let callgate = Callgate::new();
    callgate.say(&["status"]);
    for typed in ["0", "-1", "1.5", "soon", "\"30\""] {
        let told = callgate.fail(&["settings", "set", "history.days", typed]);
        assert!(told.contains("history.days must be a whole number from 1 to 36500"), "{typed}: {told}");
    }
    assert!(!callgate.home().join("settings.json").exists());
    for (written, said) in [
        (
            r#"{"history":{"days":0}}"#,
            "history.days must be a whole number from 1 to 36500, not 0; 90 is used",
        ),
        (r#"{"history":{"days":"30"}}"#, "not \"30\"; 90 is used"),
        (
            r#"{"history":{"megabytes":-5}}"#,
            "history.megabytes must be a whole number from 1, not -5; 1024 is used",
        ),
    ] {
        fs::write(callgate.home().join("settings.json"), written).unwrap();
        let checked = callgate.run(&["settings", "check"]);
        assert!(
            !checked.status.success() && String::from_utf8_lossy(&checked.stdout).contains(said),
            "{checked:?}"
        );
        assert!(callgate.say(&["status"]).contains(said), "{written}");
        let found = String::from_utf8(callgate.run(&["doctor", "--json"]).stdout).unwrap();
        let shown = serde_json::to_string(said).unwrap();
        assert!(found.contains(shown.trim_matches('"')), "{written}: {found}");
    }
}

#[test]
fn rates_are_taken_as_people_write_them() {
    let callgate = Callgate::knowing(&["s"]);
    for (typed, said) in
        [("10/min", "10 per minute"), ("9/h", "9 per hour"), ("8/sec", "8 per second"), ("7/d", "7 per day")]
    {
        let tool = typed.replace('/', "_");
        let told = callgate.say(&["cap", "s", &tool, typed]);
        assert!(told.contains(said), "{typed}: {told}");
    }
}

#[test]
fn a_list_of_nothing_says_which_name_nobody_knows() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let server = "callgate-demo";
    for (words, meant) in [
        (["log", "--server", "callgate-dem"].as_slice(), "did you mean callgate-demo?"),
        (&["log", "--server", server, "--tool", "playwright_clik"], "did you mean \"playwright_click\"?"),
        (&["log", "--client", "demo-agnt"], "did you mean \"demo-agent\"?"),
        (&["stats", "--server", "callgate-dem"], "did you mean \"callgate-demo\"?"),
        (&["stats", "--client", "demo-agnt"], "did you mean \"demo-agent\"?"),
        (&["events", "--server", "callgate-dem"], "did you mean \"callgate-demo\"?"),
        (&["policy", "history", "callgate-dem"], "did you mean \"callgate-demo\"?"),
        (&["policy", "diff", "callgate-dem"], "did you mean \"callgate-demo\"?"),
        (&["policy", "revert", "callgate-dem"], "did you mean \"callgate-demo\"?"),
    ] {
        let told = String::from_utf8(callgate.run(words).stderr).unwrap();
        assert!(told.contains(meant), "{words:?}: {told}");
    }
}
