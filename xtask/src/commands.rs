//! The commands by name. Each gives true when all went well.

mod bench;
mod ci;
mod fuzz;
mod help;
mod run;
mod setup;
mod test;

use anyhow::{Result, bail};

pub(crate) fn run(command: &str, rest: &[String]) -> Result<bool> {
    match command {
        "run" => run::run(rest),
        "test" => test::run(rest),
        "setup" => setup::run(),
        "ci" => ci::run(rest),
        "bench" => bench::run(rest),
        "fuzz" => fuzz::run(rest),
        "help" | "--help" | "-h" => help::run(),
        other => bail!("there is no `cargo xtask {other}`; `cargo xtask help` lists what there is"),
    }
}
