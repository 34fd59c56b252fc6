#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::Duration;

use callgate_controls::pause;
use callgate_history::{DEMO_SERVER, Forget, forget};
use callgate_home::clock::Clock;
use callgate_home::{SessionId, atomic};
use callgate_journal::{Decision, Event, EventKind, Journal};

use super::*;
use crate::notices::{Notice, Telling};
use crate::testing::{BY, POLICY, Session, TestHome};
use crate::view::{Answer, CallFilter, Fix, LogEntry, Loosening, Only, PageFrom, ToolAccess};

fn words(overview: &Overview) -> Vec<&str> {
    overview.needs.iter().map(|need| need.words.as_str()).collect()
}

#[test]
fn the_status_line_counts_right() {
    let cases = [
        (0, 0, 0, "no servers running"),
        (0, 5, 1, "no servers running, 5 calls today, 1 refused"),
        (1, 0, 0, "1 server, no calls today"),
        (1, 1, 0, "1 server, 1 call today, 0 refused"),
        (3, 214, 2, "3 servers, 214 calls today, 2 refused"),
        (3, 2_099, 1_042, "3 servers, 2,099 calls today, 1,042 refused"),
    ];
    for (servers, calls, refused, line) in cases {
        assert_eq!(status(servers, calls, refused), line);
    }
}

#[test]
fn a_new_home_is_quiet_and_says_so() {
    let place = TestHome::new();
    let overview = place.desk.overview().unwrap();
    assert_eq!(words(&overview), [""; 0]);
    assert_eq!((overview.icon, overview.status.as_str()), (IconState::Quiet, "no servers running"));
    assert!(overview.first_run && overview.ask_login && !overview.demo_running);
    place.desk.login_asked().unwrap();
    assert!(!place.desk.overview().unwrap().ask_login);
}

#[test]
fn numbers_follow_the_calls_and_start_anew_each_day() {
    let place = TestHome::new();
    place.write_policy("files", POLICY);
    let (one, two) = (place.session("files"), place.session("files"));
    one.calls("read", 3);
    let overview = place.desk.overview().unwrap();
    assert_eq!((overview.servers_running, overview.sessions_running), (1, 2));
    assert_eq!(overview.status, "1 server, 3 calls today, 0 refused");
    assert_eq!(overview.icon, IconState::Quiet);
    assert!(!overview.first_run);

    two.refused("drop", Decision::Denied, 4);
    two.calls("read", 1);
    two.refused("drop", Decision::Denied, 1);
    let overview = place.desk.overview().unwrap();
    assert_eq!((overview.calls_today, overview.refused_today), (9, 5));
    assert_eq!(overview.icon, IconState::BlockedLately);
    let recent: Vec<(Option<&str>, u32)> =
        overview.recent.iter().map(|line| (line.tool.as_deref(), line.times)).collect();
    let read = (Some("read"), 1);
    assert_eq!(recent, [(Some("drop"), 1), read, (Some("drop"), 4), read, read], "newest first, folded");

    place.clock.advance(Duration::from_secs(11 * 60));
    assert_eq!(place.desk.overview().unwrap().icon, IconState::Quiet, "lately is over");
    place.clock.advance(Duration::from_secs(24 * 60 * 60));
    one.calls("read", 2);
    let overview = place.desk.overview().unwrap();
    assert_eq!((overview.calls_today, overview.refused_today), (2, 0), "another day");

    forget(&place.home, &Forget::Server("files".to_owned()), BY, place.clock.as_ref()).unwrap();
    assert_eq!(place.desk.overview().unwrap().calls_today, 0, "what is forgotten does not count");
    one.end();
    two.end();
    assert_eq!(place.desk.overview().unwrap().status, "no servers running");
}

