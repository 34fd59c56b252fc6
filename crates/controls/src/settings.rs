//! `settings.json`: the few things a person may set. Optional, with comments and trailing commas as in policies; what is
//! wrong in it is told. Numbers are then left at their default (those that are too large at the largest), and of calls
//! nothing but the fact is kept: whoever wrote into `record` wanted less.

mod keys;

use std::num::NonZeroU32;
use std::path::Path;
use std::{fs, io};

use callgate_policy::Keep;
use callgate_policy::jsonc::{self, Json};

use callgate_home::Home;
use callgate_redaction::{Masker, Secret};

pub use keys::{KEYS, MOST_DAYS, MOST_NAMES, SettingKey, ValueKind, find};

/// How much history is kept, and how much of each call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub history_days: NonZeroU32,
    pub history_megabytes: NonZeroU32,
    /// The most that is kept of any call; a policy may ask for less.
    pub keep: Keep,
    /// Names of arguments that are masked besides the known ones, in any case and spelling.
    pub mask: Vec<String>,
}

const DAYS: NonZeroU32 = NonZeroU32::new(90).expect("not zero");
const MEGABYTES: NonZeroU32 = NonZeroU32::new(1024).expect("not zero");

impl Default for Settings {
    fn default() -> Self {
        Settings { history_days: DAYS, history_megabytes: MEGABYTES, keep: Keep::Full, mask: Vec::new() }
    }
}

