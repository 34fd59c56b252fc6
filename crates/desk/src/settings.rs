//! `settings.json`, as a person sees and changes it, from the window and the command line alike. What the file holds
//! besides, its comments and its order stay as they are.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use callgate_controls::Settings;
use callgate_controls::settings::{KEYS, MOST_DAYS, MOST_NAMES, SettingKey, find};
use callgate_history::History;
use callgate_home::{Locked, atomic, try_lock};
use callgate_journal::{EventKind, record_event};
use callgate_policy::Keep;
use callgate_policy::jsonc::{self, Json};

use crate::view::{NotificationSettings, Recording, SettingsView, Theme, UserSettings};
use crate::{Desk, DeskError};

/// How long another change of the settings is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// One setting as it counts now.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingValue {
    pub key: &'static SettingKey,
    /// As JSON.
    pub value: String,
    /// The file says so; otherwise it is the default.
    pub from_file: bool,
    /// Why what the file says cannot be used, and something else counts.
    pub unusable: Option<String>,
}

/// One change of one setting that was worked out and is not written yet.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingChange {
    pub key: &'static SettingKey,
    /// The file says something that cannot be used.
    pub mends: bool,
    /// What counts now, as JSON.
    pub before: String,
    pub after: String,
    /// What is recorded, masked or told less by it, in words.
    pub loosened: Vec<String>,
    value: Json,
}

impl SettingChange {
    pub fn is_needed(&self) -> bool {
        self.mends || self.before != self.after
    }
}

impl Desk {
    /// The settings, and what is true about them now. Whether the app starts at login is the app's to say.
    pub fn settings(&self) -> Result<SettingsView, DeskError> {
        callgate_controls::prepare_home(&self.home)?;
        let history = History::open_reader(&self.home)?;
        let (calls, oldest_ms) = history.extent()?;
        Ok(SettingsView {
            settings: self.user_settings(),
            starts_at_login: false,
            used_bytes: self.used_bytes(),
            calls,
            oldest_ms,
            home: self.home.path().display().to_string(),
            program: self.program().display().to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            problems: Settings::read(&self.home).1,
        })
    }

    /// Writes them; what the file holds besides stays. They count from the next session of a server on.
    pub fn save_settings(&self, settings: &UserSettings) -> Result<SettingsView, DeskError> {
        check(settings)?;
        callgate_controls::prepare_home(&self.home)?;
        let wanted = values(settings);
        let loosened = loosened(&self.user_settings(), settings);
        self.change_settings(&wanted, &loosened)?;
        self.settings()
    }

    /// Every setting with its value, in the order of the table.
    pub fn setting_values(&self) -> Vec<SettingValue> {
        let file = self.settings_file();
        KEYS.iter().map(|key| value_of(&file, key)).collect()
    }

    /// One of them; a name that there is not is told with what was probably meant.
    pub fn setting_value(&self, name: &str) -> Result<SettingValue, DeskError> {
        let key = find(name).map_err(DeskError::NotFound)?;
        Ok(value_of(&self.settings_file(), key))
    }

    /// What is wrong with the file.
    pub fn settings_problems(&self) -> Vec<String> {
        Settings::read(&self.home).1
    }

    /// Works out a change of one setting, as a person types it.
    pub fn plan_setting(&self, name: &str, typed: &str) -> Result<SettingChange, DeskError> {
        let key = find(name).map_err(DeskError::NotFound)?;
        let value = key.parse(typed).map_err(DeskError::BadInput)?;
        if let Err(why) = self.read_settings() {
            let path = self.home.settings();
            return Err(DeskError::BadInput(format!("{} {why}; mend it first", path.display())));
        }
        let before = self.user_settings();
        let mut after = before.clone();
        apply(&mut after, key, &value);
        check(&after)?;
        let present = value_of(&self.settings_file(), key);
        Ok(SettingChange {
            key,
            mends: present.unusable.is_some(),
            before: present.value,
            after: value.to_string(),
            loosened: loosened(&before, &after),
            value,
        })
    }

