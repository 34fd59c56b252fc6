//! The record as a person reads, takes along and forgets it.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use common::Callgate;
use serde_json::Value;

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What is on a screen, line by line, without colours.
fn lines(screen: &str) -> Vec<String> {
    let mut out = String::new();
    let mut escape = false;
    for c in screen.chars().filter(|c| *c != '\r') {
        escape |= c == '\u{1b}';
        if !escape {
            out.push(c);
        }
        escape &= c != 'm';
    }
    out.lines().map(str::to_owned).collect()
}

fn calls(callgate: &Callgate) -> usize {
    callgate.say(&["log", "--json", "-n", "1000"]).lines().count()
}

#[test]
fn an_agent_cannot_forget_what_it_did() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    for words in [
        ["forget", "--before", "0s"].as_slice(),
        &["forget", "--server", "callgate-demo"],
        &["forget", "--demo"],
    ] {
        assert!(callgate.fail(words).contains("needs a person at a terminal"), "{words:?}");
    }
    for words in [["forget", "--demo"].as_slice(), &["demo", "--remove"]] {
        let mut command = callgate.command(words);
        let output = command.env("CALLGATE_SESSION", "abcdef").stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains("below session abcdef"), "{words:?}");
    }
    assert_eq!(calls(&callgate), 48);
}

#[test]
fn a_person_is_told_what_goes_and_the_word_makes_it_go_but_not_its_traces() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    callgate.say(&["block", "callgate-demo", "x", "--new"]);
    let (done, screen) = callgate.at_terminal(&["allow", "callgate-demo", "x"], "allow");
    assert!(done, "{screen}");
    let changes = callgate.say(&["policy", "history", "callgate-demo", "--json"]);
    let forget = ["forget", "--server", "callgate-demo"];
    let (done, screen) = callgate.at_terminal(&forget, "yes");
    assert!(!done && screen.contains("nothing was changed"), "{screen}");
    assert_eq!(calls(&callgate), 48);
    let (done, screen) = callgate.at_terminal(&forget, "forget");
    assert!(done && screen.contains("callgate-demo: 48 calls"), "{screen}");
    assert!(screen.contains("Forgotten: 48 calls"), "{screen}");
    assert_eq!(calls(&callgate), 0);
    assert_eq!(callgate.say(&["policy", "history", "callgate-demo", "--json"]), changes);
    let events = |kind: &str| objects(&callgate.say(&["events", "--json", "--kind", kind]));
    assert_eq!(events("loosened").len(), 1);
    let rows = events("forgotten");
    assert!(rows.len() == 1 && rows[0]["origin"] == "cli", "{rows:?}");
    let text = rows[0]["text"].as_str().unwrap();
    for said in
        ["at /dev/pts/", "everything of server callgate-demo", "48 calls", "of callgate-demo (", "UTC)"]
    {
        assert!(text.contains(said), "{said:?} is not in {text}");
    }
}

#[test]
fn forgetting_up_to_a_date_in_the_future_is_refused_with_words() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let (done, screen) = callgate.at_terminal(&["forget", "--before", "2130-01-01"], "forget");
    assert!(!done && screen.contains("is in the future"), "{screen}");
    let (done, screen) = callgate.at_terminal(&["forget", "--server", "callgat-demo"], "forget");
    assert!(!done && screen.contains("Servers on record: callgate-demo"), "{screen}");
    assert_eq!(calls(&callgate), 48);
}

