//! The tray, from the other side of the bus, and how the app starts, hides and ends.

#![cfg(target_os = "linux")]

use std::time::Duration;

use anyhow::Context as _;
use callgate_app_tests::app::{App, Around, scene, scene_on};
use callgate_app_tests::driver::PATIENCE;
use callgate_tests::gate::{Bench, OPEN_POLICY, SERVER};
use callgate_tests::processes::{children, eventually};
use callgate_tests::session::{is_refusal, result_text};

fn is_shown(app: &App) -> anyhow::Result<bool> {
    Ok(app.desktop.window("Callgate")?.is_some())
}

fn wait_shown(app: &App, shown: bool) {
    let what = if shown { "the window is on the screen" } else { "the window is hidden" };
    eventually(what, PATIENCE, || is_shown(app).is_ok_and(|now| now == shown).then_some(()));
}

/// As the desktop closes a window: it asks.
fn close_window(app: &App) -> anyhow::Result<()> {
    let window = app.desktop.window("Callgate")?.context("the window is not on the screen")?;
    app.desktop.close(window)
}

#[test]
fn the_menu_says_how_things_stand_at_the_moment_it_opens() {
    scene("tray-menu", OPEN_POLICY, Around::Tray, |app| {
        let icon = app.icon()?;
        let menu = icon.menu()?.drawn();
        anyhow::ensure!(menu.contains("[no servers running]"), "{menu}");
        let quiet = icon.pixels()?;

        let mut session = app.session()?;
        session.ask("1", "safe", "{}")?;
        // No waiting here: it is asked when it opens.
        let menu = icon.menu()?;
        let drawn = menu.drawn();
        anyhow::ensure!(drawn.contains("safe: allowed"), "{drawn}");
        anyhow::ensure!(drawn.contains("corpus: running"), "{drawn}");
        let acts = ["Pause all", "Stop everything", "Open Callgate", "Settings", "Quit", "Why"];
        for words in acts.into_iter().chain([BLOCK, "Cap safe for tester", "Stop", "Restart"]) {
            anyhow::ensure!(menu.named(words).is_some_and(|entry| entry.enabled), "{words} in\n{drawn}");
        }

        icon.click(BLOCK)?;
        app.until(&mut session, "safe", true)?;
        app.driver.wait("said what was done", |_| {
            let shown = app.notices()?.shown();
            Ok(shown.iter().any(|one| one.body.contains("safe") && one.body.contains("tester")).then_some(()))
        })?;
        app.driver.wait("the icon says so", |_| Ok((icon.pixels()? != quiet).then_some(())))?;
        icon.click("Why")?;
        app.driver.the("drawer")?;
        Ok(())
    });
}

