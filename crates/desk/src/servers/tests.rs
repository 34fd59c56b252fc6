#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::time::Duration;

use callgate_controls::pause;
use callgate_home::clock::Clock;
use callgate_home::{slug, stderr_line};
use callgate_journal::{Decision, Event, EventKind, Outcome};

use super::*;
use crate::testing::{POLICY, Place, Session};

fn find<'v>(views: &'v [ServerView], name: &str) -> &'v ServerView {
    views.iter().find(|view| view.name == name).unwrap_or_else(|| panic!("no {name} in {views:?}"))
}

#[test]
fn every_server_is_known_from_wherever_it_was_heard_of() {
    let place = Place::new();
    place.write_policy("files", POLICY);
    let stopped = place.session("zeta");
    stopped.calls("a", 2);
    stopped.end();
    let listed = r#"{"mcpServers":{
        "files":{"command":"npx","args":["-y","files"]},
        "mail":{"command":"mailer","args":["--token","hunter2hunter2"],"env":{"X":"y"}},
        "far":{"url":"https://example.org/mcp"}, "odd": 7}}"#;
    callgate_home::atomic::replace(&place.home.path().join("servers.json"), listed.as_bytes()).unwrap();
    let files = place.session("files");
    files.calls("read", 3);
    files.refused("drop", Decision::Denied, 2);

    let views = place.desk.servers().unwrap();
    let names: Vec<&str> = views.iter().map(|view| view.name.as_str()).collect();
    assert_eq!(names, ["files", "far", "mail", "odd", "zeta"], "running ones first");
    let files_view = find(&views, "files");
    assert_eq!(files_view.state, ServerState::Running);
    assert_eq!(files_view.protection, Protection::Enforcing);
    assert_eq!((files_view.calls_today, files_view.refused_today, files_view.calls_last_hour), (5, 2, 5));
    let session = &files_view.sessions[0];
    assert_eq!((session.calls, session.refused, session.pid), (5, 2, Some(std::process::id())));
    assert_eq!(session.session, files.info.id.to_string());
    assert_eq!(find(&views, "mail").state, ServerState::NeverStarted);
    assert_eq!(find(&views, "mail").command, ["mailer", "--token", "[masked, 14 characters]"]);
    assert_eq!(find(&views, "far").command, ["https://example.org/mcp"]);
    let zeta = find(&views, "zeta");
    assert_eq!((zeta.state, zeta.sessions[0].calls), (ServerState::Stopped, 2));
    assert_eq!(zeta.sessions[0].end.as_deref(), Some("client_closed"));
    assert_eq!(zeta.last_call_ms, Some(place.clock.now().wall_ms));
    assert_eq!(zeta.protection, Protection::WatchOnly, "by the default policy");

    files.refused("drop", Decision::Denied, 1);
    place.clock.advance(Duration::from_secs(2 * 60 * 60));
    let views = place.desk.servers().unwrap();
    let session = &find(&views, "files").sessions[0];
    assert_eq!((session.calls, session.refused), (6, 3), "counted on from where it was");
    assert_eq!(find(&views, "files").calls_last_hour, 0);
}