    /// Makes it. Nobody is asked here: whoever makes a change that loosens has a person's word for it.
    pub fn make_setting(&self, change: &SettingChange) -> Result<(), DeskError> {
        let present = value_of(&self.settings_file(), change.key).value;
        if present != change.before {
            return Err(DeskError::Conflict(format!(
                "{} was changed meanwhile; nothing was written. Look at it, and try again.",
                change.key.name
            )));
        }
        self.change_settings(&[(change.key, change.value.clone())], &change.loosened)
    }

    /// The person was asked whether the app should start at login, and has answered.
    pub fn login_asked(&self) -> Result<(), DeskError> {
        let key = find("app.askedLogin").map_err(DeskError::NotFound)?;
        self.change_settings(&[(key, Json::Bool(true))], &[])
    }

    /// What the person set; what is missing or wrong has its default.
    pub(crate) fn user_settings(&self) -> UserSettings {
        let (store, _) = Settings::read(&self.home);
        let mut settings = UserSettings {
            theme: Theme::System,
            history_days: store.history_days.get(),
            history_megabytes: store.history_megabytes.get(),
            recording: match store.keep {
                Keep::Full => Recording::Full,
                Keep::Keys => Recording::Keys,
                Keep::Nothing => Recording::Nothing,
            },
            mask_names: store.mask,
            notifications: NotificationSettings { blocked: true, alarms: true },
            // Writing without being asked is for those who said so, in a word that cannot be misread.
            repair_gates: false,
        };
        let file = self.settings_file();
        let own = KEYS.iter().filter(|key| key.name.starts_with("app.") || key.name.starts_with("clients."));
        for key in own {
            if let Some(value) = file.at(&key.path()).filter(|value| key.problem(value).is_none()) {
                apply(&mut settings, key, value);
            }
        }
        settings
    }

    /// How the window is to look.
    pub fn theme(&self) -> Theme {
        self.user_settings().theme
    }

    pub(crate) fn asked_about_login(&self) -> bool {
        self.settings_file().at(&["app", "askedLogin"]) == Some(&Json::Bool(true))
    }

