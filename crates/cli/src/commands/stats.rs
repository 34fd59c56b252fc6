//! `callgate stats`: how often what was called, refused and failed, and how long it took.

use std::process::ExitCode;
use std::time::Duration;

use callgate_history::{CallFilter, ToolStats};
use callgate_text::local;
use callgate_text::{size, subject};
use serde_json::json;

use crate::act::{self, desk};
use crate::args::StatsArgs;
use crate::commands::log::current;
use crate::duration::iso;
use crate::layout::{middle, shown_width};
use crate::screen::{self, Screen, harmless};

/// The least that a name keeps while there is another column to do without, and the least of all.
const NAMES: [usize; 2] = [16, 4];

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<ExitCode> {
    let filter = args.filter.parse()?;
    let desk = desk()?;
    drop(current(desk.home())?);
    let stats = desk.stats(&filter)?;
    let screen = Screen::new();
    if args.json {
        stats.iter().for_each(|one| screen.line(&object(one).to_string()));
    } else if stats.is_empty() {
        let unknown = act::unknown(&filter);
        let first = if filter == CallFilter::default() { "No calls yet." } else { "No calls match." };
        screen::hint(&[Some(first.to_owned()), unknown].into_iter().flatten().collect::<Vec<_>>().join(" "));
    } else {
        print(&screen, &stats);
    }
    Ok(ExitCode::SUCCESS)
}

fn object(one: &ToolStats) -> serde_json::Value {
    let millis = |took: Option<Duration>| took.map(|took| took.as_micros() as f64 / 1000.0);
    json!({
        "server": one.server,
        "method": one.method,
        "tool": one.tool,
        "calls": one.calls,
        "refused": one.refused,
        "failed": one.failed,
        "p50_ms": millis(one.p50),
        "p95_ms": millis(one.p95),
        "bytes": one.bytes,
        "first": iso(one.first_ms),
        "last": iso(one.last_ms),
    })
}

const HEAD: [&str; 10] =
    ["server", "tool", "calls", "refused", "failed", "p50", "p95", "bytes", "first", "last"];

/// As wide as these need and no wider than this: the times of the first and the last call go first, then names become
/// shorter, then the other columns go, how often something was called last.
fn fitted(rows: &[[String; 10]], width: usize) -> [usize; 10] {
    let mut widths = HEAD.map(|_| 0);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(shown_width(cell));
        }
    }
    let excess = |widths: &[usize; 10]| {
        let shown = widths.iter().filter(|width| **width > 0);
        shown.map(|width| width + 2).sum::<usize>().saturating_sub(2).saturating_sub(width)
    };
    for (least, columns) in NAMES.into_iter().zip([&[8, 9, 7][..], &[5, 6, 4, 3]]) {
        for column in columns {
            if excess(&widths) > 0 {
                widths[*column] = 0;
            }
        }
        for column in [1, 0] {
            widths[column] = widths[column].saturating_sub(excess(&widths)).max(least.min(widths[column]));
        }
    }
    widths
}

/// A table that fits.
fn print(screen: &Screen, stats: &[ToolStats]) {
    let mut rows: Vec<[String; 10]> = vec![HEAD.map(str::to_owned)];
    rows.extend(stats.iter().map(cells));
    let widths = fitted(&rows, Screen::columns());
    for (place, row) in rows.iter().enumerate() {
        let line = line(row, &widths);
        screen.line(&if place == 0 { screen.paint(screen::DIM, &line) } else { line });
    }
    let sum = |of: fn(&ToolStats) -> u64| stats.iter().map(of).sum::<u64>();
    screen.line(&screen.paint(
        screen::DIM,
        &format!(
            "{} calls, {} refused, {} failed, {}",
            sum(|one| one.calls),
            sum(|one| one.refused),
            sum(|one| one.failed),
            size(sum(|one| one.bytes))
        ),
    ));
}

fn line(row: &[String; 10], widths: &[usize; 10]) -> String {
    let shown = row.iter().zip(widths).enumerate().filter(|(_, (_, width))| **width > 0);
    let cells = shown.map(|(place, (cell, width))| {
        let cell = middle(cell, *width);
        let blanks = " ".repeat(width.saturating_sub(shown_width(&cell)));
        // Numbers stand at the right.
        if (2..8).contains(&place) { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
    });
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

fn cells(one: &ToolStats) -> [String; 10] {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let (method, tool) = (known(&one.method), known(&one.tool));
    let minute = |at_ms: i64| local(at_ms).strftime("%Y-%m-%d %H:%M").to_string();
    [
        harmless(&one.server),
        harmless(&subject(method.as_deref(), tool.as_deref())),
        one.calls.to_string(),
        one.refused.to_string(),
        one.failed.to_string(),
        took(one.p50),
        took(one.p95),
        size(one.bytes),
        minute(one.first_ms),
        minute(one.last_ms),
    ]
}

fn took(took: Option<Duration>) -> String {
    match took {
        None => String::new(),
        Some(took) if took.as_micros() < 1000 => "<1 ms".to_owned(),
        Some(took) if took.as_millis() < 1000 => format!("{} ms", took.as_millis()),
        Some(took) => format!("{:.1} s", took.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_of_statistics_is_wider_than_a_narrow_terminal() {
        let row = [
            "run-automation",
            "playwright_create_browser_session ✅",
            "100000",
            "99999",
            "12345",
            "123 ms",
            "12.3 s",
            "123.4 MB",
            "2026-11-01 10:12",
            "2026-11-17 12:00",
        ];
        let rows = [HEAD.map(str::to_owned), row.map(str::to_owned)];
        for width in [24, 40, 50, 60, 69, 80, 120, 200] {
            let widths = fitted(&rows, width);
            for row in &rows {
                let line = line(row, &widths);
                assert!(shown_width(&line) <= width, "{width}: {line}");
            }
            assert!(line(&rows[1], &widths).contains("100000"), "{width}");
        }
    }
}
