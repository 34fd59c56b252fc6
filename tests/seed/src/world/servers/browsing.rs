//! Servers that drive browsers and tests.

use callgate_journal::Origin;

use super::{SAID, Server, TOOL, Tool};

pub(super) const PLAYWRIGHT: Server = Server {
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
      "deny_if": [{ "path": "args.url", "op": "regex", "value": "(?i)^\\s*file:", "on_deny": "no local files" }]
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
};

pub(super) const RUNAUTOMATION: Server = Server {
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
      "deny_if": [{ "path": "args.url", "op": "regex", "value": "(?i)^\\s*file:", "on_deny": "no local files" }]
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
      "deny_if": [{ "path": "args.url", "op": "regex", "value": "(?i)^\\s*file:", "on_deny": "no local files" }]
    }
  }
}
"#,
            "start_codegen_session is capped at 10 calls per minute; clear_codegen_session is denied",
            Origin::Cli,
        ),
    ],
};
