//! What a person may set.

use serde::{Deserialize, Serialize};

/// The settings, and what is true about them now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    pub settings: UserSettings,
    pub starts_at_login: bool,
    pub used_bytes: u64,
    pub calls: u64,
    pub oldest_ms: Option<i64>,
    pub home: String,
    pub program: String,
    pub version: String,
    /// What is wrong with the file.
    pub problems: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct UserSettings {
    pub theme: Theme,
    pub history_days: u32,
    pub history_megabytes: u32,
    pub recording: Recording,
    /// Names of arguments that are masked besides the known ones.
    pub mask_names: Vec<String>,
    pub notifications: NotificationSettings,
    /// A lost gate is put back without asking.
    pub repair_gates: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Theme {
    System,
    Light,
    Dark,
}

/// How much of arguments and results is kept, at most; a policy may ask for less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Recording {
    Full,
    Keys,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct NotificationSettings {
    /// One for each incident, which counts on in its place.
    pub blocked: bool,
    /// An unusual rate.
    pub alarms: bool,
}
