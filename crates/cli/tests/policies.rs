//! Everything that a person does with policies from the command line: try, write, test, go back, loosen for a while.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use common::Callgate;

impl Callgate {
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn policy_path(&self, server: &str) -> PathBuf {
        self.folder.path().join(format!("home/policies/{server}.json"))
    }

    /// A session with the demonstration's own server, which gets these lines.
    fn session(&self, server: &str, client: &str, lines: &[&str]) -> String {
        let own = env!("CARGO_BIN_EXE_callgate-cli");
        let mut command =
            self.command(&["run", "--server", server, "--client", client, "--", own, "demo-server"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        for line in lines {
            writeln!(stdin, "{line}").unwrap();
        }
        drop(stdin);
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    fn calls(&self, server: &str, tools: &[&str]) -> String {
        let lines: Vec<String> = tools
            .iter()
            .enumerate()
            .map(|(id, tool)| {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"id":"a"}}}}}}"#)
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.session(server, "tester", &lines)
    }
}

const OPEN: &str = "{\n  // mine\n  \"version\": \"1\",\n  \"default\": \"allow\"\n}\n";

#[test]
fn a_whole_server_is_blocked_and_allowed_again() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    let said = callgate.say(&["block", "pw", "--reason", "on holiday"]);
    assert!(said.contains("undo     callgate allow pw"), "{said}");
    let verdict = callgate.explain(&["--server", "pw", "--tool", "any"]);
    assert_eq!((&verdict["decision"], &verdict["reason"]), (&"deny".into(), &"on holiday".into()));
    assert!(callgate.fail(&["allow", "pw"]).contains("needs a person at a terminal"));
    let (ok, screen) = callgate.at_terminal(&["allow", "pw"], "allow");
    assert!(ok, "{screen}");
    assert_eq!(callgate.explain(&["--server", "pw", "--tool", "any"])["decision"], "allow");
}

#[test]
fn tests_in_a_policy_are_run_by_test_and_by_check() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    let good = r#"{ "version": "1", "default": "deny", "tools": { "a": { "rate_limit": "2/minute" } },
      "tests": [ { "tool": "a", "expect": "allow" }, { "tool": "a", "after": 2, "expect": "capped" },
                 { "tool": "b", "expect": "deny", "rule": "/default" } ] }"#;
    let good = callgate.file("good.json", good);
    assert!(callgate.say(&["policy", "test", &good]).contains("3 of 3 tests passed"));
    assert!(callgate.say(&["policy", "check", &good]).contains("3 of 3 tests passed"));
    let bad = r#"{ "version": "1", "default": "deny",
      "tests": [ { "name": "all may read", "tool": "read", "expect": "allow" } ] }"#;
    let bad = callgate.file("bad.json", bad);
    for command in ["test", "check"] {
        let output = callgate.run(&["policy", command, &bad]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(!output.status.success(), "{said}");
        assert!(said.contains("failed  all may read") && said.contains("got    deny by /default"), "{said}");
    }
}

