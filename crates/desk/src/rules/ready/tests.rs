#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_controls::Disk;
use callgate_policy::{Call, Circumstances, Judgement, NoRecordings, Waived};

use super::*;

const OPEN: &str = r#"{ "version": "1", "default": "allow" }"#;
const FOLDER_HERE: &str = "/srv/tests";

/// `name argument argument…`
fn listed(tools: &[&str]) -> Vec<Listed> {
    let one = |text: &&str| {
        let mut words = text.split(' ');
        Listed { name: words.next().unwrap().to_owned(), arguments: words.map(str::to_owned).collect() }
    };
    tools.iter().map(one).collect()
}

fn codegen_server() -> Vec<Listed> {
    listed(&[
        "start_codegen_session options",
        "end_codegen_session sessionId",
        "clear_codegen_session sessionId",
        "get_codegen_session sessionId",
        "playwright_navigate url",
        "playwright_upload_file selector filePath",
        "playwright_screenshot name downloadsDir",
    ])
}

fn states(text: &str, tools: &[Listed]) -> Vec<(String, ReadyState)> {
    list(text, tools).into_iter().map(|ready| (ready.id, ready.state)).collect()
}

/// The open policy with every rule that fits.
fn all_applied(tools: &[Listed]) -> String {
    list(OPEN, tools)
        .iter()
        .fold(OPEN.to_owned(), |text, ready| apply(&text, tools, &ready.id, Some(FOLDER_HERE)).unwrap().text)
}

fn refuses(policy: &Policy, tool: &str, args: &Value) -> bool {
    let args = args.to_string();
    let call = Call::tool("c", tool, Raw::parse(&args).ok());
    let files = Disk::new();
    let now = Circumstances { now_ms: 0, files: &files, recordings: &NoRecordings, waived: Waived::Nothing };
    matches!(policy.judge(&call, &now), Judgement::Refuse(_))
}

#[test]
fn what_fits_is_told_by_the_tools_that_a_server_lists() {
    let ids = |tools: &[&str]| -> Vec<String> {
        list(OPEN, &listed(tools)).into_iter().map(|ready| ready.id).collect()
    };
    let cases: &[(&[&str], &[&str])] = &[
        (
            &[
                "start_codegen_session options",
                "end_codegen_session sessionId",
                "clear_codegen_session sessionId",
                "playwright_navigate url",
                "playwright_upload_file filePath",
            ],
            &[
                "output-inside",
                "read-inside",
                "web-only",
                "one-open-session",
                "own-sessions-only",
                "keep-unfinished",
            ],
        ),
        (&["browser_navigate url", "browser_click ref"], &["web-only"]),
        (
            &["read_text_file path", "write_file path content", "list_directory path"],
            &["files-read-only", "files-inside"],
        ),
        (&["read_text_file path", "list_directory path"], &["files-inside"]),
        (
            &["create_pull_request title", "merge_pull_request number", "delete_file path"],
            &["hosting-no-deletes", "hosting-no-merges"],
        ),
        (&["query sql"], &["sql-select-only"]),
        (&["read_query query", "write_query query"], &["sql-select-only"]),
        (&["fetch url"], &["fetch-https-only", "fetch-public-only"]),
        // A word that means something else here.
        (&["query text"], &[]),
        (&["fetch id"], &[]),
        (&["read_file path"], &[]),
        (&["delete_everything"], &[]),
        (&[], &[]),
    ];
    for (tools, expected) in cases {
        assert_eq!(ids(tools), *expected, "{tools:?}");
    }
    assert!(list("{ broken", &codegen_server()).is_empty());
}

#[test]
fn applied_they_are_in_force_and_loosen_nothing() {
    let tools = codegen_server();
    let mut text = "{\n  \"version\": \"1\",\n  // mine\n  \"default\": \"allow\"\n}\n".to_owned();
    assert!(states(&text, &tools).iter().all(|(_, state)| *state == ReadyState::Offered));
    for (id, _) in states(&text, &tools) {
        let before = Policy::parse(&text).unwrap();
        text = apply(&text, &tools, &id, Some(FOLDER_HERE)).unwrap().text;
        assert_eq!(compare::loosened(&before, &Policy::parse(&text).unwrap()), Vec::<String>::new());
        let state = states(&text, &tools).into_iter().find(|(known, _)| *known == id).unwrap().1;
        assert_eq!(state, ReadyState::InForce, "{id}: {text}");
    }
    assert!(text.contains("// mine") && text.contains(FOLDER_HERE), "{text}");
    assert!(!text.contains("playwright_save_as_pdf"), "this server does not have it: {text}");
}

