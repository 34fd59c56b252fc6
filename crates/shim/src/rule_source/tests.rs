use super::*;
use callgate_policy::{Call, Circumstances, Judgement};
use callgate_protocol::json::Raw;
use callgate_redaction::Masker;

struct Fixture {
    _folder: tempfile::TempDir,
    home: Home,
    rule_source: RuleSource,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    callgate_controls::prepare_home(&home).unwrap();
    let rule_source = RuleSource { moment: Duration::ZERO, ..RuleSource::new(home.clone(), "s") };
    Fixture { _folder: folder, home, rule_source }
}

impl Fixture {
    fn write(&self, text: &str) {
        callgate_home::atomic::replace(&self.home.policy("s"), text.as_bytes()).unwrap();
    }

    /// What becomes of a call of tool `x` now, and what was news.
    fn look(&self) -> (String, Vec<&'static str>) {
        let (rules, changes) = self.rule_source.poll();
        let verdict = match rules.policy.judge(&Call::tool("c", "x", None), &Circumstances::timeless()) {
            Judgement::Pass(pass) => format!("pass {}", pass.rule),
            Judgement::Refuse(refusal) => format!("{:?}", refusal.kind),
        };
        let news = changes.iter().map(|change| match change {
            Change::Policy { .. } => "policy",
            Change::Broken { kept: true, .. } => "broken, kept",
            Change::Broken { kept: false, .. } => "broken",
            Change::Paused(_) => "paused",
            Change::Resumed => "resumed",
            Change::Allowances => "allowances",
            Change::Classes => "classes",
            Change::Forged(_) => "forged",
            Change::Pins(_) => "pins",
            Change::PinsForgotten => "pins forgotten",
            Change::LetThrough { .. } => "let through",
            Change::PinsLost(_) => "pins lost",
            Change::PinsUnreadable(_) => "pins unreadable",
        });
        (verdict, news.collect())
    }
}

const DENY: &str = r#"{"version":"1","default":"deny"}"#;
const ALLOW: &str = r#"{"version":"1","default":"allow"}"#;

#[test]
fn a_server_without_a_policy_has_the_default_one_until_it_gets_its_own() {
    let fixture = fixture();
    assert_eq!(fixture.look(), ("pass /default".to_owned(), vec!["policy"]));
    assert_eq!(fixture.look().1, Vec::<&str>::new());
    fixture.write(DENY);
    assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["policy"]));
}

#[test]
fn a_policy_that_is_broken_at_the_start_refuses_everything() {
    let fixture = fixture();
    fixture.write("{ nonsense");
    assert_eq!(fixture.look(), ("Broken".to_owned(), vec!["broken"]));
    fixture.write(ALLOW);
    assert_eq!(fixture.look(), ("pass /default".to_owned(), vec!["policy"]));
}

#[test]
fn a_policy_that_breaks_or_vanishes_later_leaves_the_last_good_one_in_force() {
    let fixture = fixture();
    fixture.write(DENY);
    assert_eq!(fixture.look().0, "Denied");
    fixture.write("{ nonsense");
    assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["broken, kept"]));
    fs::remove_file(fixture.home.policy("s")).unwrap();
    assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["broken, kept"]));
    assert_eq!(fixture.look(), ("Denied".to_owned(), vec![]));
    fixture.write(ALLOW);
    assert_eq!(fixture.look().0, "pass /default");
}

#[test]
fn a_path_by_the_schema_of_the_last_session_is_held_before_this_one_has_a_list() {
    let fixture = fixture();
    let x = r#"{"name":"x","inputSchema":{"properties":{"target":{"type":"string","format":"path"}}}}"#;
    let listed = [("x", Raw::parse(x).unwrap())];
    catalogue::write(&fixture.home, &Masker::default(), "s", 1, listed).unwrap();
    fixture.write(
        r#"{"version":"1","default":"allow","all_tools":{"deny_if":[{"args":"paths","op":"eq","value":"etc/passwd"}]}}"#,
    );
    let args = Raw::parse(r#"{"target":"etc/passwd"}"#).unwrap();
    let (rules, _) = fixture.rule_source.poll();
    let call = Call::tool("c", "x", Some(args));
    let judged = rules.policy.judge(&call, &Circumstances::timeless());
    assert!(matches!(judged, Judgement::Refuse(_)), "{judged:?}");
}

#[test]
fn a_missing_default_policy_refuses_everything() {
    let fixture = fixture();
    fs::remove_file(fixture.home.default_policy()).unwrap();
    assert_eq!(fixture.look(), ("Broken".to_owned(), vec!["broken"]));
}

#[cfg(unix)]
#[test]
fn a_policy_that_others_may_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = fixture();
    fixture.write(ALLOW);
    fs::set_permissions(fixture.home.policy("s"), fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(fixture.look(), ("Broken".to_owned(), vec!["broken"]));
}

/// A link that leads nowhere is not a file that is missing.
#[cfg(unix)]
#[test]
fn a_policy_that_is_a_link_is_not_used_be_there_anything_behind_it_or_not() {
    use std::os::unix::fs::symlink;
    for behind in [None, Some(ALLOW)] {
        let fixture = fixture();
        let elsewhere = fixture.home.path().join("elsewhere");
        if let Some(text) = behind {
            fs::write(&elsewhere, text).unwrap();
        }
        symlink(&elsewhere, fixture.home.policy("s")).unwrap();
        assert_eq!(fixture.look(), ("Broken".to_owned(), vec!["broken"]), "{behind:?}");
        assert_eq!(fixture.look().1, Vec::<&str>::new(), "told once");
        fixture.write(DENY);
        assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["policy"]));
        fs::remove_file(fixture.home.policy("s")).unwrap();
        symlink(&elsewhere, fixture.home.policy("s")).unwrap();
        assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["broken, kept"]), "{behind:?}");
        symlink(&elsewhere, fixture.home.paused()).unwrap();
        assert_eq!(fixture.look().1, ["paused"], "{behind:?}");
    }
}

