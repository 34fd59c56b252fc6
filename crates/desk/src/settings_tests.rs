#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use serde_json::{Value, json};

use super::*;
use crate::testing::Place;
use crate::view::ErrorCode;

fn read(place: &Place) -> String {
    fs::read_to_string(place.home.settings()).unwrap()
}

#[test]
fn what_is_saved_is_read_back_and_what_was_there_stays() {
    let place = Place::new();
    fs::write(
        place.home.settings(),
        r#"{"zebra":[1,2.50],"history":{"later":true,"days":7},"app":{"own":"x"},"alpha":null}"#,
    )
    .unwrap();
    let wanted = UserSettings {
        theme: Theme::Dark,
        history_days: 30,
        history_megabytes: 200,
        recording: Recording::Keys,
        mask_names: vec!["iban".to_owned()],
        notifications: NotificationSettings { blocked: false, alarms: true },
        repair_gates: true,
    };
    let saved = place.desk.save_settings(&wanted).unwrap();
    assert_eq!(saved.settings, wanted);
    assert_eq!(place.desk.settings().unwrap().settings, wanted);
    let text = read(&place);
    let order: Vec<usize> = ["zebra", "history", "later", "\"app\"", "own", "alpha"]
        .iter()
        .map(|name| text.find(name).unwrap())
        .collect();
    assert!(order.is_sorted(), "{text}");
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&file["history"]["days"], &file["record"]["keep"]), (&json!(30), &json!("keys")));
    place.desk.login_asked().unwrap();
    assert_eq!(place.desk.settings().unwrap().settings, wanted);
    assert!(place.desk.asked_about_login());
    let store = Settings::read(&place.home).0;
    assert_eq!((store.history_days.get(), store.keep, store.mask), (30, Keep::Keys, vec!["iban".to_owned()]));
}

#[test]
fn without_a_file_everything_has_its_default() {
    let place = Place::new();
    let view = place.desk.settings().unwrap();
    assert_eq!((view.settings.history_days, view.settings.history_megabytes), (90, 1024));
    assert_eq!((view.settings.theme, view.settings.recording), (Theme::System, Recording::Full));
    assert_eq!(view.settings.notifications, NotificationSettings { blocked: true, alarms: true });
    assert!(!view.settings.repair_gates, "nothing is written unless somebody asked for it");
    assert_eq!((view.calls, view.oldest_ms, view.problems.len()), (0, None, 0));
    assert_eq!(view.home, place.home.path().display().to_string());
    assert!(view.program.contains("callgate"));
}

#[test]
fn nonsense_is_refused_and_nothing_is_written() {
    let place = Place::new();
    let good = place.desk.user_settings();
    let cases = [
        UserSettings { history_days: 0, ..good.clone() },
        UserSettings { history_days: 40_000, ..good.clone() },
        UserSettings { history_megabytes: 0, ..good.clone() },
        UserSettings { mask_names: vec!["--".to_owned()], ..good.clone() },
        UserSettings { mask_names: vec!["a".to_owned(); 1_001], ..good },
    ];
    for case in cases {
        let error = place.desk.save_settings(&case).unwrap_err();
        assert_eq!(error.code(), ErrorCode::BadInput, "{error}");
    }
    assert!(!place.home.settings().exists());
}

#[test]
fn a_broken_file_is_told_and_kept_aside_when_a_new_one_is_saved() {
    let place = Place::new();
    fs::write(place.home.settings(), "{\"history\":").unwrap();
    let view = place.desk.settings().unwrap();
    assert_eq!((view.problems.len(), view.settings.recording), (1, Recording::Nothing));
    let saved = place.desk.save_settings(&view.settings).unwrap();
    assert!(saved.problems.is_empty());
    let aside: Vec<String> = fs::read_dir(place.home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("settings.json.broken-"))
        .collect();
    assert_eq!(aside.len(), 1);
}

#[test]
fn settings_saved_at_once_lose_nothing_of_each_other() {
    let place = Place::new();
    let wanted = UserSettings { history_days: 30, ..place.desk.user_settings() };
    for _ in 0..20 {
        let _gone = fs::remove_file(place.home.settings());
        std::thread::scope(|scope| {
            scope.spawn(|| place.desk.save_settings(&wanted).unwrap());
            scope.spawn(|| place.desk.login_asked().unwrap());
        });
        assert!(place.desk.asked_about_login());
        assert_eq!(place.desk.user_settings(), wanted);
    }
}

