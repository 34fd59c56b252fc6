//! A window that is open while an agent works all day: what it keeps has a bound.

use std::ops::Range;
use std::path::Path;

use anyhow::Context as _;
use callgate_app_tests::app::{App, Around, scene};
use callgate_bench::process::Tree;
use callgate_tests::gate::OPEN_POLICY;
use callgate_tests::session::{Session, call_line};

/// Rows that the page keeps, with what it may have above it before it drops some.
const ROWS: u64 = 5_200;
/// By then all caches are as full as they get with so short a history.
const WARM: u32 = 3_000;
const MORE: u32 = 6_000;
const AT_ONCE: u32 = 500;
/// What a call may leave in the app's own memory, in bytes: much less than the call itself.
const A_CALL: u64 = 500;

#[test]
fn thousands_of_calls_leave_neither_the_page_nor_the_app_larger() {
    scene("growth", OPEN_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        let before = after_calls(app, &mut session, 0..WARM)?;
        let after = after_calls(app, &mut session, WARM..WARM + MORE)?;
        anyhow::ensure!(before.rows >= u64::from(WARM), "the page has not taken all: {before:?}");
        anyhow::ensure!(after.rows <= ROWS, "the page keeps {} rows", after.rows);
        anyhow::ensure!(after.elements < before.elements * 2, "{before:?} became {after:?}");
        let grown = after.memory.saturating_sub(before.memory);
        anyhow::ensure!(grown < u64::from(MORE) * A_CALL, "{before:?} became {after:?}");
        Ok(())
    });
}

/// Makes these calls, no faster than the page takes them: what comes too fast it leaves out and reads later.
fn after_calls(app: &App, session: &mut Session, numbers: Range<u32>) -> anyhow::Result<Size> {
    for from in numbers.clone().step_by(AT_ONCE as usize) {
        for number in from..from + AT_ONCE {
            let arguments =
                format!(r#"{{"file":"report {number}","text":"as an agent writes it now and then"}}"#);
            session.send(&call_line(&number.to_string(), "safe", &arguments))?;
        }
        session.answer(&(from + AT_ONCE - 1).to_string())?;
        size(app, from + AT_ONCE)?;
    }
    size(app, numbers.end)
}

#[derive(Debug)]
struct Size {
    rows: u64,
    elements: u64,
    /// The app's own, in bytes.
    memory: u64,
}

/// Once the page shows the last of so many calls.
fn size(app: &App, calls: u32) -> anyhow::Result<Size> {
    let last = format!("report {}", calls - 1);
    let script = "const log = document.querySelector('[data-testid=\"log\"]'); \
        const shown = [...log.querySelectorAll('[data-testid=\"row\"]')].at(-1)?.textContent.includes(arguments[0]); \
        return shown ? [Number(log.dataset.loaded), document.querySelectorAll('*').length] : null";
    let page = app.driver.wait(&last, |driver| {
        let page = driver.script(script, &[last.as_str().into()])?;
        Ok((!page.is_null()).then_some(page))
    })?;
    let number = |at: usize| page.get(at).and_then(serde_json::Value::as_u64).context("not a number");
    let tree = Tree::of(app.pid()?, Path::new(""))?.only("callgate-app")?;
    Ok(Size { rows: number(0)?, elements: number(1)?, memory: tree.own()? })
}
