//! A person's acts: the same from the window, the tray, `watch` and the command line; names that nobody knows; servers that
//! have one name in common.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::fs;
use std::sync::Arc;

use callgate_clients::System;
use callgate_controls::allowance::{self, AllowanceScope};
use callgate_controls::control::ServerCommand;
use callgate_desk::Desk;
use callgate_desk::tray::{Step, TrayAct};
use callgate_desk::view::{Answer, Done, Loosening, Restriction, Target};
use callgate_history::History;
use callgate_home::Home;
use callgate_home::clock::SystemClock;
use callgate_journal::{Origin, catch_up};
use common::Callgate;

const SERVER: &str = "callgate-demo";
const CLIENT: &str = "demo-agent";
const TOOL: &str = "get_codegen_session";

/// What an act leaves: everything but its time and where it came from.
#[derive(Debug, PartialEq)]
struct Left {
    policy: Option<String>,
    changes: Vec<String>,
    events: Vec<(String, Option<String>, String)>,
    allowances: Vec<(String, Option<String>, AllowanceScope, i64)>,
    paused: Option<String>,
}

/// A home in which the demonstration ran.
struct Place {
    callgate: Callgate,
    home: Home,
    desk: Desk,
}

/// One act of the table.
#[derive(Clone)]
enum Act {
    Restrict(Restriction),
    Loosen(Loosening),
    /// The last change of the policy is taken back.
    Revert,
    /// This counter starts anew.
    Reset(&'static str),
}

struct Row {
    act: Act,
    /// Done before, in the window.
    before: Vec<Act>,
    tray: Option<TrayAct>,
    /// Keys of `watch`, which shows the calls of the tool.
    keys: Option<&'static str>,
    words: Vec<String>,
    /// What a person types.
    typed: &'static str,
}

impl Place {
    fn new() -> Place {
        let callgate = Callgate::new();
        callgate.say(&["demo"]);
        let home = Home::at(callgate.home());
        let desk = Desk::new(home.clone(), Arc::new(SystemClock::default()), Origin::Window)
            .on(System::here(callgate.user()));
        // Somewhere the server is not behind the gate: whoever acts on it has to know.
        let ungated = format!(r#"{{"mcpServers":{{"{SERVER}":{{"command":"true"}}}}}}"#);
        fs::create_dir_all(callgate.user().join(".cursor")).unwrap();
        fs::write(callgate.user().join(".cursor/mcp.json"), ungated).unwrap();
        Place { callgate, home, desk }
    }

    fn history(&self) -> History {
        catch_up(&self.home, &SystemClock::default()).unwrap();
        History::open_reader(&self.home).unwrap()
    }

    /// The refused or allowed call that a row is about.
    fn call(&self) -> String {
        let line = self.callgate.say(&["log", "--json", "--decision", "denied"]);
        let call: serde_json::Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
        call["id"].as_str().unwrap().to_owned()
    }

    fn done(&self, act: &Act) -> Done {
        let answer = match act {
            Act::Restrict(restriction) => Answer::Done(self.desk.restrict(restriction).unwrap()),
            Act::Loosen(loosening) => self.desk.loosen(loosening).unwrap(),
            Act::Revert => {
                let change = self.history().timeline(SERVER).unwrap().pop().unwrap().id;
                self.desk.loosen(&Loosening::Revert { server: SERVER.to_owned(), change }).unwrap()
            }
            Act::Reset(counter) => Answer::Ask(self.desk.ask_to_reset(SERVER, counter).unwrap()),
        };
        match answer {
            Answer::Done(done) => done,
            Answer::Ask(question) => self.desk.confirm(&question.token).unwrap(),
        }
    }

    /// Rows so far.
    fn counted(&self) -> (usize, usize) {
        let history = self.history();
        (history.timeline(SERVER).unwrap().len(), history.events(None, 10_000).unwrap().len())
    }

    fn left(&self, (changes, events): (usize, usize)) -> Left {
        let (history, call) = (self.history(), self.call());
        let any = |text: &str| text.replace(&call, "CALL");
        let changed = history.timeline(SERVER).unwrap().into_iter().skip(changes);
        let mut happened = history.events(None, 10_000).unwrap();
        happened.sort_by_key(|event| event.id);
        let happened = happened.into_iter().skip(events);
        let granted = allowance::read(&self.home).all.into_iter().map(|one| {
            let what = match one.what {
                // Which call, is another one in each home.
                AllowanceScope::Call { tool, .. } => AllowanceScope::Tool(tool),
                other => other,
            };
            (one.server, one.client, what, one.ends_ms - one.granted.wall_ms)
        });
        let paused = fs::read_to_string(self.home.paused()).ok();
        Left {
            policy: fs::read_to_string(self.home.policy(SERVER)).ok(),
            changes: changed.map(|change| change.summary).collect(),
            events: happened.map(|event| (event.kind.to_string(), event.server, any(&event.text))).collect(),
            allowances: granted.collect(),
            paused: paused.map(|text| text.chars().filter(|c| !c.is_ascii_digit()).collect()),
        }
    }
}

fn target(tool: Option<&str>, client: Option<&str>) -> Target {
    Target { server: SERVER.to_owned(), tool: tool.map(str::to_owned), client: client.map(str::to_owned) }
}

fn cap(max: u32, client: Option<&str>) -> Restriction {
    Restriction::Cap { target: target(Some(TOOL), client), max, window: "minute".to_owned() }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Every act of the command line that changes what calls are held against.
fn table() -> Vec<Row> {
    let one = || target(Some(TOOL), Some(CLIENT));
    let every = || target(Some(TOOL), None);
    let block = |target| Restriction::Block { target, reason: None };
    let hide = |target| Restriction::Hide { target, note: None };
    let observe = || Loosening::Observe { server: SERVER.to_owned(), client: None, seconds: 1_800 };
    let pause = || Restriction::Pause { server: None, client: None, reason: None };
    let row = |act, cli: &[&str]| Row {
        act,
        before: Vec::new(),
        tray: None,
        keys: None,
        words: words(cli),
        typed: "",
    };
    let restrict = |restriction, cli: &[&str]| row(Act::Restrict(restriction), cli);
    let loosen = |loosening, typed, cli: &[&str]| Row { typed, ..row(Act::Loosen(loosening), cli) };
    vec![
        Row {
            tray: Some(TrayAct::Block { target: one() }),
            keys: Some("b"),
            ..restrict(block(one()), &["block", SERVER, TOOL, "--client", CLIENT])
        },
        Row { keys: Some("h"), ..restrict(hide(one()), &["hide", SERVER, TOOL, "--client", CLIENT]) },
        Row {
            tray: Some(TrayAct::Cap { target: one(), max: Some(5) }),
            keys: Some("c"),
            ..restrict(cap(5, Some(CLIENT)), &["cap", SERVER, TOOL, "5/minute", "--client", CLIENT])
        },
        Row { tray: Some(TrayAct::Pause { server: None }), keys: Some("P"), ..restrict(pause(), &["pause"]) },
        restrict(
            Restriction::Block { target: every(), reason: Some("not now".to_owned()) },
            &["block", SERVER, TOOL, "--reason", "not now"],
        ),
        restrict(block(target(Some("*_codegen_*"), None)), &["block", SERVER, "*_codegen_*"]),
        restrict(block(target(None, Some(CLIENT))), &["block", SERVER, "--client", CLIENT]),
        restrict(
            Restriction::Hide { target: every(), note: Some("for me".to_owned()) },
            &["hide", SERVER, TOOL, "--reason", "for me"],
        ),
        restrict(
            Restriction::Cap { target: target(None, None), max: 7, window: "hour".to_owned() },
            &["cap", SERVER, "7/hour"],
        ),
        restrict(
            Restriction::Pause {
                server: Some(SERVER.to_owned()),
                client: Some(CLIENT.to_owned()),
                reason: Some("lunch".to_owned()),
            },
            &["pause", SERVER, "--client", CLIENT, "--reason", "lunch"],
        ),
        // A cap, like a block, ends a time in which rules are set aside; the window did so, the command line did not.
        Row {
            before: vec![Act::Loosen(observe())],
            ..restrict(cap(5, None), &["cap", SERVER, TOOL, "5/minute"])
        },
        Row {
            before: vec![Act::Loosen(observe())],
            ..restrict(
                Restriction::Enforce { server: SERVER.to_owned(), client: None },
                &["observe", SERVER, "--off"],
            )
        },
        Row {
            before: vec![Act::Restrict(block(one())), Act::Restrict(block(every()))],
            ..loosen(Loosening::Allow { target: every() }, "allow", &["allow", SERVER, TOOL])
        },
        Row {
            before: vec![Act::Restrict(block(target(None, None)))],
            ..loosen(Loosening::Allow { target: target(None, None) }, "allow", &["allow", SERVER])
        },
        Row {
            before: vec![Act::Restrict(block(every()))],
            ..loosen(
                Loosening::AllowFor {
                    server: SERVER.to_owned(),
                    tool: TOOL.to_owned(),
                    client: Some(CLIENT.to_owned()),
                    seconds: 90,
                },
                "allow",
                &["allow", SERVER, TOOL, "--for", "90s", "--client", CLIENT],
            )
        },
        loosen(observe(), "observe", &["observe", SERVER, "--for", "30m"]),
        loosen(
            Loosening::AllowNext { call: "CALL".to_owned(), seconds: Some(60) },
            "once",
            &["allow", "--once", "CALL", "--for", "60s"],
        ),
        Row {
            before: vec![Act::Restrict(cap(5, None))],
            ..loosen(
                Loosening::Cap { target: every(), max: 50, window: "minute".to_owned() },
                "cap",
                &["cap", SERVER, TOOL, "50/minute"],
            )
        },
        Row {
            before: vec![Act::Restrict(cap(5, None))],
            ..loosen(Loosening::Uncap { target: every() }, "uncap", &["cap", SERVER, TOOL, "none"])
        },
        Row {
            before: vec![Act::Restrict(pause())],
            ..loosen(Loosening::Resume { server: None, client: None }, "resume", &["resume"])
        },
        restrict(
            Restriction::Ask { target: one(), reason: None },
            &["ask", SERVER, TOOL, "--client", CLIENT],
        ),
        restrict(
            Restriction::Ask { target: every(), reason: Some("mine".to_owned()) },
            &["ask", SERVER, TOOL, "--reason", "mine"],
        ),
        Row {
            before: vec![Act::Restrict(block(every()))],
            typed: "revert",
            ..row(Act::Revert, &["policy", "revert", SERVER])
        },
        // It opens nothing, so that nobody is asked.
        Row {
            before: vec![Act::Restrict(block(every())), Act::Loosen(Loosening::Allow { target: every() })],
            ..row(Act::Revert, &["policy", "revert", SERVER])
        },
        Row {
            before: vec![Act::Restrict(cap(5, None))],
            typed: "reset",
            ..row(
                Act::Reset("get_codegen_session_cap"),
                &["counters", SERVER, "--reset", "get_codegen_session_cap"],
            )
        },
    ]
}

/// What the window says, what it says besides, and leaves.
fn by_window(row: &Row) -> (String, Vec<String>, Left) {
    let place = Place::new();
    row.before.iter().for_each(|act| drop(place.done(act)));
    let counted = place.counted();
    let call = place.call();
    let act = match &row.act {
        Act::Loosen(Loosening::AllowNext { seconds, .. }) => {
            Act::Loosen(Loosening::AllowNext { call: call.clone(), seconds: *seconds })
        }
        other => other.clone(),
    };
    let done = place.done(&act);
    (done.words.replace(&call, "CALL"), done.caveats, place.left(counted))
}

/// The same of the tray, in one text.
fn by_tray(row: &Row, act: &TrayAct) -> (String, Left) {
    let place = Place::new();
    row.before.iter().for_each(|act| drop(place.done(act)));
    let counted = place.counted();
    let act = TrayAct::parse(&act.id()).unwrap();
    let Step::Restrict(restriction) = act.step() else { panic!("{act:?} is not done at once") };
    let done = place.desk.restrict(&restriction).unwrap();
    (done.in_full(), place.left(counted))
}

fn by_watch(row: &Row, keys: &str) -> (String, Left) {
    let place = Place::new();
    row.before.iter().for_each(|act| drop(place.done(act)));
    let counted = place.counted();
    let mut terminal = place.callgate.terminal_of(260, &["watch", "--tool", TOOL]);
    terminal.wait_for(TOOL);
    // Chosen first: nothing is while the log follows.
    terminal.press("k");
    terminal.wait_for("not following");
    terminal.press(keys);
    if keys == "c" {
        terminal.wait_for("5/min");
        let advice = place.desk.cap_advice(&target(Some(TOOL), Some(CLIENT))).unwrap();
        let choice = advice.choices.iter().position(|choice| choice.words == "5/min").unwrap();
        terminal.press(&(choice + 1).to_string());
    }
    terminal.wait_for("takes it back");
    terminal.press("q");
    let (_, screen) = terminal.end();
    (screen, place.left(counted))
}

fn by_command(row: &Row) -> (String, Left) {
    let place = Place::new();
    row.before.iter().for_each(|act| drop(place.done(act)));
    let counted = place.counted();
    let call = place.call();
    let words: Vec<String> = row.words.iter().map(|word| word.replace("CALL", &call)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = match row.typed {
        "" => place.callgate.say(&words),
        typed => {
            let (done, screen) = place.callgate.at_terminal(&words, typed);
            assert!(done, "{words:?}: {screen}");
            screen
        }
    };
    (said.replace(&call, "CALL"), place.left(counted))
}

#[test]
fn the_same_act_leaves_the_same_whoever_made_it() {
    for row in table() {
        let (said, caveats, left) = by_window(&row);
        let for_cursor_too = match &row.act {
            Act::Restrict(Restriction::Pause { server: None, .. }) => {
                "no server of any client is behind the gate"
            }
            Act::Restrict(act) if format!("{act:?}").contains(CLIENT) => "",
            Act::Loosen(Loosening::AllowNext { .. } | Loosening::Resume { server: None, .. }) => "",
            Act::Loosen(act) if format!("{act:?}").contains(CLIENT) => "",
            Act::Revert | Act::Reset(_) => "",
            _ => "callgate-demo is not behind the gate in Cursor",
        };
        let besides = caveats.join("");
        assert!(
            besides.starts_with(for_cursor_too) && besides.is_empty() == for_cursor_too.is_empty(),
            "{besides}"
        );
        let (command, of_command) = by_command(&row);
        for words in caveats.iter().chain([&said]) {
            assert!(command.contains(words), "{:?}: {words:?} is not in {command:?}", row.words);
        }
        assert_eq!(of_command, left, "{:?}", row.words);
        if let Some(act) = &row.tray {
            let (told, of_tray) = by_tray(&row, act);
            let besides: String = caveats.iter().map(|caveat| format!("; but {caveat}")).collect();
            assert_eq!((told, of_tray), (format!("{said}{besides}"), by_window(&row).2), "{act:?}");
        }
        if let Some(keys) = row.keys {
            let (screen, of_watch) = by_watch(&row, keys);
            for words in caveats.iter().chain([&said]) {
                assert!(screen.contains(words), "{keys}: {words:?} is not in {screen}");
            }
            assert_eq!(of_watch, left, "{keys}");
        }
    }
}

/// They leave no rule.
#[test]
fn what_is_asked_of_servers_and_calls_is_answered_in_the_same_words() {
    let place = Place::new();
    for (command, wish) in
        [("stop", ServerCommand::Stop), ("start", ServerCommand::Start), ("restart", ServerCommand::Restart)]
    {
        let told = place.desk.ask_server(SERVER, None, wish).unwrap_err().to_string();
        let said = place.callgate.fail(&[command, SERVER]);
        assert!(said.contains(&told), "{command}: {told:?} is not in {said:?}");
    }
    let call = place.call();
    let told = match place.desk.cancel_call(&call) {
        Ok((_, done)) => done.words,
        Err(error) => error.to_string(),
    };
    let ended = place.callgate.run(&["cancel", &call]);
    let said =
        format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains(&told), "{told:?} is not in {said:?}");
}

#[test]
fn the_undo_line_of_every_restriction_leads_back() {
    for row in table().into_iter().filter(|row| row.typed.is_empty() && row.words[0] != "observe") {
        let place = Place::new();
        row.before.iter().for_each(|act| drop(place.done(act)));
        let before = fs::read_to_string(place.home.policy(SERVER)).ok();
        let words: Vec<&str> = row.words.iter().map(String::as_str).collect();
        let said = place.callgate.say(&words);
        let undo = said.lines().find_map(|line| line.strip_prefix("undo     callgate ")).unwrap();
        let typed = undo.split(' ').next().unwrap();
        let typed = if undo.contains(" none") {
            "uncap"
        } else if typed == "policy" {
            "revert"
        } else {
            typed
        };
        let plain = undo.replace('\'', "");
        let (done, screen) = place.callgate.at_terminal(&plain.split(' ').collect::<Vec<_>>(), typed);
        assert!(done, "{undo}: {screen}");
        assert_eq!(fs::read_to_string(place.home.policy(SERVER)).ok(), before, "{undo}");
        assert!(!place.callgate.say(&["status"]).contains("paused"), "{undo}");
    }
}

#[test]
fn a_lower_cap_is_undone_to_the_cap_that_was_and_a_shown_tool_to_hidden() {
    let callgate = Callgate::knowing(&["s"]);
    callgate.say(&["cap", "s", "x", "3/minute"]);
    let said = callgate.say(&["cap", "s", "x", "2/minute"]);
    assert!(said.contains("undo     callgate cap s x 3/minute"), "{said}");
    callgate.say(&["hide", "s", "y"]);
    let (done, screen) = callgate.at_terminal(&["allow", "s", "y"], "allow");
    assert!(done && screen.contains("undo     callgate hide s y"), "{screen}");
}

#[test]
fn a_mistyped_name_is_refused_with_the_one_that_was_meant_and_nothing_is_written() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    for (words, meant) in [
        (["block", "callgate-dem", TOOL].as_slice(), "did you mean \"callgate-demo\"?"),
        (&["block", SERVER, "get_codegen_sesion"], "did you mean \"get_codegen_session\"?"),
        (&["hide", SERVER, "get_codegen_sesion"], "did you mean \"get_codegen_session\"?"),
        (&["cap", SERVER, "nothing_*", "3/minute"], "fits \"nothing_*\""),
        (&["cap", "callgate-dem", "3/minute"], "did you mean \"callgate-demo\"?"),
        (&["allow", SERVER, "get_codegen_sesion"], "did you mean \"get_codegen_session\"?"),
        (&["observe", "callgate-dem", "--for", "1m"], "did you mean \"callgate-demo\"?"),
        (&["pause", "callgate-dem"], "did you mean \"callgate-demo\"?"),
        (&["block", SERVER, TOOL, "--client", "demo-agnt"], "did you mean \"demo-agent\"?"),
        (&["pause", "--client", "demo-agnt"], "did you mean \"demo-agent\"?"),
    ] {
        let told = callgate.fail(words);
        assert!(told.contains(meant) && told.contains("--new"), "{words:?}: {told}");
    }
    let policies: Vec<_> = fs::read_dir(callgate.home().join("policies")).unwrap().flatten().collect();
    assert!(!policies.iter().any(|file| file.file_name().to_string_lossy().contains("callgate-dem.")));
    assert!(!callgate.home().join("control/paused.json").exists());
    let said = callgate.say(&["block", "callgate-dem", TOOL, "--new"]);
    assert!(said.starts_with("Blocked get_codegen_session on callgate-dem"), "{said}");
}

#[test]
fn a_question_about_a_name_that_nobody_knows_is_not_answered_as_if_it_held() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let explain = ["policy", "explain", "--server"];
    let simulate = ["policy", "simulate", "--server", SERVER, "--rule"];
    for (words, meant) in [
        ([&explain, ["callgate-dem", "--tool", TOOL].as_slice()].concat(), "did you mean \"callgate-demo\"?"),
        (
            [&explain, [SERVER, "--tool", "get_codegen_sesion"].as_slice()].concat(),
            "did you mean \"get_codegen_session\"?",
        ),
        (
            [&explain, [SERVER, "--tool", TOOL, "--client", "demo-agnt"].as_slice()].concat(),
            "did you mean \"demo-agent\"?",
        ),
        (
            [simulate.as_slice(), &["block get_codegen_sesion"]].concat(),
            "did you mean \"get_codegen_session\"?",
        ),
        ([simulate.as_slice(), &["block nothing_*"]].concat(), "fits \"nothing_*\""),
    ] {
        let told = callgate.fail(&words);
        assert!(told.contains(meant) && told.contains("--new"), "{words:?}: {told}");
        assert!(!told.contains("nothing was changed"), "{words:?}: {told}");
        callgate.say(&[words.as_slice(), &["--new"]].concat());
    }
    let named =
        callgate.say(&[&explain, [SERVER, "--tool", TOOL, "--client", "Claude Desktop"].as_slice()].concat());
    assert!(named.starts_with("allow"), "{named}");
    // A part of a policy as JSON is tried all the same, with a word.
    let rule = r#"{"tools":{"get_codegen_sesion":{"action":"deny"}}}"#;
    let output = callgate.run(&[simulate.as_slice(), &[rule]].concat());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains("get_codegen_session"), "{told}");
}

