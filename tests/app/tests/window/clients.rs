//! Clients and their servers: put behind the gate from the first screen, guarded, and given back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use callgate_app_tests::app::{App, Around, scene_on};
use callgate_tests::gate::{Bench, OPEN_POLICY, program};
use callgate_tests::processes::{is_alive, signal};
use rustix::process::Signal;
use serde_json::json;

/// Claude Desktop as far as its file and its process go.
struct Claude {
    program: PathBuf,
    config: PathBuf,
    notes: PathBuf,
    original: String,
}

impl Claude {
    /// With one server that can be covered and one that cannot.
    fn on(bench: &Bench) -> anyhow::Result<Claude> {
        let desktop = bench.path("desktop");
        let config = desktop.join("settings/Claude/claude_desktop_config.json");
        let program_folder = desktop.join("usr/lib/claude-desktop");
        fs::create_dir_all(config.parent().unwrap_or(&desktop))?;
        fs::create_dir_all(&program_folder)?;
        let server = json!(program("fake-server")?);
        // With a comment's worth of odd spacing: it has to come back as it is.
        let original = format!(
            "{{\n\t\"mcpServers\": {{\n\t\t\"notes\": {{ \"command\": {server}, \"args\": [] }},\n\t\t\"far\":  {{ \"url\": \"https://example.com/mcp\" }}\n\t}},\n\t\"scale\": 0\n}}\n"
        );
        fs::write(&config, &original)?;
        let program = program_folder.join("claude-desktop");
        fs::copy(env!("CARGO_BIN_EXE_claude-stand-in"), &program)?;
        Ok(Claude { program, config, notes: desktop.join("starts"), original })
    }

    fn start(&self, app: &App) -> anyhow::Result<Started> {
        let mut command = Command::new(&self.program);
        app.desktop.host(&mut command);
        command.arg(&self.config).arg(&self.notes).stdin(Stdio::null()).stdout(Stdio::null());
        // Written a moment ago: another test's fork may still have it open.
        let child = app.driver.wait("the stand-in starts", |_| Ok(command.spawn().ok()))?;
        app.driver.wait("the stand-in has started its servers", |_| Ok(self.pid().map(drop)))?;
        Ok(Started(child))
    }

    /// The newest of its processes.
    fn pid(&self) -> Option<u32> {
        fs::read_to_string(&self.notes).ok()?.lines().last()?.parse().ok()
    }

    fn config(&self) -> String {
        fs::read_to_string(&self.config).unwrap_or_default()
    }

    fn is_gated(&self) -> bool {
        self.config().contains("bin/callgate")
    }
}

/// Who started it has to take note of its end: until then it counts as running.
struct Started(Child);

impl Started {
    fn reap(mut self) -> std::thread::JoinHandle<()> {
        std::thread::spawn(move || drop(self.0.wait()))
    }
}

impl Drop for Claude {
    fn drop(&mut self) {
        for pid in
            fs::read_to_string(&self.notes).unwrap_or_default().lines().filter_map(|line| line.parse().ok())
        {
            if is_alive(pid) && exe(pid) == Some(self.program.clone()) {
                signal(pid, Signal::KILL);
            }
        }
    }
}

fn exe(pid: u32) -> Option<PathBuf> {
    fs::read_link(Path::new("/proc").join(pid.to_string()).join("exe")).ok()
}

/// Waits until a step of the checklist is done.
fn done(app: &App, step: &str) -> anyhow::Result<()> {
    app.driver.one(&format!("[data-testid=\"step-{step}\"][data-mark=\"done\"]")).map(drop)
}

#[test]
fn a_newcomer_protects_a_running_claude_in_two_clicks_and_takes_it_back() {
    let bench = Bench::new(OPEN_POLICY).unwrap_or_else(|error| panic!("{error:#}"));
    let claude = Claude::on(&bench).unwrap_or_else(|error| panic!("{error:#}"));
    scene_on("first-run", bench, Around::Tray, |app| {
        let first = claude.start(app)?.reap();
        app.go("#/welcome")?;
        done(app, "found")?;
        app.driver.says("edit-claude-desktop", "run")?;
        app.driver.press("checklist-protect")?;
        // It runs, so the change waits, and nothing is written that it would write over.
        app.driver.one("[data-testid=\"step-quit\"][data-mark=\"now\"]")?;
        anyhow::ensure!(claude.config() == claude.original, "{}", claude.config());
        app.driver.press("reopen-claude-desktop")?;
        for step in ["written", "started", "connected"] {
            done(app, step)?;
        }
        anyhow::ensure!(first.join().is_ok(), "the first one has quit");
        anyhow::ensure!(claude.is_gated(), "{}", claude.config());
        anyhow::ensure!(claude.config().contains("\"far\":  { \"url\""), "every other byte stays");
        let pid = app.driver.wait("it runs again", |_| Ok(claude.pid().filter(|pid| is_alive(*pid))))?;
        signal(pid, Signal::USR1);
        done(app, "called")?;

        app.driver.press("checklist-undo")?;
        app.driver.press_css("[data-testid=\"edits-yes\"][aria-disabled=\"false\"]")?;
        app.go("#/clients")?;
        app.driver.one("[data-testid=\"client-queued\"]")?;
        app.driver.press("reopen-claude-desktop")?;
        app.driver.wait("the file is what it was", |_| Ok((claude.config() == claude.original).then_some(())))
    });
}

