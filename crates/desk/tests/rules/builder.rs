//! The form: a draft becomes a text, and a text a draft.

use callgate_desk::view::{
    Action, Case, Condition, Decision, ErrorCode, LimitDraft, LimitKind, RuleDraft, SaveAnswer, Target,
    ToolState, UiError,
};

use crate::world::{SERVER, World};

const POLICY: &str = "{\n  // mine\n  \"version\": \"1\",\n  \"default\": \"allow\",\n  \"tools\": {\n    \"x\": { \"action\": \"deny\" }, // why\n    \"y\": {}\n  }\n}\n";

fn target(tool: &str, client: Option<&str>) -> Target {
    Target { server: SERVER.to_owned(), tool: Some(tool.to_owned()), client: client.map(str::to_owned) }
}

fn draft() -> RuleDraft {
    RuleDraft {
        action: Action::Allow,
        reason: None,
        limits: vec![LimitDraft {
            counter: None,
            limit: LimitKind::Calls,
            max: 10,
            window: Some("minute".to_owned()),
            scope: "grant".to_owned(),
        }],
        require: vec![Condition { path: "args.a".to_owned(), op: "exists".to_owned(), value: None }],
        deny_if: vec![Case {
            conditions: vec![Condition {
                path: "args.url".to_owned(),
                op: "regex".to_owned(),
                value: Some("\"^file:\"".to_owned()),
            }],
            reason: Some("no local files".to_owned()),
        }],
        ask_if: Vec::new(),
    }
}

fn plain(action: Action) -> RuleDraft {
    RuleDraft {
        action,
        reason: None,
        limits: Vec::new(),
        require: Vec::new(),
        deny_if: Vec::new(),
        ask_if: Vec::new(),
    }
}

/// As it reads back: a new limit has got a name for its counter.
fn named(counter: &str) -> RuleDraft {
    let mut draft = draft();
    draft.limits[0].counter = Some(counter.to_owned());
    draft
}

#[test]
fn the_builder_writes_nothing_that_its_own_checker_warns_about() {
    let world = World::with(POLICY);
    let two = RuleDraft { limits: [draft().limits, draft().limits].concat(), ..draft() };
    let two = RuleDraft { deny_if: Vec::new(), require: Vec::new(), ..two };
    for target in [target("y", None), target("y", Some("cursor")), Target { tool: None, ..target("", None) }]
    {
        let proposal =
            world.desk.draft_rule(POLICY, &target, &RuleDraft { deny_if: Vec::new(), ..draft() }).unwrap();
        let told = world.desk.check_policy(Some(SERVER), &proposal.text);
        assert!(told.is_empty(), "{told:?} in {}", proposal.text);
        let proposal = world.desk.draft_rule(POLICY, &target, &two).unwrap();
        assert!(proposal.text.contains("_cap\"") && proposal.text.contains("_cap_2\""), "{}", proposal.text);
    }
    // What somebody wrote without a name stays as it is.
    let unnamed = POLICY.replace("\"y\": {}", "\"y\": {\"limits\":[{\"window\":\"minute\",\"max\":10}]}");
    let same = RuleDraft { deny_if: Vec::new(), require: Vec::new(), ..draft() };
    assert_eq!(world.desk.draft_rule(&unnamed, &target("y", None), &same).unwrap().text, unnamed);
}

