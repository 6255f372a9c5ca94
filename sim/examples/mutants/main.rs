//! How good is the net? Plants one mistake at a time in every lock and its servers, and counts
//! which of these mutants are found.
//!
//! ```text
//! mutants='cargo run --release -p fencepost --example mutants --'
//! $mutants run [LOCK ...] > docs/mutants.tsv
//! $mutants page docs/mutants.tsv > docs/mutants.md
//! ```
//!
//! The first writes a line for each mutant of every lock (or of those that are named),
//! the second makes a page of it. The operators are in `sim/src/hosts/mutants`; how a mutant is
//! judged is in `study.rs`. But for the processor time, everything follows from the seeds.

mod fate;
mod page;
mod reasons;
mod study;
#[cfg(test)]
mod tests;

use fencepost::clients::{CLIENTS, Definition};
use rayon::prelude::*;
use std::error::Error;
use std::process::ExitCode;
use study::mutants_of;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["page", file] => show(file),
        ["run", ref names @ ..] => {
            run(names);
            Ok(())
        }
        _ => Err("expected run [LOCK ...], or page FILE".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run(names: &[&str]) {
    let is_asked = |lock: &&Definition| names.is_empty() || names.contains(&lock.name);
    let locks: Vec<&'static Definition> = CLIENTS.iter().filter(is_asked).collect();
    print!("{}", fate::HEAD);
    // What is done is printed soon: the whole takes long.
    for some in locks.chunks(rayon::current_num_threads()) {
        let lines = some.par_iter().map(|lock| {
            let outcomes = mutants_of(lock);
            eprintln!("{}: {} mutants", lock.name, outcomes.len());
            outcomes.iter().map(|outcome| outcome.line()).collect::<String>()
        });
        lines.collect::<Vec<String>>().iter().for_each(|lines| print!("{lines}"));
    }
}

fn show(file: &str) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    print!("{}", page::page(&fate::read(&text)?));
    Ok(())
}
