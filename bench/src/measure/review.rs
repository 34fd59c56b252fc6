//! What judging costs by the size of the policy, and what a look back over a long history costs: asked of a program of
//! the product's own (`review_time`), because neither can be seen from outside. A process for each, so that the peak of
//! one is not the other's.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::budget::Unit;

/// One figure of one try.
#[derive(Clone, Debug)]
pub struct Figure {
    pub what: String,
    pub unit: Unit,
    pub figure: f64,
}

/// Nanoseconds a judgement.
pub fn judge(program: &Path) -> Result<Vec<Figure>> {
    ask(program, &["judge"])
}

/// Makes the history that the others look at.
pub fn fill(program: &Path, folder: &Path, calls: usize) -> Result<()> {
    let folder = folder.to_str().context("the work folder has no plain name")?;
    ask(program, &["fill", folder, &calls.to_string()]).map(drop)
}

pub fn look_back(program: &Path, folder: &Path) -> Result<Vec<Figure>> {
    let folder = folder.to_str().context("the work folder has no plain name")?;
    let mut figures = ask(program, &["simulate", folder])?;
    figures.extend(ask(program, &["suggest", folder])?);
    Ok(figures)
}

/// Seconds for the classes of many tools, and for the scan of their definitions.
pub fn definitions(program: &Path) -> Result<Vec<Figure>> {
    ask(program, &[])
}

fn ask(program: &Path, words: &[&str]) -> Result<Vec<Figure>> {
    let output = Command::new(program)
        .args(words)
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!(
            "{} {}: {}",
            program.display(),
            words.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8_lossy(&output.stdout).lines().map(figure).collect()
}

fn figure(line: &str) -> Result<Figure> {
    let mut parts = line.split('\t');
    let (Some(what), Some(unit), Some(figure), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        bail!("{line:?} is no figure");
    };
    let unit = match unit {
        "ns" => Unit::Nanoseconds,
        "s" => Unit::Seconds,
        "/s" => Unit::PerSecond,
        "MB" => Unit::Megabytes,
        _ => bail!("{unit:?} is no unit"),
    };
    let figure = figure.parse().with_context(|| format!("{line:?} is no figure"))?;
    Ok(Figure { what: what.to_owned(), unit, figure })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_a_unit_and_a_figure() -> Result<()> {
        let read = figure("judge a call\tns\t85.250")?;
        assert_eq!((read.what.as_str(), read.unit, read.figure), ("judge a call", Unit::Nanoseconds, 85.25));
        for bad in ["", "a\tns", "a\tns\tx", "a\tfortnights\t1", "a\tns\t1\t2"] {
            assert!(figure(bad).is_err(), "{bad:?}");
        }
        Ok(())
    }
}