impl Settings {
    /// What the file says, and what is wrong with it.
    pub fn read(home: &Home) -> (Settings, Vec<String>) {
        let path = home.settings();
        let unusable = |why: String| {
            let problem =
                format!("{} {why}; until this is mended no arguments and results are kept", path.display());
            (Settings { keep: Keep::Nothing, ..Settings::default() }, vec![problem])
        };
        match fs::read_to_string(&path) {
            Ok(text) => match jsonc::read(&text) {
                Ok(file @ Json::Object(_)) => Settings::of(&file, &path),
                Ok(_) => unusable("cannot be understood: it is not an object".to_owned()),
                Err(report) => unusable(format!("cannot be understood: {}", report.headline())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
            Err(error) => unusable(format!("cannot be read: {error}")),
        }
    }

    fn of(file: &Json, path: &Path) -> (Settings, Vec<String>) {
        let mut problems = keys::unknown(file);
        let mut settings = Settings::default();
        for key in KEYS {
            let Some(value) = file.at(&key.path()) else { continue };
            let (problem, counted) = (key.problem(value), keys::count(&key.normal(value)));
            match (key.name, &problem) {
                ("history.days", _) => settings.history_days = counted.unwrap_or(DAYS),
                ("history.megabytes", _) => settings.history_megabytes = counted.unwrap_or(MEGABYTES),
                ("record.keep", None) => settings.keep = keys::keep(value).unwrap_or(Keep::Nothing),
                ("record.mask", None) => settings.mask = names(value),
                ("record.keep" | "record.mask", Some(_)) => settings.keep = Keep::Nothing,
                _ => {}
            }
            problems.extend(problem.map(|problem| match key.name {
                "record.keep" => format!("{problem}; \"none\" is used"),
                "record.mask" => format!("{problem}; until this is mended no arguments and results are kept"),
                _ => match counted {
                    Some(counted) => format!("{problem}; {counted} is used"),
                    None => format!("{problem}; {} is used", key.default),
                },
            }));
        }
        if file.get("record").is_some_and(|record| !matches!(record, Json::Object(_))) {
            settings.keep = Keep::Nothing;
        }
        (settings, problems.into_iter().map(|text| format!("{}: {text}", path.display())).collect())
    }

    /// Masks what these settings want masked, and these values.
    pub fn masker(&self, secrets: &[Secret]) -> Masker {
        Masker::new(secrets).with_names(&self.mask)
    }
}

fn names(value: &Json) -> Vec<String> {
    let Json::List(names) = value else { return Vec::new() };
    let name = |name: &Json| match name {
        Json::String(name) => Some(name.clone()),
        _ => None,
    };
    names.iter().filter_map(name).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn told(text: &str) -> (Settings, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        fs::write(home.settings(), text).unwrap();
        Settings::read(&home)
    }

    #[test]
    fn wrong_values_are_told_and_left_at_their_default() {
        let cases = [
            ("{}", 90, 1024, 0),
            (r#"{"history":{"days":7,"megabytes":10}}"#, 7, 10, 0),
            (r#"{"history":{"days":0}}"#, 90, 1024, 1),
            (r#"{"history":{"days":1.5}}"#, 90, 1024, 1),
            (r#"{"history":{"days":"a","megabytes":-1}}"#, 90, 1024, 2),
            ("{", 90, 1024, 1),
            (r#"{"history":[],"record":{}}"#, 90, 1024, 1),
            (
                r#"{"app":{"theme":"pink","notifications":{"alarms":1}},"clients":{"repair":"yes"}}"#,
                90,
                1024,
                3,
            ),
        ];
        for (text, days, megabytes, problems) in cases {
            let (settings, told) = told(text);
            assert_eq!(settings.history_days.get(), days, "{text}");
            assert_eq!(settings.history_megabytes.get(), megabytes, "{text}");
            assert_eq!(told.len(), problems, "{text}: {told:?}");
        }
    }

    #[test]
    fn a_number_that_is_too_large_does_not_delete_history_by_the_default() {
        let cases = [
            (r#"{"history":{"days":36501}}"#, MOST_DAYS, 1024),
            (r#"{"history":{"days":99999999999999999999}}"#, MOST_DAYS, 1024),
            (r#"{"history":{"days":1e400}}"#, MOST_DAYS, 1024),
            (r#"{"history":{"days":4e2}}"#, 400, 1024),
            (r#"{"history":{"megabytes":4294967296}}"#, 90, u32::MAX),
            (r#"{"history":{"megabytes":1e9}}"#, 90, 1_000_000_000),
        ];
        for (text, days, megabytes) in cases {
            let (settings, told) = told(text);
            let kept = (settings.history_days.get(), settings.history_megabytes.get());
            assert_eq!(kept, (days, megabytes), "{text}");
            let used = if days == 90 { megabytes } else { days };
            assert!(told.len() == 1 && told[0].ends_with(&format!("; {used} is used")), "{text}: {told:?}");
        }
    }

    #[test]
    fn a_misspelt_key_is_told_at_any_level() {
        let cases = [
            (
                r#"{"histroy":{"days":3}}"#,
                "histroy is not known, and counts for nothing: did you mean history?",
            ),
            (r#"{"reccord":{"keep":"keys"}}"#, "did you mean record?"),
            (r#"{"history":{"dyas":7}}"#, "did you mean history.days?"),
            (r#"{"record":{"masks":[]}}"#, "did you mean record.mask?"),
            (r#"{"app":{"notifications":{"alarm":true}}}"#, "did you mean app.notifications.alarms?"),
            (r#"{"clients":{"repare":true}}"#, "did you mean clients.repair?"),
            (
                r#"{"other":1}"#,
                "other is not known, and counts for nothing (known are history, record, app, clients)",
            ),
            (r#"{"app":{"notifications":true}}"#, "app.notifications must be an object, not true"),
            (r#"{"history":{"days":7,"days":8}}"#, "\"days\" stands here twice"),
        ];
        for (text, words) in cases {
            let (_, told) = told(text);
            assert!(told.len() == 1 && told[0].contains(words), "{text}: {told:?}");
        }
    }

    #[test]
    fn comments_and_trailing_commas_are_allowed() {
        let (settings, told) = told("// mine\n{ \"history\": { \"days\": 7, /* a week */ }, }\n");
        assert_eq!((settings.history_days.get(), told), (7, Vec::new()));
    }

    #[test]
    fn whoever_wrote_that_less_is_kept_is_not_misunderstood_to_want_all() {
        let cases: &[(&str, Keep, &[&str], usize)] = &[
            ("{}", Keep::Full, &[], 0),
            (r#"{"record":{"keep":"full","mask":["iban"]}}"#, Keep::Full, &["iban"], 0),
            (r#"{"record":{"keep":"keys"}}"#, Keep::Keys, &[], 0),
            (r#"{"record":{"keep":"none"}}"#, Keep::Nothing, &[], 0),
            // As it was called before.
            (r#"{"record":{"keep":"nothing"}}"#, Keep::Nothing, &[], 0),
            (r#"{"record":{"keep":"noting"}}"#, Keep::Nothing, &[], 1),
            (r#"{"record":{"keep":null}}"#, Keep::Nothing, &[], 1),
            (r#"{"record":{"mask":"iban"}}"#, Keep::Nothing, &[], 1),
            (r#"{"record":{"mask":["iban",7]}}"#, Keep::Nothing, &[], 1),
            (r#"{"record":{"mask":7,"keep":"full"}}"#, Keep::Nothing, &[], 1),
            (r#"{"record":"keys"}"#, Keep::Nothing, &[], 1),
            (r#"{"record":{"keep":"keys","#, Keep::Nothing, &[], 1),
            ("[]", Keep::Nothing, &[], 1),
        ];
        for (text, keep, mask, problems) in cases {
            let (settings, told) = told(text);
            assert_eq!((settings.keep, told.len()), (*keep, *problems), "{text}: {told:?}");
            assert_eq!(settings.mask, *mask, "{text}");
        }
    }

    #[test]
    fn values_are_typed_as_people_write_them() {
        let parsed = |key: &str, typed: &str| find(key).unwrap().parse(typed).map(|value| value.to_string());
        assert_eq!(parsed("history.days", "30"), Ok("30".to_owned()));
        assert_eq!(parsed("record.keep", "none"), Ok("\"none\"".to_owned()));
        assert_eq!(parsed("record.mask", "iban, customer_id"), Ok("[\"iban\", \"customer_id\"]".to_owned()));
        assert_eq!(parsed("record.mask", "[\"iban\"]"), Ok("[\"iban\"]".to_owned()));
        assert_eq!(parsed("clients.repair", "on"), Ok("true".to_owned()));
        for (key, typed, words) in [
            ("history.days", "0", "history.days must be a whole number from 1 to 36500, not 0"),
            ("history.days", "soon", "a whole number"),
            ("record.keep", "some", "\"full\", \"keys\" or \"none\""),
            ("clients.repair", "maybe", "true or false"),
        ] {
            let error = parsed(key, typed).unwrap_err();
            assert!(error.contains(words), "{key} {typed}: {error}");
        }
        assert!(find("history.day").unwrap_err().contains("did you mean history.days?"));
        assert!(find("zebra").unwrap_err().contains("known are: history.days"));
    }
}
