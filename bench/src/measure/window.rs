//! What a person waits for in the window, in the real app on a long history: asked of a program of the app's own tests
//! (`window_time`), which knows how to start the app on a desktop of its own and how to look into its page.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Effort;
use crate::budget::{Bound, Row, Unit};

/// Calls a second that come in while the window is looked at.
pub const RATE: u32 = 500;

/// What a figure of the window tells, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    PageP50,
    PageSlowest,
    PageSlowestAlone,
    QuietGap,
    ElsewhereGap,
    BusyGap,
    BusySlow,
    BusyWorst,
    Behind,
    Fills,
    Grows,
    AppCpu,
    WebCpu,
    PageMemory,
    PageShare,
    AppMemory,
    AppShare,
    Idle,
}

impl What {
    pub const ALL: [What; 18] = [
        What::PageP50,
        What::PageSlowest,
        What::PageSlowestAlone,
        What::QuietGap,
        What::ElsewhereGap,
        What::BusyGap,
        What::BusySlow,
        What::BusyWorst,
        What::Behind,
        What::Fills,
        What::Grows,
        What::AppCpu,
        What::WebCpu,
        What::PageMemory,
        What::PageShare,
        What::AppMemory,
        What::AppShare,
        What::Idle,
    ];

    pub fn name(self) -> &'static str {
        match self {
            What::PageP50 => "first page of a filter or search, p50",
            What::PageSlowest => "first page of a filter or search, slowest",
            What::PageSlowestAlone => "the same without the count beside it, slowest",
            What::QuietGap => "frame gap p99, nothing comes",
            What::ElsewhereGap => "frame gap p99, 500 calls/s, Settings open",
            What::BusyGap => "frame gap p99, 500 calls/s, log open",
            What::BusySlow => "frames later than 34 ms, 500 calls/s, log open",
            What::BusyWorst => "longest frame gap, 500 calls/s, log open",
            What::Behind => "last call to its row",
            What::Fills => "web process grows with the first calls",
            What::Grows => "web process grows from then on",
            What::AppCpu => "app meanwhile",
            What::WebCpu => "web process meanwhile",
            What::PageMemory => "page's processes after an hour of use",
            What::PageShare => "the same with their share of libraries",
            What::AppMemory => "app's own process after an hour of use",
            What::AppShare => "the same with its share of libraries",
            What::Idle => "app idle, window closed",
        }
    }

    fn unit(self) -> Unit {
        match self {
            What::BusySlow => Unit::Percent,
            What::Fills
            | What::Grows
            | What::PageMemory
            | What::PageShare
            | What::AppMemory
            | What::AppShare => Unit::Megabytes,
            What::AppCpu | What::WebCpu | What::Idle => Unit::PercentOfCore,
            _ => Unit::Milliseconds,
        }
    }

    fn budget(self) -> Option<Bound> {
        match self {
            What::PageSlowest => Some(Bound::AtMost(100.0)),
            What::BusyGap => Some(Bound::AtMost(34.0)),
            What::Grows => Some(Bound::AtMost(10.0)),
            What::PageMemory => Some(Bound::AtMost(200.0)),
            What::AppMemory => Some(Bound::AtMost(60.0)),
            What::Idle => Some(Bound::AtMost(0.5)),
            _ => None,
        }
    }

    fn row(self, figures: Vec<f64>) -> Row {
        let row = Row::new(self.name(), self.unit(), figures);
        match self.budget() {
            Some(bound) => row.budget(bound),
            None => row,
        }
    }
}

/// The programs that measure the window, and what they measure.
#[derive(Clone, Debug)]
pub struct Programs {
    /// `window_time`.
    pub window_time: PathBuf,
    pub app: PathBuf,
    /// Beside the app, as it is installed.
    pub callgate: PathBuf,
    /// The echo server that the calls go to.
    pub server: PathBuf,
}

/// One try; every figure by its name.
pub fn measure(programs: &Programs, history: &Path, effort: Effort) -> Result<Vec<(What, f64)>> {
    let output = Command::new(&programs.window_time)
        .arg("--server")
        .arg(&programs.server)
        .arg("--history")
        .arg(history)
        .args(["--seconds", &effort.window_seconds.to_string()])
        .env("CALLGATE_APP_BIN", &programs.app)
        .env("CALLGATE_BIN", &programs.callgate)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", programs.window_time.display()))?;
    ensure!(output.status.success(), "the window could not be measured ({})", output.status);
    String::from_utf8_lossy(&output.stdout).lines().map(figure).collect()
}

/// A history with its text index, made up by the program behind `cargo xtask seed-history`.
pub fn fill(program: &Path, home: &Path, calls: usize) -> Result<()> {
    let status = Command::new(program)
        .args(["--calls", &calls.to_string(), "--index", "yes", "--home"])
        .arg(home)
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(status.success(), "no history could be made ({status})");
    Ok(())
}

/// The rows of some tries.
pub fn rows(tries: &[Vec<(What, f64)>]) -> Vec<Row> {
    let of = |what| {
        tries.iter().flatten().filter(|(known, _)| *known == what).map(|(_, figure)| *figure).collect()
    };
    What::ALL.into_iter().map(|what| what.row(of(what))).collect()
}

fn figure(line: &str) -> Result<(What, f64)> {
    let (name, figure) = line.split_once('\t').with_context(|| format!("{line:?} is no figure"))?;
    let what = What::ALL.into_iter().find(|what| what.name() == name);
    let what = what.with_context(|| format!("nobody knows a figure {name:?}"))?;
    Ok((what, figure.parse().with_context(|| format!("{line:?} is no figure"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_known_by_its_name() -> Result<()> {
        for what in What::ALL {
            assert_eq!(figure(&format!("{}\t1.5", what.name()))?, (what, 1.5));
        }
        for bad in ["", "app idle, window closed", "something else\t1", "app idle, window closed\tx"] {
            assert!(figure(bad).is_err(), "{bad:?}");
        }
        Ok(())
    }

    #[test]
    fn a_figure_that_no_try_gave_breaks_its_budget() {
        let over = rows(&[vec![(What::Idle, 0.1)]]).iter().filter(|row| row.is_over()).count();
        assert_eq!(over, What::ALL.iter().filter(|what| what.budget().is_some()).count() - 1);
    }
}