#[test]
fn no_row_of_the_log_or_the_demo_is_wider_than_the_terminal() {
    let callgate = Callgate::new();
    for columns in [80, 100, 120, 200] {
        let (done, screen) = callgate.terminal_of(columns, &["demo"]).end();
        assert!(done, "{screen}");
        let all = lines(&screen);
        let history = all.iter().skip_while(|line| !line.starts_with("The history of it"));
        let table: Vec<&String> = history.skip(1).take_while(|line| !line.is_empty()).collect();
        assert_eq!(table[0], "today");
        assert!(
            table.len() > 5 && table.iter().all(|row| row.chars().count() <= usize::from(columns)),
            "{table:#?}"
        );
        let (_, screen) = callgate.terminal_of(columns, &["log"]).end();
        for row in lines(&screen) {
            assert!(row.chars().count() <= usize::from(columns), "{columns}: {row}");
            assert!(row == "today" || row.contains("demo-a"), "the client: {row}");
            assert!(row == "today" || row.contains("_session") || row.contains("play"), "the tool: {row}");
        }
    }
}

#[test]
fn in_a_pipe_each_row_has_its_date_and_columns_stand_below_each_other() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let rows = callgate.say(&["log"]);
    let first = rows.lines().next().unwrap();
    let time: jiff::Timestamp = first.split_whitespace().next().unwrap().parse().unwrap();
    assert!(time.as_millisecond() > 0);
    let server: Vec<_> = rows.lines().map(|row| row.find("callgate-demo").unwrap()).collect();
    assert!(server.windows(2).all(|two| two[0] == two[1]), "{rows}");
    assert!(rows.contains("clear_codegen_session"), "names are whole: {rows}");
    assert_eq!(callgate.say(&["log", "-n", "0"]), "");
    let none = callgate.run(&["log", "-n", "0"]);
    assert!(none.stderr.is_empty(), "nothing was asked for, so nothing is missing");
}

#[test]
fn a_session_and_an_end_choose_calls_and_events_have_kinds_and_servers() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let all = objects(&callgate.say(&["log", "--json", "-n", "1000"]));
    let session = all[0]["session"].as_str().unwrap();
    let count = |words: &[&str]| callgate.say(words).lines().count();
    assert_eq!(count(&["log", "--json", "-n", "1000", "--session", session]), 48);
    assert_eq!(count(&["log", "--json", "--session", "zzzzzz"]), 0);
    let middle = all[20]["time"].as_str().unwrap();
    let at = |time: &str| time.parse::<jiff::Timestamp>().unwrap();
    let before = all.iter().filter(|call| at(call["time"].as_str().unwrap()) < at(middle)).count();
    assert_eq!(count(&["log", "--json", "-n", "1000", "--until", middle]), before);
    callgate.say(&["pause", "other", "--new"]);
    assert_eq!(count(&["events", "--json", "--server", "other"]), 1);
    assert_eq!(count(&["events", "--json", "--server", "other", "--kind", "noise"]), 0);
    let complaint = callgate.fail(&["events", "--kind", "losened"]);
    assert!(complaint.contains("loosened"), "{complaint}");
    let complaint = callgate.fail(&["log", "--decision", "stoped"]);
    assert!(complaint.contains("stopped"), "{complaint}");
}

#[test]
fn a_time_as_the_log_prints_it_chooses_calls_by_the_second() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let rows = callgate.say(&["log"]);
    let printed = rows.lines().last().unwrap().split_whitespace().next().unwrap();
    assert!(!callgate.say(&["log", "--since", printed]).is_empty(), "{printed}");
    let after = printed.parse::<jiff::Timestamp>().unwrap() + jiff::SignedDuration::from_secs(60);
    for shown in [after.to_string(), after.to_zoned(jiff::tz::TimeZone::system()).datetime().to_string()] {
        assert_eq!(callgate.say(&["log", "--since", &shown]), "", "{shown}");
        assert_eq!(callgate.say(&["log", "--until", &shown]), rows, "{shown}");
    }
}

#[test]
fn following_up_to_a_moment_that_has_been_does_not_hang() {
    let callgate = Callgate::new();
    let complaint = callgate.fail(&["log", "--follow", "--until", "1h"]);
    assert!(complaint.contains("'--follow' cannot be used with '--until"), "{complaint}");
}

