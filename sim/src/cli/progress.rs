use super::output::log;
use crate::diagnosis::Extent;
use fencepost_reports::RunFacts;
use fencepost_reports::summary::sweep::Shard;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LINE_EVERY: Duration = Duration::from_secs(5);

pub(crate) struct Progress {
    bar: ProgressBar,
    display: Display,
    label: String,
    runs: u64,
    earlier: Earlier,
    done: AtomicU64,
    violated: AtomicU64,
    started: Instant,
    last_run_us: AtomicU64,
    line_due_ms: AtomicU64,
}

/// Runs of the earlier process whose checkpoint this process resumes. The displayed numbers of runs
/// and violated runs include them, but the pace does not.
#[derive(Clone, Copy, Default)]
pub(crate) struct Earlier {
    pub(crate) runs: u64,
    pub(crate) violated: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Display {
    Bar,
    Lines,
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verbosity {
    Progress,
    Quiet,
}

impl Progress {
    pub(crate) fn new(runs: u64, verbosity: Verbosity) -> Progress {
        let display = match verbosity {
            Verbosity::Quiet => Display::Nothing,
            Verbosity::Progress if std::io::stderr().is_terminal() => Display::Bar,
            Verbosity::Progress => Display::Lines,
        };
        let target = match display {
            Display::Bar => ProgressDrawTarget::stderr(),
            Display::Lines | Display::Nothing => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(runs), target);
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len} runs  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Progress {
            bar,
            display,
            label: String::new(),
            runs,
            earlier: Earlier::default(),
            done: AtomicU64::new(0),
            violated: AtomicU64::new(0),
            started: clock(),
            last_run_us: AtomicU64::new(0),
            line_due_ms: AtomicU64::new(LINE_EVERY.as_millis() as u64),
        }
    }

    pub(crate) fn resuming(self, earlier: Earlier) -> Progress {
        self.bar.set_position(earlier.runs);
        let (done, violated) = (earlier.runs.into(), earlier.violated.into());
        Progress { earlier, done, violated, ..self }
    }

    pub(crate) fn of_shard(self, shard: Shard) -> Progress {
        let label = match shard {
            Shard::WHOLE => String::new(),
            Shard { index, count } => format!("shard {index}/{count}: "),
        };
        Progress { label, ..self }
    }

    pub(crate) fn run_done(&self, is_violated: bool) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.last_run_us.fetch_max(self.elapsed().as_micros() as u64, Ordering::Relaxed);
        let violated = self.violated.fetch_add(u64::from(is_violated), Ordering::Relaxed)
            + u64::from(is_violated);
        match self.display {
            Display::Nothing => {}
            Display::Bar => {
                self.bar.set_position(done);
                if done.is_multiple_of(16) {
                    self.bar.set_message(self.pace(done, violated));
                }
            }
            Display::Lines if self.line_is_due() => {
                let (label, pace) = (&self.label, self.pace(done, violated));
                log(format_args!("{label}{done}/{} runs, {pace}", self.runs));
            }
            Display::Lines => {}
        }
    }

