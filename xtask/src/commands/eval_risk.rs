//! `cargo xtask eval-risk [--errors] [FILE…]`: how well risk classes are told, on the crate's own table and on files of
//! labelled tools (JSON lines with `server`, `tool`, `description`, `label`, `reviewed`).

use anyhow::Result;

use crate::project;
use crate::shell::{cargo, run as go};

/// Where the larger set is, for whoever has it.
const LABELLED: &str = "../shared/data/tools-labelled-dev.jsonl";

pub(super) fn run(rest: &[String]) -> Result<bool> {
    let mut evaluation = cargo(&["run", "--quiet", "-p", "callgate-risk", "--example", "eval", "--"]);
    evaluation.args(rest).arg(project::root().join("crates/risk/tests/data/tools.tsv"));
    let labelled = project::root().join(LABELLED);
    if labelled.is_file() {
        evaluation.arg(labelled);
    }
    go(evaluation)?;
    Ok(true)
}