#[test]
fn a_tool_that_is_refused_anyway_is_not_listed_by_them() {
    let tools = codegen_server();
    let shut = states(r#"{ "version": "1", "default": "deny" }"#, &tools);
    assert_eq!(shut[0], ("output-inside".to_owned(), ReadyState::NotNeeded));
    assert_eq!(shut[2], ("web-only".to_owned(), ReadyState::NotNeeded));
    assert_eq!(shut[3].1, ReadyState::Offered, "it lists no tool");
    let some = r#"{ "version": "1", "default": "deny", "tools": { "playwright_screenshot": {} } }"#;
    assert_eq!(states(some, &tools)[0].1, ReadyState::Offered);
    let text = apply(some, &tools, "output-inside", Some(FOLDER_HERE)).unwrap().text;
    let policy = Policy::parse(&text).unwrap();
    assert_eq!(compare::loosened(&Policy::parse(some).unwrap(), &policy), Vec::<String>::new(), "{text}");
    assert!(refuses(&policy, "playwright_screenshot", &json!({ "name": "x", "downloadsDir": "/etc" })));
    assert!(!refuses(&policy, "playwright_screenshot", &json!({ "name": "x", "downloadsDir": FOLDER_HERE })));
}

#[test]
fn a_folder_is_asked_for_and_cannot_write_rules_of_its_own() {
    let tools = codegen_server();
    let apply = |folder: &str| apply(OPEN, &tools, "output-inside", Some(folder));
    assert!(apply(" ").is_err());
    assert!(apply("tests").is_err(), "a folder from the root on");
    let text = apply(r#"/x" } ] } }, "hide": ["y"#).unwrap().text;
    assert!(!Policy::parse(&text).unwrap().is_hidden("c", "y"), "{text}");
    assert!(super::apply(OPEN, &tools, "no-such-rule", None).is_err());
    assert!(super::apply(OPEN, &tools, "sql-select-only", None).is_err(), "it is about no tool here");
}

#[test]
fn the_rules_for_other_servers_refuse_what_they_say() {
    let tools = listed(&[
        "read_text_file path",
        "read_multiple_files paths",
        "write_file path",
        "move_file source destination",
        "list_directory path",
        "create_pull_request title",
        "merge_pull_request number",
        "delete_branch name",
        "query sql",
        "read_query query",
        "drop_table name",
        "fetch url",
    ]);
    let applied = |ids: &[&str]| {
        let text = ids
            .iter()
            .fold(OPEN.to_owned(), |text, id| apply(&text, &tools, id, Some(FOLDER_HERE)).unwrap().text);
        Policy::parse(&text).unwrap()
    };
    let read_only = applied(&["files-read-only"]);
    let inside = applied(&["files-inside"]);
    let hosting = applied(&["hosting-no-deletes", "hosting-no-merges"]);
    let sql = applied(&["sql-select-only"]);
    let https = applied(&["fetch-https-only"]);
    let public = applied(&["fetch-public-only"]);
    let url = |url: &str| json!({ "url": url });
    let cases: Vec<(&Policy, &str, Value, bool)> = vec![
        (&read_only, "write_file", json!({ "path": "/srv/tests/a" }), true),
        (&read_only, "move_file", json!({}), true),
        (&read_only, "read_text_file", json!({ "path": "/srv/tests/a" }), false),
        (&inside, "read_text_file", json!({ "path": "/srv/tests/a" }), false),
        (&inside, "read_text_file", json!({ "path": "/etc/passwd" }), true),
        (&inside, "read_multiple_files", json!({ "paths": ["/srv/tests/a", "/etc/passwd"] }), true),
        (&inside, "read_multiple_files", json!({ "paths": ["/srv/tests/a"] }), false),
        (&inside, "move_file", json!({ "source": "/srv/tests/a", "destination": "/etc/cron.d/a" }), true),
        (&hosting, "merge_pull_request", json!({}), true),
        (&hosting, "delete_branch", json!({}), true),
        (&hosting, "create_pull_request", json!({}), false),
        (&sql, "query", json!({ "sql": "SELECT * FROM a;" }), false),
        (&sql, "read_query", json!({ "query": "\n select 1" }), false),
        (&sql, "query", json!({ "sql": "SELECT 1; DROP TABLE a" }), true),
        (&sql, "query", json!({ "sql": "WITH x AS (DELETE FROM a RETURNING *) SELECT * FROM x" }), true),
        (&sql, "query", json!({ "sql": "/* */ DELETE FROM a" }), true),
        (&sql, "query", json!({ "sql": "selected" }), true),
        (&sql, "drop_table", json!({}), true),
        (&https, "fetch", url("https://example.com/"), false),
        (&https, "fetch", url("HTTPS://example.com/"), false),
        (&https, "fetch", url("http://example.com/"), true),
        (&https, "fetch", url("file:///etc/passwd"), true),
        (&public, "fetch", url("https://example.com:8443/x?y#z"), false),
        (&public, "fetch", url("http://example.com"), false),
    ];
    let private = [
        "http://localhost/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://10.0.0.1:80/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://127.1/",
        "http://example.com@127.0.0.1/",
        "http://router.lan/",
        "http://db.internal:5432/",
        "http://Printer.LOCAL/x",
        "http://example.com\\@127.0.0.1/",
        "http:/\\127.0.0.1/",
        "http://a.0x7f/",
        "file:///etc/passwd",
        "//127.0.0.1/",
    ];
    let private = private.iter().map(|address| (&public, "fetch", url(address), true));
    for (policy, tool, args, refused) in cases.into_iter().chain(private) {
        assert_eq!(refuses(policy, tool, &args), refused, "{tool} {args}");
    }
}

/// An argument of a tool that holds an address or a path, and where it stands in the arguments.
struct Argument {
    tool: String,
    at: Vec<String>,
    url: bool,
}

/// Arguments that look like one by their names, and open and write nothing.
const HARMLESS: &[(&str, &str)] = &[
    ("playwright_expect_response", "url"),
    ("playwright_wait_url", "urlPattern"),
    ("playwright_assert_request_made", "urlPattern"),
    ("playwright_download_file", "expectedFileName"),
    ("playwright_download_and_extract_pdf", "expectedFileName"),
];

/// Those of a schema, also inside objects and lists.
fn arguments(tool: &str, schema: &Value, at: &[String], found: &mut Vec<Argument>) {
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let here = [at, std::slice::from_ref(name)].concat();
        let lower = name.to_lowercase();
        let url = lower.contains("url") || lower.contains("uri");
        let path = ["path", "dir", "file", "folder"].iter().any(|word| lower.contains(word))
            || (lower == "name" && tool == "playwright_screenshot")
            || (lower == "baseline" || lower == "current");
        if (url || path) && !HARMLESS.contains(&(tool, name.as_str())) {
            found.push(Argument { tool: tool.to_owned(), at: here.clone(), url });
        }
        arguments(tool, schema, &here, found);
        arguments(tool, &schema["items"], &[here, vec!["0".to_owned()]].concat(), found);
    }
}

/// Something that fits a schema, with good addresses and places.
fn sample(name: &str, schema: &Value) -> Value {
    let lower = name.to_lowercase();
    match schema["type"].as_str() {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let members = required.map(|name| (name.to_owned(), sample(name, &schema["properties"][name])));
            Value::Object(members.collect())
        }
        _ if lower.contains("url") => json!("https://example.com/"),
        _ if ["path", "dir", "file", "baseline"].iter().any(|word| lower.contains(word)) => {
            json!("/srv/tests/x")
        }
        _ => json!("x"),
    }
}

