//! Plots the durations of acquires and critical sections, and lists the protocol phases in which
//! faults began.

use super::tables::table;
use crate::judge::phases::phases;
use crate::judge::timeline::{Outcome, Timeline};
use crate::record::history::History;
use crate::show::format::drawing::plot::{Axis, Band, Plot, Point, Series, Span};
use crate::summary::report::RunReport;
use fencepost_faults::{FaultPlan, Micros, SimTime};
use maud::{Markup, PreEscaped, html};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy)]
struct CallSpan {
    from: SimTime,
    to: SimTime,
}

impl CallSpan {
    fn long(self) -> Micros {
        self.to.since(self.from)
    }
}

struct CallDurations {
    name: &'static str,
    took: Vec<CallSpan>,
}

pub(crate) fn of(run: &RunReport) -> Markup {
    let Some(history) = &run.history else { return Markup::default() };
    let timeline = Timeline::new(history);
    let sorts = call_durations(&timeline);
    if sorts.iter().all(|sort| sort.took.is_empty()) {
        return Markup::default();
    }
    let plot = plot(run, &timeline, &sorts);
    html! {
        details {
            summary { "Waits, holds and faults" }
            div.scroll tabindex="0" role="group" aria-label="Waits and critical sections" {
                (PreEscaped(plot.svg()))
            }
            (durations(&timeline, &sorts))
            (faults_by_phase(history, &run.plan))
        }
    }
}

fn call_durations(timeline: &Timeline<'_>) -> [CallDurations; 3] {
    let acquires = |outcome: Outcome| {
        let ended = timeline.acquisitions.iter().filter(move |one| one.outcome == outcome);
        let took = |from: SimTime, to: SimTime| CallSpan { from, to };
        ended.filter_map(move |one| Some(took(one.invoked.time, one.completed?.time))).collect()
    };
    let sections = timeline.sections.iter();
    let holds = sections.map(|one| CallSpan { from: one.from.time, to: one.ends(timeline.end) });
    [
        CallDurations { name: "waited and got the lock", took: acquires(Outcome::Granted) },
        CallDurations { name: "waited without success", took: acquires(Outcome::Refused) },
        CallDurations { name: "in the critical section", took: holds.collect() },
    ]
}

fn plot(run: &RunReport, timeline: &Timeline<'_>, sorts: &[CallDurations]) -> Plot {
    let series = sorts.iter().filter(|sort| !sort.took.is_empty()).map(|sort| Series {
        name: sort.name.to_owned(),
        points: points(&sort.took, timeline.end),
        is_joined: false,
    });
    let bands = timeline.faults.iter().map(|fault| {
        let planned = run.plan.faults.iter().find(|timed| timed.id == fault.id);
        let words = planned.map_or_else(
            || fault.kind.name().to_owned(),
            |timed| crate::show::format::text::plan_text::fault(&timed.fault),
        );
        let lasts = !fault.kind.is_instant();
        let open = if lasts { timeline.end } else { fault.from.time };
        let to = fault.to.map_or(open, |to| to.time);
        Band { from: seconds(fault.from.time), to: seconds(to), words }
    });
    Plot {
        title: format!("Waits and critical sections of {}", run.client),
        subtitle: "One dot for each acquire and each critical section, at its start; faults are \
                   shaded"
            .to_owned(),
        x: Axis { name: "true time".to_owned(), show: |at| format!("{at} s") },
        y: Axis { name: "took".to_owned(), show: |ms| format!("{ms} ms") },
        span: Span::Decades,
        series: series.collect(),
        marks: Vec::new(),
        bands: bands.collect(),
    }
}

fn points(took: &[CallSpan], end: SimTime) -> Vec<Point> {
    let pixel = |one: &CallSpan| {
        let ms = (one.long().0 as f64 / 1e3).max(1.0);
        (one.from.0 * 800 / end.0.max(1), (ms.log10() * 100.0) as u64)
    };
    let mut taken = BTreeSet::new();
    let shown = took.iter().filter(|one| taken.insert(pixel(one)));
    let point = |one: &CallSpan| Point {
        x: seconds(one.from),
        y: one.long().0 as f64 / 1e3,
        between: None,
    };
    shown.map(point).collect()
}

