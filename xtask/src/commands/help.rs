//! `cargo xtask help`.

use anyhow::Result;

const HELP: &str = "\
cargo xtask run [WORDS…]          build callgate (release) and show the demo; WORDS go to `callgate` instead of `demo`
cargo xtask test [NEXTEST WORDS…] all tests with all set-up; with words, only the tests that they choose
cargo xtask setup                 only that set-up: system packages, real servers from npm and PyPI
cargo xtask ci                    what CI runs: format, clippy, deny, a check for Windows, then all of `test`
cargo xtask bench [--write]       measure against the byte relay; --write puts the tables into docs/benchmarks.md
                                  (other words go to the driver: --rounds N, --quick)
cargo xtask fuzz [--seconds N]    a short run of each fuzz target (15 s each)
cargo xtask help                  this";

pub(super) fn run() -> Result<bool> {
    println!("{HELP}");
    Ok(true)
}
