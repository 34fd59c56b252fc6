//! `--start` of `protect` and `add`: which rules servers begin with, told before and put in force after they are behind the gate.

use callgate_desk::Desk;
use callgate_desk::view::{ServerStart, StartingPoint, ToolsFrom};

use crate::act::{settle, told};
use crate::screen::{self, DIM, Screen, harmless, quoted};

/// As `--start` takes them.
pub(crate) const STARTS: [&str; 4] = ["watch-only", "recommended", "read-only", "locked"];

/// Lines of changes that are shown of one server.
const SHOWN: usize = 8;

/// Puts the starting point in force for each of these. `false`: for one of them it could not be.
pub(crate) fn begin(desk: &Desk, screen: &Screen, starts: &[ServerStart], id: &str) -> anyhow::Result<bool> {
    let mut all = true;
    for start in starts {
        let Some(point) = chosen(start, id) else {
            all = false;
            screen.line(&format!("  {}", why_not(start, id)));
            continue;
        };
        show(screen, start, point);
        let answer = desk.begin_with(&start.server, point).map_err(told)?;
        settle(desk, answer, "start", false)?;
    }
    Ok(all)
}

/// What it would be, and nothing is written.
pub(crate) fn preview(screen: &Screen, starts: &[ServerStart], id: &str) {
    for start in starts {
        match chosen(start, id) {
            Some(point) => show(screen, start, point),
            None => screen.line(&format!("  {}", why_not(start, id))),
        }
    }
}

fn chosen<'s>(start: &'s ServerStart, id: &str) -> Option<&'s StartingPoint> {
    start.points.iter().find(|point| point.id == id).filter(|_| !start.has_rules)
}

fn why_not(start: &ServerStart, id: &str) -> String {
    let (shown, typed) = (harmless(&start.server), quoted(&start.server));
    if start.has_rules {
        return format!(
            "{shown} has rules of its own, which stay. In their place: callgate scan {typed} --start {id} -o rules.json, then callgate policy apply {typed} rules.json --replace"
        );
    }
    format!(
        "{shown} begins as the default policy says: what it can do is not known yet, so “{id}” would refuse more than it says. Have it list its tools: callgate overview --scan {typed}"
    )
}

fn show(screen: &Screen, start: &ServerStart, point: &StartingPoint) {
    let known = match (start.from, &start.known) {
        (ToolsFrom::Catalogue, Some(known)) => format!(" (from the catalogue: {})", harmless(known)),
        _ => String::new(),
    };
    screen.line(&format!(
        "  {} begins with “{}”{known}: {}",
        harmless(&start.server),
        point.title,
        point.caption
    ));
    screen.line(&screen.paint(DIM, &format!("    {}", harmless(&point.words))));
    for line in point.changes.iter().take(SHOWN) {
        screen.line(&screen.paint(DIM, &format!("    {}", harmless(line))));
    }
    if let more @ 1.. = point.changes.len().saturating_sub(SHOWN) {
        screen.line(&screen.paint(DIM, &format!("    and {more} more")));
    }
    for line in &point.loosened {
        screen.line(&screen.paint(screen::WARN, &format!("    newly allows: {}", harmless(line))));
    }
}