    /// The file; why it is no good, if so.
    fn read_settings(&self) -> Result<Json, String> {
        match fs::read_to_string(self.home.settings()) {
            Ok(text) => match jsonc::read(&text) {
                Ok(file @ Json::Object(_)) => Ok(file),
                Ok(_) => Err("is not an object".to_owned()),
                Err(report) => Err(format!("cannot be understood: {}", report.headline())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Json::Object(Vec::new())),
            Err(error) => Err(format!("cannot be read: {error}")),
        }
    }

    /// The file; nothing if it is no good.
    fn settings_file(&self) -> Json {
        self.read_settings().unwrap_or_else(|_| Json::Object(Vec::new()))
    }

    /// Writes these values where the file says otherwise.
    fn change_settings(&self, wanted: &[(&SettingKey, Json)], loosened: &[String]) -> Result<(), DeskError> {
        let path = self.home.settings();
        let fail = |error| DeskError::disk(format!("{} cannot be written", path.display()), error);
        // Of two changes at once, none is lost.
        let _alone = self.settings_alone().map_err(fail)?;
        let now_ms = self.clock.now().wall_ms;
        let mut text = self.settings_text(now_ms)?;
        let before = text.clone();
        for (key, value) in wanted {
            let file = jsonc::read(&text).unwrap_or(Json::Null);
            let said = file.at(&key.path());
            // What is so already, by the file or by default, is not written once more.
            let is_so = said.map_or_else(
                || value.to_string() == key.default,
                |said| key.problem(said).is_none() && key.normal(said) == *value,
            );
            if !is_so {
                text =
                    jsonc::set(&text, &key.path(), value).map_err(|report| fail(io::Error::other(report)))?;
            }
        }
        if !loosened.is_empty() {
            let words = format!("settings: {}", loosened.join("; "));
            record_event(&self.home, now_ms, EventKind::Loosened, None, Some(self.origin), &words)
                .map_err(DeskError::Unrecorded)?;
        }
        if text == before && path.exists() {
            return Ok(());
        }
        atomic::replace(&path, text.as_bytes()).map_err(fail)
    }

    /// The text that a change is made in. One that cannot be understood is copied aside: until the new one is there, it
    /// counts, and it says to record nothing.
    fn settings_text(&self, now_ms: i64) -> Result<String, DeskError> {
        let path = self.home.settings();
        match fs::read_to_string(&path) {
            Ok(text) if matches!(jsonc::read(&text), Ok(Json::Object(_))) => Ok(text),
            Ok(text) => {
                let aside = self.home.path().join(format!("settings.json.broken-{now_ms}"));
                atomic::replace(&aside, text.as_bytes()).map_err(|error| {
                    DeskError::disk(format!("{} cannot be written", aside.display()), error)
                })?;
                Ok(NEW.to_owned())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(NEW.to_owned()),
            Err(error) => Err(DeskError::disk(format!("{} cannot be read", path.display()), error)),
        }
    }

    fn settings_alone(&self) -> io::Result<Locked> {
        callgate_controls::prepare_home(&self.home).map_err(io::Error::other)?;
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(alone) = try_lock(&self.home.settings_lock())? {
                return Ok(alone);
            }
            if Instant::now() >= until {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "somebody else is changing it; try again",
                ));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// What the record takes on the disk.
    fn used_bytes(&self) -> u64 {
        let files = ["history.db", "history.db-wal", "search.db", "search.db-wal"];
        let size = |path: &Path| path.metadata().map_or(0, |meta| meta.len());
        let databases: u64 = files.iter().map(|name| size(&self.home.path().join(name))).sum();
        let in_folder = |folder: &Path| -> u64 {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries
                .filter_map(|entry| entry.metadata().ok())
                .filter(fs::Metadata::is_file)
                .map(|meta| meta.len())
                .sum()
        };
        databases + in_folder(&self.home.logs()) + in_folder(&self.home.spool_dir())
    }
}

/// A file that is begun.
const NEW: &str = "{}\n";

fn value_of(file: &Json, key: &'static SettingKey) -> SettingValue {
    let written = file.at(&key.path()).map(|value| key.normal(value));
    let unusable = written.as_ref().and_then(|value| key.problem(value));
    let said = written.filter(|_| unusable.is_none());
    let value = match &said {
        Some(said) => said.to_string(),
        // Who mistypes what is to be kept does not want everything kept.
        None if unusable.is_some() && key.name == "record.keep" => "\"none\"".to_owned(),
        None => key.default.to_owned(),
    };
    SettingValue { key, value, from_file: said.is_some(), unusable }
}

/// Puts a value that fits into its place.
fn apply(settings: &mut UserSettings, key: &SettingKey, value: &Json) {
    let number = || match value {
        Json::Number(number) => number.parse().unwrap_or(u32::MAX),
        _ => u32::MAX,
    };
    let is = |word: &str| matches!(value, Json::String(own) if own == word);
    let on = *value == Json::Bool(true);
    match key.name {
        "history.days" => settings.history_days = number(),
        "history.megabytes" => settings.history_megabytes = number(),
        "record.keep" => {
            settings.recording = match value {
                _ if is("full") => Recording::Full,
                _ if is("keys") => Recording::Keys,
                _ => Recording::Nothing,
            }
        }
        "record.mask" => {
            let Json::List(names) = value else { return };
            let name = |name: &Json| match name {
                Json::String(name) => Some(name.clone()),
                _ => None,
            };
            settings.mask_names = names.iter().filter_map(name).collect();
        }
        "app.theme" => {
            settings.theme = match value {
                _ if is("light") => Theme::Light,
                _ if is("dark") => Theme::Dark,
                _ => Theme::System,
            }
        }
        "app.notifications.blocked" => settings.notifications.blocked = on,
        "app.notifications.alarms" => settings.notifications.alarms = on,
        "clients.repair" => settings.repair_gates = on,
        _ => {}
    }
}

/// What the file has to say for these settings.
fn values(settings: &UserSettings) -> Vec<(&'static SettingKey, Json)> {
    let word = |word: &str| Json::String(word.to_owned());
    let number = |number: u32| Json::Number(number.to_string());
    let value = |key: &'static SettingKey| {
        let value = match key.name {
            "history.days" => number(settings.history_days),
            "history.megabytes" => number(settings.history_megabytes),
            "record.keep" => word(word_of(settings.recording)),
            "record.mask" => Json::List(settings.mask_names.iter().map(|name| word(name)).collect()),
            "app.theme" => word(match settings.theme {
                Theme::System => "system",
                Theme::Light => "light",
                Theme::Dark => "dark",
            }),
            "app.notifications.blocked" => Json::Bool(settings.notifications.blocked),
            "app.notifications.alarms" => Json::Bool(settings.notifications.alarms),
            "clients.repair" => Json::Bool(settings.repair_gates),
            _ => return None,
        };
        Some((key, value))
    };
    KEYS.iter().filter_map(value).collect()
}

fn word_of(recording: Recording) -> &'static str {
    match recording {
        Recording::Full => "full",
        Recording::Keys => "keys",
        Recording::Nothing => "none",
    }
}