#[test]
fn the_right_first_use_before_any_session_says_nothing_else() {
    let callgate = Callgate::knowing(&["ev"]);
    let output = callgate.run(&["block", "ev", "echo"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// Two servers of one name.
fn two() -> Callgate {
    Callgate::knowing(&["files", "files@cursor"])
}

#[test]
fn an_act_says_which_servers_of_the_name_it_does_not_cover() {
    let callgate = two();
    let said = callgate.say(&["block", "files", "write_file"]);
    assert!(
        said.contains(
            "not for  files@cursor, another server of this name: callgate block files@cursor write_file"
        ),
        "{said}"
    );
    assert!(said.contains("callgate block files write_file --all-named"), "{said}");
    let said = callgate.say(&["cap", "files", "read_file", "5/minute", "--all-named"]);
    assert!(!said.contains("not for") && callgate.policy("files").contains("read_file_cap"), "{said}");
    assert_eq!(
        callgate.explain(&["--server", "files@cursor", "--tool", "read_file"])["counters"][0]["max"],
        5
    );
}

#[test]
fn to_pause_or_block_a_server_asks_which_one_when_several_have_the_name() {
    let callgate = two();
    for verb in ["pause", "block"] {
        let told = callgate.fail(&[verb, "files"]);
        for command in ["--only", "--all-named"].map(|option| format!("callgate {verb} files {option}")) {
            assert!(told.contains(&command), "{told}");
        }
    }
    assert!(!callgate.say(&["status"]).contains("Paused"));
    let (done, screen) = callgate.at_terminal(&["pause", "files"], "files@cursor");
    assert!(done && screen.contains("Paused files@cursor"), "{screen}");
    let (done, screen) = callgate.at_terminal(&["block", "files"], "all");
    assert!(done && screen.contains("Blocked every tool of files@cursor"), "{screen}");
    assert_eq!(callgate.explain(&["--server", "files", "--tool", "x"])["decision"], "deny");
    let said = callgate.say(&["pause", "files", "--only"]);
    assert!(said.contains("Paused files:"), "{said}");
}

#[test]
fn a_hint_for_a_server_of_the_same_name_repeats_the_whole_act() {
    let callgate = two();
    callgate.say(&["block", "files", "x", "--only"]);
    let (done, screen) = callgate.at_terminal(&["allow", "files", "x", "--for", "30s"], "allow");
    assert!(done && screen.contains("callgate allow files@cursor x --for 30s"), "{screen}");
    assert!(screen.contains("callgate allow files x --for 30s --all-named"), "{screen}");
    let (done, screen) = callgate.at_terminal(&["observe", "files", "--for", "1m"], "observe");
    assert!(done && screen.contains("callgate observe files@cursor --for 60s"), "{screen}");
    for words in [["block", "files", "y"], ["hide", "files", "y"]] {
        let said = callgate.say(&[words.as_slice(), &["--reason", "not now"]].concat());
        let hint = format!("callgate {} files@cursor y --reason 'not now'", words[0]);
        assert!(said.contains(&hint), "{said}");
    }
    let said = callgate.say(&["cap", "files", "z", "5/minute", "--new"]);
    assert!(said.contains("callgate cap files@cursor z 5/minute --new"), "{said}");
}

#[test]
fn a_full_name_is_acted_on_at_once_and_no_hint_is_refused_as_ambiguous() {
    let callgate = two();
    let said = callgate.say(&["pause", "files@cursor"]);
    assert!(said.contains("callgate pause files --only"), "{said}");
    let said = callgate.say(&["block", "files@cursor"]);
    assert!(said.contains("callgate block files --only"), "{said}");
    callgate.say(&["block", "files", "--only"]);
    let (done, screen) = callgate.at_terminal(&["allow", "files"], "allow");
    assert!(done && screen.contains("undo     callgate block files --only"), "{screen}");
    callgate.say(&["pause", "files", "--only"]);
    let (done, screen) = callgate.at_terminal(&["resume", "files"], "resume");
    assert!(done && screen.contains("undo     callgate pause files --only"), "{screen}");
}

#[test]
fn resume_is_undone_by_the_pauses_that_it_ended() {
    let callgate = Callgate::knowing(&["s"]);
    callgate.say(&["pause", "--client", "cursor", "--reason", "at lunch"]);
    let (done, screen) = callgate.at_terminal(&["resume"], "resume");
    assert!(
        done && screen.contains("undo     callgate pause --client cursor --reason 'at lunch'"),
        "{screen}"
    );
}

#[test]
fn an_undo_by_revert_names_its_change_so_that_later_ones_stay() {
    let callgate = Callgate::knowing(&["s"]);
    callgate.say(&["block", "s", "x", "--reason", "a"]);
    let said = callgate.say(&["block", "s", "x", "--reason", "b"]);
    let undo = said.lines().find_map(|line| line.strip_prefix("undo     callgate ")).unwrap();
    assert!(undo.starts_with("policy revert s '#"), "{said}");
    callgate.say(&["block", "s", "later"]);
    let plain = undo.replace('\'', "");
    callgate.at_terminal(&plain.split(' ').collect::<Vec<_>>(), "revert");
    let reason = |tool| callgate.explain(&["--server", "s", "--tool", tool]).to_string();
    assert!(reason("x").contains("\"a\"") && reason("later").contains("deny"), "{}", reason("x"));
}

#[test]
fn an_act_on_a_server_that_is_not_behind_the_gate_says_so() {
    let callgate = Callgate::new();
    let user = callgate.user();
    fs::create_dir_all(user.join(".cursor")).unwrap();
    let servers = r#"{"mcpServers":{"files":{"command":"true"},"far":{"url":"https://a.example/mcp"}}}"#;
    fs::write(user.join(".cursor/mcp.json"), servers).unwrap();
    let say = |words: &[&str]| callgate.say(words);
    let said = say(&["block", "files", "x"]);
    let unseen = "files is not behind the gate in Cursor: its calls there are not seen";
    assert!(said.contains(&format!("{unseen}. callgate clients protect cursor files")), "{said}");
    assert!(
        said.contains("the tools of files are not known yet, so the name could not be checked"),
        "{said}"
    );
    let said = say(&["pause", "far"]);
    assert!(said.contains("far is not behind the gate in Cursor"), "{said}");
    let said = say(&["pause"]);
    assert!(said.contains("no server of any client is behind the gate"), "{said}");
    let said = say(&["block", "files", "y", "--client", "zed", "--new"]);
    assert!(!said.contains("in Cursor"), "{said}");
}

#[test]
fn a_block_on_a_broken_policy_offers_a_pause() {
    let callgate = Callgate::knowing(&["s", "s@cursor"]);
    callgate.say(&["block", "s", "x"]);
    fs::write(callgate.home().join("policies/s.json"), "{").unwrap();
    for words in [["block", "s", "y"].as_slice(), &["cap", "s", "y", "3/minute"]] {
        let told = callgate.fail(words);
        assert!(told.contains("callgate pause s --only") && told.contains("is broken"), "{told}");
    }
    // As pasted, it works where another server has the name, too.
    assert!(callgate.say(&["pause", "s", "--only"]).contains("Paused s:"));
}

/// Two clients that have a server of one name each, behind the gate.
fn two_clients() -> Callgate {
    let callgate = Callgate::new();
    let servers = r#"{"mcpServers":{"files":{"command":"FOR","args":["x"]}}}"#;
    for (path, command) in
        [(".config/Claude/claude_desktop_config.json", "true"), (".cursor/mcp.json", "false")]
    {
        let path = callgate.user().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, servers.replace("FOR", command)).unwrap();
    }
    callgate.say(&["clients", "protect", "--all"]);
    callgate
}

#[test]
fn all_of_a_name_for_one_client_leaves_out_what_it_does_not_have() {
    let callgate = two_clients();
    let block = |client| ["block", "files", "write", "--all-named", "--client", client];
    let output = callgate.run(&block("cursor"));
    let (said, told) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    let said = String::from_utf8(said).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(
        said.contains("Blocked write on files@cursor, for Cursor") && !said.contains("write on files,"),
        "{said}"
    );
    assert!(told.contains("left out files: Cursor does not have it"), "{told}");
    assert!(!callgate.home().join("policies/files.json").exists());
    let told = callgate.fail(&block("zed"));
    assert!(
        told.contains("Zed has no server of this name (files, files@cursor), so nothing was changed"),
        "{told}"
    );
}

#[test]
fn what_is_allowed_for_a_while_may_be_a_pattern_or_a_whole_server() {
    let callgate = Callgate::knowing(&["s"]);
    callgate.say(&["block", "s", "write_*"]);
    let of = |tool| callgate.explain(&["--server", "s", "--tool", tool])["decision"].clone();
    assert_eq!((of("write_a"), of("write_b")), ("deny".into(), "deny".into()));
    let (done, screen) = callgate.at_terminal(&["allow", "s", "write_*", "--for", "15m"], "allow");
    assert!(
        done && screen
            .contains("Allowed every tool of s that fits write_*, for every client, for 15 minutes"),
        "{screen}"
    );
    assert_eq!(of("write_a"), "allow");
    let undo = screen.lines().find_map(|line| line.split("callgate allow --end ").nth(1)).unwrap().trim();
    callgate.say(&["allow", "--end", undo]);
    assert_eq!(of("write_a"), "deny");
    for words in [["allow", "s", "--for", "15m"].as_slice(), &["allow", "s", "*", "--for", "15m"]] {
        let (done, screen) = callgate.at_terminal(words, "allow");
        assert!(
            done && screen.contains("Allowed every tool of s, for every client, for 15 minutes"),
            "{screen}"
        );
    }
    assert_eq!(of("write_b"), "allow");
    // A later block of the server ends it.
    assert!(callgate.say(&["block", "s"]).contains("not every tool of s is allowed for a while any more"));
    assert_eq!(of("write_b"), "deny");
}

#[test]
fn allow_names_the_rules_and_conditions_that_still_refuse() {
    let callgate = Callgate::knowing(&["s"]);
    callgate.say(&["block", "s", "x"]);
    let path = callgate.home().join("policies/s.json");
    let conditions = r#"{"version":"1","default":"deny","tools":{"x":{}},
        "all_tools":{"deny_if":[{"conditions":[{"path":"args.path","op":"inside","value":"/etc"}]}]}}"#;
    fs::write(&path, conditions).unwrap();
    for words in [["allow", "s"].as_slice(), &["allow", "s", "*"]] {
        let said = callgate.say(words);
        let conditions = r#"every tool is denied when args.path is inside "/etc""#;
        assert!(said.contains(conditions) && said.contains("not on the list of allowed tools"), "{said}");
        assert!(!said.contains("not denied by a rule"), "{said}");
    }
    let said = callgate.say(&["allow", "s", "x"]);
    assert!(
        said.contains(r#"still refused: every tool is denied when args.path is inside "/etc""#),
        "{said}"
    );
    assert!(!said.contains("/all_tools"), "no pointer, but what explain says too: {said}");
    let explained =
        callgate.explain(&["--server", "s", "--tool", "x", "--args", r#"{"path":"/etc/passwd"}"#]);
    assert!(
        explained["reason"].as_str().unwrap().contains(r#"is denied when args.path is inside "/etc""#),
        "{explained}"
    );
}

#[test]
fn stop_of_a_mistyped_server_names_the_one_that_was_meant() {
    let callgate = Callgate::knowing(&["filesystem"]);
    let told = callgate.fail(&["stop", "filesystm"]);
    assert!(told.contains("did you mean \"filesystem\"?"), "{told}");
    assert!(callgate.fail(&["stop", "filesystem"]).contains("no session of filesystem runs"));
}

#[test]
fn allow_takes_back_what_was_blocked_for_one_client_and_says_what_still_refuses() {
    let callgate = Callgate::knowing(&["s"]);
    callgate.say(&["block", "s", "x", "--client", "claude-desktop"]);
    let (done, screen) = callgate.at_terminal(&["allow", "s", "x"], "allow");
    assert!(done && screen.contains("Allowed x on s, for every client"), "{screen}");
    let of_client = ["--server", "s", "--tool", "x", "--client", "claude-desktop"];
    assert_eq!(callgate.explain(&of_client)["decision"], "allow");
    // A whole server that is blocked, a pattern for one client, a pause: each is named, with what ends it.
    callgate.say(&["block", "s"]);
    assert!(callgate.fail(&["allow", "s", "x"]).contains("block of the whole server: callgate allow s"));
    let (done, screen) = callgate.at_terminal(&["allow", "s"], "allow");
    assert!(done, "{screen}");
    callgate.say(&["block", "s", "x*", "--client", "cursor"]);
    let told = callgate.fail(&["allow", "s", "x"]);
    assert!(
        told.contains("refused to Cursor") && told.contains("callgate allow s 'x*' --client cursor"),
        "{told}"
    );
    callgate.say(&["block", "s", "y"]);
    let told = callgate.fail(&["allow", "s", "y", "--client", "cursor"]);
    assert!(told.contains("every client") && told.contains("callgate allow s y"), "{told}");
    callgate.say(&["pause", "s"]);
    let (done, screen) = callgate.at_terminal(&["allow", "s", "y"], "allow");
    assert!(done && screen.contains("stay paused: callgate resume s"), "{screen}");
}

#[test]
fn a_paused_client_is_refused_and_others_are_not() {
    let callgate = Callgate::knowing(&["s"]);
    callgate.say(&["pause", "--client", "cursor", "--reason", "lunch"]);
    let of = |client| callgate.explain(&["--server", "s", "--tool", "x", "--client", client]);
    assert_eq!(of("cursor")["rule"], "(paused)");
    assert_eq!(of("zed")["decision"], "allow");
    assert!(
        callgate
            .say(&["status"])
            .contains("Calls of Cursor are paused: lunch (callgate resume --client cursor)")
    );
    let (done, screen) = callgate.at_terminal(&["resume", "--client", "cursor"], "resume");
    assert!(done, "{screen}");
    assert_eq!(of("cursor")["decision"], "allow");
}

#[test]
fn a_policy_made_by_block_does_not_begin_with_watch_only() {
    let callgate = Callgate::knowing(&["s"]);
    callgate.say(&["block", "s", "x"]);
    let policy = callgate.policy("s");
    assert!(!policy.contains("Watch only") && !policy.contains("every call is let through"), "{policy}");
}
