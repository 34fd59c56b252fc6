//! Finding calls, taking them along, and seeing what servers take.

use anyhow::Context as _;
use callgate_app_tests::app::{App, Around, scene, tree};
use callgate_tests::gate::OPEN_POLICY;
use callgate_tests::processes::own_memory;

use crate::passed;

#[test]
fn search_finds_a_word_of_an_argument_and_nothing_else() {
    scene("search", OPEN_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        session.ask("1", "safe", r#"{"note":"a quiet marmalade"}"#)?;
        session.ask("2", "safe", r#"{"note":"nothing of the kind"}"#)?;
        app.driver.wait("both calls", |driver| {
            Ok((driver.find("[data-testid=\"row\"][data-kind=\"call\"]")?.len() == 2).then_some(()))
        })?;
        let search = app.driver.the("search")?;
        app.driver.type_into(&search, "marmalade")?;
        app.driver.wait("one call left", |driver| {
            let rows = driver.find("[data-testid=\"row\"][data-kind=\"call\"]")?;
            let [row] = rows.as_slice() else { return Ok(None) };
            Ok(driver.text(row)?.contains("marmalade").then_some(()))
        })?;
        let address = app.driver.script("return location.hash", &[])?;
        anyhow::ensure!(address.as_str().is_some_and(|hash| hash.contains("q=marmalade")), "{address}");
        Ok(())
    });
}

#[test]
fn what_the_filter_shows_is_exported_in_every_form() {
    scene("exports", OPEN_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        session.ask("1", "safe", r#"{"note":"marmalade <script>alert(1)</script>"}"#)?;
        session.ask("2", "safe", r#"{"note":"nothing of the kind"}"#)?;
        // A name that a table program would run.
        session.ask("3", "=SUM(1+1)", r#"{"note":"more marmalade"}"#)?;
        let search = app.driver.the("search")?;
        app.driver.type_into(&search, "marmalade")?;
        app.driver.wait("two calls left", |driver| {
            Ok((driver.find("[data-testid=\"row\"][data-kind=\"call\"]")?.len() == 2).then_some(()))
        })?;

        let lines = export(app, "jsonl", "jsonl")?;
        let calls: Vec<serde_json::Value> =
            lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let tools: Vec<_> = calls.iter().map(|call| call["tool"].as_str().unwrap_or_default()).collect();
        anyhow::ensure!(tools == ["safe", "=SUM(1+1)"], "{lines}");
        anyhow::ensure!(calls[1]["args"]["note"] == "more marmalade", "{lines}");

        let table = export(app, "csv", "csv")?;
        anyhow::ensure!(table.lines().count() == 3, "a head and two calls:\n{table}");
        anyhow::ensure!(table.contains(",\"'=SUM(1+1)\","), "a formula stays a text:\n{table}");
        anyhow::ensure!(!table.contains("nothing of the kind"), "{table}");

        for (choice, extension) in [("html", "html"), ("markdown", "md")] {
            let report = export(app, choice, extension)?;
            anyhow::ensure!(report.contains("SUM"), "its calls:\n{report}");
            anyhow::ensure!(!report.contains("nothing of the kind"), "{report}");
            anyhow::ensure!(!report.contains("<script>"), "text of others is text:\n{report}");
        }
        Ok(())
    });
}

/// Exports in the window; gives what is in the file that the window says it wrote.
fn export(app: &App, choice: &str, extension: &str) -> anyhow::Result<String> {
    app.driver.press("export")?;
    app.driver.press(&format!("export-{choice}"))?;
    let (said, ending) =
        (format!("Exported 2 calls to {}", app.desktop.person().display()), format!(".{extension}"));
    // Read as it is in the page: a note is gone again before a slow driver has seen it slide in.
    let notes = "return [...document.querySelectorAll('[data-testid=\"toast\"] .words')].map((one) => one.textContent.trim())";
    let words = app.driver.wait(&format!("{said}/….{extension}"), |driver| {
        let notes = driver.script(notes, &[])?;
        let notes = notes.as_array().into_iter().flatten().filter_map(|one| one.as_str());
        Ok(notes.rev().find(|one| one.starts_with(&said) && one.ends_with(&ending)).map(str::to_owned))
    })?;
    let path = words.split_once(" to ").context("no path")?.1;
    std::fs::read_to_string(path).with_context(|| path.to_owned())
}

#[test]
fn servers_show_what_the_whole_tree_takes_until_the_session_ends() {
    scene("usage", OPEN_POLICY, Around::Tray, |app| {
        app.go("#/servers")?;
        let mut session = app.session()?;
        passed(&mut session, "1", "safe")?;
        let line = "[data-testid=\"server-corpus\"] [data-testid=\"server-memory\"] path.line[d^=\"M\"]";
        app.driver.one(line)?;
        let below = tree(session.pid());
        anyhow::ensure!(below.len() > 2, "a shim, its keeper and the server: {below:?}");
        let words = app.driver.says("server-memory", &format!("{} processes", below.len()))?;
        let shown = shown_bytes(&words).with_context(|| words.clone())?;
        let largest = below.iter().filter_map(|pid| own_memory(*pid)).max().unwrap_or_default();
        anyhow::ensure!(shown > largest as f64, "{words}, but one of them alone takes {largest} bytes");

        session.finish()?;
        app.driver.wait("nothing is taken any more", |driver| {
            let gone = driver.find(line)?.is_empty();
            let memory = driver.find("[data-testid=\"server-memory\"] dd")?;
            let Some(memory) = memory.first() else { return Ok(None) };
            Ok((gone && driver.text(memory)? == "–").then_some(()))
        })
    });
}

/// From "Memory, 3 processes 23.4 MB".
fn shown_bytes(words: &str) -> Option<f64> {
    let mut parts = words.split_whitespace().rev();
    let unit = match parts.next()? {
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    Some(parts.next()?.parse::<f64>().ok()? * unit)
}