/// What a person gives up, or lets be seen, by a change: what nobody should do by the way.
fn loosened(before: &UserSettings, after: &UserSettings) -> Vec<String> {
    let mut words = Vec::new();
    if before.recording != after.recording {
        let (was, is) = (word_of(before.recording), word_of(after.recording));
        words.push(format!("keep {is} instead of {was} of arguments and results"));
    }
    if after.history_days < before.history_days {
        words.push(format!("keep calls for {} days instead of {}", after.history_days, before.history_days));
    }
    if after.history_megabytes < before.history_megabytes {
        let (was, is) = (before.history_megabytes, after.history_megabytes);
        words.push(format!("keep {is} MB of history instead of {was}"));
    }
    let unmasked: Vec<&str> = before
        .mask_names
        .iter()
        .filter(|name| !after.mask_names.contains(name))
        .map(String::as_str)
        .collect();
    if !unmasked.is_empty() {
        words.push(format!("no longer mask {}", unmasked.join(", ")));
    }
    let silenced = [
        (before.notifications.blocked, after.notifications.blocked, "no longer notify you of blocked calls"),
        (
            before.notifications.alarms,
            after.notifications.alarms,
            "no longer notify you of unusually many calls",
        ),
        (before.repair_gates, after.repair_gates, "no longer put lost gates back by itself"),
    ];
    let silenced = silenced.into_iter().filter(|(was, is, _)| *was && !*is);
    words.extend(silenced.map(|(_, _, said)| said.to_owned()));
    words
}

fn check(settings: &UserSettings) -> Result<(), DeskError> {
    let bad = |words: String| Err(DeskError::BadInput(words));
    if !(1..=MOST_DAYS).contains(&settings.history_days) {
        return bad(format!("history is kept for 1 to {MOST_DAYS} days, not {}", settings.history_days));
    }
    if settings.history_megabytes == 0 {
        return bad("history needs at least 1 MB".to_owned());
    }
    if settings.mask_names.len() > MOST_NAMES {
        return bad(format!("at most {MOST_NAMES} names can be masked"));
    }
    match settings.mask_names.iter().find(|name| !name.contains(char::is_alphanumeric)) {
        Some(name) => bad(format!("{name:?} is no name of an argument: it has neither letters nor digits")),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
