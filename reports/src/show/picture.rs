//! The data of a run's picture, such as lanes, holders, faults and messages.

mod clocks;
mod focus;
mod lanes;
mod marks;
mod strip;

pub(crate) use clocks::ClockLine;
pub(crate) use focus::Focus;
pub(crate) use lanes::Lane;
pub(crate) use marks::{Glyph, Mark};
pub(crate) use strip::HolderSpan;

use crate::judge::timeline::{KeyEnd, SectionEnd, Timeline};
use crate::record::history::{Header, History, What};
use crate::record::trace::WireMessage;
use crate::summary::report::{RunReport, TimelineEntry};
use fencepost_faults::{FaultKind, FaultPlan, Node};

/// Times are in microseconds of true time since the start of the run.
pub(crate) struct Scene {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) end: u64,
    pub(crate) strip: Vec<HolderSpan>,
    pub(crate) believed: Vec<Span>,
    pub(crate) keys: Vec<Span>,
    pub(crate) faults: Vec<FaultBar>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) messages: Vec<WireMessage>,
    pub(crate) clocks: Vec<ClockLine>,
    pub(crate) focuses: Vec<Focus>,
    /// `false` if the report has no history, so that the scene has only the events of the timeline.
    pub(crate) is_whole: bool,
}

pub(crate) struct Span {
    pub(crate) node: Node,
    pub(crate) owner: Option<Node>,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) ending: String,
    pub(crate) is_copy: bool,
}

pub(crate) struct FaultBar {
    pub(crate) id: u32,
    pub(crate) kind: FaultKind,
    pub(crate) nodes: Vec<Node>,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Scene {
    pub(crate) fn new(run: &RunReport) -> Option<Scene> {
        let is_whole = run.history.is_some();
        let history = run.history.clone().unwrap_or_else(|| history_of(run));
        let history = match run.violations.first() {
            Some(first) if first.violation.resource != history.header.resource => {
                history.of_lock(&first.violation.resource)
            }
            _ => history,
        };
        if history.events.is_empty() {
            return None;
        }
        let timeline = Timeline::new(&history);
        let end = timeline.end.0.max(1);
        let believed = believed(&timeline);
        let messages = run.trace.as_ref().map_or(Vec::new(), |trace| trace.messages.clone());
        let faults = faults(&timeline, &run.plan);
        Some(Scene {
            lanes: lanes::all(&history, &messages),
            end,
            strip: strip::held(&believed),
            keys: keys(&timeline),
            clocks: clocks::lines(&faults, &run.plan, end),
            faults,
            marks: marks::all(&history, run),
            messages,
            focuses: focus::all(run, end),
            believed,
            is_whole,
        })
    }

    pub(crate) fn overlaps(&self) -> impl Iterator<Item = &HolderSpan> {
        self.strip.iter().filter(|held| held.who.len() > 1)
    }
}

fn history_of(run: &RunReport) -> History {
    let resource = run.violations.first().map(|one| one.violation.resource.as_str());
    let resource = resource.or_else(|| run.timeline.iter().find_map(key_of)).unwrap_or("lock");
    let events = run.timeline.iter().map(|entry| crate::record::history::Event {
        sequence: entry.sequence,
        time_us: entry.time_us,
        node: entry.process,
        what: entry.what.clone(),
    });
    History {
        format: crate::record::history::FORMAT.to_owned(),
        version: crate::record::history::VERSION,
        header: Header {
            faults_planned: u32::try_from(run.plan.faults.len()).unwrap_or(u32::MAX),
            ..Header::bare(&run.client, resource)
        },
        events: events.collect(),
        ended: None,
    }
}

fn key_of(entry: &TimelineEntry) -> Option<&str> {
    match &entry.what {
        What::Server { key, .. } => Some(key),
        _ => None,
    }
}

fn believed(timeline: &Timeline<'_>) -> Vec<Span> {
    let sections = timeline.sections.iter().map(|section| Span {
        node: section.process,
        owner: Some(section.process),
        from: section.from.time.0,
        to: section.ends(timeline.end).0,
        ending: match section.ended_by {
            SectionEnd::Release => "ended by its release",
            SectionEnd::Lost => "ended when the process noticed that it had lost the lock",
            SectionEnd::Crash => "ended by a crash",
            SectionEnd::Open => "not ended within the run",
        }
        .to_owned(),
        is_copy: false,
    });
    sections.collect()
}

fn keys(timeline: &Timeline<'_>) -> Vec<Span> {
    let spans = timeline.keys.iter().map(|span| Span {
        node: span.node,
        owner: span.granted.map(|(process, _)| process),
        from: span.from.time.0,
        to: span.to.map_or(timeline.end, |(moment, _)| moment.time).0,
        ending: match span.to {
            None => "still there at the end".to_owned(),
            Some((_, KeyEnd::Replaced)) => "replaced by another value".to_owned(),
            Some((_, KeyEnd::Changed { change, .. })) => word(&change),
        },
        is_copy: span.by.is_none(),
    });
    spans.collect()
}

fn word(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    json.as_str().unwrap_or_default().to_owned()
}

fn faults(timeline: &Timeline<'_>, plan: &FaultPlan) -> Vec<FaultBar> {
    let bars = timeline.faults.iter().map(|span| {
        let planned = plan.faults.iter().find(|timed| timed.id == span.id);
        let lasts = planned.is_none_or(|timed| !timed.fault.kind().is_instant());
        let end =
            span.to.map_or(if lasts { timeline.end } else { span.from.time }, |moment| moment.time);
        FaultBar {
            id: span.id,
            kind: span.kind,
            nodes: span.nodes.to_vec(),
            from: span.from.time.0,
            to: end.0,
        }
    });
    bars.collect()
}
