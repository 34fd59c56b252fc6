//! The commands by name. Each gives true when all went well.

mod bench;
mod bundle;
mod ci;
mod eval_risk;
mod fuzz;
mod help;
mod icons;
mod lines;
mod real_clients;
mod run;
mod screenshots;
mod seed;
mod setup;
mod test;
mod ui;

use anyhow::{Result, bail};

pub(crate) use test::FEATURES;

pub(crate) fn run(command: &str, rest: &[String]) -> Result<bool> {
    match command {
        "run" => run::run(rest),
        "test" => test::run(rest),
        "setup" => setup::run(),
        "ci" => ci::run(rest),
        "bench" => bench::run(rest),
        "bundle" => bundle::run(rest),
        "eval-risk" => eval_risk::run(rest),
        "fuzz" => fuzz::run(rest),
        "ui" => ui::run(rest),
        "screenshots" => screenshots::run(rest),
        "icons" => icons::run(rest),
        "lines" => lines::run(rest),
        "seed-history" => seed::run(rest),
        "help" | "--help" | "-h" => help::run(),
        other => bail!("there is no `cargo xtask {other}`; `cargo xtask help` lists what there is"),
    }
}
