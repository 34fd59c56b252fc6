//! The servers of the made-up month: their tools, what they are asked and what they say.

use super::Dice;
use crate::words::Origin;

#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) weight: u64,
    /// A JSON array.
    pub(super) command: &'static str,
    /// Agents get stuck in a loop with it now and then.
    pub(super) loops: bool,
    pub(super) tools: &'static [Tool],
    /// One after the other, with what changed and where.
    pub(super) policies: &'static [(&'static str, &'static str, Origin)],
}

#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) weight: u64,
    /// `{url}`, `{path}` and so on stand for something of that kind.
    args: &'static str,
    result: &'static str,
    /// Shortest and longest time that it takes.
    pub(super) micros: (u64, u64),
    /// Of a hundred.
    pub(super) fails: u64,
    pub(super) listed: bool,
    pub(super) denied: Option<&'static str>,
    /// Arguments that the policy refuses, now and then, and why.
    pub(super) spoiled: Option<(&'static str, &'static str)>,
    /// Its cap in words.
    pub(super) capped: Option<&'static str>,
}

const TOOL: Tool = Tool {
    name: "",
    weight: 10,
    args: "{}",
    result: r#"{"content":[{"type":"text","text":"ok"}]}"#,
    micros: (3_000, 900_000),
    fails: 2,
    listed: false,
    denied: None,
    spoiled: None,
    capped: None,
};

impl Tool {
    /// The arguments, and whether the policy refuses them.
    pub(super) fn arguments(&self, dice: &mut Dice) -> (String, bool) {
        match self.spoiled {
            Some((args, _)) if dice.below(25) == 0 => (fill(args, dice), true),
            _ => (fill(self.args, dice), false),
        }
    }

    pub(super) fn result(&self, dice: &mut Dice) -> String {
        fill(self.result, dice)
    }
}

