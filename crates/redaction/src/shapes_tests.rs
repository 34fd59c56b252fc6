#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;
use crate::Masker;

fn kept(json: &str) -> String {
    Masker::default().keep(json).text.into_owned()
}

#[test]
fn every_shape_finds_its_sample_and_leaves_its_near_miss() {
    for shape in SHAPES {
        for (before, after) in [("", ""), ("see ", " there"), ("key:", "\n"), ("(", ")"), ("?a=1&b=", "&c=2")]
        {
            if shape.name == "AWS, signed address" && before.ends_with('=') {
                continue;
            }
            let json = serde_json::to_string(&[format!("{before}{}{after}", shape.sample)]).unwrap();
            let masker = Masker::default();
            let kept = masker.keep(&json);
            assert!(kept.masked && kept.text.contains("[masked, "), "{}: {}", shape.name, kept.text);
            let tail: String =
                shape.sample.chars().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect();
            let shows =
                kept.text.contains(&tail) && !matches!(shape.name, "password in a URL" | "private key");
            assert!(!shows, "{}: {}", shape.name, kept.text);
            serde_json::from_str::<serde_json::Value>(&kept.text).unwrap();
        }
        let json = serde_json::to_string(&[shape.near_miss]).unwrap();
        assert_eq!(kept(&json), json, "near miss of {}", shape.name);
    }
}

#[test]
fn ordinary_text_is_kept_as_it_is() {
    for text in [
        "957ed73a1b2c3d4e5f60718293a4b5c6d7e8f901",
        "commit 957ed73a1b2c3d4e5f60718293a4b5c6d7e8f901 (HEAD -> main)",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "123e4567-e89b-12d3-a456-426614174000",
        "sha512-oRjTw/97aTBN0RHbYCdtF1MQfvusSIBQM0IZEgzl6426+8jSC0nF1a/GmnVLpfB9yyr6g6FTqWqiZVbxrtaCIg==",
        "/home/me/Projects/Callgate2/crates/redaction/src/shapes.rs",
        "C:\\Users\\Ann\\AppData\\Local\\Programs\\Thing2",
        "src/components/AccountSettingsPage2/UserProfileCard.test.tsx",
        "getElementsByClassNameAndTagNameInOrder2",
        "AbstractSingletonProxyFactoryBeanFactory1",
        "https://example.com/search?q=one+two&page=2&sort=asc",
        "https://docs.google.com/document/d/1A2b3C4d5E6f7G8h9I0jKlMnOpQrStUvWxYz0123456/edit",
        "2026-11-17T22:17:44.123456Z 10.0.0.1:8080",
        "version 1.2.3-beta.4+build.20250101",
        "node_modules/@scope/package-name/dist/index.min.js.map",
        "Playwright_Test_Report_2025-01-01_12-30-45_Chromium",
        "@modelcontextprotocol/server-filesystem@2025.1.14",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "sk-learn is a library",
        "ratio 3:AA batteries",
        "session 0198f0c2-6d4c-7c11-9f5a-3c7a1d1f0e2b",
        "mkdir -p build && tar -xzf a.tgz -C build",
        "mysql -h localhost -u root app",
        "curl -u alice https://example.com",
        "redis-cli -h cache ping",
    ] {
        let json = serde_json::to_string(&serde_json::json!({ "message": text })).unwrap();
        assert_eq!(kept(&json), json);
        assert_eq!(Masker::default().keep_line(text), text);
    }
}