#[test]
fn a_broken_list_of_servers_is_a_problem_and_not_an_error() {
    let place = Place::new();
    let path = place.home.path().join("servers.json");
    for text in ["{", "[]", r#"{"mcpServers":[]}"#] {
        callgate_home::atomic::replace(&path, text.as_bytes()).unwrap();
        assert!(listed::read(&place.home).problem.unwrap().contains("servers.json"), "{text}");
        assert_eq!(place.desk.servers().unwrap(), [], "{text}");
        let overview = place.desk.overview().unwrap();
        assert!(overview.needs.iter().any(|need| need.words.contains("servers.json")), "{text}");
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(listed::read(&place.home), listed::Listed::default());
}

#[test]
fn the_last_error_is_the_newest_of_calls_and_endings() {
    let place = Place::new();
    let files = place.session("files");
    files.ends(
        "read",
        Outcome::ToolError,
        r#"{"content":[{"type":"text","text":"no such\u202e file"}],"isError":true}"#,
    );
    files.calls("read", 3);
    let views = place.desk.servers().unwrap();
    assert_eq!(find(&views, "files").last_error.as_deref(), Some("read: tool error: no such\\u{202e} file"));
    place.clock.advance(Duration::from_secs(60));
    files.journal.end(EndReason::ServerEnded);
    let views = place.desk.servers().unwrap();
    let view = find(&views, "files");
    assert_eq!(view.last_error.as_deref(), Some("the server ended by itself"));
    assert_eq!(view.last_error_ms, Some(place.clock.now().wall_ms));
}

#[test]
fn a_failed_start_keeps_its_diagnosis_on_the_card() {
    let why = "CG-117: the command npxx was not found";
    for (kind, reason, end) in [
        (EventKind::StartFailed, EndReason::ServerEnded, "failed_to_start"),
        (EventKind::StartFailed, EndReason::FailedToStart, "failed_to_start"),
        (EventKind::Crashed, EndReason::ServerEnded, "crashed"),
        (EventKind::Crashed, EndReason::ClientClosed, "client_closed"),
    ] {
        let place = Place::new();
        let files = place.session("files");
        files.journal.event(Event { kind, text: why });
        files.filed();
        place.clock.advance(Duration::from_secs(1));
        files.journal.end(reason);
        let views = place.desk.servers().unwrap();
        let view = find(&views, "files");
        assert_eq!(view.last_error.as_deref(), Some(why), "{kind:?}, {reason:?}");
        assert_eq!(view.sessions[0].end.as_deref(), Some(end), "{kind:?}, {reason:?}");
    }
}

#[test]
fn an_old_crash_is_not_why_a_later_session_ended() {
    let place = Place::new();
    let first = place.session("files");
    first.journal.event(Event { kind: EventKind::Crashed, text: "exit code 1" });
    first.filed();
    place.clock.advance(Duration::from_secs(60));
    first.journal.end(EndReason::ServerEnded);
    let views = place.desk.servers().unwrap();
    let view = find(&views, "files");
    assert_eq!(view.last_error.as_deref(), Some("the server ended by itself"));
    assert_eq!(view.sessions[0].end.as_deref(), Some("server_ended"));
}

#[test]
fn codegen_sessions_show_although_the_client_never_asked_for_the_tools() {
    let place = Place::new();
    let (browser, files) = (place.session("browser"), place.session("files"));
    browser.calls("start_codegen_session", 1);
    files.calls("read", 1);
    browser.filed();
    files.filed();
    let views = place.desk.servers().unwrap();
    assert!(find(&views, "browser").codegen);
    assert!(!find(&views, "files").codegen);
}

#[test]
fn of_several_sessions_the_worst_protected_speaks() {
    let place = Place::new();
    place.write_policy("files", "{");
    let _broken = place.session("files");
    place.write_policy("files", POLICY);
    let _good = place.session("files");
    let views = place.desk.servers().unwrap();
    assert_eq!(find(&views, "files").protection, Protection::Broken);
    pause::pause(&place.home, Some("gone"), None, &place.clock.now()).unwrap();
    let gone = place.session("gone");
    gone.end();
    assert_eq!(find(&place.desk.servers().unwrap(), "gone").protection, Protection::Paused);
}

#[test]
fn stderr_shows_times_and_only_the_lines_of_its_session() {
    let place = Place::new();
    let (one, two) = (place.session("files"), place.session("files"));
    let log = place.home.logs().join(format!("{}.log", slug("files")));
    let now = place.clock.now().wall_ms;
    let line = |at_ms: i64, session: &Session, text: &str| {
        format!("{}{text}\n", stderr_line::stamp(at_ms, session.info.id))
    };
    let old = format!("older\n{}", line(now - 3 * 24 * 60 * 60 * 1000, &one, "days ago"));
    fs::write(&log, format!("{old}{}{}", line(now, &two, "of the other"), line(now, &one, "now"))).unwrap();
    let shown = place.desk.stderr_tail(&one.info.id.to_string(), "").unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "older"), "{shown}");
    let time = crate::text::local(now).strftime("%H:%M:%S").to_string();
    assert_eq!(lines[2], format!("{time} now"));
    let date = crate::text::local(now - 3 * 24 * 60 * 60 * 1000).strftime("%Y-%m-%d %H:%M:%S").to_string();
    assert_eq!(lines[1], format!("{date} days ago"));
    assert_eq!(place.desk.stderr_tail(&one.info.id.to_string(), "OTHER").unwrap(), "");
    assert!(place.desk.stderr_tail("files", "OTHER").unwrap().ends_with(" of the other\n"));
}