fn set(value: &mut Value, at: &[String], to: Value) {
    let Some((first, rest)) = at.split_first() else { return *value = to };
    let next = match first.parse::<usize>() {
        Ok(_) => {
            if value.as_array().is_none_or(Vec::is_empty) {
                *value = json!([{}]);
            }
            &mut value[0]
        }
        Err(_) => {
            if !value.is_object() {
                *value = json!({});
            }
            &mut value[first.as_str()]
        }
    };
    set(next, rest, to);
}

/// What these tools may be given that no ready-made rule holds.
fn unheld(tools: &[Value]) -> Vec<String> {
    let known: Vec<KnownTool> = tools
        .iter()
        .map(|tool| KnownTool {
            name: tool["name"].as_str().unwrap().to_owned(),
            definition: tool.to_string(),
        })
        .collect();
    let known: Vec<Listed> = known.iter().map(Listed::from).collect();
    let policy = Policy::parse(&all_applied(&known)).unwrap();
    let mut found = Vec::new();
    for tool in tools {
        let (name, schema) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]);
        arguments(name, schema, &[], &mut found);
    }
    let mut unheld = Vec::new();
    for Argument { tool, at, url } in found {
        let schema = &tools.iter().find(|one| one["name"] == json!(tool)).unwrap()["inputSchema"];
        let mut args = sample("", schema);
        // The rules ask for some that the schema does not.
        for optional in ["downloadsDir", "savePath", "outputDir", "outputPath", "baselinePath"] {
            if schema["properties"].get(optional).is_some() {
                args[optional] = json!("/srv/tests/x");
            }
        }
        let whole = policy.reads("", &tool, i64::MIN).is_empty();
        assert_eq!(refuses(&policy, &tool, &args), whole, "good arguments pass, if any do: {tool} {args}");
        let bad: &[&str] = if url {
            &["file:///etc/passwd", "FILE:///etc/passwd", "view-source:file:///etc/passwd"]
        } else {
            &["/etc/passwd", "../../../../etc/passwd"]
        };
        for bad in bad {
            let mut args = args.clone();
            set(&mut args, &at, json!(bad));
            if !refuses(&policy, &tool, &args) {
                unheld.push(format!("{tool} {}: {bad}", at.join(".")));
            }
        }
    }
    unheld
}

