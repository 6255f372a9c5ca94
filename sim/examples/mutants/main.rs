//! Plants one mistake at a time in every lock and its servers, and counts the mutants found.
//!
//! ```text
//! mutants='cargo run --release -p fencepost --example mutants --'
//! $mutants run [LOCK ...] > swept.tsv
//! $mutants retry FILE [N] > swept.tsv      # neither killed nor explained (last N conditions)
//! $mutants explore swept.tsv > docs/data/mutants.tsv
//! $mutants page docs/data/mutants.tsv > docs/mutants.md
//! $mutants check FILE                      # repeats the recorded kills
//! ```

mod bounds;
mod conditions;
mod fate;
mod operators;
mod page;
mod reasons;
mod study;
#[cfg(test)]
mod tests;

use bounds::Explorer;
use conditions::CONDITIONS;
use fate::{Fate, Outcome};
use fencepost::clients::{CLIENTS, Definition};
use operators::operators_for;
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use study::mutants_of;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["page", file] => page_of(file),
        ["explore", file] => explore(file),
        ["retry", file] => retry(file, 0),
        ["retry", file, last] => last_conditions(last).and_then(|first| retry(file, first)),
        ["check", file] => check(file),
        ["run", ref names @ ..] => {
            run(names);
            Ok(())
        }
        _ => Err("expected run [LOCK ...], retry FILE [CONDITIONS], explore FILE, check FILE, or \
                      page FILE"
            .into()),
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
    for_each_lock(CLIENTS.iter().filter(is_asked).collect(), mutants_of);
}

fn explore(file: &str) -> Result<(), Box<dyn Error>> {
    for_each_lock_of(file, |lock, outcomes| {
        let mut explorer = Explorer::new(lock);
        outcomes.iter().map(|outcome| explorer.explored(outcome.clone())).collect()
    })
}

fn last_conditions(count: &str) -> Result<usize, Box<dyn Error>> {
    let count: usize = count.parse()?;
    Ok(CONDITIONS.len().saturating_sub(count))
}

fn retry(file: &str, first: usize) -> Result<(), Box<dyn Error>> {
    for_each_lock_of(file, |lock, outcomes| {
        let is_left = |outcome: &&Outcome| {
            !matches!(outcome.fate, Fate::Killed(_)) && reasons::reason(outcome).is_none()
        };
        let left: Vec<&str> =
            outcomes.iter().filter(is_left).map(|outcome| outcome.operator.as_str()).collect();
        let named = operators_for(lock).filter(|operator| left.contains(&operator.name));
        let again = study::outcomes(lock, first, named);
        let of = |old: &Outcome| match again.iter().find(|one| one.operator == old.operator) {
            Some(new) if first == 0 => old.again(new),
            Some(new) => old.and_also(new),
            None => old.clone(),
        };
        outcomes.iter().map(of).collect()
    })
}

fn for_each_lock_of(
    file: &str,
    make: impl Fn(&'static Definition, &[Outcome]) -> Vec<Outcome> + Sync,
) -> Result<(), Box<dyn Error>> {
    let mut of_lock: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for outcome in fate::read(&std::fs::read_to_string(file)?)? {
        of_lock.entry(outcome.lock.clone()).or_default().push(outcome);
    }
    let is_there = |lock: &&Definition| of_lock.contains_key(lock.name);
    let locks = CLIENTS.iter().filter(is_there).collect();
    for_each_lock(locks, |lock| make(lock, &of_lock[lock.name]));
    Ok(())
}

fn for_each_lock(
    locks: Vec<&'static Definition>,
    outcomes: impl Fn(&'static Definition) -> Vec<Outcome> + Sync,
) {
    print!("{}", fate::HEAD);
    let (next, done) = (AtomicUsize::new(0), Mutex::new((0, BTreeMap::new())));
    let work = || {
        while let Some(place) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|place| *place < locks.len())
        {
            let lock = locks[place];
            let outcomes = outcomes(lock);
            eprintln!("{}: {} mutants", lock.name, outcomes.len());
            let lines: String = outcomes.iter().map(Outcome::line).collect();
            let mut done = done.lock().expect("no thread has panicked");
            let (printed, waiting) = &mut *done;
            waiting.insert(place, lines);
            while let Some(lines) = waiting.remove(printed) {
                print!("{lines}");
                *printed += 1;
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
}

fn check(file: &str) -> Result<(), Box<dyn Error>> {
    let unlike = study::unlike(&fate::read(&std::fs::read_to_string(file)?)?);
    match unlike[..] {
        [] => Ok(()),
        _ => Err(format!("not killed again:\n{}", unlike.join("\n")).into()),
    }
}

fn page_of(file: &str) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    print!("{}", page::page(&fate::read(&text)?));
    Ok(())
}
