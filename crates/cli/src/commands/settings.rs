//! `callgate settings`: what `settings.json` says and what counts without it, changed one key at a time.

use std::process::ExitCode;
use std::sync::Arc;

use callgate_desk::{Desk, SettingValue};
use callgate_home::Home;
use callgate_home::clock::SystemClock;
use callgate_journal::Origin;
use serde_json::{Value, json};

use crate::args::{SettingsArgs, SettingsCommand};
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &SettingsArgs) -> anyhow::Result<ExitCode> {
    let desk = Desk::new(Home::locate()?, Arc::new(SystemClock::default()), Origin::Cli);
    match &args.command {
        None => Ok(list(&desk, args.json)),
        Some(SettingsCommand::Get { key }) => {
            let one = desk.setting_value(key)?;
            Screen::new().line(&match args.json {
                true => as_json(&one).to_string(),
                false => screen::harmless(plain(&one.value)),
            });
            if let Some(why) = &one.unusable {
                screen::hint(&format!(
                    "what {} says cannot be used: {}",
                    desk.home().settings().display(),
                    screen::harmless(why)
                ));
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(SettingsCommand::Set { key, value }) => set(&desk, key, value),
        Some(SettingsCommand::Check) => Ok(check(&desk)),
    }
}

fn list(desk: &Desk, json: bool) -> ExitCode {
    let screen = Screen::new();
    let values = desk.setting_values();
    if json {
        values.iter().for_each(|one| screen.line(&as_json(one).to_string()));
        return ExitCode::SUCCESS;
    }
    let width = |length: fn(&SettingValue) -> usize| values.iter().map(length).max().unwrap_or(0);
    let (names, shown) = (width(|one| one.key.name.len()), width(|one| one.value.chars().count()).min(40));
    for one in &values {
        let from = match (&one.unusable, one.from_file) {
            (Some(_), _) => "broken",
            (None, true) => "set",
            (None, false) => "default",
        };
        screen.line(&format!(
            "{}  {}  {}  {}",
            screen::pad(one.key.name, names),
            screen::pad(&screen::harmless(plain(&one.value)), shown),
            screen::pad(from, 7),
            screen.paint(screen::DIM, one.key.meaning),
        ));
    }
    let path = desk.home().settings();
    let there = if path.exists() { "" } else { " (not there yet: the defaults count)" };
    screen.line(&screen.paint(screen::DIM, &format!("{}{there}", path.display())));
    problems(desk, &screen);
    ExitCode::SUCCESS
}

/// Says what is wrong with the file, and whether there is anything.
fn problems(desk: &Desk, screen: &Screen) -> bool {
    let problems = desk.settings_problems();
    for problem in &problems {
        screen.line(&screen.paint(screen::WARN, &screen::harmless(problem)));
    }
    !problems.is_empty()
}

fn check(desk: &Desk) -> ExitCode {
    let screen = Screen::new();
    if problems(desk, &screen) {
        return ExitCode::FAILURE;
    }
    let path = desk.home().settings();
    screen.line(&match path.exists() {
        true => format!("{}: good", path.display()),
        false => format!("{} is not there: the defaults count", path.display()),
    });
    ExitCode::SUCCESS
}

fn set(desk: &Desk, key: &str, value: &str) -> anyhow::Result<ExitCode> {
    let change = desk.plan_setting(key, value)?;
    let screen = Screen::new();
    let said = |value: &str| screen::harmless(plain(value));
    if !change.is_needed() {
        screen.line(&format!("Nothing to change: {} is {} already.", change.key.name, said(&change.after)));
        return Ok(ExitCode::SUCCESS);
    }
    if !change.loosened.is_empty() {
        confirm::loosening(&change.loosened.join("; "), "settings")?;
    }
    desk.make_setting(&change)?;
    screen.line(&format!(
        "{} is {} now (it was {}).",
        change.key.name,
        said(&change.after),
        said(&change.before)
    ));
    if change.key.name.starts_with("record.") {
        screen::hint("it counts from the next session of a server on");
    }
    Ok(ExitCode::SUCCESS)
}

/// Text without its quotes; everything else as JSON.
fn plain(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}

fn as_json(one: &SettingValue) -> Value {
    let value: Value = serde_json::from_str(&one.value).unwrap_or_else(|_| one.value.clone().into());
    let from = if one.from_file { "file" } else { "default" };
    let mut all = json!({ "key": one.key.name, "value": value, "from": from, "meaning": one.key.meaning });
    if let Some(why) = &one.unusable {
        all["unusable"] = why.as_str().into();
    }
    all
}