#[test]
fn servers_that_claude_wiped_are_told_of_and_restored_behind_the_gate() {
    let bench = Bench::new(OPEN_POLICY).unwrap_or_else(|error| panic!("{error:#}"));
    let claude = Claude::on(&bench).unwrap_or_else(|error| panic!("{error:#}"));
    scene_on("wiped", bench, Around::Tray, |app| {
        app.go("#/clients")?;
        app.driver.says("entry-far", "network")?;
        protect(app, &claude)?;
        app.driver.press_css("[data-testid=\"entry-notes\"] [data-testid=\"entry-test\"]")?;
        app.driver.says("entry-answer", "12 tools")?;

        // What Claude Desktop leaves when it could not read its file.
        fs::write(&claude.config, "{\n  \"scale\": 0\n}")?;
        app.driver.wait("the tray says that it is not protecting", |_| {
            Ok(app.icon()?.menu()?.drawn().contains("lost all its servers").then_some(()))
        })?;
        app.driver.press("drift-restore")?;
        app.driver.press_css("[data-testid=\"restore-yes\"][aria-disabled=\"false\"]")?;
        app.driver.wait("it is back behind the gate", |_| Ok(claude.is_gated().then_some(())))?;
        nothing_is_wrong(app)?;

        // A server that a person added is asked about, and left as it is if they say so.
        let added = claude.config().replacen("\"far\"", "\"more\": { \"command\": \"uvx\" }, \"far\"", 1);
        fs::write(&claude.config, &added)?;
        app.driver.says("drift", "more is new and not protected")?;
        app.driver.press("drift-leave")?;
        nothing_is_wrong(app)?;
        anyhow::ensure!(claude.config() == added, "nothing is written: {}", claude.config());
        Ok(())
    });
}

fn nothing_is_wrong(app: &App) -> anyhow::Result<()> {
    app.driver.wait("nothing is wrong any more", |driver| {
        Ok(driver.find("[data-testid=\"drift\"]")?.is_empty().then_some(()))
    })
}

/// Puts `notes` behind the gate, with lost gates put back by themselves from then on. Nobody looks at the window any more, so
/// that what happens is told by notifications.
fn protected_and_guarded(app: &App, claude: &Claude) -> anyhow::Result<()> {
    app.go("#/settings")?;
    app.driver.press("settings-repair")?;
    app.driver.says("toast", "A lost gate is put back by itself")?;
    app.go("#/clients")?;
    protect(app, claude)?;
    app.desktop.look_elsewhere()
}

fn protect(app: &App, claude: &Claude) -> anyhow::Result<()> {
    app.driver.press_css("[data-testid=\"entry-notes\"] [data-testid=\"entry-protect\"]")?;
    app.driver.press_css("[data-testid=\"edits-yes\"][aria-disabled=\"false\"]")?;
    app.driver.wait("it is protected", |_| Ok(claude.is_gated().then_some(())))
}

/// Waits until so many notifications about this came.
fn told(app: &App, words: &str, times: usize) -> anyhow::Result<()> {
    app.driver.wait(&format!("{words:?} was told {times} times"), |_| {
        let all = app.notices()?.about(words);
        anyhow::ensure!(all.len() <= times, "{all:?}");
        Ok((all.len() == times).then_some(()))
    })
}

