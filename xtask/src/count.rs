//! Counts what the test runner says it ran, while its output passes on to the person.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, Result, anyhow};

use crate::shell;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tests {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    /// How long each took, in seconds, where the runner says so.
    times: Vec<(f64, String)>,
}

impl Tests {
    /// The line that closes a run, in a form that is easy to find for people and machines.
    pub(crate) fn line(&self) -> String {
        format!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }

    pub(crate) fn add(&mut self, other: Tests) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.times.extend(other.times);
    }

    /// The slowest of many, slowest first.
    pub(crate) fn slowest(&self, most: usize) -> Vec<String> {
        let mut times: Vec<_> = self.times.iter().collect();
        times.sort_by(|a, b| b.0.total_cmp(&a.0));
        let line = |(seconds, name): &(f64, String)| format!("  {seconds:>6.1} s  {name}");
        if times.len() > most { times.into_iter().take(most).map(line).collect() } else { Vec::new() }
    }
}

/// Runs a test runner to its end.
pub(crate) fn run(mut command: Command) -> Result<(ExitStatus, Tests)> {
    shell::say(&command);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the test runner")?;
    // nextest reports on stderr, libtest on stdout; each line goes on to where it was meant to go.
    let said = child.stderr.take().context("the test runner has no stderr")?;
    let errors = thread::spawn(move || pass_on(BufReader::new(said), std::io::stderr()));
    let told = child.stdout.take().context("the test runner has no stdout")?;
    let mut tests = pass_on(BufReader::new(told), std::io::stdout())?;
    tests.add(errors.join().map_err(|_| anyhow!("reading the test runner's output failed"))??);
    Ok((child.wait()?, tests))
}

fn pass_on(mut from: impl BufRead, mut to: impl Write) -> Result<Tests> {
    let mut tests = Tests::default();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        let text = String::from_utf8_lossy(&line);
        if let Some(found) = closing(&text) {
            tests.add(found);
        }
        tests.times.extend(time(&text));
        line.clear();
    }
    Ok(tests)
}

/// Reads `Summary [0.1s] 5 tests run: 4 passed (1 slow), 1 failed, 0 skipped` (nextest),
/// `test result: ok. 4 passed; 1 failed; 0 ignored; …` (libtest; the page's run in Chromium says it like that)
/// and `Tests  1 failed | 4 passed (5)` (vitest).
fn closing(line: &str) -> Option<Tests> {
    let figures = if let Some(rest) = line.trim_start().strip_prefix("Summary [") {
        rest.split_once("run:")?.1
    } else if let Some(rest) = line.trim_start().strip_prefix("Tests  ") {
        rest
    } else {
        // Only at the very front: nextest repeats a failed test's own closing line, set in.
        line.strip_prefix("test result:")?.split_once('.')?.1
    };
    let mut tests = Tests::default();
    for part in figures.split([',', ';', '|']) {
        let mut words = part.split_whitespace();
        let (Some(Ok(number)), Some(what)) = (words.next().map(str::parse::<u64>), words.next()) else {
            continue;
        };
        match what {
            "passed" => tests.passed += number,
            "failed" => tests.failed += number,
            // A test that ran out of time, or could not be started, did not pass.
            "timed" | "exec" => tests.failed += number,
            "skipped" | "ignored" | "todo" => tests.skipped += number,
            _ => {}
        }
    }
    Some(tests)
}

/// Reads `PASS [   0.004s] (  7/2000) callgate-bench stats::tests::x` (nextest), `✓ src/a.test.ts > part > test 12ms` (vitest,
/// which says it of each test when it is asked for all) and `ok    test (12 ms)` (the page's run in Chromium).
fn time(line: &str) -> Option<(f64, String)> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("PASS [").or_else(|| line.strip_prefix("FAIL [")) {
        let (seconds, name) = rest.split_once("s]")?;
        let name = name.trim_start();
        // Where it stands among all of them.
        let name =
            name.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(name, |(_, name)| name);
        return Some((seconds.trim().parse().ok()?, name.trim().to_owned()));
    }
    let (name, ms, runner) = if let Some(rest) = line.strip_prefix(['✓', '×']) {
        let (name, ms) = rest.rsplit_once(' ')?;
        (name, ms, "page")
    } else {
        let rest = line.strip_prefix("ok  ").or_else(|| line.strip_prefix("FAIL  "))?;
        let (name, ms) = rest.strip_suffix(')')?.rsplit_once(" (")?;
        (name, ms, "page in Chromium")
    };
    let ms: f64 = ms.strip_suffix("ms")?.trim().parse().ok()?;
    Some((ms / 1000.0, format!("{runner}: {}", name.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_tests_are_listed_slowest_first() {
        let mut tests = Tests::default();
        for line in [
            "        PASS [   0.004s] callgate-bench stats::tests::x\n",
            "        FAIL [  12.500s] (  7/2000) callgate-tests::endings a_kill\n",
            "        SLOW [> 30.000s] callgate-tests::endings other\n",
            "        PASS [   3.000s] ( 11/2000) callgate-shim y\n",
            "FAIL  the menu stays (5210 ms)\n",
            "ok    a check (with more) (40 ms)\n",
            " ✓ src/lib/poll.test.ts > poll > asks again 1200ms\n",
        ] {
            tests.times.extend(time(line));
        }
        assert_eq!(
            tests.slowest(5),
            [
                "    12.5 s  callgate-tests::endings a_kill",
                "     5.2 s  page in Chromium: the menu stays",
                "     3.0 s  callgate-shim y",
                "     1.2 s  page: src/lib/poll.test.ts > poll > asks again",
                "     0.0 s  page in Chromium: a check (with more)",
            ]
        );
        assert!(tests.slowest(6).is_empty(), "a handful needs no list");
    }

    #[test]
    fn the_closing_lines_of_both_runners_are_read() {
        let cases = [
            ("     Summary [   0.012s] 5 tests run: 5 passed, 2 skipped\n", (5, 0, 2)),
            (
                "     Summary [   9.012s] 6 tests run: 4 passed (1 slow), 1 failed, 1 timed out, 0 skipped\n",
                (4, 2, 0),
            ),
            (
                "test result: ok. 8 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
                (8, 0, 1),
            ),
            ("      Tests  2 failed | 14 passed | 1 skipped | 1 todo (18)\n", (14, 2, 2)),
        ];
        for (line, (passed, failed, skipped)) in cases {
            assert_eq!(closing(line), Some(Tests { passed, failed, skipped, times: Vec::new() }), "{line}");
        }
        assert_eq!(closing("    test result: FAILED. 0 passed; 1 failed; 0 ignored\n"), None);
        assert_eq!(closing(" Test Files  1 failed | 3 passed (4)\n"), None, "files are not tests");
        assert_eq!(closing("        PASS [   0.004s] callgate-bench stats::tests::x\n"), None);
    }
}
