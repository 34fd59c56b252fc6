#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_journal::{Decision, Outcome};
use callgate_seed::{SeedCall, Seeder};
use proptest::prelude::*;

use super::super::tests::{Fixture, fixture, session};
use super::{csv, html, markdown, report::ReportFormat};
use crate::view::{CallFilter, ExportFormat};

const HOSTILE: &str = "<script>alert(1)</script> =cmd|' /C calc'!A0 \u{202e}evil [x](javascript:1) | a\nb";

fn filled() -> Fixture {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let args = serde_json::json!({ "a": HOSTILE }).to_string();
    let call =
        SeedCall { session: key, client: "=1+1", tool: HOSTILE, args: Some(&args), ..SeedCall::default() };
    for seq in 1..=600 {
        seeder.call(&SeedCall { seq, at_ms: seq as i64 * 1000, ..call }).unwrap();
    }
    let (decision, outcome) = (Decision::Denied, Some(Outcome::NotSent));
    seeder.call(&SeedCall { seq: 601, decision, outcome, reason: HOSTILE, ..call }).unwrap();
    seeder.keep().unwrap();
    fixture
}

#[test]
fn an_export_holds_every_call_and_never_replaces_a_file() {
    let fixture = filled();
    let folder = fixture.folder.path();
    let export = |format| fixture.desk.export(&CallFilter::default(), format, folder).unwrap();
    let first = export(ExportFormat::Jsonl);
    let second = export(ExportFormat::Jsonl);
    assert_eq!((first.calls, second.calls), (601, 601));
    assert_ne!(first.path, second.path);
    assert!(second.path.ends_with("-2.jsonl"), "{}", second.path);
    let text = std::fs::read_to_string(&first.path).unwrap();
    let objects: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 601);
    assert_eq!(objects[0]["id"], "aaaaaa-1");
    assert_eq!(objects[0]["args"]["a"], HOSTILE);
    let denied = CallFilter { decisions: vec![Decision::Denied.into()], ..CallFilter::default() };
    assert_eq!(fixture.desk.export(&denied, ExportFormat::Csv, folder).unwrap().calls, 1);
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{left:?}");
    assert!(fixture.desk.export(&denied, ExportFormat::Csv, &folder.join("nowhere")).is_err());
}

#[test]
fn a_report_that_ends_early_says_how_many_calls_it_leaves_out() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    for seq in 1..=10_003 {
        let tool = if seq % 2 == 0 { "even" } else { "odd" };
        seeder.call(&SeedCall { session: key, seq, at_ms: 1, tool, ..SeedCall::default() }).unwrap();
    }
    seeder.keep().unwrap();
    let made =
        fixture.desk.export(&CallFilter::default(), ExportFormat::Markdown, fixture.folder.path()).unwrap();
    let text = std::fs::read_to_string(&made.path).unwrap();
    assert!(text.contains("And 3 more"), "{}", &text[text.len() - 200..]);
    let (_, listed) = text.split_once("Calls").unwrap();
    assert_eq!(listed.lines().filter(|line| line.contains("even") || line.contains("odd")).count(), 10_000);
}

#[test]
fn reports_name_what_was_refused_and_nothing_in_them_is_alive() {
    let fixture = filled();
    for format in [ExportFormat::Html, ExportFormat::Markdown] {
        let made = fixture.desk.export(&CallFilter::default(), format, fixture.folder.path()).unwrap();
        let text = std::fs::read_to_string(&made.path).unwrap();
        assert_eq!(made.calls, 601);
        assert!(text.contains("601 calls, 1 of them refused"), "{}", &text[..400]);
        assert!(text.contains("denied"));
        assert!(!text.contains("<script"), "as text only");
        assert!(!text.contains('\u{202e}'), "what turns the writing is shown as its number");
        // Plain text in HTML; in Markdown it would be a link.
        assert!(format == ExportFormat::Html || !text.contains("](javascript:"));
    }
}

#[test]
fn a_report_without_a_reason_has_no_column_for_it() {
    let fixture = filled();
    let columns = |filter: &CallFilter| {
        let mut out = Vec::new();
        fixture.desk.export_to(filter, ExportFormat::Html, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let calls = text.split_once("<h2>Calls</h2>").unwrap().1;
        let heads = calls.split_once("</tr>").unwrap().0.matches("<th scope").count();
        for row in calls.split("<tr>").skip(2) {
            assert_eq!(row.matches("<td>").count(), heads, "{row}");
        }
        heads
    };
    assert_eq!(columns(&CallFilter::default()), 8);
    let allowed = CallFilter { decisions: vec![Decision::Allowed.into()], ..CallFilter::default() };
    assert_eq!(columns(&allowed), 7);
}

#[test]
fn no_export_has_a_character_that_a_terminal_obeys_or_that_hides() {
    let fixture = filled();
    for format in [ExportFormat::Jsonl, ExportFormat::Csv, ExportFormat::Html, ExportFormat::Markdown] {
        let mut out = Vec::new();
        fixture.desk.export_to(&CallFilter::default(), format, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let alive = |c: &char| callgate_text::is_hidden(*c) && !matches!(c, '\n' | '\r');
        assert_eq!(text.chars().find(alive), None, "{format:?}");
        assert!(format != ExportFormat::Jsonl || text.contains(r"\u202e"), "the same, as its number");
    }
    assert_eq!(csv::cell("a\u{1b}[2J\u{202e}\tb"), "\"a\\u{1b}[2J\\u{202e}\tb\"");
}

/// A plain reader of RFC 4180.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                cell.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    cells
}

proptest! {
    #[test]
    fn no_cell_begins_like_a_formula_and_all_read_back(texts in prop::collection::vec("[=+@\\-\t\r\n \",'a-z0-9；＝]{0,12}", 1..6)) {
        let line = texts.iter().map(|text| csv::cell(text)).collect::<Vec<_>>().join(",");
        let read = cells(&line);
        prop_assert_eq!(read.len(), texts.len());
        for (text, cell) in texts.iter().zip(read) {
            let first = cell.trim_start().chars().next();
            prop_assert!(!matches!(first, Some('=' | '+' | '-' | '@' | '＝')), "{cell:?}");
            prop_assert!(!cell.starts_with(['\t', '\r', '\n']), "{cell:?}");
            prop_assert_eq!(cell.strip_prefix('\'').filter(|_| !text.starts_with('\'')).unwrap_or(&cell), text);
        }
    }

    #[test]
    fn texts_in_reports_have_no_sign_that_means_something(text in "\\PC{0,40}") {
        let told = html::Html.text(&text);
        prop_assert!(!told.contains(['<', '>', '"', '\'']));
        let told = markdown::Markdown.text(&text);
        prop_assert!(!told.contains(['<', '>', '\n']));
        for (at, c) in told.char_indices().filter(|(_, c)| "|[]`".contains(*c)) {
            prop_assert_eq!(told[..at].chars().next_back(), Some('\\'), "{} in {}", c, told);
        }
        prop_assert!(told.chars().all(|c| !callgate_text::is_hidden(c)));
    }
}
