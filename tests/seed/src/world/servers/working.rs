//! Servers with files, repositories, tables and messages.

use callgate_journal::Origin;

use super::{SAID, Server, TOOL, Tool};

pub(super) const FILESYSTEM: Server = Server {
    name: "filesystem",
    weight: 22,
    command: r#"["npx","-y","@modelcontextprotocol/server-filesystem","/home/ada/work"]"#,
    loops: false,
    tools: &[
        Tool {
            name: "read_text_file",
            weight: 30,
            args: r#"{"path":"{file}"}"#,
            result: SAID,
            micros: (400, 40_000),
            listed: true,
            spoiled: Some((r#"{"path":"/home/ada/.aws/credentials"}"#, "only inside /home/ada/work")),
            ..TOOL
        },
        Tool {
            name: "list_directory",
            weight: 14,
            args: r#"{"path":"/home/ada/work/shop"}"#,
            result: r#"{"content":[{"type":"text","text":"[FILE] package.json\n[DIR] src\n[DIR] tests\n[FILE] {word}.ts"}]}"#,
            micros: (300, 20_000),
            ..TOOL
        },
        Tool {
            name: "search_files",
            weight: 9,
            args: r#"{"path":"/home/ada/work","pattern":"**/*{word}*"}"#,
            result: r#"{"content":[{"type":"text","text":"{file}"}]}"#,
            micros: (2_000, 900_000),
            ..TOOL
        },
        Tool {
            name: "edit_file",
            weight: 10,
            args: r#"{"path":"{file}","edits":[{"oldText":"{word}","newText":"{word}"}]}"#,
            result: r#"{"content":[{"type":"text","text":"@@ -{n},1 +{n},1 @@"}]}"#,
            micros: (900, 60_000),
            fails: 5,
            ..TOOL
        },
        Tool {
            name: "write_file",
            weight: 7,
            args: r#"{"path":"{file}","content":"{page}"}"#,
            micros: (700, 50_000),
            listed: true,
            spoiled: Some((
                r#"{"path":"/home/ada/.bashrc","content":"alias ls=..."}"#,
                "only inside /home/ada/work",
            )),
            ..TOOL
        },
        Tool {
            name: "directory_tree",
            weight: 3,
            args: r#"{"path":"/home/ada/work"}"#,
            result: SAID,
            micros: (9_000, 1_800_000),
            ..TOOL
        },
    ],
    policies: &[(
        r#"{
  "version": "1",
  "default": "allow",
  "tools": {
    "read_text_file": {
      "deny_if": [{ "path": "args.path", "op": "regex", "value": "/\\.(ssh|aws)/", "on_deny": "only inside /home/ada/work" }]
    },
    "write_file": {
      "deny_if": [{ "path": "args.path", "op": "regex", "value": "^/home/ada/\\.", "on_deny": "only inside /home/ada/work" }]
    }
  }
}
"#,
        "",
        Origin::File,
    )],
};

pub(super) const GITHUB: Server = Server {
    name: "github",
    weight: 14,
    command: r#"["github-mcp-server","stdio"]"#,
    loops: false,
    tools: &[
        Tool {
            name: "search_code",
            weight: 14,
            args: r#"{"q":"{word} repo:{repo}"}"#,
            result: r#"{"content":[{"type":"text","text":"{\"total_count\":{n},\"items\":[]}"}]}"#,
            micros: (150_000, 2_200_000),
            ..TOOL
        },
        Tool {
            name: "get_file_contents",
            weight: 20,
            args: r#"{"owner":"ada","repo":"shop","path":"src/{word}.ts","ref":"{branch}"}"#,
            result: SAID,
            micros: (120_000, 1_500_000),
            ..TOOL
        },
        Tool {
            name: "list_pull_requests",
            weight: 8,
            args: r#"{"owner":"ada","repo":"shop","state":"open"}"#,
            result: r#"{"content":[{"type":"text","text":"[{\"number\":{n},\"title\":\"{title}\"}]"}]}"#,
            micros: (130_000, 900_000),
            ..TOOL
        },
        Tool {
            name: "create_issue",
            weight: 3,
            args: r#"{"owner":"ada","repo":"shop","title":"{title}","body":"{page}"}"#,
            result: r#"{"content":[{"type":"text","text":"https://github.example/ada/shop/issues/{n}"}]}"#,
            micros: (250_000, 1_900_000),
            listed: true,
            capped: Some("20 calls per hour"),
            ..TOOL
        },
        Tool {
            name: "add_issue_comment",
            weight: 5,
            args: r#"{"owner":"ada","repo":"shop","issue_number":{n},"body":"{title}"}"#,
            ..TOOL
        },
        Tool {
            name: "create_pull_request",
            weight: 2,
            args: r#"{"owner":"ada","repo":"shop","title":"{title}","head":"{branch}","base":"main"}"#,
            micros: (400_000, 2_600_000),
            ..TOOL
        },
        Tool {
            name: "merge_pull_request",
            weight: 1,
            args: r#"{"owner":"ada","repo":"shop","pullNumber":{n}}"#,
            listed: true,
            denied: Some("a person merges"),
            ..TOOL
        },
    ],
    policies: &[(
        r#"{
  "version": "1",
  "default": "allow",
  "tools": {
    "create_issue": {
      "limits": [{ "counter": "create_issue_cap", "window": "hour", "max": 20, "scope": "server" }]
    },
    "merge_pull_request": { "action": "deny", "reason": "a person merges" }
  }
}
"#,
        "",
        Origin::File,
    )],
};

