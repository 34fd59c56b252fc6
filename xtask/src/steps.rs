//! The steps of a command: each with a heading, all of them in the summary.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Error, Result};

/// How a step ended.
#[derive(Debug)]
enum Ending {
    Done,
    Failed(Error),
    /// It could not be tried on this machine, which is said and not counted as a failure.
    NotHere(String),
}

/// A reason for which a step cannot be done on this machine.
#[derive(Debug)]
pub(crate) struct NotHere(pub(crate) String);

impl fmt::Display for NotHere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotHere {}

#[derive(Debug, Default)]
pub(crate) struct Steps {
    taken: Vec<(String, Ending, Duration)>,
}

impl Steps {
    /// Runs one step. A failed one does not keep the next from running, so that a person sees all faults at once;
    /// the answer tells a step that needs this one.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Result<()>) -> bool {
        println!("\n==> {name}");
        let start = Instant::now();
        let ending = match step() {
            Ok(()) => Ending::Done,
            Err(error) => match error.downcast::<NotHere>() {
                Ok(NotHere(why)) => {
                    println!("NOT RUN HERE: {why}");
                    Ending::NotHere(why)
                }
                Err(error) => {
                    println!("FAILED: {error:#}");
                    Ending::Failed(error)
                }
            },
        };
        let (done, took) = (matches!(ending, Ending::Done), start.elapsed());
        println!("<== {name}: {:.1} s", took.as_secs_f64());
        self.taken.push((name.to_owned(), ending, took));
        done
    }

    /// A part of a step could not be tried on this machine.
    pub(crate) fn not_here(&mut self, name: &str, why: &str) {
        self.taken.push((name.to_owned(), Ending::NotHere(why.to_owned()), Duration::ZERO));
    }

    /// Prints what was run; true when nothing failed.
    pub(crate) fn summary(&self) -> bool {
        println!("\nSteps");
        for (name, ending, took) in &self.taken {
            let (word, why) = match ending {
                Ending::Done => ("ok", String::new()),
                Ending::Failed(error) => ("FAILED", format!("  {error:#}")),
                Ending::NotHere(why) => ("not here", format!("  {why}")),
            };
            println!("  {word:<8} {name:<28} {:>6.1} s{why}", took.as_secs_f64());
        }
        !self.taken.iter().any(|(_, ending, _)| matches!(ending, Ending::Failed(_)))
    }
}