#[test]
fn a_save_that_empties_the_file_first_is_not_told_as_a_broken_policy() {
    let mut fixture = fixture();
    fixture.rule_source.moment = Duration::from_secs(3600);
    fixture.write(DENY);
    assert_eq!(fixture.look(), ("Denied".to_owned(), vec!["policy"]));
    for between in ["", "{", "{\"version\""] {
        fs::write(fixture.home.policy("s"), between).unwrap();
        assert_eq!(fixture.look(), ("Denied".to_owned(), vec![]), "enforced on, and not told yet");
        assert!(fixture.rule_source.has_untold());
    }
    fixture.write(ALLOW);
    assert_eq!(fixture.look(), ("pass /default".to_owned(), vec!["policy"]));
    assert!(!fixture.rule_source.has_untold() && fixture.rule_source.take_untold().is_none());
    fs::remove_file(fixture.home.policy("s")).unwrap();
    assert_eq!(fixture.look().1, Vec::<&str>::new(), "taken away for a moment");
    fixture.write(ALLOW);
    assert_eq!(fixture.look().1, Vec::<&str>::new(), "the same again");
    fixture.write("{");
    assert_eq!(fixture.look().1, Vec::<&str>::new());
    fixture.rule_source.moment = Duration::ZERO;
    assert_eq!(fixture.look().1, ["broken, kept"], "it lasts");
    fixture.write("");
    fixture.rule_source.moment = Duration::from_secs(3600);
    assert_eq!(fixture.look().1, Vec::<&str>::new());
    assert!(
        matches!(fixture.rule_source.take_untold(), Some(Change::Broken { kept: true, .. })),
        "at the end"
    );
}

#[test]
fn pause_and_resume_are_seen_at_the_next_look() {
    let fixture = fixture();
    fixture.look();
    fs::write(fixture.home.paused(), r#"{"all":{"since_ms":1}}"#).unwrap();
    let (rules, _) = fixture.rule_source.poll();
    assert!(rules.paused.is_some());
    fs::write(fixture.home.paused(), "not json at all").unwrap();
    assert!(fixture.rule_source.poll().0.paused.is_some(), "what cannot be understood means paused");
    fs::write(fixture.home.paused(), "{}").unwrap();
    assert_eq!(fixture.look().1, ["resumed"]);
}

#[test]
fn a_pause_is_not_lifted_by_removing_its_file() {
    let fixture = fixture();
    fs::write(fixture.home.paused(), r#"{"all":{"since_ms":1}}"#).unwrap();
    fixture.look();
    fs::remove_dir_all(fixture.home.control_dir()).unwrap();
    assert_eq!(fixture.look().1, ["paused"], "told");
    assert!(fixture.rule_source.poll().0.paused.is_some());
    assert!(fixture.home.paused().exists(), "and there for everybody");
    pause::resume(&fixture.home, None).unwrap();
    assert_eq!(fixture.look().1, ["resumed"]);
    // Nor where it cannot be put back.
    fs::write(fixture.home.paused(), r#"{"all":{"since_ms":1}}"#).unwrap();
    fixture.look();
    fs::remove_dir_all(fixture.home.path()).unwrap();
    assert!(fixture.rule_source.poll().0.paused.is_some());
}

#[test]
fn calls_that_name_the_home_folder_are_refused() {
    let fixture = fixture();
    let (rules, _) = fixture.rule_source.poll();
    let args = format!(r#"{{"path":"{}/policies/s.json"}}"#, fixture.home.path().display());
    let raw = callgate_protocol::json::Raw::parse(&args).unwrap();
    assert!(matches!(
        rules.policy.judge(&Call::tool("c", "x", Some(raw)), &Circumstances::timeless()),
        Judgement::Refuse(_)
    ));
}
