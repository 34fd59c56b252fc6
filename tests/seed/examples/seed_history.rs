//! `cargo xtask seed-history`: makes up a history in a new home.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people that speaks no protocol"
)]

use std::process::ExitCode;
use std::time::Instant;

use callgate_history::Indexer;
use callgate_home::{Home, clock};
use callgate_seed::world;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => {
            eprintln!("seed-history: {words}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let (mut calls, mut place, mut number, mut index) = (1_000_000, None, 4711, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} wants a value"))?;
        let counted =
            || value.replace('_', "").parse::<u64>().map_err(|_| format!("{word} {value}: not a number"));
        match word.as_str() {
            "--calls" => calls = counted()?,
            "--seed" => number = counted()?,
            "--index" => index = value == "yes",
            "--home" => place = Some(std::path::PathBuf::from(&value)),
            _ => {
                return Err(format!(
                    "unknown word {word}; there are --calls N, --home DIR, --seed N, --index yes"
                ));
            }
        }
    }
    let place = place.ok_or("say where with --home DIR: a folder that is not there yet")?;
    let home = Home::at(std::path::absolute(&place).unwrap_or(place));
    if home.history_db().exists() || home.path().join("format").exists() {
        return Err(format!(
            "{} is a home already; nothing was written. Name a new folder",
            home.path().display()
        ));
    }
    callgate_controls::prepare_home(&home).map_err(|error| error.to_string())?;
    let began = Instant::now();
    world::make(&home, calls, number, clock::wall_ms()).map_err(|error| error.to_string())?;
    if index {
        // Else the app does it, with rests, while somebody looks at it.
        let mut indexer = Indexer::open(&home).map_err(|error| error.to_string())?;
        while indexer.step().map_err(|error| error.to_string())? {}
    }
    let bytes = std::fs::metadata(home.history_db()).map_or(0, |meta| meta.len());
    println!(
        "{calls} calls, {} MB, in {:.1} s. Look at them with CALLGATE_HOME={}",
        bytes >> 20,
        began.elapsed().as_secs_f64(),
        home.path().display()
    );
    Ok(())
}