pub(super) const POSTGRES: Server = Server {
    name: "postgres",
    weight: 7,
    command: r#"["npx","-y","@modelcontextprotocol/server-postgres","postgresql://localhost/shop"]"#,
    loops: false,
    tools: &[Tool {
        name: "query",
        args: r#"{"sql":"{sql}"}"#,
        result: r#"{"content":[{"type":"text","text":"[{\"id\":{n},\"total\":\"{n}.99\",\"currency\":\"EUR\"}]"}]}"#,
        micros: (1_500, 4_000_000),
        fails: 4,
        listed: true,
        spoiled: Some((
            r#"{"sql":"delete from orders where status = 'open'"}"#,
            "nothing is deleted from here",
        )),
        ..TOOL
    }],
    policies: &[(
        r#"{
  "version": "1",
  "default": "deny",
  "tools": {
    "query": {
      "deny_if": [{ "path": "args.sql", "op": "regex", "value": "(?i)\\b(delete|drop|truncate)\\b", "on_deny": "nothing is deleted from here" }]
    }
  }
}
"#,
        "",
        Origin::File,
    )],
};

pub(super) const SLACK: Server = Server {
    name: "slack",
    weight: 3,
    command: r#"["npx","-y","@modelcontextprotocol/server-slack"]"#,
    loops: true,
    tools: &[
        Tool {
            name: "slack_list_channels",
            weight: 4,
            result: r##"{"content":[{"type":"text","text":"{channel}"}]}"##,
            micros: (90_000, 900_000),
            ..TOOL
        },
        Tool {
            name: "slack_get_channel_history",
            weight: 8,
            args: r#"{"channel_id":"C0{id}","limit":20}"#,
            result: SAID,
            micros: (110_000, 1_300_000),
            ..TOOL
        },
        Tool {
            name: "slack_post_message",
            weight: 3,
            args: r#"{"channel_id":"C0{id}","text":"{title}: done"}"#,
            micros: (180_000, 1_200_000),
            listed: true,
            capped: Some("5 calls per hour"),
            ..TOOL
        },
    ],
    policies: &[
        (
            r#"{
  "version": "1",
  "default": "allow"
}
"#,
            "",
            Origin::File,
        ),
        (
            r#"{
  "version": "1",
  "default": "allow",
  "tools": {
    "slack_post_message": {
      "limits": [{ "counter": "slack_post_message_cap", "window": "hour", "max": 5, "scope": "server" }]
    }
  }
}
"#,
            "slack_post_message is capped at 5 calls per hour",
            Origin::Cli,
        ),
    ],
};
