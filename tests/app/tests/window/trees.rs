//! The process trees of servers, and what a killed session leaves.

use callgate_app_tests::app::{App, Around, scene, tree};
use callgate_app_tests::driver::PATIENCE;
use callgate_tests::gate::OPEN_POLICY;
use callgate_tests::processes::{eventually, is_alive, pids_in, signal};
use callgate_tests::session::Session;
use rustix::process::Signal;

use crate::passed;

/// A session whose server has a child that left its group, its parent and its session.
fn with_grandchild(app: &App) -> anyhow::Result<(Session, u32, u32)> {
    let mut session = app.session_with(&["--grandchild", "--ignore-term"])?;
    passed(&mut session, "1", "safe")?;
    let pids = eventually("the server's processes", PATIENCE, || {
        let pids = pids_in(&app.bench.path("pids"));
        pids.iter().any(|(name, _)| name == "grandchild").then_some(pids)
    });
    let of = |wanted: &str| pids.iter().find(|(name, _)| name == wanted).map(|(_, pid)| *pid);
    Ok((session, of("keeper").unwrap_or_default(), of("grandchild").unwrap_or_default()))
}

#[test]
fn a_server_shows_its_tree_and_its_tree_can_be_ended() {
    scene("tree", OPEN_POLICY, Around::Tray, |app| {
        let (mut session, _, grandchild) = with_grandchild(app)?;
        app.go("#/servers/corpus")?;
        let below = tree(session.pid());
        anyhow::ensure!(below.len() >= 4, "gate, keeper, server, and its child: {below:?}");
        // As it is in the page: a driver gives a row's text without blanks between its cells.
        let column = "return [...document.querySelectorAll('[data-testid=\"tree\"] [data-testid=\"process\"] td:nth-child(2)')].map((cell) => cell.textContent.trim())";
        app.driver.wait("every process of the tree", |driver| {
            let shown = driver.script(column, &[])?;
            let shown: Vec<&str> =
                shown.as_array().into_iter().flatten().filter_map(|one| one.as_str()).collect();
            let missing: Vec<_> =
                below.iter().filter(|pid| !shown.contains(&pid.to_string().as_str())).collect();
            anyhow::ensure!(missing.is_empty(), "{missing:?} is not among {shown:?}");
            Ok(Some(()))
        })?;
        let words = app.driver.says("tree", "keeper")?;
        anyhow::ensure!(words.contains("gate") && words.contains("fake-server"), "{words}");
        app.driver.press("end-tree")?;
        app.driver.says("loss", "ends with all that it started")?;
        app.driver.press("loss-go")?;
        session.ended(PATIENCE)?;
        anyhow::ensure!(!is_alive(grandchild));
        Ok(())
    });
}

#[test]
fn what_a_killed_session_left_is_offered_and_ended() {
    scene("leftovers", OPEN_POLICY, Around::Tray, |app| {
        let (session, keeper, grandchild) = with_grandchild(app)?;
        app.go("#/servers")?;
        anyhow::ensure!(app.driver.find("[data-testid=\"leftovers\"]")?.is_empty(), "it lives");
        // Neither can do anything about the other's end.
        signal(keeper, Signal::STOP);
        session.signal(Signal::KILL);
        signal(keeper, Signal::KILL);
        eventually("the keeper is gone", PATIENCE, || (!is_alive(keeper)).then_some(()));
        anyhow::ensure!(is_alive(grandchild), "somebody is left");
        // The section looks when it is opened.
        app.go("#/activity")?;
        app.go("#/servers")?;
        app.driver.says("leftovers", "1 process of a session")?;
        app.driver.press("leftovers-end")?;
        eventually("it is ended", PATIENCE, || (!is_alive(grandchild)).then_some(()));
        app.driver.wait("nothing is offered any more", |driver| {
            Ok(driver.find("[data-testid=\"leftovers\"]")?.is_empty().then_some(()))
        })
    });
}
