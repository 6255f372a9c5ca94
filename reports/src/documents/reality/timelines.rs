//! Aligns the timelines of two runs, so that equal events share a line.

use super::Timelines;
use crate::record::history::What;
use crate::summary::report::TimelineEntry;
use std::fmt::Write;

/// Equal events further apart than this, in microseconds, do not share a line.
const APART_MAX_US: u64 = 1_000_000;

pub(super) struct Line<'t> {
    pub(super) simulated: Option<&'t TimelineEntry>,
    pub(super) real: Option<&'t TimelineEntry>,
}

impl<'t> Line<'t> {
    fn entry(&self) -> Option<&'t TimelineEntry> {
        self.simulated.or(self.real)
    }

    pub(super) fn times(&self) -> [String; 2] {
        let time = |entry: &TimelineEntry| {
            let micros = entry.time_us.0;
            format!("{}.{:06}s", micros / 1_000_000, micros % 1_000_000)
        };
        [self.simulated, self.real].map(|entry| entry.map_or_else(|| "-".to_owned(), time))
    }

    pub(super) fn place(&self) -> String {
        self.entry().map(place).unwrap_or_default()
    }

    pub(super) fn text(&self) -> &'t str {
        self.entry().map_or("", |entry| entry.text.as_str())
    }
}

pub(super) fn text(timelines: &Timelines) -> String {
    let lines = aligned(timelines);
    let who = lines.iter().map(|line| line.place().len()).max().unwrap_or(0);
    let mut text = format!("{:>12}  {:>12}\n", "simulated", "real");
    for line in &lines {
        let [simulated, real] = line.times();
        let place = line.place();
        let _ = writeln!(text, "{simulated:>12}  {real:>12}  {place:<who$}  {}", line.text());
    }
    text
}

/// Returns all events in order. Equal events on a longest common subsequence share a line.
pub(super) fn aligned(timelines: &Timelines) -> Vec<Line<'_>> {
    let (simulated, real) = (&timelines.simulated, &timelines.real);
    let lengths = common(simulated, real);
    let (mut one, mut other) = (0, 0);
    let mut lines = Vec::new();
    while one < simulated.len() || other < real.len() {
        let pair = (simulated.get(one), real.get(other));
        let (takes_simulated, takes_real) = match pair {
            (Some(a), Some(b)) if is_equal(a, b) && is_best(&lengths, one, other) => (true, true),
            (Some(a), Some(b)) => {
                let (skip_a, skip_b) = (lengths[one + 1][other], lengths[one][other + 1]);
                let takes = skip_a > skip_b || (skip_a == skip_b && a.time_us <= b.time_us);
                (takes, !takes)
            }
            (a, b) => (a.is_some(), b.is_some()),
        };
        let line = Line {
            simulated: pair.0.filter(|_| takes_simulated),
            real: pair.1.filter(|_| takes_real),
        };
        (one, other) = (one + usize::from(takes_simulated), other + usize::from(takes_real));
        lines.push(line);
    }
    lines
}

fn is_best(lengths: &[Vec<usize>], one: usize, other: usize) -> bool {
    lengths[one][other] == lengths[one + 1][other + 1] + 1
}

/// Returns the length of the longest common subsequence for each pair of suffixes.
fn common(simulated: &[TimelineEntry], real: &[TimelineEntry]) -> Vec<Vec<usize>> {
    let mut lengths = vec![vec![0; real.len() + 1]; simulated.len() + 1];
    for one in (0..simulated.len()).rev() {
        for other in (0..real.len()).rev() {
            lengths[one][other] = if is_equal(&simulated[one], &real[other]) {
                lengths[one + 1][other + 1] + 1
            } else {
                lengths[one + 1][other].max(lengths[one][other + 1])
            };
        }
    }
    lengths
}

fn is_equal(one: &TimelineEntry, other: &TimelineEntry) -> bool {
    let apart_us = one.time_us.0.abs_diff(other.time_us.0);
    one.text == other.text && place(one) == place(other) && apart_us <= APART_MAX_US
}

fn place(entry: &TimelineEntry) -> String {
    match &entry.what {
        What::FaultBegan { .. } | What::FaultEnded { .. } | What::Healed => "nemesis".to_owned(),
        _ => entry.process.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;
    use crate::samples::run;

    fn lines(simulated: Story, real: Story) -> Vec<[String; 2]> {
        let (simulated, real) = (run(simulated).timeline, run(real).timeline);
        let timelines = Timelines { simulated, real };
        aligned(&timelines).iter().map(Line::times).collect()
    }

    fn overlap(from: u64) -> Story {
        Story::new().takes(from, 1, "a").takes(from + 5, 2, "b").releases(from + 9, 1)
    }

    #[test]
    fn equal_events_share_a_line_with_both_times() {
        let shown = lines(overlap(1), overlap(2));
        assert!(!shown.is_empty());
        assert!(shown.iter().all(|times| !times.contains(&"-".to_owned())), "{shown:?}");
        assert!(shown.contains(&["0.006000s".to_owned(), "0.007000s".to_owned()]), "{shown:?}");
    }

    #[test]
    fn an_event_that_happens_much_later_is_another_one() {
        let shown = lines(overlap(1), overlap(1_100));
        assert!(shown.iter().all(|times| times.contains(&"-".to_owned())), "{shown:?}");
    }

    #[test]
    fn an_event_of_one_run_has_a_line_of_its_own() {
        let shown = lines(overlap(1), overlap(1).releases(15, 2).takes(17, 3, "c"));
        let alone = shown.iter().filter(|[simulated, _]| simulated == "-").count();
        assert!(alone > 0 && alone < shown.len(), "{shown:?}");
        assert!(shown.iter().all(|[_, real]| real != "-"), "{shown:?}");
    }
}