#[test]
fn every_path_argument_is_a_choice_of_the_form() {
    let world = World::with(POLICY);
    let condition = Condition {
        path: "paths".to_owned(),
        op: "inside".to_owned(),
        value: Some("\"~/projects\"".to_owned()),
    };
    let draft = RuleDraft { require: vec![condition], deny_if: Vec::new(), limits: Vec::new(), ..draft() };
    let proposal = world.desk.draft_rule(POLICY, &target("y", None), &draft).unwrap();
    assert!(proposal.text.contains("\"args\": \"paths\""), "{}", proposal.text);
    world.write(&proposal.text);
    let view = world.desk.rules(SERVER).unwrap();
    let y = view.tools.iter().find(|tool| tool.name == "y").unwrap();
    assert_eq!(
        (y.draft.as_ref(), y.words.as_str()),
        (Some(&draft), "required that every path is inside \"~/projects\"")
    );
    let tried =
        world.desk.try_call(SERVER, &proposal.text, None, "y", r#"{"paths":["/etc/passwd"]}"#).unwrap();
    assert!(!tried.passes && tried.words.contains("args.paths[0]"), "{}", tried.words);
}

#[test]
fn when_a_person_is_asked_is_a_choice_of_the_form() {
    let world = World::with(POLICY);
    let ask_if = draft().deny_if;
    let draft = RuleDraft { ask_if, ..plain(Action::Allow) };
    let proposal = world.desk.draft_rule(POLICY, &target("y", None), &draft).unwrap();
    assert!(proposal.loosened.is_empty(), "{:?}", proposal.loosened);
    world.write(&proposal.text);
    let view = world.desk.rules(SERVER).unwrap();
    let y = view.tools.iter().find(|tool| tool.name == "y").unwrap();
    let words = "asked about when args.url matches \"^file:\" (\"no local files\")";
    assert_eq!((y.draft.as_ref(), y.state, y.words.as_str()), (Some(&draft), ToolState::Custom, words));
    for (args, passes) in [(r#"{"url":"file:///x"}"#, false), (r#"{"url":"https://x"}"#, true)] {
        let tried = world.desk.try_call(SERVER, &proposal.text, None, "y", args).unwrap();
        assert_eq!((tried.passes, tried.decision == Decision::Asked), (passes, !passes), "{args}");
    }
    let freed = world.desk.draft_rule(&proposal.text, &target("y", None), &plain(Action::Allow)).unwrap();
    assert!(!freed.loosened.is_empty(), "to ask no more is a loosening");
}

#[test]
fn the_editor_holds_rules_against_the_tools_of_the_server() {
    let world = World::with(POLICY);
    let schema =
        r#"{"name":"read_files","inputSchema":{"type":"object","properties":{"paths":{"type":"array"}}}}"#;
    world.lists(&[("read_files", schema), ("x", "{}"), ("y", "{}")]);
    let text = r#"{"version":"1","default":"allow","tools":{"read_files":{"deny_if":[{"path":"args.path","op":"inside","value":"~/.ssh"}]},"raed":{}}}"#;
    let told: Vec<String> =
        world.desk.check_policy(Some(SERVER), text).into_iter().map(|one| one.message).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("has no argument args.path, so this never denies anything"), "{told:?}");
    assert!(told[1].contains("the server has no tool \"raed\""), "{told:?}");
    assert!(world.desk.check_policy(None, text).is_empty());
    world.write(text);
    assert_eq!(world.desk.rules(SERVER).unwrap().diagnostics.len(), 2, "the table tells it too");
}

#[test]
fn what_nobody_allowed_is_shown_as_hidden_where_it_is() {
    let policy = r#"{"version":"1","default":"deny","unlisted":"hide","tools":{"y":{}}}"#;
    let world = World::with(policy);
    world.lists(&[("x", "{}"), ("y", "{}")]);
    let view = world.desk.rules(SERVER).unwrap();
    let state = |name: &str| view.tools.iter().find(|tool| tool.name == name).map(|tool| tool.state);
    assert_eq!((state("x"), state("y")), (Some(ToolState::Hide), Some(ToolState::Allow)));
    let allow = RuleDraft { limits: Vec::new(), require: Vec::new(), deny_if: Vec::new(), ..draft() };
    let proposal = world.desk.draft_rule(policy, &target("x", None), &allow).unwrap();
    world.write(&proposal.text);
    let view = world.desk.rules(SERVER).unwrap();
    assert!(view.tools.iter().all(|tool| tool.state == ToolState::Allow), "{}", proposal.text);
}

#[test]
fn a_rule_is_built_without_touching_the_rest_and_reads_back() {
    let world = World::with(POLICY);
    let proposal = world.desk.draft_rule(POLICY, &target("x", None), &draft()).unwrap();
    assert!(proposal.text.starts_with("{\n  // mine\n"));
    assert!(proposal.text.contains("}, // why\n    \"y\": {}\n"), "{}", proposal.text);
    assert!(proposal.diff.contains("+") && !proposal.summary.is_empty());
    assert_eq!(proposal.loosened.len(), 1, "{:?}", proposal.loosened);
    world.write(&proposal.text);
    let view = world.desk.rules(SERVER).unwrap();
    let x = view.tools.iter().find(|tool| tool.name == "x").unwrap();
    assert_eq!(x.draft.as_ref(), Some(&named("x_cap")));
    let again = world.desk.draft_rule(&proposal.text, &target("x", None), &draft()).unwrap();
    assert_eq!((again.text, again.diff, again.summary.len()), (proposal.text, String::new(), 0));
}

#[test]
fn a_clients_rule_and_the_rule_of_all_tools_are_built_too() {
    let world = World::with(POLICY);
    let deny = RuleDraft { action: Action::Deny, ..draft() };
    let proposal = world.desk.draft_rule(POLICY, &target("y", Some("cursor")), &deny).unwrap();
    assert!(proposal.loosened.is_empty());
    world.write(&proposal.text);
    let view = world.desk.rules(SERVER).unwrap();
    let y = view.tools.iter().find(|tool| tool.name == "y").unwrap();
    assert_eq!(y.draft.as_ref().unwrap().action, Action::Allow);
    let deny = RuleDraft { action: Action::Deny, ..named("y_client_cap") };
    assert_eq!((y.clients[0].client.as_str(), y.clients[0].draft.as_ref()), ("cursor", Some(&deny)));
    let all = Target { server: SERVER.to_owned(), tool: None, client: None };
    let proposal = world.desk.draft_rule(POLICY, &all, &draft()).unwrap();
    world.write(&proposal.text);
    assert_eq!(world.desk.rules(SERVER).unwrap().for_all.unwrap().draft, Some(named("*_cap")));
}

#[test]
fn a_draft_that_makes_no_sense_is_told_what_is_wrong() {
    let world = World::with(POLICY);
    let refused = |change: &dyn Fn(&mut RuleDraft)| {
        let mut draft = draft();
        change(&mut draft);
        UiError::from(world.desk.draft_rule(POLICY, &target("x", None), &draft).unwrap_err())
    };
    type Spoil<'s> = &'s dyn Fn(&mut RuleDraft);
    let cases: [(Spoil<'_>, &str); 8] = [
        (&|draft| draft.limits[0].max = 0, "at least 1"),
        (&|draft| draft.limits[0].window = None, "needs a window"),
        (&|draft| draft.limits[0].window = Some("fortnight".to_owned()), "a window is"),
        (&|draft| draft.limits[0].scope = "me".to_owned(), "is no scope"),
        (&|draft| draft.require[0].path = "url".to_owned(), "is no path"),
        (&|draft| draft.require[0].op = "like".to_owned(), "is no operator"),
        (&|draft| draft.deny_if[0].conditions[0].value = Some("^file:".to_owned()), "is no plain JSON value"),
        (
            &|draft| draft.deny_if[0].conditions[0].value = Some("\"(\"".to_owned()),
            "no usable regular expression",
        ),
    ];
    for (change, words) in cases {
        let error = refused(change);
        assert_eq!(error.code, ErrorCode::BadInput, "{}", error.message);
        assert!(error.message.contains(words), "{}", error.message);
    }
    let broken = UiError::from(world.desk.draft_rule("{", &target("x", None), &draft()).unwrap_err());
    assert_eq!(broken.code, ErrorCode::BrokenPolicy);
}

#[test]
fn the_default_is_changed_in_place_with_its_comments_and_says_what_it_opens() {
    let text = "{\n  \"version\": \"1\",\n  \"default\": \"deny\", // what nobody named\n  \"tools\": { \"y\": {} }\n}\n";
    let world = World::with(text);
    let proposal = world.desk.draft_default(text, Action::Allow).unwrap();
    assert_eq!(proposal.text, text.replace("\"deny\"", "\"allow\""));
    assert!(!proposal.loosened.is_empty() && !proposal.summary.is_empty(), "{proposal:?}");
    let stricter = world.desk.draft_default(&proposal.text, Action::Deny).unwrap();
    assert_eq!((stricter.text.as_str(), stricter.loosened.len()), (text, 0));
    let same = world.desk.draft_default(text, Action::Deny).unwrap();
    assert_eq!((same.text.as_str(), same.diff.as_str(), same.summary.len()), (text, "", 0));
    let asked = world.desk.draft_default(text, Action::Ask).unwrap();
    world.write(&asked.text);
    assert_eq!(world.desk.rules(SERVER).unwrap().default_action, Action::Ask);
    let hidden = world.desk.draft_default(text, Action::Hide).unwrap();
    assert!(hidden.text.contains("\"unlisted\": \"hide\"") && hidden.loosened.is_empty(), "{hidden:?}");
    world.write(&hidden.text);
    assert_eq!(world.desk.rules(SERVER).unwrap().default_action, Action::Hide);
    let shown = world.desk.draft_default(&hidden.text, Action::Deny).unwrap();
    assert_eq!(shown.text, text, "and back, with its comments");
    let open = world.desk.draft_default(&hidden.text, Action::Allow).unwrap();
    assert!(!open.text.contains("unlisted"), "{}", open.text);
    let broken = UiError::from(world.desk.draft_default("{", Action::Deny).unwrap_err());
    assert_eq!(broken.code, ErrorCode::BrokenPolicy);
}

#[test]
fn saving_a_looser_default_asks_and_a_stricter_one_does_not() {
    let world = World::with(POLICY);
    let stricter = world.desk.draft_default(POLICY, Action::Deny).unwrap().text;
    let SaveAnswer::Done(_) = world.desk.save_policy(SERVER, POLICY, &stricter).unwrap() else {
        panic!("restricting is not asked about")
    };
    let SaveAnswer::Ask(question) = world.desk.save_policy(SERVER, &stricter, POLICY).unwrap() else {
        panic!("loosening is asked about")
    };
    assert!(!question.loosened.is_empty());
    assert_eq!(world.desk.rules(SERVER).unwrap().text, stricter, "not before yes");
}

#[test]
fn the_rule_of_all_tools_can_be_built_where_there_is_none_and_for_one_client() {
    let world = World::with(POLICY);
    let none = world.desk.rules(SERVER).unwrap().for_all.unwrap();
    assert!(!none.said && none.clients.is_empty());
    assert_eq!(none.draft.map(|draft| draft.action), Some(Action::Allow));
    let cursor = Target { server: SERVER.to_owned(), tool: None, client: Some("cursor".to_owned()) };
    let deny = plain(Action::Deny);
    let proposal = world.desk.draft_rule(POLICY, &cursor, &deny).unwrap();
    assert!(proposal.loosened.is_empty(), "{:?}", proposal.loosened);
    world.write(&proposal.text);
    let all = world.desk.rules(SERVER).unwrap().for_all.unwrap();
    assert!(!all.said, "nothing is said for everyone");
    assert_eq!((all.clients[0].client.as_str(), all.clients[0].draft.as_ref()), ("cursor", Some(&deny)));
}