#[test]
fn a_lost_gate_is_put_back_by_itself_three_times_an_hour_and_then_left_to_a_person() {
    let bench = Bench::new(OPEN_POLICY).unwrap_or_else(|error| panic!("{error:#}"));
    let claude = Claude::on(&bench).unwrap_or_else(|error| panic!("{error:#}"));
    scene_on("repaired", bench, Around::Tray, |app| {
        protected_and_guarded(app, &claude)?;
        let gated = claude.config();
        for time in 1..=3 {
            app.pass(Duration::from_secs(60))?;
            fs::write(&claude.config, &claude.original)?;
            app.driver.wait("the gate is back", |_| Ok((claude.config() == gated).then_some(())))?;
            told(app, "A lost gate was put back", time)?;
        }
        fs::write(&claude.config, &claude.original)?;
        let words = "Another program keeps taking the gate away";
        app.driver.says("drift", words)?;
        app.driver
            .wait("the tray says so", |_| Ok(app.icon()?.menu()?.drawn().contains(words).then_some(())))?;
        told(app, words, 1)?;
        told(app, "A lost gate was put back", 3)?;
        anyhow::ensure!(claude.config() == claude.original, "it is left: {}", claude.config());
        app.go("#/activity")?;
        app.row("the log has it", ".event")?;

        // A person's own click starts it again.
        app.go("#/clients")?;
        protect(app, &claude)?;
        fs::write(&claude.config, &claude.original)?;
        app.driver.wait("the gate is back", |_| Ok((claude.config() == gated).then_some(())))?;
        told(app, "A lost gate was put back", 4)
    });
}

#[test]
fn a_gate_that_a_running_claude_lost_is_put_back_when_it_has_quit() {
    let bench = Bench::new(OPEN_POLICY).unwrap_or_else(|error| panic!("{error:#}"));
    let claude = Claude::on(&bench).unwrap_or_else(|error| panic!("{error:#}"));
    scene_on("repaired-later", bench, Around::Tray, |app| {
        protected_and_guarded(app, &claude)?;
        let running = claude.start(app)?;
        let pid = running.0.id();
        let reaped = running.reap();
        fs::write(&claude.config, &claude.original)?;
        app.driver.says("client-queued", "Gate to be put back: notes")?;
        told(app, "A gate is lost", 1)?;
        anyhow::ensure!(claude.config() == claude.original, "it would be written over: {}", claude.config());
        // Without a last word of its own: that would be the file from its memory.
        signal(pid, Signal::KILL);
        anyhow::ensure!(reaped.join().is_ok(), "it has quit");
        app.driver.wait("the gate is back", |_| Ok(claude.is_gated().then_some(())))?;
        told(app, "A lost gate was put back", 1)
    });
}

#[test]
fn a_server_of_ones_own_is_added_to_claude_and_answers_through_the_gate() {
    let bench = Bench::new(OPEN_POLICY).unwrap_or_else(|error| panic!("{error:#}"));
    let claude = Claude::on(&bench).unwrap_or_else(|error| panic!("{error:#}"));
    let server = program("fake-server").unwrap_or_else(|error| panic!("{error:#}"));
    scene_on("own-server", bench, Around::Tray, |app| {
        app.go("#/clients")?;
        app.driver.press("clients-add")?;
        let fill = |id: &str, text: &str| app.driver.type_into(&app.driver.the(id)?, text);
        fill("add-name", "mine")?;
        fill("add-command", &format!("'{}'", server.display()))?;
        app.driver.press("add-variable-more")?;
        fill("add-variable-name", "MODE")?;
        fill("add-variable-value", "fast")?;
        app.driver.press("add-to-claude-desktop")?;
        app.driver.says("edit-claude-desktop", "--server")?;
        anyhow::ensure!(claude.config() == claude.original, "nothing is written before Add");
        app.driver.press_css("[data-testid=\"add-yes\"][aria-disabled=\"false\"]")?;
        app.driver.says("added", "Placed in Claude Desktop, behind the gate")?;
        let now = claude.config();
        let (before, after) = claude.original.split_once("\n\t},\n\t\"scale\"").unwrap_or_default();
        anyhow::ensure!(
            now.starts_with(before) && now.ends_with(after) && claude.is_gated(),
            "every other byte stays: {now}"
        );
        app.driver.press_css("[data-testid=\"added\"] [data-testid=\"entry-test\"]")?;
        app.driver.says("entry-answer", "12 tools")?;
        app.driver.press("add-close")?;
        app.driver.says("entry-mine", "Protected")?;
        // One without a client is known, too.
        app.driver.press("clients-add")?;
        fill("add-name", "later")?;
        fill("add-command", "npx -y later")?;
        app.driver.press_css("[data-testid=\"add-yes\"][aria-disabled=\"false\"]")?;
        app.driver.says("added", "in no client yet")?;
        app.driver.press("add-close")?;
        app.go("#/servers")?;
        app.driver.says("server-later", "never started").map(drop)
    });
}
