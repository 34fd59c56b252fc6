use super::*;
use crate::Masker;

fn kept(json: &str) -> String {
    Masker::default().keep(json).text.into_owned()
}

#[test]
fn every_word_and_every_phrase_is_found_in_the_places_that_it_is_for() {
    for Word { word, reach, values, sample } in WORDS {
        let by_name = matches!(reach, Reach::Everywhere | Reach::Names);
        let by_label = matches!(reach, Reach::Everywhere | Reach::Selectors);
        let quoted = serde_json::Value::from(*sample);
        if by_name {
            assert_ne!(class(sample), Class::Plain, "{sample}");
            assert!(kept(&format!(r#"{{{quoted}:"hunter2"}}"#)).contains("[masked, 7 "), "{sample}");
            let number = kept(&format!(r#"{{{quoted}:4711}}"#));
            assert_eq!(number.contains("[masked, 4 "), *values == Values::Numbers, "{number}");
        }
        if by_label {
            assert!(names_a_secret(sample), "{sample}");
            let json = format!(r#"{{"selector":{quoted},"value":"hunter2"}}"#);
            assert!(kept(&json).contains("[masked, 7 "), "{json}: no first look leads to it");
        }
        assert_eq!(
            is_offered(word),
            *reach != Reach::Selectors && !NOT_OFFERED.contains(word),
            "{word} in a client's file"
        );
    }
    for (phrase, _) in PHRASES {
        for name in [phrase.join("_"), phrase.join("-"), phrase.concat(), camel(phrase)] {
            let json = format!(r#"{{"{name}":"hunter2"}}"#);
            assert!(kept(&json).contains("[masked, 7 "), "{json}");
        }
    }
}

fn camel(phrase: &[&str]) -> String {
    let mut out = String::new();
    for (at, word) in phrase.iter().enumerate() {
        let (first, rest) = word.split_at(1);
        out.push_str(&if at == 0 { first.to_owned() } else { first.to_uppercase() });
        out.push_str(rest);
    }
    out
}

#[test]
fn a_secret_field_of_a_page_is_known_by_its_selector() {
    for selector in [
        "#pw",
        "#cc",
        "#pin",
        "#cvv",
        "#ssn",
        "#otp",
        "#pass",
        "[data-testid=pw-input]",
        "[data-testid=\"pw-input\"]",
        "input[name='cc']",
        "input[type=password]",
        "//input[@id='pw']",
        "#cc-number",
        "#creditCard",
        "#userPw",
        "getByLabel('Passwort')",
        "label=Mot de passe",
        "text=Contraseña",
    ] {
        let json = serde_json::json!({ "selector": selector, "value": "hunter2" }).to_string();
        assert!(!kept(&json).contains("hunter2"), "{json}");
    }
    for selector in ["#search", ".card", "#success", "#account", "#opinion", "#spinner", "#ccs", "#keyword"] {
        let json = serde_json::json!({ "selector": selector, "value": "hunter2" }).to_string();
        assert_eq!(kept(&json), json);
    }
    let mail = r#"{"to":"a@example.com","cc":"b@example.com","name":"cc","value":"b@example.com"}"#;
    assert_eq!(kept(mail), mail, "a copy of a mail is no card");
}

#[test]
fn a_password_is_one_in_other_languages_too() {
    for name in [
        "kennwort",
        "passwort",
        "neuesPasswort",
        "mot_de_passe",
        "motDePasse",
        "contraseña",
        "senha",
        "sessionid",
    ] {
        let json = format!(r#"{{"{name}":"hunter2"}}"#);
        assert!(!kept(&json).contains("hunter2"), "{json}");
    }
}

#[test]
fn a_setting_about_passwords_and_the_folder_one_works_in_are_no_secrets() {
    for text in [
        r#"{"args":["--password-store=basic"]}"#,
        r#"{"args":["--password-store","basic"]}"#,
        r#"{"cmd":"chrome --password-store=basic --no-first-run"}"#,
        r#"{"env":{"PWD":"/home/me/project","OLDPWD":"/tmp"}}"#,
        r#"{"cmd":"PWD=/home/me/project make"}"#,
        r#"{"PASSWORD_STORE_DIR":"/home/me/.pass"}"#,
    ] {
        assert_eq!(kept(text), text);
    }
    let odbc = kept(r#"{"c":"Server=x;UID=sa;PWD=hunter2;Port=1"}"#);
    assert!(!odbc.contains("hunter2"), "{odbc}");
}

#[test]
fn in_a_clients_file_the_last_word_of_a_name_decides() {
    for name in [
        "GITHUB_PERSONAL_ACCESS_TOKEN",
        "SLACK_BOT_TOKEN",
        "NOTION_API_KEY",
        "INTERNAL_INTEGRATION_TOKEN",
        "BRAVE_API_KEY",
        "STRIPE_SECRET_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "HF_TOKEN",
        "SENTRY_DSN",
        "AZURE_STORAGE_CONNECTION_STRING",
        "GH_PAT",
        "GOOGLE_CREDENTIALS",
        "--api-key",
        "--token",
        "apiKey",
        "X-Api-Key",
        "Authorization",
        "DB_PASS",
        "clientSecret",
        "DB_PASSWORT",
    ] {
        assert!(is_offered(name), "{name}");
    }
    for name in [
        "SLACK_TEAM_ID",
        "AWS_ACCESS_KEY_ID",
        "JWT_PUBLIC_KEY",
        "TOKEN_FILE",
        "MAX_TOKENS",
        "SORT_KEY",
        "KEYBOARD",
        "PATH",
        "API_KEY_FILE",
        "",
        "--",
        "DATABASE_URL",
        "PASSWORD_STORE_DIR",
        "SECRET_NAME",
        "monkey",
        "STRIPE_PUBLISHABLE_KEY",
        "--no-auth",
        "Content-Type",
        "PWD",
    ] {
        assert!(!is_offered(name), "{name}");
    }
}
