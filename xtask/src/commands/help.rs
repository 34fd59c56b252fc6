//! `cargo xtask help`.

use anyhow::Result;

const HELP: &str = "\
cargo xtask run [WORDS…]          build and start the app; without a display: the live log in the terminal, or the demo
                                  (WORDS go to `callgate`: `cargo xtask run demo`)
cargo xtask test [NEXTEST WORDS…] all tests with all set-up; with words, only the tests that they choose
cargo xtask test --real-clients [NEXTEST WORDS…]
                                  only the tests with large published clients (Claude Code, Codex, Gemini CLI, Qwen Code,
                                  OpenCode; 1.4 GB from npm), which are no part of the others; no account is needed
cargo xtask ui                    only the page: types, lint, tests, build, and a look in Chromium
cargo xtask ui --dev              the page in a browser, on the real desk in a world of its own
cargo xtask setup                 only the set-up of the tests: system packages, packages from npm and PyPI
cargo xtask ci                    what CI runs: format, clippy, deny, types and lints for Windows and
                                  macOS, then all of `test`
cargo xtask bundle [--debug]      the .deb and the .rpm, in target/package
cargo xtask bundle --try          a debug .deb, installed, started, upgraded and removed (Linux, as root)
cargo xtask screenshots           docs/images from the real app with a lively history
cargo xtask icons                 the pictures in icons/ from their drawings
cargo xtask lines                 how many lines each part has: product, tests, comments, blanks
cargo xtask bench [--write]       measure against the byte relay, and the app's window; --write puts the tables into
                                  docs/benchmarks.md; --window: the window alone, --no-window: everything else
                                  (other words go to the driver: --rounds N, --quick, --history HOME)
cargo xtask fuzz [--seconds N]    a short run of each fuzz target (15 s each)
cargo xtask eval-risk [--errors] [FILE…]
                                  how well risk classes are told on labelled tools: its own table, and the files named
cargo xtask seed-history --home DIR [--calls N]
                                  a made-up history in a new home (1,000,000 calls)
cargo xtask help                  this";

pub(super) fn run() -> Result<bool> {
    println!("{HELP}");
    Ok(true)
}