fn seconds(at: SimTime) -> f64 {
    at.0 as f64 / 1e6
}

fn durations(timeline: &Timeline<'_>, sorts: &[CallDurations]) -> Markup {
    let hurt = |one: &CallSpan| timeline.faults.iter().any(|fault| fault.touches(one.from, one.to));
    let rows = sorts.iter().flat_map(|sort| {
        let (during, apart): (Vec<CallSpan>, Vec<CallSpan>) =
            sort.took.iter().partition(|one| hurt(one));
        [("no fault", apart), ("a fault", during)]
            .into_iter()
            .filter(|(_, took)| !took.is_empty())
            .map(|(when, took)| row(sort.name, when, &took))
    });
    table(
        "Durations",
        &["", "during", "count", "median", "95th percentile", "longest"],
        &rows.collect::<Vec<_>>(),
    )
}

fn row(name: &str, when: &str, took: &[CallSpan]) -> Vec<String> {
    let mut long: Vec<Micros> = took.iter().map(|one| one.long()).collect();
    long.sort_unstable();
    // Nearest-rank percentile.
    let at_most = |percent: usize| {
        let rank = (long.len() * percent).div_ceil(100).max(1);
        long.get(rank - 1).map_or_else(String::new, ToString::to_string)
    };
    let counted = took.len().to_string();
    vec![name.to_owned(), when.to_owned(), counted, at_most(50), at_most(95), at_most(100)]
}

fn faults_by_phase(history: &History, plan: &FaultPlan) -> Markup {
    let mut met: BTreeMap<(String, String), u32> = BTreeMap::new();
    for pair in phases(history) {
        *met.entry(pair).or_default() += 1;
    }
    let fired: u32 = met.values().sum();
    let rows: Vec<Vec<String>> = met
        .into_iter()
        .map(|((kind, phase), times)| vec![kind, phase, times.to_string()])
        .collect();
    html! {
        (table("Where in the protocol the faults began", &["fault", "phase", "times"], &rows))
        @if fired > 0 {
            p.hint {
                "The phase of the process that the fault names, or of the process that was \
                 furthest. "
                (fired) " of " (plan.faults.len()) " planned faults began."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{paused_holder, run};

    #[test]
    fn a_run_with_its_history_is_measured_and_its_faults_are_placed() {
        let mut report = run(paused_holder());
        assert_eq!(of(&report).into_string(), "", "nothing is measured without a history");
        report.history = Some(paused_holder().build());
        let told = of(&report).into_string();
        let document = roxmltree::Document::parse(&told).unwrap();
        let words: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        let has = |word: &str| words.contains(&word);
        assert!(has("pause") && has("holding"), "{words:?}");
        assert!(has("waited and got the lock") && !has("waited without success"), "{words:?}");
        let band = document.descendants().find(|node| node.attribute("fill-opacity").is_some());
        let title = band.and_then(|band| band.first_element_child()).and_then(|node| node.text());
        assert!(title.is_some_and(|title| title.contains("is paused for 11.98s")), "{title:?}");
    }

    fn micros(ms: u64) -> CallSpan {
        CallSpan { from: SimTime(0), to: SimTime(ms * 1_000) }
    }

    #[test]
    fn a_share_is_told_by_the_least_that_covers_it() {
        let took: Vec<CallSpan> = (1..=20).map(micros).collect();
        let told = row("holds", "no fault", &took);
        assert_eq!(told[2..], ["20", "10ms", "19ms", "20ms"]);
        assert_eq!(row("holds", "no fault", &took[..1])[2..], ["1", "1ms", "1ms", "1ms"]);
    }

    #[test]
    fn dots_that_would_cover_each_other_are_one() {
        let took = [micros(5), micros(5), micros(50)];
        assert_eq!(points(&took, SimTime(1_000_000)).len(), 2);
    }
}
