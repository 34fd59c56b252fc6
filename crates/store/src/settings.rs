//! `settings.json`: the few things a person may set about the record. Optional; what is wrong in it is told and
//! left at its default.

use std::num::NonZeroU32;
use std::{fs, io};

use serde::Deserialize;

use crate::home::Home;

/// How much history is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub history_days: NonZeroU32,
    pub history_megabytes: NonZeroU32,
}

const DAYS: NonZeroU32 = NonZeroU32::new(90).expect("not zero");
const MEGABYTES: NonZeroU32 = NonZeroU32::new(1024).expect("not zero");

impl Default for Settings {
    fn default() -> Self {
        Settings { history_days: DAYS, history_megabytes: MEGABYTES }
    }
}

#[derive(Deserialize)]
struct SettingsFile {
    #[serde(default)]
    history: HistorySettings,
}

#[derive(Deserialize, Default)]
struct HistorySettings {
    #[serde(default)]
    days: Option<serde_json::Value>,
    #[serde(default)]
    megabytes: Option<serde_json::Value>,
    #[serde(flatten)]
    unknown: serde_json::Map<String, serde_json::Value>,
}

impl Settings {
    /// What the file says, and what is wrong with it.
    pub fn read(home: &Home) -> (Settings, Vec<String>) {
        let path = home.settings();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Default::default(),
            Err(error) => {
                return (Settings::default(), vec![format!("{} cannot be read: {error}", path.display())]);
            }
        };
        match serde_json::from_str::<SettingsFile>(&text) {
            Ok(file) => {
                let mut problems: Vec<String> = Vec::new();
                for name in file.history.unknown.keys() {
                    let known = "history.days and history.megabytes are";
                    problems.push(format!("{}: history.{name} is not known ({known})", path.display()));
                }
                let mut number = |name: &str, value: Option<serde_json::Value>, default: NonZeroU32| {
                    let Some(value) = value else { return default };
                    let read = value.as_u64().and_then(|n| u32::try_from(n).ok()).and_then(NonZeroU32::new);
                    read.unwrap_or_else(|| {
                        problems.push(format!(
                            "{}: history.{name} must be a whole number from 1, not {value}; {default} is used",
                            path.display()
                        ));
                        default
                    })
                };
                let settings = Settings {
                    history_days: number("days", file.history.days, DAYS),
                    history_megabytes: number("megabytes", file.history.megabytes, MEGABYTES),
                };
                (settings, problems)
            }
            Err(error) => {
                (Settings::default(), vec![format!("{} cannot be understood: {error}", path.display())])
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn wrong_values_are_told_and_left_at_their_default() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let cases = [
            (None, 90, 1024, 0),
            (Some(r#"{"history":{"days":7,"megabytes":10}}"#), 7, 10, 0),
            (Some(r#"{"history":{"days":0}}"#), 90, 1024, 1),
            (Some(r#"{"history":{"days":"a","megabytes":-1}}"#), 90, 1024, 2),
            (Some("{"), 90, 1024, 1),
            (Some(r#"{"other":1}"#), 90, 1024, 0),
        ];
        for (text, days, megabytes, problems) in cases {
            if let Some(text) = text {
                fs::write(home.settings(), text).unwrap();
            }
            let (settings, told) = Settings::read(&home);
            assert_eq!(settings.history_days.get(), days, "{text:?}");
            assert_eq!(settings.history_megabytes.get(), megabytes, "{text:?}");
            assert_eq!(told.len(), problems, "{text:?}: {told:?}");
        }
    }
}