#[test]
fn a_policy_is_checked_by_its_servers_name_and_held_against_its_tools() {
    let callgate = Callgate::new();
    callgate.session("pw", "tester", &[r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#]);
    let misses =
        r#"{ "version": "1", "default": "allow", "tools": { "get_codegen_sesion": { "action": "deny" } } }"#;
    let draft = callgate.file("draft.json", misses);
    assert!(
        callgate.say(&["policy", "check", &draft]).contains("0 warnings"),
        "of no server: nothing is known"
    );
    let said = callgate.say(&["policy", "check", &draft, "--server", "pw"]);
    assert!(said.contains("the server has no tool \"get_codegen_sesion\""), "{said}");
    assert!(said.contains("did you mean \"get_codegen_session\"?") && said.contains("1 warning"), "{said}");
    let applied = callgate.say(&["policy", "apply", "pw", &draft, "--merge"]);
    assert!(applied.contains("the server has no tool"), "{applied}");
    for what in [&["pw"][..], &[]] {
        let said = callgate.say(&[&["policy", "check"], what].concat());
        assert!(said.contains("pw.json:") && said.contains("the server has no tool"), "{said}");
    }
    assert!(callgate.say(&["policy", "check"]).contains("_default.json: good"));
    let refused = callgate.fail(&["policy", "check", "pv"]);
    assert!(refused.contains("pv is no file") && refused.contains("did you mean \"pw\"?"), "{refused}");
}

#[test]
fn a_server_that_nobody_knows_has_no_policy_to_export() {
    let callgate = Callgate::new();
    let refused = callgate.fail(&["policy", "export", "nosuch"]);
    assert!(refused.contains("no server \"nosuch\" is known here"), "{refused}");
}

#[test]
fn usage_lines_can_be_read() {
    let callgate = Callgate::new();
    let said = callgate.say(&["policy", "simulate", "--help"]);
    assert!(said.contains("Usage: callgate policy simulate [OPTIONS]") && !said.contains("<FILE|"), "{said}");
    let said = callgate.say(&["forget", "--help"]);
    assert!(said.contains("callgate forget --server SERVER") && !said.contains("<CALL|"), "{said}");
}

#[test]
fn history_diff_and_revert_lead_back() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.say(&["block", "pw", "one"]);
    fs::write(callgate.policy_path("pw"), OPEN).unwrap();
    callgate.say(&["block", "pw", "two"]);
    callgate.say(&["block", "pw", "three"]);
    let history = callgate.say(&["policy", "history", "pw", "--json"]);
    let rows: Vec<serde_json::Value> =
        history.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_two = rows.iter().find(|row| row["summary"].as_str().unwrap().contains("\"two\"")).unwrap();
    assert_eq!(of_two["origin"], "cli");
    let diff = callgate.say(&["policy", "diff", "pw"]);
    assert!(diff.contains("+") && diff.contains("\"three\"") && !diff.contains("\"one\""), "{diff}");
    // Taking back a block opens something: that needs a person. What came later stays, and so do comments.
    let version = of_two["version"].as_str().unwrap();
    assert!(callgate.fail(&["policy", "revert", "pw", version]).contains("terminal"));
    let (ok, screen) = callgate.at_terminal(&["policy", "revert", "pw", &version[..6]], "revert");
    assert!(ok && screen.contains("\"two\""), "{screen}");
    let text = callgate.policy("pw");
    assert!(text.contains("// mine") && text.contains("\"three\"") && !text.contains("\"two\""), "{text}");
    let (ok, screen) = callgate.at_terminal(&["policy", "revert", "pw"], "no");
    assert!(ok, "taking the revert back restricts, so nobody is asked: {screen}");
    assert!(callgate.policy("pw").contains("\"two\""));
    assert!(callgate.fail(&["policy", "diff", "pw", "ffff"]).contains("is no version of pw"));
    // Changes have numbers here as they have for `revert`.
    let diff = callgate.say(&["policy", "diff", "pw", "#3", "#4"]);
    assert!(diff.contains("+") && diff.contains("\"two\"") && !diff.contains("\"three\""), "{diff}");
    assert!(callgate.fail(&["policy", "diff", "pw", "#99"]).contains("is no change of pw"));
}

#[test]
fn applying_shows_what_changes_and_asks_where_it_loosens() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.calls("pw", &["get_codegen_session", "get_codegen_session", "start_codegen_session"]);
    let tight = callgate.file(
        "tight.json",
        r#"{ "tools": { "get_codegen_session": { "action": "deny" } }, "hide": ["zap"] }"#,
    );
    let said = callgate.say(&["policy", "apply", "pw", &tight, "--merge", "--dry-run"]);
    assert!(
        said.contains(
            "get_codegen_session  300 calls per minute with all tools → denied  (2 calls this week)"
        ),
        "{said}"
    );
    assert!(said.contains("1 of them was used in the last 7 days"), "{said}");
    assert!(!callgate.policy_path("pw").exists(), "a dry run writes nothing");
    callgate.say(&["policy", "apply", "pw", &tight, "--merge"]);
    assert!(callgate.policy("pw").contains("zap") && callgate.policy("pw").contains("safety_net"));
    let open = callgate.file("open.json", OPEN);
    let refused = callgate.fail(&["policy", "apply", "pw", &open, "--replace"]);
    assert!(refused.contains("get_codegen_session") && refused.contains("terminal"), "{refused}");
    assert!(callgate.policy("pw").contains("zap"));
    let nonsense = callgate.file("nonsense.json", r#"{ "tols": {} }"#);
    let said = callgate.fail(&["policy", "apply", "pw", &nonsense, "--merge"]);
    assert!(said.contains("tols"), "{said}");
}

#[test]
fn a_simulation_says_what_a_change_would_have_refused() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.calls(
        "pw",
        &["get_codegen_session", "get_codegen_session", "start_codegen_session", "end_codegen_session"],
    );
    let said = callgate.say(&["policy", "simulate", "--rule", "block get_codegen_session"]);
    assert!(said.contains("Refuses 2 calls more than today's rules, 0 fewer."), "{said}");
    assert!(said.contains("Of 4 calls in the last 7 days, today's rules refuse 0, these 2."), "{said}");
    assert!(said.contains("get_codegen_session  2 more, 0 fewer"), "{said}");
    assert!(said.contains("/tools/get_codegen_session/action"), "{said}");
    let json = callgate.say(&[
        "policy",
        "simulate",
        "--server",
        "pw",
        "--json",
        "--rule",
        r#"{"all_tools":{"limits":[{"counter":"few","window":"hour","max":3}]}}"#,
    ]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["refused"], &json["capped"], &json["calls"]), (&1.into(), &1.into(), &4.into()));
    let difference = &json["difference"];
    assert_eq!((&difference["more"], &difference["fewer"]), (&1.into(), &0.into()));
    assert_eq!(difference["more_calls"][0]["rule"], "/all_tools/limits/1", "beside the safety net");
    assert!(!callgate.policy_path("pw").exists(), "nothing is written");
    let strict = callgate.file("strict.json", r#"{ "version": "1", "default": "deny" }"#);
    let said = callgate.say(&["policy", "simulate", &strict]);
    assert!(said.contains("Refuses 4 calls more than today's rules, 0 fewer."), "{said}");
    let said = callgate.say(&["policy", "simulate"]);
    assert!(
        said.contains("the rules in force") && said.contains("would have refused nothing of 4"),
        "{said}"
    );
    assert!(callgate.fail(&["policy", "simulate", "--rule", "forbid x"]).contains("is no change"));
}