#[test]
fn a_broken_file_stays_in_force_until_the_new_one_is_written() {
    let place = Place::new();
    fs::write(place.home.settings(), "{").unwrap();
    assert_eq!(place.desk.settings_text(7).unwrap(), NEW);
    assert_eq!(read(&place), "{", "without it, everything would be recorded");
    assert_eq!(place.desk.user_settings().recording, Recording::Nothing);
    assert_eq!(fs::read_to_string(place.home.path().join("settings.json.broken-7")).unwrap(), "{");
}

#[test]
fn comments_outlive_a_save_in_the_window() {
    let place = Place::new();
    let text = "// mine\n{\n  \"history\": { \"days\": 30, /* a month */ },\n  // words of ours\n  \"record\": { \"keep\": \"nothing\" },\n}\n";
    fs::write(place.home.settings(), text).unwrap();
    let good = place.desk.user_settings();
    assert_eq!((good.history_days, good.recording), (30, Recording::Nothing));
    place.desk.save_settings(&good).unwrap();
    assert_eq!(read(&place), text, "nothing was changed, so nothing is written");
    place.desk.save_settings(&UserSettings { history_days: 7, ..good }).unwrap();
    assert_eq!(read(&place), text.replace("30", "7"));
}

#[test]
fn settings_tell_of_a_misspelt_key() {
    let place = Place::new();
    fs::write(place.home.settings(), r#"{"histroy":{"days":3}}"#).unwrap();
    let problems = place.desk.settings().unwrap().problems;
    assert!(problems.len() == 1 && problems[0].contains("did you mean history?"), "{problems:?}");
    let codes: Vec<_> = place.desk.doctor().into_iter().map(|finding| finding.code).collect();
    assert!(codes.contains(&crate::findings::Code::SettingsBroken), "{codes:?}");
}

#[test]
fn one_setting_is_read_planned_and_changed() {
    let place = Place::new();
    let desk = &place.desk;
    let days = desk.setting_value("history.days").unwrap();
    assert_eq!((days.value.as_str(), days.from_file), ("90", false));
    let change = desk.plan_setting("history.days", "120").unwrap();
    assert!(change.is_needed() && change.loosened.is_empty(), "{change:?}");
    desk.make_setting(&change).unwrap();
    assert_eq!(read(&place), "{\n  \"history\": {\n    \"days\": 120\n  }\n}\n");
    let days = desk.setting_value("history.days").unwrap();
    assert_eq!((days.value.as_str(), days.from_file), ("120", true));
    assert!(!desk.plan_setting("history.days", "120").unwrap().is_needed());
    let late = desk.make_setting(&change).unwrap_err();
    assert_eq!(late.code(), ErrorCode::Conflict, "it says something else by now");
    assert!(
        desk.setting_value("history.day").unwrap_err().to_string().contains("did you mean history.days?")
    );
    assert_eq!(desk.plan_setting("record.mask", "--").unwrap_err().code(), ErrorCode::BadInput);
    fs::write(place.home.settings(), "{").unwrap();
    assert!(desk.plan_setting("history.days", "7").unwrap_err().to_string().contains("mend it first"));
}

#[test]
fn what_keeps_masks_or_tells_less_is_said_before_and_put_on_record() {
    let place = Place::new();
    let desk = &place.desk;
    let mask = desk.plan_setting("record.mask", "iban,pin").unwrap();
    assert!(mask.loosened.is_empty(), "masking more loosens nothing");
    desk.make_setting(&mask).unwrap();
    for (key, value, words) in [
        ("record.keep", "none", "keep none instead of full of arguments and results"),
        ("record.mask", "pin", "no longer mask iban"),
        ("history.days", "7", "keep calls for 7 days instead of 90"),
        ("history.megabytes", "8", "keep 8 MB of history instead of 1024"),
        ("app.notifications.alarms", "off", "no longer notify you of unusually many calls"),
    ] {
        assert_eq!(desk.plan_setting(key, value).unwrap().loosened, [words], "{key}");
    }
    for (key, value) in [("app.theme", "dark"), ("clients.repair", "on"), ("history.days", "400")] {
        assert!(desk.plan_setting(key, value).unwrap().loosened.is_empty(), "{key}");
    }
    desk.make_setting(&desk.plan_setting("record.keep", "keys").unwrap()).unwrap();
    let events = History::open_reader(&place.home).unwrap().events(None, 10).unwrap();
    assert!(events.iter().any(|event| event.text.contains("keep keys instead of full")), "{events:?}");
}

#[test]
fn every_setting_is_in_the_documentation() {
    let text = include_str!("../../../docs/settings.md");
    for key in KEYS {
        assert!(text.contains(&format!("`{}`", key.name)) && text.contains(key.meaning), "{}", key.name);
    }
}
