use crate::cli::output::{log, read_file};
use crate::cli::progress::{clock, in_words};
use crate::cli::{Failure, Outcome};
use crate::studies::sweep::Checkpoint;
use fencepost_reports::Sweep;
use fencepost_reports::summary::sweep::runs_of;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Slice {
    done: u64,
    of: u64,
    violated: u64,
}

#[derive(Default, PartialEq, Eq, Debug)]
struct Slices {
    count: u32,
    known: BTreeMap<u32, Slice>,
}

pub(super) fn watch(folder: &Path) -> Result<Outcome, Failure> {
    let started = clock();
    let first = read(folder)?;
    let screen = Screen::default();
    let mut slices = read(folder)?;
    loop {
        screen.show(&slices, &slices.pace(&first, started));
        if slices.are_done() {
            screen.clear();
            log(slices.pace(&first, started));
            return Ok(Outcome::AsExpected);
        }
        std::thread::park_timeout(EVERY);
        slices = read(folder)?;
    }
}

fn read(folder: &Path) -> Result<Slices, Failure> {
    let mut slices = Slices::default();
    for path in checkpoints(folder, 2)? {
        let sum = Checkpoint::sum_in(&read_file(&path, "a checkpoint")?);
        slices.add(&sum.map_err(|error| Failure::content(&path, error))?);
    }
    if slices.known.is_empty() {
        return Err(Failure::content(
            folder,
            "no checkpoint of a sweep: expected the --out folder of the shards, or the parent of \
             their --out folders",
        ));
    }
    Ok(slices)
}

fn checkpoints(folder: &Path, depth: u8) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::File { path: folder.to_owned(), error };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|end| end == "checkpoint") {
            found.push(path);
        } else if depth > 1 && path.is_dir() {
            found.extend(checkpoints(&path, depth - 1)?);
        }
    }
    Ok(found)
}

impl Slices {
    fn add(&mut self, sum: &Sweep) {
        let cells = sum.cells.len() as u64;
        let runs = |seeds: u64| seeds.saturating_mul(cells);
        let seeds = sum.whole.map_or(0, |whole| sum.shard.slice(whole).len());
        let slice = Slice {
            done: runs(runs_of(sum).iter().map(|range| range.len()).sum()),
            of: runs(seeds),
            violated: sum.cells.iter().map(|cell| cell.violated).sum(),
        };
        self.count = self.count.max(sum.shard.count);
        self.known.insert(sum.shard.index, slice);
    }

    fn total(&self) -> Slice {
        self.known.values().fold(Slice::default(), |sum, one| Slice {
            done: sum.done + one.done,
            of: sum.of + one.of,
            violated: sum.violated + one.violated,
        })
    }

    fn are_done(&self) -> bool {
        self.known.len() == self.count as usize && self.known.values().all(Slice::is_done)
    }

    fn pace(&self, first: &Slices, started: Instant) -> String {
        let (total, before) = (self.total(), first.total());
        let Slice { done, of, violated } = total;
        let slices = self.known.values().filter(|slice| slice.is_done()).count();
        let said = format!(
            "{slices} of {} shards done, {done}/{of} runs, {violated} violated",
            self.count
        );
        let seconds = started.elapsed().as_secs_f64();
        let per_second = done.saturating_sub(before.done) as f64 / seconds.max(1e-3);
        if per_second < 1.0 || self.known.len() < self.count as usize {
            return said;
        }
        let left = ((of - done.min(of)) as f64 / per_second).ceil() as u64;
        format!("{said}, {per_second:.0} runs/s, {} left", in_words(left))
    }
}

impl Slice {
    fn is_done(&self) -> bool {
        self.done >= self.of
    }
}

#[derive(Default)]
struct Screen {
    bars: MultiProgress,
    known: std::cell::RefCell<BTreeMap<u32, ProgressBar>>,
}

impl Screen {
    fn show(&self, slices: &Slices, pace: &str) {
        if !std::io::stderr().is_terminal() {
            log(pace);
            return;
        }
        let mut known = self.known.borrow_mut();
        for index in 1..=slices.count {
            let slice = slices.known.get(&index).copied().unwrap_or_default();
            let bar = known.entry(index).or_insert_with(|| self.bar(index));
            bar.set_length(slice.of);
            bar.set_position(slice.done);
            bar.set_message(match slices.known.get(&index) {
                Some(slice) => format!("{} violated", slice.violated),
                None => "has not started".to_owned(),
            });
        }
        let total = known.entry(u32::MAX).or_insert_with(|| {
            let bar = self.bars.add(ProgressBar::new_spinner());
            bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| plain()));
            bar
        });
        total.set_message(pace.to_owned());
    }

    fn bar(&self, index: u32) -> ProgressBar {
        let bar = self.bars.add(ProgressBar::new(0));
        let template = format!("shard {index:>3} {{bar:32}} {{pos}}/{{len}} runs  {{msg}}");
        bar.set_style(ProgressStyle::with_template(&template).unwrap_or_else(|_| plain()));
        bar
    }

    fn clear(&self) {
        let _ = self.bars.clear();
    }
}

fn plain() -> ProgressStyle {
    ProgressStyle::default_bar()
}