#[test]
fn a_draft_from_use_can_be_simulated_and_applied() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.calls("pw", &["get_codegen_session"; 8]);
    let out = callgate.folder.path().join("draft.json");
    let out = out.to_str().unwrap();
    callgate.say(&["policy", "suggest", "pw", "-o", out]);
    let draft = fs::read_to_string(out).unwrap();
    assert!(draft.contains("\"get_codegen_session\"") && draft.contains("8 calls"), "{draft}");
    assert!(callgate.fail(&["policy", "suggest", "pw", "-o", out]).contains("is there already"));
    let said = callgate.say(&["policy", "simulate", out, "--server", "pw"]);
    assert!(said.contains("No call of the last 7 days would have been decided differently."), "{said}");
    assert!(callgate.say(&["policy", "check", out]).contains("good"));
}

#[test]
fn other_formats_come_in_and_go_out() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    let yaml = "version: \"1\"\ndefault: deny\ntools:\n  create:\n    rules:\n      - name: few\n        rate_limit: 5/hour\n";
    let yaml = callgate.file("intercept.yaml", yaml);
    let output = callgate.run(&["policy", "import", &yaml]);
    let (text, notes) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        output.status.success() && text.contains("\"create\"") && text.contains("\"hour\""),
        "{text}{notes}"
    );
    assert!(notes.contains("differs"), "{notes}");
    let imported = callgate.file("imported.json", &text);
    assert!(callgate.say(&["policy", "check", &imported]).contains(": good"));
    let claude = r#"{ "permissions": { "allow": ["mcp__pw__get", "Bash(ls)"], "deny": ["mcp__pw__zap", "mcp__db"] } }"#;
    let claude = callgate.file("settings.json", claude);
    assert!(callgate.fail(&["policy", "import", &claude]).contains("--server: "));
    let text = callgate.say(&["policy", "import", &claude, "--server", "pw"]);
    assert!(text.contains("\"zap\"") && text.contains("\"get\""), "{text}");
    callgate.say(&["block", "pw", "zap"]);
    let exported = callgate.say(&["policy", "export", "pw"]);
    assert!(
        serde_json::from_str::<serde_json::Value>(&exported).unwrap()["tools"]["zap"].is_object(),
        "{exported}"
    );
    assert!(callgate.fail(&["policy", "import", &imported]).contains("is a policy already"));
}

