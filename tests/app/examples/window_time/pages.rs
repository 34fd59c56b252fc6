//! How long the first page of a filter or search takes, from the question in the page to the rows in it.

use anyhow::{Context as _, Result};
use callgate_app_tests::app::App;
use callgate_bench::stats::median;
use serde_json::{Value, json};

/// Rows that the log asks for at a time.
const PAGE: u32 = 200;
const TRIES: usize = 5;

/// As the log does it: a count is begun beside the page, and an empty page that has a place to go on from is followed.
const ASK: &str = r"
  const [filter, counted, rows, done] = arguments;
  const { invoke, transformCallback } = window.__TAURI_INTERNALS__;
  const page = (from) => invoke('log_page', { filter, from, count: rows });
  (async () => {
    const began = performance.now();
    if (counted) invoke('log_count', { filter, counts: '__CHANNEL__:' + transformCallback(() => {}) }).catch(() => {});
    let got = await page({ kind: 'newest' });
    let asked = 1;
    while (got.entries.length === 0 && got.older !== null) {
      got = await page({ kind: 'before', rev: got.older });
      asked += 1;
    }
    const took = performance.now() - began;
    await invoke('stop_count');
    done({ took, asked, entries: got.entries });
  })().catch((error) => done({ error: String(error?.message ?? error) }));
";

pub(crate) struct Pages {
    /// Milliseconds of each question, the median of its tries.
    pub(crate) with_count: Vec<f64>,
    pub(crate) alone: Vec<f64>,
}

pub(crate) fn measure(app: &App) -> Result<Pages> {
    let mut pages = Pages { with_count: Vec::new(), alone: Vec::new() };
    for (words, filter) in questions(app)? {
        let (mut with_count, mut alone) = (Vec::new(), Vec::new());
        let (mut rows, mut asked) = (0, 0);
        for _ in 0..TRIES {
            let answer = ask(app, &filter, true).with_context(|| words.to_owned())?;
            (rows, asked) =
                (answer["entries"].as_array().map_or(0, Vec::len), answer["asked"].as_u64().unwrap_or(0));
            with_count.push(took(&answer)?);
            alone.push(took(&ask(app, &filter, false)?)?);
        }
        let (one, other) = (median(&with_count).unwrap_or(f64::NAN), median(&alone).unwrap_or(f64::NAN));
        crate::note(&format!(
            "  {words}: {one:.0} ms ({other:.0} ms without a count), {rows} rows, {asked} pages"
        ));
        pages.with_count.push(one);
        pages.alone.push(other);
    }
    Ok(pages)
}

fn ask(app: &App, filter: &Value, counted: bool) -> Result<Value> {
    let answer = app.driver.script_that_waits(ASK, &[filter.clone(), counted.into(), PAGE.into()])?;
    anyhow::ensure!(answer.get("error").is_none(), "{}", answer["error"]);
    Ok(answer)
}

fn took(answer: &Value) -> Result<f64> {
    answer["took"].as_f64().context("no time in the answer")
}

/// What a person asks, from the common to the hopeless. The words are those of a made-up history.
fn questions(app: &App) -> Result<Vec<(&'static str, Value)>> {
    let newest = ask(app, &json!({}), false)?;
    let newest =
        newest["entries"].as_array().and_then(|rows| rows.iter().rfind(|row| row["kind"] == "call")).cloned();
    let newest = newest.context("the history has no calls")?;
    let now = newest["atMs"].as_i64().context("a call without a time")?;
    let days = |days: i64| now - days * 24 * 3_600_000;
    Ok(vec![
        ("everything", json!({})),
        ("a server", json!({ "server": "filesystem" })),
        ("a server and a client", json!({ "server": "postgres", "client": "Cursor" })),
        ("a client", json!({ "client": "Claude Code" })),
        ("a client that never was", json!({ "client": "nobody" })),
        ("a tool", json!({ "tool": "browser_click" })),
        ("denied", json!({ "decisions": ["denied"] })),
        ("denied or capped", json!({ "decisions": ["denied", "capped"] })),
        ("a decision that never was", json!({ "decisions": ["hidden"] })),
        (
            "capped, of one client and server",
            json!({ "decisions": ["capped"], "client": "Cursor", "server": "github" }),
        ),
        ("a session", json!({ "session": newest["session"] })),
        ("the last hour", json!({ "sinceMs": now - 3_600_000 })),
        ("three weeks ago", json!({ "sinceMs": days(22), "untilMs": days(21) })),
        (
            "denied three weeks ago",
            json!({ "sinceMs": days(22), "untilMs": days(21), "decisions": ["denied"] }),
        ),
        ("changes of rules", json!({ "only": "changes" })),
        ("events", json!({ "only": "events" })),
        ("a frequent word", json!({ "text": "session" })),
        ("a word of some calls", json!({ "text": "avatar" })),
        ("two words", json!({ "text": "rounding 4711" })),
        ("one letter", json!({ "text": "e" })),
        ("a word that is nowhere", json!({ "text": "marmalade" })),
        ("a word and a server", json!({ "text": "checkout", "server": "runautomation" })),
        ("a word, denied", json!({ "text": "migration", "decisions": ["denied"] })),
        ("a word three weeks ago", json!({ "text": "latency", "sinceMs": days(22), "untilMs": days(21) })),
        ("the id of a call", json!({ "text": newest["id"] })),
    ])
}