/// Puts something in for each name in braces. Braces of JSON are never right around letters only.
fn fill(pattern: &str, dice: &mut Dice) -> String {
    let mut out = String::with_capacity(pattern.len() + 64);
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let close = rest
            .find('}')
            .filter(|close| *close > 1 && rest[1..*close].bytes().all(|b| b.is_ascii_lowercase()));
        match close {
            Some(close) => {
                something(&rest[1..close], dice, &mut out);
                rest = &rest[close + 1..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn something(kind: &str, dice: &mut Dice, out: &mut String) {
    let picked: &str = match kind {
        "url" => dice.pick::<&str>(URLS),
        "selector" => dice.pick::<&str>(SELECTORS),
        "file" => dice.pick::<&str>(FILES),
        "word" => dice.pick::<&str>(WORDS),
        "repo" => dice.pick::<&str>(REPOS),
        "branch" => dice.pick::<&str>(BRANCHES),
        "title" => dice.pick::<&str>(TITLES),
        "sql" => dice.pick::<&str>(QUERIES),
        "channel" => dice.pick::<&str>(CHANNELS),
        "page" => {
            let lines = 2 + dice.below(9);
            for _ in 0..lines {
                out.push_str(dice.pick::<&str>(LINES));
            }
            return;
        }
        "n" => return out.push_str(&dice.below(500).to_string()),
        "id" => return out.push_str(&format!("{:08x}", dice.below(u64::from(u32::MAX)))),
        _ => kind,
    };
    out.push_str(picked);
}

const URLS: &[&str] = &[
    "https://app.example.com/login",
    "https://app.example.com/dashboard",
    "https://app.example.com/settings/billing",
    "https://shop.example.org/cart",
    "https://shop.example.org/checkout?step=2",
    "https://docs.example.com/getting-started",
    "https://status.example.net/incidents",
    "http://localhost:5173/",
    "http://localhost:3000/orders/4711",
    "https://en.wikipedia.org/wiki/Sliding_window_protocol",
];
const SELECTORS: &[&str] = &[
    "#go",
    "button[type=submit]",
    "input[name=email]",
    "#password",
    "text=Continue",
    ".cart >> text=Checkout",
    "nav a:has-text('Reports')",
    "[data-testid=save]",
    "table tr:nth-child(3)",
    "role=dialog >> text=Delete",
];
const FILES: &[&str] = &[
    "/home/ada/work/shop/src/cart.ts",
    "/home/ada/work/shop/src/checkout/payment.ts",
    "/home/ada/work/shop/package.json",
    "/home/ada/work/shop/README.md",
    "/home/ada/work/shop/tests/cart.spec.ts",
    "/home/ada/work/shop/migrations/0042_orders.sql",
    "/home/ada/notes/2026-11-meeting.md",
    "/home/ada/work/infra/main.tf",
];
const WORDS: &[&str] = &[
    "checkout",
    "invoice",
    "refund",
    "retry",
    "latency",
    "webhook",
    "session",
    "migration",
    "currency",
    "rounding",
    "pagination",
    "timeout",
    "avatar",
    "onboarding",
    "coupon",
];
const REPOS: &[&str] = &["ada/shop", "ada/infra", "example-org/design-system", "example-org/billing"];
const BRANCHES: &[&str] = &["main", "fix/cart-rounding", "feat/coupons", "chore/deps", "release/2.4"];
const TITLES: &[&str] = &[
    "Totals are off by one cent",
    "Login page jumps on slow networks",
    "Add coupon codes",
    "Bump dependencies",
    "Refund webhook is retried for ever",
    "Flaky test: cart.spec.ts",
];
const QUERIES: &[&str] = &[
    "select count(*) from orders where created_at > now() - interval '1 day'",
    "select id, total, currency from orders order by id desc limit 20",
    "explain analyze select * from customers where email = 'a@example.com'",
    "select status, count(*) from refunds group by status",
];
const CHANNELS: &[&str] = &["#shop", "#infra", "#releases", "#support"];
const LINES: &[&str] = &[
    "- heading \\\"Your cart\\\" [level=1] [ref=e4]\\n",
    "- button \\\"Continue\\\" [ref=e17] [cursor=pointer]\\n",
    "- textbox \\\"E-mail\\\" [ref=e9]: ada@example.com\\n",
    "- link \\\"Reports\\\" [ref=e23]\\n  - /url: /reports\\n",
    "- row \\\"4711 Rounding error 12.99 EUR open\\\" [ref=e41]\\n",
    "- text: Thank you! We have sent you a mail.\\n",
    "export function total(items: Item[]): number {\\n  return items.reduce((sum, item) => sum + item.price, 0);\\n}\\n",
    "- img \\\"Logo\\\" [ref=e2]\\n",
];

const SAID: &str = r#"{"content":[{"type":"text","text":"{page}"}]}"#;

pub(super) const SERVERS: &[Server] = &[
    Server {
        name: "playwright",
        weight: 34,
        command: r#"["npx","-y","@playwright/mcp@latest"]"#,
        loops: true,
        tools: &[
            Tool {
                name: "browser_navigate",
                weight: 18,
                args: r#"{"url":"{url}"}"#,
                result: SAID,
                micros: (180_000, 6_000_000),
                fails: 3,
                listed: true,
                spoiled: Some((r#"{"url":"file:///home/ada/.ssh/id_ed25519"}"#, "no local files")),
                ..TOOL
            },
            Tool {
                name: "browser_click",
                weight: 26,
                args: r#"{"element":"{word} button","ref":"e{n}"}"#,
                result: SAID,
                micros: (40_000, 2_500_000),
                fails: 4,
                listed: true,
                capped: Some("30 calls per minute"),
                ..TOOL
            },
            Tool { name: "browser_snapshot", weight: 22, result: SAID, micros: (25_000, 600_000), ..TOOL },
            Tool {
                name: "browser_type",
                weight: 12,
                args: r#"{"element":"E-mail","ref":"e9","text":"{word}@example.com"}"#,
                ..TOOL
            },
            Tool {
                name: "browser_take_screenshot",
                weight: 6,
                args: r#"{"filename":"{word}.png"}"#,
                micros: (120_000, 1_400_000),
                ..TOOL
            },
            Tool {
                name: "browser_console_messages",
                weight: 4,
                result: r#"{"content":[{"type":"text","text":"[ERROR] Failed to load resource: 404 @ {url}"}]}"#,
                ..TOOL
            },
            Tool {
                name: "browser_evaluate",
                weight: 1,
                args: r#"{"function":"() => document.cookie"}"#,
                listed: true,
                denied: Some("no scripts in pages that are logged in"),
                ..TOOL
            },
            Tool {
                name: "browser_wait_for",
                weight: 5,
                args: r#"{"text":"{word}"}"#,
                micros: (300_000, 30_000_000),
                fails: 9,
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
    "browser_evaluate": { "action": "deny", "reason": "no scripts in pages that are logged in" }
  }
}
"#,
                "browser_evaluate is denied: no scripts in pages that are logged in",
                Origin::Window,
            ),
            (
                r#"{
  "version": "1",
  "default": "allow",
  "tools": {
    "browser_evaluate": { "action": "deny", "reason": "no scripts in pages that are logged in" },
    "browser_navigate": {
      "deny_if": [{ "path": "args.url", "op": "regex", "value": "^file:", "on_deny": "no local files" }]
    },
    // It clicked the same dead button four hundred times.
    "browser_click": {
      "limits": [{ "counter": "browser_click_cap", "window": "minute", "max": 30, "scope": "grant" }]
    }
  }
}
"#,
                "browser_click is capped at 30 calls per minute",
                Origin::Window,
            ),
        ],
    },
    Server {
        name: "runautomation",
        weight: 20,
        command: r#"["npx","-y","@executeautomation/playwright-mcp-server"]"#,
        loops: true,
        tools: &[
            Tool {
                name: "start_codegen_session",
                weight: 4,
                args: r#"{"options":{"outputPath":"/home/ada/work/shop/tests/generated","testNamePrefix":"{word}","includeComments":true}}"#,
                result: r#"{"content":[{"type":"text","text":"{\"sessionId\":\"{id}\",\"outputPath\":\"/home/ada/work/shop/tests/generated\"}"}]}"#,
                listed: true,
                capped: Some("10 calls per minute"),
                ..TOOL
            },
            Tool {
                name: "end_codegen_session",
                weight: 3,
                args: r#"{"sessionId":"{id}"}"#,
                result: r#"{"content":[{"type":"text","text":"Generated test file: {word}.spec.ts ({n} lines)"}]}"#,
                listed: true,
                ..TOOL
            },
            Tool {
                name: "get_codegen_session",
                weight: 6,
                args: r#"{"sessionId":"{id}"}"#,
                listed: true,
                ..TOOL
            },
            Tool {
                name: "clear_codegen_session",
                weight: 1,
                args: r#"{"sessionId":"{id}"}"#,
                listed: true,
                denied: Some("recorded tests are not thrown away"),
                ..TOOL
            },
            Tool {
                name: "playwright_navigate",
                weight: 18,
                args: r#"{"url":"{url}","browserType":"chromium","headless":true}"#,
                result: r#"{"content":[{"type":"text","text":"Navigated to {url}"}]}"#,
                micros: (200_000, 7_000_000),
                fails: 3,
                listed: true,
                spoiled: Some((r#"{"url":"file:///etc/passwd"}"#, "no local files")),
                ..TOOL
            },
            Tool {
                name: "playwright_click",
                weight: 20,
                args: r#"{"selector":"{selector}"}"#,
                result: r#"{"content":[{"type":"text","text":"Clicked element: {selector}"}]}"#,
                fails: 5,
                ..TOOL
            },
            Tool {
                name: "playwright_fill",
                weight: 12,
                args: r#"{"selector":"{selector}","value":"{word}"}"#,
                ..TOOL
            },
            Tool {
                name: "playwright_screenshot",
                weight: 6,
                args: r#"{"name":"{word}","fullPage":true,"savePng":true}"#,
                micros: (90_000, 1_800_000),
                ..TOOL
            },
            Tool { name: "playwright_get_visible_text", weight: 9, result: SAID, ..TOOL },
            Tool { name: "playwright_close", weight: 2, ..TOOL },
        ],
        policies: &[
            (
                r#"{
  "version": "1",
  "default": "allow",
  "tools": {
    "playwright_navigate": {
      "deny_if": [{ "path": "args.url", "op": "regex", "value": "^file:", "on_deny": "no local files" }]
    }
  }
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
    "get_codegen_session": {},
    "end_codegen_session": {},
    "start_codegen_session": {
      "limits": [{ "counter": "start_codegen_session_cap", "window": "minute", "max": 10, "scope": "grant" }]
    },
    "clear_codegen_session": { "action": "deny", "reason": "recorded tests are not thrown away" },
    "playwright_navigate": {
      "deny_if": [{ "path": "args.url", "op": "regex", "value": "^file:", "on_deny": "no local files" }]
    }
  }
}
"#,
                "start_codegen_session is capped at 10 calls per minute; clear_codegen_session is denied",
                Origin::Cli,
            ),
        ],
    },
    Server {
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
    },
    Server {
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
    },
    Server {
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
    },
    Server {
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
    },
];