#[test]
fn a_log_that_is_followed_shows_every_call_and_goes_on_with_a_history_made_anew() {
    let callgate = Callgate::new();
    callgate.say(&["status"]);
    let mut command = callgate.command(&["log", "--follow", "--json"]);
    let mut follower = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut shown = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut ids = BTreeSet::new();
    for all in [48, 96] {
        callgate.say(&["demo"]);
        while ids.len() < all {
            let call: Value = serde_json::from_str(&shown.next().unwrap().unwrap()).unwrap();
            ids.insert(call["id"].as_str().unwrap().to_owned());
        }
        for file in ["history.db", "history.db-wal", "history.db-shm"] {
            let _may_be_gone = fs::remove_file(callgate.home().join(file));
        }
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn the_filters_of_the_log_are_those_of_the_statistics() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    for filter in [
        &["--tool", "playwright_click"][..],
        &["--decision", "capped"],
        &["--search", "shop"],
        &["--grep", "SHOP.example"],
        &["--failed"],
    ] {
        let of = |command: &[&str]| objects(&callgate.say(&[command, filter].concat()));
        let logged = of(&["log", "--json", "-n", "1000"]).len() as u64;
        let counted: u64 = of(&["stats", "--json"]).iter().map(|one| one["calls"].as_u64().unwrap()).sum();
        assert_eq!(counted, logged, "{filter:?}");
    }
}

#[test]
fn refusals_of_unlike_messages_are_not_one_row_and_name_their_method() {
    let callgate = Callgate::new();
    callgate.say(&["status"]);
    let mut command = callgate.command(&["run", "--server", "s", "--", "cat"]);
    let mut gate = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#;
    let lines = ["nonsense", "nonsense", "[]", twice, ""].join("\n");
    gate.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    gate.wait().unwrap();
    let rows = callgate.say(&["log", "--decision", "malformed"]);
    let all: Vec<&str> = rows.lines().collect();
    assert_eq!(all.len(), 3, "{rows}");
    assert!(all[0].contains("malformed × 2") && all[0].contains("(no readable message)"), "{rows}");
    assert!(all[2].contains("tools/call") && !all[2].contains("×"), "{rows}");
}

#[test]
fn calls_are_exported_in_four_forms_and_no_file_is_replaced_unasked() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let jsonl = callgate.say(&["export", "--jsonl", "--decision", "denied"]);
    assert_eq!(jsonl, callgate.say(&["log", "--json", "--decision", "denied"]));
    let csv = callgate.say(&["export", "--csv", "--grep", "SHOP.example"]);
    assert!(csv.starts_with("id,time,") && csv.lines().count() == 3, "{csv}");
    assert!(callgate.say(&["export", "--html"]).contains("<table"));
    assert!(callgate.say(&["export", "--md"]).contains("| "));
    let path = callgate.folder.path().join("calls.csv");
    let path = path.to_str().unwrap();
    assert!(callgate.say(&["export", "--csv", "--out", path]).contains("48 calls"));
    fs::write(path, "mine").unwrap();
    assert!(callgate.fail(&["export", "--csv", "--out", path]).contains("--force"));
    assert_eq!(fs::read_to_string(path).unwrap(), "mine");
    callgate.say(&["export", "--csv", "--out", path, "--force"]);
    assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 49);
    assert!(callgate.fail(&["export"]).contains("--csv"));
}

#[test]
fn an_export_does_not_replace_the_rules() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let policies = callgate.folder.path().join("home/policies");
    let rules = policies.join("_default.json");
    let before = fs::read(&rules).ok();
    for file in [rules.clone(), policies.join("new.json"), policies.join("../x.csv")] {
        for more in [["--csv"].as_slice(), &["--csv", "--force"]] {
            let words = [["export", "--out", file.to_str().unwrap()].as_slice(), more].concat();
            assert!(callgate.fail(&words).contains("Callgate's own folder"), "{words:?}");
        }
    }
    assert_eq!(fs::read(&rules).ok(), before);
    let printed = callgate.say(&["export", "--csv", "--out", "-"]);
    assert_eq!(printed, callgate.say(&["export", "--csv"]));
}