#[test]
fn what_needs_a_person_is_said_with_what_mends_it() {
    let place = TestHome::new();
    place.write_policy("files", POLICY);
    let _files = place.session("files");
    let rules = |server: &str| Some(Fix::OpenRules { server: server.to_owned() });
    let expect = |what: &str, icon: IconState, fix: Option<Fix>, said: &str| {
        let overview = place.desk.overview().unwrap();
        assert_eq!(overview.icon, icon, "{what}: {:?}", overview.needs);
        let need = overview.needs.first().unwrap_or_else(|| panic!("{what}: nothing"));
        assert_eq!(need.fix, fix, "{what}");
        assert!(need.words.contains(said), "{what}: {}", need.words);
        assert_eq!(overview.needs.len(), 1, "{what}: {:?}", overview.needs);
    };
    let quiet = |what: &str| assert_eq!(words(&place.desk.overview().unwrap()), [""; 0], "after {what}");
    quiet("nothing");
    let now = place.clock.now();

    pause::pause(&place.home, None, Some("lunch"), &now).unwrap();
    expect(
        "paused",
        IconState::Paused,
        Some(Fix::Resume { server: None, client: None }),
        "All calls are paused: lunch",
    );
    assert!(place.desk.overview().unwrap().paused_all);
    pause::resume(&place.home, None).unwrap();
    quiet("resumed");

    pause::pause(&place.home, Some("files"), None, &now).unwrap();
    let resume = Some(Fix::Resume { server: Some("files".to_owned()), client: None });
    expect("one paused", IconState::Paused, resume, "Calls to files are paused");
    assert_eq!(place.desk.overview().unwrap().paused_servers, ["files"]);
    pause::resume(&place.home, None).unwrap();

    atomic::replace(&place.home.paused(), b"{").unwrap();
    expect(
        "switch",
        IconState::Paused,
        Some(Fix::Resume { server: None, client: None }),
        "pause switch is broken",
    );
    pause::resume(&place.home, None).unwrap();

    place.write_policy("files", "{");
    expect("broken", IconState::NeedsYou, rules("files"), "The policy of files is broken");
    place.write_policy("files", r#"{"version":"1","default":"allow"}"#);
    expect("older", IconState::NeedsYou, rules("files"), "older policy than its file");
    std::fs::remove_file(place.home.policy("files")).unwrap();
    // The default is as old as this home; what is fresh is not complained about yet.
    let old = std::time::SystemTime::now() - Duration::from_secs(600);
    let default = std::fs::File::options().write(true).open(place.home.default_policy()).unwrap();
    default.set_modified(old).unwrap();
    expect("deleted", IconState::NeedsYou, rules("files"), "The policy of files is gone");
    place.write_policy("files", POLICY);
    quiet("mended");

    let minutes = Duration::from_secs(30 * 60);
    let observed = allowance::grant(&place.home, &now, "files", AllowanceScope::Observe, minutes).unwrap();
    let end = Some(Fix::EndAllowance { id: observed.id });
    expect("observed", IconState::NotProtecting, end, "files is only watched for 30 min more");
    let open = place.desk.overview().unwrap().allowances;
    assert_eq!((open.len(), open[0].ends_ms - now.wall_ms), (1, 30 * 60 * 1000));
    place.clock.advance(minutes);
    quiet("its end");

    std::fs::rename(place.home.default_policy(), place.home.path().join("away")).unwrap();
    expect("default", IconState::NeedsYou, Some(Fix::RestoreDefault), "The default policy is missing");
    std::fs::rename(place.home.path().join("away"), place.home.default_policy()).unwrap();

    std::fs::write(place.home.settings(), r#"{"history":{"days":0}}"#).unwrap();
    expect("settings", IconState::NeedsYou, Some(Fix::OpenSettings), "history.days");
    std::fs::remove_file(place.home.settings()).unwrap();
    quiet("everything");
}

#[test]
fn a_server_that_never_had_a_policy_says_that_it_refuses_everything() {
    let place = TestHome::new();
    place.write_policy("files", "{");
    let _files = place.session("files");
    let overview = place.desk.overview().unwrap();
    assert!(words(&overview)[0].starts_with("All calls to files are refused"), "{:?}", overview.needs);
    assert_eq!(overview.icon, IconState::NeedsYou);
}

#[test]
fn a_missing_default_policy_is_one_need_however_many_servers_lack_it() {
    let place = TestHome::new();
    let _kept = place.session("notes");
    std::fs::write(place.home.default_policy(), "{").unwrap();
    let _refusing = (place.session("files"), place.session("mail"));
    std::fs::remove_file(place.home.default_policy()).unwrap();
    let overview = place.desk.overview().unwrap();
    let [need] = overview.needs.as_slice() else { panic!("{:?}", overview.needs) };
    assert!(need.words.starts_with("The default policy is missing: servers without"), "{need:?}");
    assert_eq!((need.fix.as_ref(), overview.icon), (Some(&Fix::RestoreDefault), IconState::NeedsYou));
}

#[test]
fn a_broken_policy_of_a_server_that_does_not_run_needs_a_person() {
    let place = TestHome::new();
    let odd = "My Server";
    place.session(odd).end();
    place.write_policy("files", "{");
    place.write_policy(odd, "{");
    let rules = |server: &str| Some(Fix::OpenRules { server: server.to_owned() });
    let overview = place.desk.overview().unwrap();
    let told: Vec<(Option<Fix>, bool)> =
        overview.needs.iter().map(|need| (need.fix.clone(), need.serious)).collect();
    assert_eq!(told, [(rules("files"), true), (rules(odd), true)], "{:?}", overview.needs);
    assert!(words(&overview)[0].starts_with("The policy of files is broken"), "{:?}", words(&overview));
    assert_eq!(overview.icon, IconState::NeedsYou);
    // Mended; and once it runs, that is said of its sessions.
    place.write_policy("files", POLICY);
    let _running = place.session(odd);
    let overview = place.desk.overview().unwrap();
    let [need] = overview.needs.as_slice() else { panic!("{:?}", overview.needs) };
    assert!(need.serious && need.server.as_deref() == Some(odd), "{need:?}");
}

#[cfg(unix)]
#[test]
fn a_policy_that_others_could_write_is_fine_again_once_they_cannot() {
    use std::os::unix::fs::PermissionsExt;
    let place = TestHome::new();
    place.write_policy("files", POLICY);
    let allow = |mode| {
        std::fs::set_permissions(place.home.policy("files"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for _ in 0..2 {
        allow(0o666);
        let overview = place.desk.overview().unwrap();
        assert!(words(&overview)[0].starts_with("The policy of files is broken"), "{:?}", words(&overview));
        allow(0o600);
        assert_eq!(words(&place.desk.overview().unwrap()), [""; 0]);
    }
}

#[test]
fn what_a_broken_policy_holds_cannot_dress_up_a_sentence() {
    let place = TestHome::new();
    let hostile = format!(r#"{{"version":"1","default":"allow","{}{}":1}}"#, '\u{202e}', "x".repeat(5_000));
    place.write_policy("files", &hostile);
    atomic::replace(&place.home.default_policy(), hostile.as_bytes()).unwrap();
    let overview = place.desk.overview().unwrap();
    assert_eq!(overview.needs.len(), 2, "{:?}", words(&overview));
    for words in words(&overview) {
        assert!(words.chars().count() <= 600 && !words.chars().any(callgate_text::is_hidden), "{words}");
    }
}

#[test]
fn a_fresh_edit_is_not_called_drift() {
    let place = TestHome::new();
    place.write_policy("files", POLICY);
    let _files = place.session("files");
    let text = r#"{"version":"1","default":"allow"}"#;
    atomic::replace(&place.home.policy("files"), text.as_bytes()).unwrap();
    assert_eq!(words(&place.desk.overview().unwrap()), [""; 0]);
}

#[test]
fn the_worst_comes_first() {
    let place = TestHome::new();
    std::fs::write(place.home.settings(), "{").unwrap();
    pause::pause(&place.home, None, None, &place.clock.now()).unwrap();
    let overview = place.desk.overview().unwrap();
    let serious: Vec<bool> = overview.needs.iter().map(|need| need.serious).collect();
    assert_eq!(serious, [true, false]);
}

#[cfg(unix)]
#[test]
fn a_home_that_cannot_be_used_is_told_and_not_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let place = TestHome::new();
    std::fs::set_permissions(place.home.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let overview = place.desk.overview().unwrap();
    assert_eq!(overview.icon, IconState::NeedsYou);
    assert!(
        overview.headline.starts_with("Needs you: Callgate's folder cannot be used"),
        "{}",
        overview.headline
    );
    assert!(overview.needs[0].words.contains("folder cannot be used"), "{:?}", overview.needs);
}

fn raised(telling: &Telling) -> &Notice {
    match telling {
        Telling::Raise(notice) => notice,
        Telling::Amend(notice) => panic!("nothing was shown yet: {notice:?}"),
    }
}

#[test]
fn a_burst_is_an_alarm_in_the_overview_and_one_notice() {
    let place = TestHome::new();
    let files = place.session("files");
    assert_eq!(place.desk.news(false).unwrap(), []);
    for _ in 0..3 {
        files.calls("read", 25);
        place.desk.overview().unwrap();
        place.clock.advance(Duration::from_secs(1));
    }
    let overview = place.desk.overview().unwrap();
    assert_eq!(overview.alarms.len(), 1);
    assert_eq!(overview.icon, IconState::NeedsYou);
    let news = place.desk.news(false).unwrap();
    assert_eq!(news.len(), 1, "{news:?}");
    assert!(raised(&news[0]).body.contains("read on files"), "{news:?}");
    assert_eq!(place.desk.news(false).unwrap(), [], "told once");
}

/// Thirty minutes of so many calls each, some time ago.
fn used_to(place: &TestHome, files: &crate::testing::Session, calls: usize) {
    for _ in 0..30 {
        files.burst("read", calls);
        place.clock.advance(Duration::from_secs(60));
    }
    place.clock.advance(Duration::from_secs(600));
}

#[test]
fn what_was_usual_before_a_restart_raises_no_alarm_after_it() {
    let place = TestHome::new();
    let files = place.session("files");
    used_to(&place, &files, 25);
    // More than a tool that nobody knows may do, less than this one does.
    files.burst("read", 65);
    let restarted = Desk::new(place.home.clone(), place.clock, callgate_journal::Origin::Window);
    assert_eq!(restarted.overview().unwrap().alarms, [], "nothing is known yet");
    restarted.news(false).unwrap();
    assert_eq!(restarted.overview().unwrap().alarms, [], "and now it is");
    files.burst("read", 100);
    assert_eq!(restarted.overview().unwrap().alarms.len(), 1);
}

/// How many of a burst pass the policy that is in force now.
fn let_through(place: &TestHome, burst: u32) -> u32 {
    use callgate_policy::{Call, Circumstances, Judgement, Policy};
    let text = std::fs::read_to_string(place.home.policy("files")).unwrap();
    let policy = Policy::parse(&text).unwrap();
    match policy.judge(&Call::tool("claude-ai", "read", None), &Circumstances::timeless()) {
        Judgement::Pass(pass) => {
            pass.limits.iter().map(|taking| taking.limit.max.get()).min().unwrap_or(burst).min(burst)
        }
        Judgement::Refuse(_) => 0,
    }
}

#[test]
fn a_cap_on_an_alarm_stops_the_next_burst() {
    // Usual a minute, the burst, what the cap lets through.
    for (usual, burst, capped) in [(4, 90, 6), (25, 400, 40), (0, 90, 20)] {
        for from_notice in [true, false] {
            let place = TestHome::new();
            place.write_policy("files", POLICY);
            let files = place.session("files");
            if usual > 0 {
                used_to(&place, &files, usual);
            }
            assert_eq!(place.desk.news(false).unwrap(), []);
            files.burst("read", burst);
            let news = place.desk.news(false).unwrap();
            let notice = news.iter().map(raised).find(|one| one.acts.len() == 2).unwrap();
            if from_notice {
                // Also when it is clicked long after the burst was over.
                place.clock.advance(Duration::from_secs(3_600));
                let crate::tray::Step::Restrict(cap) = notice.acts[1].0.step() else { panic!("{notice:?}") };
                place.desk.restrict(&cap).unwrap();
            } else {
                let alarm = place.desk.overview().unwrap().alarms.remove(0);
                let target = Target { server: alarm.server, tool: alarm.tool, client: alarm.client };
                place.desk.cap_as_advised(&target).unwrap();
            }
            assert_eq!(let_through(&place, u32::try_from(burst).unwrap()), capped, "{usual} {burst}");
        }
    }
}

#[test]
fn a_removed_demo_counts_nowhere_and_leaves_no_line() {
    let place = TestHome::new();
    place.write_policy(DEMO_SERVER, POLICY);
    place.write_policy("files", POLICY);
    let mut info = place.session("files").info;
    (info.server, info.demo, info.id) = (DEMO_SERVER.to_owned(), true, SessionId::random());
    let journal = Journal::open(&place.home, &info, place.clock.clone()).unwrap();
    let demo = Session { journal, info };
    demo.calls("read", 3);
    demo.end();
    let block = |server: &str| {
        let (server, tool) = (server.to_owned(), Some("read".to_owned()));
        let target = Target { server, tool, client: None };
        place.desk.restrict(&Restriction::Block { target, reason: None }).unwrap()
    };
    block(DEMO_SERVER);
    block("files");
    let overview = place.desk.overview().unwrap();
    assert_eq!((overview.calls_today, overview.recent.len()), (3, 3));
    let changes = || {
        let filter = CallFilter { only: Some(Only::Changes), ..CallFilter::default() };
        let page = place.desk.log_page(&filter, &PageFrom::Newest, 50).unwrap();
        page.entries.into_iter().filter_map(|entry| match entry {
            LogEntry::Change(line) => Some(line.server),
            _ => None,
        })
    };
    assert!(changes().any(|server| server == DEMO_SERVER));
    forget(&place.home, &Forget::Demo, BY, place.clock.as_ref()).unwrap();
    let overview = place.desk.overview().unwrap();
    assert_eq!((overview.calls_today, overview.recent.len()), (0, 0), "at once");
    let left: Vec<String> = changes().collect();
    assert!(!left.is_empty() && left.iter().all(|server| server == "files"), "{left:?}");
}

#[test]
fn a_pause_and_its_end_are_one_line_each_and_name_the_servers() {
    let place = TestHome::new();
    for server in ["files", "web"] {
        place.write_policy(server, POLICY);
    }
    let sessions = [place.session("files"), place.session("web")];
    let told = |kind, text| {
        for session in &sessions {
            session.journal.event(Event { kind, text });
            session.filed();
        }
    };
    place.desk.restrict(&Restriction::Pause { server: None, client: None, reason: None }).unwrap();
    told(EventKind::Paused, "paused by the user");
    place.clock.advance(Duration::from_secs(30));
    let Answer::Ask(question) = place.desk.loosen(&Loosening::Resume { server: None, client: None }).unwrap()
    else {
        panic!("loosening is asked about")
    };
    place.desk.confirm(&question.token).unwrap();
    told(EventKind::Resumed, "calls are judged by the policy again");
    let filter = CallFilter { only: Some(Only::Events), ..CallFilter::default() };
    let lines = || -> Vec<String> {
        let page = place.desk.log_page(&filter, &PageFrom::Newest, 50).unwrap();
        page.entries
            .into_iter()
            .filter_map(|entry| match entry {
                LogEntry::Event(line) => Some(line.text),
                _ => None,
            })
            .collect()
    };
    assert_eq!(lines(), ["all servers (files, web) paused", "all servers (files, web) resumed"]);
    // A switch that was set by hand has no act beside it: then the sessions' own word is all there is.
    place.clock.advance(Duration::from_secs(600));
    told(EventKind::Paused, "paused by a file");
    assert_eq!(lines().len(), 4);
}

#[test]
fn a_call_whose_tool_is_blocked_by_now_says_so_and_how_to_take_it_back() {
    let place = TestHome::new();
    place.write_policy("files", POLICY);
    let session = place.session("files");
    session.calls("read", 1);
    let access = || {
        let id = place.desk.overview().unwrap().recent[0].id.clone();
        place.desk.call(&id).unwrap().access
    };
    assert_eq!(access(), ToolAccess::Open);
    let target = |tool: Option<&str>, client: Option<&str>| Target {
        server: "files".to_owned(),
        tool: tool.map(str::to_owned),
        client: client.map(str::to_owned),
    };
    let scopes = [
        target(Some("read"), Some("claude-ai")),
        target(Some("read"), None),
        target(None, None),
        target(None, Some("claude-ai")),
    ];
    for scope in scopes {
        let reason = Some("not now".to_owned());
        place.desk.restrict(&Restriction::Block { target: scope.clone(), reason }).unwrap();
        let ToolAccess::Blocked(found) = access() else { panic!("{scope:?} is blocked") };
        assert_eq!(found.target, scope);
        assert!(found.words.contains("not now"), "{}", found.words);
        let Answer::Ask(question) = place.desk.loosen(&Loosening::Allow { target: found.target }).unwrap()
        else {
            panic!("loosening is asked about")
        };
        place.desk.confirm(&question.token).unwrap();
        assert_eq!(access(), ToolAccess::Open, "{scope:?}");
    }
}

#[test]
fn a_home_that_cannot_be_written_is_told_with_what_to_do() {
    let place = TestHome::new();
    assert!(place.desk.overview().unwrap().needs.is_empty());
    // What no user may open for writing, whoever runs this test.
    let lock = place.home.path().join("prepare.lock");
    let _gone = std::fs::remove_file(&lock);
    std::fs::create_dir(&lock).unwrap();
    let needs = place.desk.overview().unwrap().needs;
    let [need] = needs.as_slice() else { panic!("{needs:?}") };
    assert!(need.serious && need.words.contains("cannot be written"), "{}", need.words);
    assert!(need.words.contains("Every call is refused"), "{}", need.words);
}