#[test]
fn deny_in_the_menu_refuses_the_call_that_waits_and_the_icon_needs_nobody_any_more() {
    let asked = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask" } } }"#;
    scene("tray-deny", asked, Around::Tray, |app| {
        let icon = app.icon()?;
        let mut session = app.session()?;
        wait_tip(app, "1 server")?;
        let (quiet, tip) = (icon.pixels()?, icon.tip()?);
        anyhow::ensure!(!tip.contains("waits for your decision"), "{tip}");
        session.call("1", "danger", r#"{"path":"/srv/1"}"#)?;
        wait_tip(app, "waits for your decision")?;
        let needy = app.driver.wait("the icon needs somebody", |_| {
            let pixels = icon.pixels()?;
            Ok((pixels != quiet).then_some(pixels))
        })?;
        let menu = icon.menu()?;
        anyhow::ensure!(menu.drawn().contains("danger on corpus waits, for tester"), "{}", menu.drawn());
        anyhow::ensure!(menu.named("Approve danger").is_none(), "no yes without its arguments");
        icon.click_in(&menu, "Deny danger")?;
        let answer = session.answer("1")?;
        let words = result_text(&answer).unwrap_or_default();
        anyhow::ensure!(is_refusal(&answer) && words.contains("the user said no"), "{}", answer.to_text());
        app.driver.wait("the icon needs nobody", |_| {
            Ok((icon.pixels()? != needy && !icon.tip()?.contains("waits")).then_some(()))
        })?;
        Ok(())
    });
}

/// The entry for the newest call in these tests.
const BLOCK: &str = "Block safe for tester";

/// What the tray shows of the home by now, as somebody has it who did not open the menu.
fn wait_tip(app: &App, words: &str) -> anyhow::Result<()> {
    app.driver
        .wait(&format!("the tip says {words:?}"), |_| Ok(app.icon()?.tip()?.contains(words).then_some(())))
}

#[test]
fn block_in_an_open_menu_hits_the_tool_that_was_shown() {
    scene("tray-open-menu", OPEN_POLICY, Around::Tray, |app| {
        let icon = app.icon()?;
        let mut session = app.session()?;
        session.ask("1", "safe", "{}")?;
        let menu = icon.menu()?;
        anyhow::ensure!(menu.named(BLOCK).is_some(), "{}", menu.drawn());

        // While the pointer is on it, the agent goes on.
        session.ask("2", "alpha", "{}")?;
        session.ask("3", "beta", "{}")?;
        wait_tip(app, "3 calls today")?;
        anyhow::ensure!(icon.read_again(&menu)? == menu.texts(), "an entry says something else by now");
        anyhow::ensure!(
            icon.layout()? == menu,
            "another menu under the pointer:\n{}",
            icon.layout()?.drawn()
        );

        icon.click_in(&menu, BLOCK)?;
        app.until(&mut session, "safe", true)?;
        for tool in ["alpha", "beta"] {
            let answer = session.ask(&format!("\"{tool}\""), tool, "{}")?;
            anyhow::ensure!(!is_refusal(&answer), "{tool} was never meant: {}", answer.to_text());
        }
        Ok(())
    });
}

#[test]
fn a_blocked_tool_is_offered_to_be_allowed_and_its_block_says_where_it_does_not_hold() -> anyhow::Result<()> {
    let bench = Bench::new(OPEN_POLICY)?;
    let file = bench.path("desktop/settings/Claude/claude_desktop_config.json");
    std::fs::create_dir_all(file.parent().context("a folder")?)?;
    std::fs::write(&file, format!(r#"{{"mcpServers":{{"{SERVER}":{{"command":"true"}}}}}}"#))?;
    scene_on("tray-blocked", bench, Around::Tray, |app| {
        let icon = app.icon()?;
        let mut session = app.session()?;
        session.ask("1", "safe", "{}")?;
        session.ask("2", "alpha", "{}")?;
        // A rule for everyone: it is to hold for Claude Desktop too, whose server runs without the gate.
        let blocked = app.bench.callgate(["block", SERVER, "safe"])?.output()?;
        anyhow::ensure!(blocked.status.success(), "{blocked:?}");
        app.driver.wait("the menu knows that it is blocked", |_| {
            let menu = icon.layout()?;
            Ok((menu.named("Allow safe…").is_some() && menu.named(BLOCK).is_none()).then_some(()))
        })?;
        icon.click("Allow safe…")?;
        app.driver.the("question")?;
        anyhow::ensure!(is_refusal(&session.ask("3", "safe", "{}")?), "not before somebody said yes");
        // The window's note says the same of its own act.
        app.say_yes()?;
        app.driver.says("toast", UNSEEN)?;
        icon.click("Pause server")?;
        let told =
            || anyhow::Ok(app.notices()?.about("Paused corpus").iter().any(|one| one.body.contains(UNSEEN)));
        app.driver.wait("the tray says so too", |_| Ok(told()?.then_some(())))?;
        Ok(())
    });
    Ok(())
}

/// What whoever acts on a server has to know of it.
const UNSEEN: &str = "corpus is not behind the gate in Claude Desktop: its calls there are not seen";

#[test]
fn an_entry_of_a_closed_menu_never_means_another_tool() {
    scene("tray-old-menu", OPEN_POLICY, Around::Tray, |app| {
        let icon = app.icon()?;
        let mut session = app.session()?;
        session.ask("1", "safe", "{}")?;
        let old = icon.menu()?;
        icon.close()?;
        session.ask("2", "alpha", "{}")?;
        session.ask("3", "beta", "{}")?;
        app.driver.wait("a closed menu is brought up to date", |_| {
            Ok(icon.layout()?.named("Block beta for tester").map(drop))
        })?;
        // A panel that is slow to notice.
        icon.click_in(&old, BLOCK)?;
        app.until(&mut session, "safe", true)?;
        let answer = session.ask("4", "beta", "{}")?;
        anyhow::ensure!(!is_refusal(&answer), "beta was never meant: {}", answer.to_text());
        Ok(())
    });
}

#[test]
fn the_tip_begins_with_the_need_and_opposite_states_look_different() -> anyhow::Result<()> {
    let bench = Bench::new(OPEN_POLICY)?;
    // The app watches the folder, not what may come to be in folders that are not there yet.
    let file = bench.path("desktop/settings/Claude/claude_desktop_config.json");
    std::fs::create_dir_all(file.parent().context("a folder")?)?;
    scene_on("tray-states", bench, Around::Tray, |app| {
        let icon = app.icon()?;
        let quiet = icon.pixels()?;
        anyhow::ensure!(icon.tip()?.starts_with("All quiet (Callgate: "), "{}", icon.tip()?);
        icon.click("Pause all")?;
        wait_tip(app, "Paused: every call is refused")?;
        let paused = icon.pixels()?;
        anyhow::ensure!(paused != quiet, "paused looks like quiet");

        // A client with a server that no gate stands in front of: worse than a pause.
        std::fs::write(&file, r#"{ "mcpServers": { "open": { "command": "true" } } }"#)?;
        wait_tip(app, "Not protecting: 1 server runs without the gate")?;
        anyhow::ensure!(![quiet, paused].contains(&icon.pixels()?), "not protecting looks like another");
        let menu = icon.menu()?.drawn();
        anyhow::ensure!(menu.contains("[1 server is not protected]\nProtect…"), "{menu}");
        Ok(())
    });
    Ok(())
}

#[test]
fn pause_all_from_the_tray_holds_when_the_app_is_killed_and_ends_only_after_a_question() {
    scene("pause-all", OPEN_POLICY, Around::Tray, |app| {
        let icon = app.icon()?;
        let mut session = app.session()?;
        anyhow::ensure!(!is_refusal(&session.ask("1", "safe", "{}")?));
        icon.click("Pause all")?;
        let answer = app.until(&mut session, "safe", true)?;
        let words = result_text(&answer).unwrap_or_default().to_owned();
        anyhow::ensure!(words.contains("paused"), "{words}");
        app.driver.the("pause-banner")?;

        // Resuming loosens: the tray only leads to the question.
        icon.click("Resume all…")?;
        app.driver.the("question")?;
        anyhow::ensure!(is_refusal(&session.ask("3", "safe", "{}")?), "not before somebody said yes");

        app.kill()?;
        anyhow::ensure!(is_refusal(&session.ask("4", "safe", "{}")?), "still paused without the app");
        Ok(())
    });
}

#[test]
fn closing_hides_a_second_start_shows_and_quit_ends() {
    scene("second-start", OPEN_POLICY, Around::Tray, |app| {
        let icon = app.icon()?;
        wait_shown(app, true);
        close_window(app)?;
        wait_shown(app, false);
        let goes_on = || anyhow::Ok(app.notices()?.about("goes on in the tray").len());
        app.driver.wait("the first close says where it went", |_| Ok((goes_on()? == 1).then_some(())))?;

        let (content, words) = app.start_again(&["--open", "settings"])?;
        anyhow::ensure!(content, "the second start failed: {words}");
        wait_shown(app, true);
        app.driver.the("settings-theme-dark")?;

        close_window(app)?;
        wait_shown(app, false);
        icon.activate()?;
        wait_shown(app, true);

        anyhow::ensure!(goes_on()? == 1, "not again");
        let pid = app.pid()?;
        icon.click("Quit")?;
        callgate_tests::session::gone("the app", pid, PATIENCE);
        Ok(())
    });
}

#[test]
fn a_page_that_nobody_wants_is_let_go_and_comes_back() {
    scene("let-go", OPEN_POLICY, Around::Tray, |app| {
        let icon = app.icon()?;
        let pid = app.pid()?;
        let web_processes = || children(pid).len();
        anyhow::ensure!(web_processes() > 0, "the page has processes of its own");
        close_window(app)?;
        wait_shown(app, false);
        anyhow::ensure!(web_processes() > 0, "not at once");
        app.pass(Duration::from_secs(5 * 60))?;
        let script = "web processes are gone";
        eventually(script, PATIENCE, || (!is_page_there(pid)).then_some(()));
        anyhow::ensure!(icon.menu()?.named("Open Callgate").is_some(), "the tray lives on");
        icon.click("Open Callgate")?;
        wait_shown(app, true);
        eventually("the page is there again", PATIENCE, || is_page_there(pid).then_some(()));
        Ok(())
    });
}

fn is_page_there(app: u32) -> bool {
    children(app).iter().any(|pid| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.starts_with("WebKitWebProces")
    })
}

#[test]
fn without_a_tray_the_window_works_and_says_so() {
    for (name, around) in [("no-host", Around::NoHost), ("no-bus", Around::NoBus)] {
        scene(name, OPEN_POLICY, around, |app| {
            app.driver.says("need", "There is no tray icon")?;
            app.go("#/activity")?;
            let mut session = app.session()?;
            session.ask("1", "safe", "{}")?;
            app.row("the call", "[data-decision=\"allowed\"]")?;
            // Hidden it could not be found again.
            let pid = app.pid()?;
            close_window(app)?;
            callgate_tests::session::gone("the app", pid, PATIENCE);
            Ok(())
        });
    }
}

#[test]
fn the_program_is_put_into_the_home() {
    scene("installed", OPEN_POLICY, Around::Tray, |app| {
        let installed = app.bench.home().join("bin/callgate");
        eventually("bin/callgate", PATIENCE, || installed.exists().then_some(()));
        let output = std::process::Command::new(&installed).arg("--version").output()?;
        anyhow::ensure!(output.status.success(), "it does not run");
        Ok(())
    });
}