#[test]
fn a_follower_of_stderr_misses_nothing_when_the_log_is_begun_anew() {
    use std::io::Write as _;
    let place = Place::new();
    let files = place.session("files");
    let log = place.home.logs().join(format!("{}.log", slug("files")));
    let line = |text: &str| format!("{}{text}\n", stderr_line::stamp(1_794_954_461_007, files.info.id));
    let append = |text: &str| {
        let mut file = fs::File::options().create(true).append(true).open(&log).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    let (before, mut follower) = place.desk.follow_stderr("files", None, 2).unwrap();
    assert_eq!(before, []);
    let texts = |lines: Vec<crate::StderrEntry>| lines.into_iter().map(|line| line.text).collect::<Vec<_>>();
    append(&line("one"));
    append("unfin");
    assert_eq!(texts(follower.news().unwrap()), ["one"]);
    append("ished\n");
    append(&line("three"));
    fs::rename(&log, log.with_extension("log.1")).unwrap();
    append(&line("four"));
    assert_eq!(texts(follower.news().unwrap()), ["unfinished", "three", "four"]);
    assert_eq!(follower.news().unwrap(), []);
    let (last, _) = place.desk.follow_stderr("files", Some(files.info.id), 2).unwrap();
    assert_eq!(texts(last), ["three", "four"]);
}

#[test]
fn the_end_of_stderr_is_short_and_text() {
    let place = Place::new();
    let files = place.session("files");
    let id = files.info.id.to_string();
    assert_eq!(place.desk.stderr_tail(&id, "").unwrap(), "");
    let log = place.home.logs().join(format!("{}.log", slug("files")));
    fs::write(&log, b"first\nsecond \xff\n").unwrap();
    assert_eq!(place.desk.stderr_tail(&id, "").unwrap(), "first\nsecond \u{fffd}\n");
    assert_eq!(
        place.desk.stderr_tail("files", "").unwrap(),
        "first\nsecond \u{fffd}\n",
        "by its server's name"
    );
    fs::write(log.with_extension("log.1"), "before\n").unwrap();
    assert_eq!(place.desk.stderr_tail(&id, "").unwrap(), "before\nfirst\nsecond \u{fffd}\n");
    let many: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
    fs::write(&log, &many).unwrap();
    let tail = place.desk.stderr_tail(&id, "").unwrap();
    assert_eq!(tail.lines().count(), 200);
    assert!(tail.starts_with("line 99800\n") && tail.ends_with("line 99999\n"));
    fs::write(&log, "x".repeat(1 << 20)).unwrap();
    assert!(place.desk.stderr_tail(&id, "").unwrap().len() <= 64 * 1024);
    files.end();
    assert!(!place.desk.stderr_tail(&id, "").unwrap().is_empty(), "also after its end");
    let all: String = (0..20_000).map(|line| format!("line {line} of many\n")).collect();
    std::fs::write(&log, format!("Error: EADDRINUSE\n{all}")).unwrap();
    assert_eq!(
        place.desk.stderr_tail(&id, " eaddrinuse").unwrap(),
        "Error: EADDRINUSE\n",
        "far from the end"
    );
    assert_eq!(place.desk.stderr_tail(&id, "nowhere").unwrap(), "");
    assert_eq!(place.desk.stderr_tail(&id, "line").unwrap().lines().count(), 200);
    assert_eq!(place.desk.stderr_tail("../../etc/passwd", "").unwrap(), "", "a name is no path");
}