#[test]
fn a_session_or_a_server_that_is_not_on_record_is_said_to_be_none() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let call = objects(&callgate.say(&["log", "--json", "-n", "1"])).remove(0);
    let (id, session) = (call["id"].as_str().unwrap(), call["session"].as_str().unwrap());
    let its = format!("is the id of a call, whose session is {session}");
    for (words, said) in [
        (["log", "--session", id], its.as_str()),
        (["log", "--session", "zzzzzz"], "No session zzzzzz is on record"),
        (
            ["log", "--server", "callgat-demo"],
            "No server callgat-demo is on record (did you mean callgate-demo?)",
        ),
    ] {
        let output = callgate.run(&words);
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && output.stdout.is_empty(), "{words:?}");
        assert!(complaint.contains(said), "{words:?}: {complaint}");
    }
    let complaint = callgate.fail(&["stderr", "callgate-demo", "--session", "zzz"]);
    assert!(complaint.contains("is not a session id"), "{complaint}");
    let (done, screen) = callgate.at_terminal(&["forget", "--server", "ok"], "forget");
    assert!(!done && screen.contains("nothing of server \"ok\" is on record"), "{screen}");
}

#[test]
fn stats_count_what_the_log_shows() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let stats = objects(&callgate.say(&["stats", "--json"]));
    let sum = |field: &str| stats.iter().map(|one| one[field].as_u64().unwrap()).sum::<u64>();
    let log = objects(&callgate.say(&["log", "--json", "-n", "1000"]));
    let refused = log.iter().filter(|call| call["outcome"] == "not_sent").count();
    assert_eq!((sum("calls"), sum("refused")), (48, refused as u64));
    let click = stats.iter().find(|one| one["tool"] == "playwright_click").unwrap();
    assert_eq!((&click["calls"], &click["refused"]), (&40.into(), &35.into()));
    assert!(click["p50_ms"].as_f64().unwrap() <= click["p95_ms"].as_f64().unwrap());
    assert_eq!(callgate.say(&["stats", "--json", "--until", "1h"]), "");
    for columns in [80, 200] {
        let (_, screen) = callgate.terminal_of(columns, &["stats"]).end();
        let all = lines(&screen);
        assert!(all.iter().all(|row| row.chars().count() <= usize::from(columns)), "{all:#?}");
        assert!(all.last().unwrap().starts_with("48 calls"), "{all:#?}");
    }
}

#[test]
fn what_a_server_said_on_stderr_is_shown_with_its_time_and_cannot_move_the_cursor() {
    let callgate = Callgate::new();
    callgate.say(&["status"]);
    let says = "printf 'ready\\n\\033[31mred\\033[0m and \\033[2J\\nlast words' >&2; exec cat >/dev/null";
    let mut command = callgate.command(&["run", "--server", "loud", "--", "sh", "-c", says]);
    assert!(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok());
    let piped = callgate.say(&["stderr", "loud"]);
    let rows: Vec<&str> = piped.lines().collect();
    assert_eq!(rows.len(), 3, "{piped}");
    for row in &rows {
        let time: Result<jiff::Timestamp, _> = row.split(' ').next().unwrap().parse();
        assert!(time.is_ok(), "{row}");
    }
    assert!(rows[0].ends_with(" ready") && rows[2].ends_with(" last words"), "{piped}");
    assert!(
        !piped.contains('\u{1b}') && rows[1].ends_with(" red and \\u{1b}[2J"),
        "in a pipe, too: {piped:?}"
    );
    let (_, screen) = callgate.terminal(&["stderr", "loud", "-n", "2"]).end();
    let shown = lines(&screen);
    assert_eq!((shown.len(), shown[0].as_str()), (3, "today"), "{shown:#?}");
    assert!(shown[1].ends_with(" red and \\u{1b}[2J"), "{shown:#?}");
    let session = rows[0].split(' ').nth(1).unwrap();
    assert_eq!(callgate.say(&["stderr", "loud", "--session", session]).lines().count(), 3);
    assert_eq!(callgate.say(&["stderr", "loud", "--session", "zzzzzz"]), "");
    assert!(callgate.fail(&["stderr", "lout"]).contains("known: loud"));
}

