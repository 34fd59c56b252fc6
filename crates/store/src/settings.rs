//! `settings.json`: the few things a person may set about the record. Optional; what is wrong in it is told. Numbers
//! are then left at their default, and of calls nothing but the fact is kept: whoever wrote into `record` wanted less.

use std::num::NonZeroU32;
use std::path::Path;
use std::{fs, io};

use callgate_policy::Keep;
use serde_json::{Map, Value};

use crate::home::Home;
use crate::mask::{Masker, Secret};

/// More names to mask are a mistake.
const MOST_NAMES: usize = 1_000;

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
            Ok(text) => match serde_json::from_str::<Value>(&text) {
                Ok(Value::Object(file)) => Settings::of(&file, &path),
                Ok(_) => unusable("cannot be understood: it is not an object".to_owned()),
                Err(error) => unusable(format!("cannot be understood: {error}")),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
            Err(error) => unusable(format!("cannot be read: {error}")),
        }
    }

    fn of(file: &Map<String, Value>, path: &Path) -> (Settings, Vec<String>) {
        let mut problems = Vec::new();
        let mut tell = |text: String| problems.push(format!("{}: {text}", path.display()));
        let mut settings = Settings::default();
        if let Some(history) = section(file, "history", &["days", "megabytes"], &mut tell) {
            let numbers =
                [("days", &mut settings.history_days), ("megabytes", &mut settings.history_megabytes)];
            for (name, number) in numbers {
                let Some(value) = history.get(name) else { continue };
                match value.as_u64().and_then(|n| u32::try_from(n).ok()).and_then(NonZeroU32::new) {
                    Some(read) => *number = read,
                    None => tell(format!(
                        "history.{name} must be a whole number from 1, not {value}; {number} is used"
                    )),
                }
            }
        }
        let record = section(file, "record", &["keep", "mask"], &mut tell);
        if record.is_none() && file.contains_key("record") {
            settings.keep = Keep::Nothing;
        }
        let record = record.cloned().unwrap_or_default();
        match record.get("keep").map(|keep| (keep, keep.as_str())) {
            None | Some((_, Some("full"))) => {}
            Some((_, Some("keys"))) => settings.keep = Keep::Keys,
            Some((_, Some("nothing"))) => settings.keep = Keep::Nothing,
            Some((keep, _)) => {
                settings.keep = Keep::Nothing;
                tell(format!(
                    "record.keep must be \"full\", \"keys\" or \"nothing\", not {keep}; \"nothing\" is used"
                ));
            }
        }
        if let Some(mask) = record.get("mask") {
            let names: Option<Vec<String>> = mask
                .as_array()
                .and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
            match names.filter(|names| names.len() <= MOST_NAMES) {
                Some(names) => settings.mask = names,
                None => {
                    settings.keep = Keep::Nothing;
                    tell(format!(
                        "record.mask must be a list of at most {MOST_NAMES} names of arguments; until this is mended no \
                         arguments and results are kept"
                    ));
                }
            }
        }
        (settings, problems)
    }

    /// Masks what these settings want masked, and these values.
    pub fn masker(&self, secrets: &[Secret]) -> Masker {
        Masker::new(secrets).with_names(&self.mask)
    }
}

/// A part of the file. What is in it and not known may be a mistake in writing, so it is told.
fn section<'f>(
    file: &'f Map<String, Value>,
    name: &str,
    known: &[&str],
    tell: &mut impl FnMut(String),
) -> Option<&'f Map<String, Value>> {
    let value = file.get(name)?;
    let Some(section) = value.as_object() else {
        tell(format!("{name} must be an object, not {value}"));
        return None;
    };
    for member in section.keys().filter(|member| !known.contains(&member.as_str())) {
        let known: Vec<String> = known.iter().map(|known| format!("{name}.{known}")).collect();
        tell(format!("{name}.{member} is not known ({} are)", known.join(" and ")));
    }
    Some(section)
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
            (Some(r#"{"history":[],"record":{}}"#), 90, 1024, 1),
            (Some(r#"{"history":{"dyas":7}}"#), 90, 1024, 1),
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

    #[test]
    fn whoever_wrote_that_less_is_kept_is_not_misunderstood_to_want_all() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let cases: &[(&str, Keep, &[&str], usize)] = &[
            ("{}", Keep::Full, &[], 0),
            (r#"{"record":{"keep":"full","mask":["iban"]}}"#, Keep::Full, &["iban"], 0),
            (r#"{"record":{"keep":"keys"}}"#, Keep::Keys, &[], 0),
            (r#"{"record":{"keep":"nothing"}}"#, Keep::Nothing, &[], 0),
            (r#"{"record":{"keep":"noting"}}"#, Keep::Nothing, &[], 1),
            (r#"{"record":{"keep":null}}"#, Keep::Nothing, &[], 1),
            (r#"{"record":{"mask":"iban"}}"#, Keep::Nothing, &[], 1),
            (r#"{"record":{"mask":["iban",7]}}"#, Keep::Nothing, &[], 1),
            (r#"{"record":"keys"}"#, Keep::Nothing, &[], 1),
            (r#"{"record":{"keep":"keys","#, Keep::Nothing, &[], 1),
            ("[]", Keep::Nothing, &[], 1),
        ];
        for (text, keep, mask, problems) in cases {
            fs::write(home.settings(), text).unwrap();
            let (settings, told) = Settings::read(&home);
            assert_eq!((settings.keep, told.len()), (*keep, *problems), "{text}: {told:?}");
            assert_eq!(settings.mask, *mask, "{text}");
        }
    }
}