    pub(crate) fn report_stage(&self, what: &str, done: usize, of: usize) {
        match self.display {
            Display::Nothing => {}
            Display::Bar => self.bar.set_message(format!("{done}/{of} {what}")),
            Display::Lines if self.line_is_due() => {
                log(format_args!("{}{done}/{of} {what}", self.label));
            }
            Display::Lines => {}
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub(crate) fn running(&self) -> Duration {
        Duration::from_micros(self.last_run_us.load(Ordering::Relaxed))
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn runs_here(&self) -> u64 {
        self.done.load(Ordering::Relaxed).saturating_sub(self.earlier.runs)
    }

    fn line_is_due(&self) -> bool {
        let (now_ms, due) =
            (self.elapsed().as_millis() as u64, self.line_due_ms.load(Ordering::Relaxed));
        let next = now_ms + LINE_EVERY.as_millis() as u64;
        now_ms >= due
            && self
                .line_due_ms
                .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    fn pace(&self, done: u64, violated: u64) -> String {
        pace(done - self.earlier.runs, self.runs.saturating_sub(done), violated, self.elapsed())
    }
}

pub(crate) struct Minimising {
    spinner: ProgressBar,
    started: Instant,
}

impl Default for Minimising {
    fn default() -> Minimising {
        let target = match std::io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        Minimising { spinner: ProgressBar::with_draw_target(None, target), started: clock() }
    }
}

impl Minimising {
    pub(crate) fn begins(&self, run: &RunFacts) {
        if run.violations.is_empty() {
            return;
        }
        let (client, fault, count) = (&run.client, &run.fault, run.violations.len());
        let violations = if count == 1 { "violation" } else { "violations" };
        let says = format!(
            "{client} under {fault}: searching for the smallest plan of {count} {violations} and \
             trying remedies on {} other seeds",
            Extent::REPORTS.seeds
        );
        if std::io::stderr().is_terminal() {
            self.spinner.enable_steady_tick(Duration::from_millis(100));
            self.spinner.set_message(says);
        } else if self.started.elapsed() > LINE_EVERY {
            log(says);
        }
    }

    pub(crate) fn finish(&self) {
        self.spinner.finish_and_clear();
    }
}

fn pace(done: u64, left: u64, violated: u64, took: Duration) -> String {
    let per_second = done as f64 / took.as_secs_f64().max(1e-3);
    let left_s = (left as f64 / per_second.max(1e-9)).ceil().min(1e15) as u64;
    let left = in_words(left_s);
    let rate = match per_second < 1.0 {
        true => format!("{:.0} runs/min", per_second * 60.0),
        false => format!("{per_second:.0} runs/s"),
    };
    format!("{rate}, {violated} violated, {left} left")
}

pub(crate) fn in_words(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600);
    match (hours, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0..48, minutes, _) => format!("{hours} h {minutes} min"),
        _ if days < 730 => format!("{days} days"),
        _ => format!("{} years", days / 365),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a sweep takes is told to people and never enters a history"
)]
pub(crate) fn clock() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_told_in_words() {
        let said = |done, left, secs| pace(done, left, 3, Duration::from_secs(secs));
        assert_eq!(said(500, 1_000, 5), "100 runs/s, 3 violated, 10 s left");
        assert_eq!(said(5, 95, 25), "12 runs/min, 3 violated, 7 min 55 s left");
        assert_eq!(said(500, 100_000, 5), "100 runs/s, 3 violated, 16 min 40 s left");
        assert_eq!(said(500, 1_000_000, 5), "100 runs/s, 3 violated, 2 h 46 min left");
        assert_eq!(said(500, 20_000_000, 5), "100 runs/s, 3 violated, 2 days left");
        assert_eq!(said(500, 7_000_000_000, 5), "100 runs/s, 3 violated, 2 years left");
    }

    #[test]
    fn a_resumed_sweep_shows_earlier_runs_but_not_in_its_pace() {
        let earlier = Earlier { runs: 4_000, violated: 3 };
        let progress = Progress::new(10_000, Verbosity::Quiet).resuming(earlier);
        let shown = || (progress.done.load(Ordering::Relaxed), progress.runs_here());
        assert_eq!(shown(), (4_000, 0));
        progress.run_done(true);
        assert_eq!(shown(), (4_001, 1));
        let said = progress.pace(4_001, progress.violated.load(Ordering::Relaxed));
        assert!(said.contains("4 violated"), "{said}");
        assert!(progress.pace(4_000, 3).starts_with("0 runs/min, "), "no run of this process");
    }

    #[test]
    fn a_line_is_due_once() {
        let progress = Progress::new(10, Verbosity::Quiet);
        assert!(!progress.line_is_due(), "not before its time");
        progress.line_due_ms.store(0, Ordering::Relaxed);
        assert!(progress.line_is_due());
        assert!(!progress.line_is_due(), "not again at once");
    }
}
