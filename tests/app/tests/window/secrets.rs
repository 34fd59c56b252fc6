//! Secrets of a client's file, moved into a real keychain and put back, from the window.

use std::fs;
use std::path::PathBuf;

use callgate_app_tests::app::{App, Around, scene_on};
use callgate_tests::gate::{Bench, OPEN_POLICY, program};
use callgate_tests::keychain::Keyring;
use serde_json::json;

const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
const REFERENCE: &str = "keychain://callgate/";

/// Cursor with one server that has a token, written with escapes and spaces that only the original text has.
fn cursor(bench: &Bench) -> anyhow::Result<PathBuf> {
    let folder = bench.path("desktop").join("person/.cursor");
    fs::create_dir_all(&folder)?;
    let server = json!(program("fake-server")?);
    let file = folder.join("mcp.json");
    let token = TOKEN.replacen("ghp", "g\\u0068p", 1);
    fs::write(
        &file,
        format!(
            "{{ // mine\n\t\"mcpServers\": {{ \"notes\": {{\"command\": {server}, \"args\": [ ],\n\"env\": {{ \"GITHUB_TOKEN\" : \"{token}\" }} }} }}\n}}\n"
        ),
    )?;
    Ok(file)
}

/// Says yes, once that counts.
fn say_yes(app: &App) -> anyhow::Result<()> {
    app.driver.press_css("[data-testid=\"secrets-yes\"][aria-disabled=\"false\"]")
}

fn gone(app: &App, id: &str) -> anyhow::Result<()> {
    app.driver.wait(&format!("{id} is gone"), |driver| {
        Ok(driver.find(&format!("[data-testid=\"{id}\"]"))?.is_empty().then_some(()))
    })
}

#[test]
fn a_token_moves_into_the_keychain_serves_its_server_and_comes_back_byte_for_byte() {
    let bench = Bench::new(OPEN_POLICY).unwrap_or_else(|error| panic!("{error:#}"));
    let file = cursor(&bench).unwrap_or_else(|error| panic!("{error:#}"));
    let text = || fs::read_to_string(&file).unwrap_or_default();
    scene_on("secrets", bench, Around::Tray, |app| {
        app.go("#/clients")?;
        app.driver.says("secrets-plain", "1 secret in plain text: GITHUB_TOKEN")?;
        app.driver.press("entry-protect")?;
        app.driver.press_css("[data-testid=\"edits-yes\"][aria-disabled=\"false\"]")?;
        app.driver.wait("it is protected", |_| Ok(text().contains("bin/callgate").then_some(())))?;
        gone(app, "edits-dialog")?;
        let gated = text();

        // Nobody on the bus keeps secrets: that is said, and nothing is moved.
        app.driver.press("secrets-move")?;
        app.driver.says("secrets-names", "GITHUB_TOKEN")?;
        app.driver.says("diff", REFERENCE)?;
        say_yes(app)?;
        app.driver.says("secrets-problem", "no keychain can be reached here")?;
        anyhow::ensure!(text() == gated, "{}", text());

        let bus = app.desktop.bus.clone().unwrap_or_default();
        let _keyring = Keyring::on(&bus, &app.bench.path("keyring"))?;
        say_yes(app)?;
        app.driver.says("secrets-kept", "1 secret in the keychain: GITHUB_TOKEN")?;
        gone(app, "secrets-dialog")?;
        anyhow::ensure!(text().contains(REFERENCE) && !text().contains("a1B2c3D4"), "{}", text());
        app.driver.press("entry-test")?;
        app.driver.says("entry-answer", "12 tools")?;

        app.driver.press("secrets-back")?;
        say_yes(app)?;
        app.driver.wait("the file is what it was", |_| Ok((text() == gated).then_some(())))?;
        app.driver.says("secrets-plain", "1 secret in plain text")?;
        let page = app.driver.page();
        anyhow::ensure!(!page.contains("a1B2c3D4"), "{page}");
        Ok(())
    });
}
