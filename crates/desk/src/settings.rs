//! `settings.json`, as a person sees it. What the file holds besides stays as it is, in its order.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use callgate_policy::Keep;
use callgate_store::home::{Locked, try_lock};
use callgate_store::{History, Settings, atomic};
use serde_json::{Map, Value, json};

use crate::view::{NotificationSettings, Recording, SettingsView, Theme, UserSettings};
use crate::{Desk, DeskError};

/// No history is kept for longer: a hundred years.
const MOST_DAYS: u32 = 36_500;
/// How long another change of the settings is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// As the store has it.
const MOST_NAMES: usize = 1_000;

impl Desk {
    /// The settings, and what is true about them now. Whether the app starts at login is the app's to say.
    pub fn settings(&self) -> Result<SettingsView, DeskError> {
        self.home.prepare()?;
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
        self.home.prepare()?;
        self.change_file(|file| {
            set(file, "history", "days", settings.history_days.into());
            set(file, "history", "megabytes", settings.history_megabytes.into());
            set(file, "record", "keep", word_of(settings.recording).into());
            set(file, "record", "mask", json!(settings.mask_names));
            set(file, "app", "theme", json!(settings.theme));
            set(file, "app", "notifications", json!(settings.notifications));
            set(file, "clients", "repair", settings.repair_gates.into());
        })?;
        self.settings()
    }

    /// The person was asked whether the app should start at login, and has answered.
    pub fn login_asked(&self) -> Result<(), DeskError> {
        self.change_file(|file| set(file, "app", "askedLogin", true.into()))
    }

    /// What the person set; what is missing or wrong has its default.
    pub(crate) fn user_settings(&self) -> UserSettings {
        let (store, _) = Settings::read(&self.home);
        let app = self.section("app");
        let notify = |name: &str| app["notifications"][name].as_bool().unwrap_or(true);
        UserSettings {
            theme: serde_json::from_value(app["theme"].clone()).unwrap_or(Theme::System),
            history_days: store.history_days.get(),
            history_megabytes: store.history_megabytes.get(),
            recording: match store.keep {
                Keep::Full => Recording::Full,
                Keep::Keys => Recording::Keys,
                Keep::Nothing => Recording::Nothing,
            },
            mask_names: store.mask,
            notifications: NotificationSettings { blocked: notify("blocked"), alarms: notify("alarms") },
            // Writing without being asked is for those who said so, in a word that cannot be misread.
            repair_gates: self.section("clients")["repair"] == true,
        }
    }

    /// How the window is to look.
    pub fn theme(&self) -> Theme {
        self.user_settings().theme
    }

    pub(crate) fn asked_about_login(&self) -> bool {
        self.section("app")["askedLogin"] == true
    }

    /// A part of the file that the store does not know.
    fn section(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.home.settings()).unwrap_or_default();
        let mut file: Value = serde_json::from_str(&text).unwrap_or_default();
        file.get_mut(name).map(Value::take).unwrap_or_default()
    }

    /// Reads, changes and writes the file. One that cannot be understood is kept beside the new one.
    fn change_file(&self, change: impl FnOnce(&mut Map<String, Value>)) -> Result<(), DeskError> {
        let path = self.home.settings();
        let fail = |error| DeskError::disk(format!("{} cannot be written", path.display()), error);
        // Of two changes at once, none is lost.
        let _alone = self.settings_alone().map_err(fail)?;
        let mut file = match fs::read_to_string(&path) {
            Ok(text) => match serde_json::from_str(&text) {
                Ok(Value::Object(file)) => file,
                _ => {
                    // A copy: until the new one is there, this one counts, and it says to record nothing.
                    let aside = format!("settings.json.broken-{}", self.clock.now().wall_ms);
                    atomic::replace(&self.home.path().join(aside), text.as_bytes()).map_err(fail)?;
                    Map::new()
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Map::new(),
            Err(error) => return Err(DeskError::disk(format!("{} cannot be read", path.display()), error)),
        };
        change(&mut file);
        let mut text = serde_json::to_vec_pretty(&file).map_err(|error| fail(error.into()))?;
        text.push(b'\n');
        atomic::replace(&path, &text).map_err(fail)
    }

    fn settings_alone(&self) -> io::Result<Locked> {
        self.home.prepare().map_err(io::Error::other)?;
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

/// Sets one member of a section; what stands in the section's place and is no object gives way.
fn set(file: &mut Map<String, Value>, section: &str, name: &str, value: Value) {
    let section = file.entry(section).or_insert_with(|| json!({}));
    match section {
        Value::Object(members) => drop(members.insert(name.to_owned(), value)),
        other => *other = json!({ name: value }),
    }
}

fn word_of(recording: Recording) -> &'static str {
    match recording {
        Recording::Full => "full",
        Recording::Keys => "keys",
        Recording::Nothing => "nothing",
    }
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
