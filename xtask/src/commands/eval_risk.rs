//! `cargo xtask eval-risk [--errors] [FILE…]`: how well risk classes are told and what the scan finds, on the crate's
//! own tables, held-out ones among them, and on files of labelled tools (JSON lines with `server`, `tool`, `description`,
//! `label`, `reviewed`).

use std::fs;

use anyhow::Result;

use crate::project;
use crate::shell::{cargo, run as go};

/// Where the larger sets are, for whoever has them.
const SHARED: &[&str] = &[
    "../shared/data/tools-labelled-dev.jsonl",
    "../shared/data/poisoned-definitions-dev.json",
    "../shared/data/servers/runautomation.json",
    "../shared/data/servers/playwright-stealth.json",
];

pub(super) fn run(rest: &[String]) -> Result<bool> {
    let mut evaluation = cargo(&["run", "--quiet", "-p", "callgate-risk", "--example", "eval", "--"]);
    let data = project::root().join("crates/risk/tests/data");
    evaluation.args(rest).arg(data.join("tools.tsv"));
    let mut held_out: Vec<_> =
        fs::read_dir(data.join("held-out"))?.map(|file| Ok(file?.path())).collect::<Result<_>>()?;
    held_out.sort();
    evaluation.args(held_out);
    evaluation.args(SHARED.iter().map(|file| project::root().join(file)).filter(|file| file.is_file()));
    go(evaluation)?;
    Ok(true)
}