#[test]
fn settings_are_listed_changed_and_checked_without_losing_a_comment() {
    let callgate = Callgate::new();
    callgate.say(&["status"]);
    let listed = callgate.say(&["settings"]);
    assert!(
        listed.contains("history.days") && listed.contains("default") && listed.contains("90"),
        "{listed}"
    );
    assert_eq!(callgate.say(&["settings", "get", "record.keep"]).trim(), "full");
    assert!(callgate.say(&["settings", "check"]).contains("the defaults count"));

    let path = callgate.folder.path().join("home/settings.json");
    fs::write(&path, "// mine\n{ \"history\": { \"days\": 30, }, }\n").unwrap();
    let said = callgate.say(&["settings", "set", "history.days", "60"]);
    assert!(said.contains("history.days is 60 now (it was 30)."), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "// mine\n{ \"history\": { \"days\": 60, }, }\n");
    let json = callgate.say(&["settings", "get", "history.days", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["value"], &json["from"]), (&60.into(), &"file".into()));
    assert!(callgate.say(&["settings", "set", "history.days", "60"]).contains("Nothing to change"));

    // A word that cannot be used is not shown as the default: what counts then is the least.
    fs::write(&path, r#"{ "record": { "keep": "kyes" } }"#).unwrap();
    let got = callgate.run(&["settings", "get", "record.keep"]);
    assert_eq!(String::from_utf8_lossy(&got.stdout).trim(), "none");
    let told = String::from_utf8_lossy(&got.stderr).into_owned();
    assert!(told.contains("cannot be used") && told.contains("kyes"), "{told}");
    let listed = callgate.say(&["settings"]);
    let line = listed.lines().find(|line| line.starts_with("record.keep")).unwrap();
    assert!(line.contains("none") && line.contains("broken"), "{line}");
    assert!(callgate.say(&["settings", "set", "record.keep", "none"]).contains("record.keep is none now"));
    assert!(callgate.say(&["settings", "check"]).contains("good"));

    assert!(callgate.fail(&["settings", "get", "histroy.days"]).contains("did you mean history.days?"));
    assert!(callgate.fail(&["settings", "set", "record.keep", "some"]).contains("\"none\""));
    fs::write(&path, r#"{ "histroy": { "days": 3 } }"#).unwrap();
    let check = callgate.run(&["settings", "check"]);
    assert_eq!(check.status.code(), Some(1));
    let said = String::from_utf8(check.stdout).unwrap();
    assert!(said.contains("histroy is not known") && said.contains("did you mean history?"), "{said}");
    assert!(callgate.say(&["status"]).contains("did you mean history?"));
}

#[test]
fn recording_or_masking_less_by_command_needs_a_person() {
    let callgate = Callgate::new();
    for change in [["record.keep", "none"], ["history.days", "1"], ["app.notifications.blocked", "off"]] {
        let refused = callgate.fail(&["settings", "set", change[0], change[1]]);
        assert!(refused.contains("needs a person at a terminal"), "{refused}");
    }
    assert!(!callgate.folder.path().join("home/settings.json").exists());
    callgate.say(&["settings", "set", "record.mask", "iban,pin"]);
    let (done, screen) = callgate.at_terminal(&["settings", "set", "record.mask", "pin"], "settings");
    assert!(done && screen.contains("no longer mask iban"), "{screen}");
    assert_eq!(callgate.say(&["settings", "get", "record.mask"]).trim(), "[\"pin\"]");
    assert!(callgate.say(&["events"]).contains("no longer mask iban"));
}