#[test]
fn what_is_allowed_for_a_while_asks_first_and_shows_in_status() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.say(&["block", "pw", "get_codegen_session"]);
    assert!(callgate.fail(&["allow", "pw", "get_codegen_session", "--for", "15m"]).contains("terminal"));
    let (ok, screen) = callgate.at_terminal(&["allow", "pw", "get_codegen_session", "--for", "15m"], "allow");
    assert!(ok && screen.contains("for 15 min"), "{screen}");
    let status = callgate.say(&["status"]);
    assert!(
        status.contains("\"get_codegen_session\" on pw is allowed") && status.contains("14 min"),
        "{status}"
    );
    let answers = callgate.calls("pw", &["get_codegen_session"]);
    assert!(!answers.contains("isError\":true"), "{answers}");
    let (ok, screen) = callgate.at_terminal(&["allow", "pw", "get_codegen_session", "--for", "8d"], "allow");
    assert!(!ok && screen.contains("7 days"), "{screen}");
    let said = callgate.say(&["block", "pw", "get_codegen_session"]);
    assert!(said.contains("ended with it: get_codegen_session on pw is no longer allowed"), "{said}");
    assert!(!callgate.say(&["status"]).contains("is allowed"));
}

#[test]
fn one_refused_call_is_allowed_once() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.say(&["block", "pw", "get_codegen_session"]);
    let refused = callgate.calls("pw", &["get_codegen_session"]);
    let id = refused.split("(call ").nth(1).unwrap().split(')').next().unwrap().to_owned();
    assert!(callgate.fail(&["allow", "--once", &id]).contains("terminal"));
    let (ok, screen) = callgate.at_terminal(&["allow", "--once", &id], "once");
    assert!(ok && screen.contains("10 min"), "{screen}");
    let answers = callgate.calls("pw", &["get_codegen_session", "get_codegen_session"]);
    assert_eq!(answers.matches("is denied").count(), 1, "{answers}");
    assert!(callgate.fail(&["allow", "--once", "zzzzzz-1"]).contains("no call zzzzzz-1"));
}

#[test]
fn a_server_is_observed_for_a_while_and_enforced_again() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.say(&["block", "pw", "get_codegen_session"]);
    let (ok, screen) = callgate.at_terminal(&["observe", "pw", "--for", "30m"], "observe");
    assert!(ok, "{screen}");
    assert!(callgate.say(&["status"]).contains("pw is only watched for 29 min more (callgate allow --end "));
    assert!(!callgate.calls("pw", &["get_codegen_session"]).contains("is denied"));
    let log = callgate.say(&["log"]);
    assert!(log.contains("would deny"), "{log}");
    assert!(callgate.say(&["observe", "pw", "--off"]).contains("the rules of pw refuse again"));
    assert!(callgate.calls("pw", &["get_codegen_session"]).contains("is denied"));
    assert!(callgate.fail(&["observe", "pw"]).contains("--for"));
}

#[test]
fn counters_are_listed_and_start_anew_when_a_person_says_so() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    let policy = r#"{ "tools": { "get_codegen_session": { "limits": [ { "counter": "ever", "kind": "total", "max": 1 } ] } } }"#;
    let policy = callgate.file("p.json", policy);
    callgate.say(&["policy", "apply", "pw", &policy, "--merge"]);
    assert!(callgate.calls("pw", &["get_codegen_session", "get_codegen_session"]).contains("1 call in all"));
    assert!(callgate.say(&["counters", "pw"]).contains("ever"));
    assert!(callgate.fail(&["counters", "pw", "--reset", "nope"]).contains("no counter"));
    assert!(callgate.fail(&["counters", "pw", "--reset", "ever"]).contains("terminal"));
    let (ok, screen) = callgate.at_terminal(&["counters", "pw", "--reset", "ever"], "reset");
    assert!(ok, "{screen}");
    assert!(!callgate.calls("pw", &["get_codegen_session"]).contains("in all"));
}

#[test]
fn a_loosening_by_hand_between_two_sessions_is_on_record() {
    let callgate = Callgate::knowing(&["pw", "s"]);
    callgate.say(&["block", "pw", "get_codegen_session"]);
    callgate.calls("pw", &["start_codegen_session"]);
    fs::write(callgate.policy_path("pw"), OPEN).unwrap();
    callgate.calls("pw", &["start_codegen_session"]);
    let events = callgate.say(&["events"]);
    assert!(events.contains("loosened") && events.contains("get_codegen_session"), "{events}");
    let history = callgate.say(&["policy", "history", "pw"]);
    let last = history.lines().rfind(|line| line.starts_with('#')).unwrap();
    assert!(last.contains("file"), "{history}");
}