#[test]
fn no_address_or_path_of_the_codegen_servers_is_left_without_a_rule() {
    // The lists of the two real ones, where they are at hand.
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/servers");
    let lists = ["runautomation.json", "playwright-stealth.json"];
    let real = lists.iter().filter_map(|name| std::fs::read_to_string(folder.join(name)).ok());
    let stand_ins = [include_str!("stand_in.json"), STEALTH];
    for text in real.chain(stand_ins.map(str::to_owned)) {
        let list: Value = serde_json::from_str(&text).unwrap();
        let tools = list.get("tools").unwrap_or(&list).as_array().unwrap();
        assert_eq!(unheld(tools), Vec::<String>::new());
    }
}

/// The 29 tools of playwright-stealth with their arguments, without its words.
const STEALTH: &str = include_str!("stand_in_stealth.json");

#[test]
fn the_stealth_server_gets_every_ready_made_rule_of_its_kin() {
    let list: Value = serde_json::from_str(STEALTH).unwrap();
    let names: Vec<&str> =
        list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let catalogue = include_str!("../../../../risk/catalogue/playwright-stealth.json");
    assert_eq!(names.len(), 29);
    assert!(names.iter().all(|name| catalogue.contains(&format!("\"{name}\""))), "{names:?}");
    let tools = listed(&[
        "start_codegen_session options",
        "end_codegen_session sessionId",
        "clear_codegen_session sessionId",
        "playwright_navigate url",
        "playwright_post url value",
        "playwright_save_as_pdf outputPath",
        "playwright_screenshot downloadsDir",
    ]);
    let ids: Vec<String> = self::list(OPEN, &tools).into_iter().map(|ready| ready.id).collect();
    assert_eq!(
        ids,
        ["output-inside", "web-only", "one-open-session", "own-sessions-only", "keep-unfinished"]
    );
    let policy = Policy::parse(&all_applied(&tools)).unwrap();
    for (tool, args) in [
        ("playwright_navigate", json!({ "url": "fi\tle:///etc/passwd" })),
        ("playwright_post", json!({ "url": "file:///etc/passwd", "value": "x" })),
        ("playwright_save_as_pdf", json!({ "outputPath": "/etc" })),
        ("playwright_screenshot", json!({ "name": "x", "downloadsDir": "/etc" })),
    ] {
        assert!(refuses(&policy, tool, &args), "{tool}");
    }
    assert!(!refuses(&policy, "playwright_navigate", &json!({ "url": "https://example.com" })));
}

#[test]
fn page_objects_are_not_written_beside_the_folder() {
    let tools = codegen_server();
    let policy = Policy::parse(&all_applied(&tools)).unwrap();
    let start =
        |template: &str| json!({ "options": { "outputPath": "/srv/tests/e2e", "template": template } });
    assert!(refuses(&policy, "start_codegen_session", &start("pom")));
    assert!(!refuses(&policy, "start_codegen_session", &start("plain")));
}
