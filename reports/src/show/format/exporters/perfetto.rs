//! Writes a trace in Chrome's JSON format ("Trace Event Format", Google 2016), for ui.perfetto.dev.
//! The phase `X` is a span, `i` an instant, `s` and `f` the ends of an arrow, and `M` metadata.

mod tracks;

use crate::show::format::text::plan_text;
use crate::show::format::{Format, Needs, Page};
use crate::show::picture::Scene;
use crate::show::view::View;
use crate::summary::report::{Report, RunReport};
use fencepost_faults::Node;
use serde_json::{Value, json};
use std::io::{self, Write};
use tracks::{Arrow, End, Slice, Topic, Tracks};

pub(crate) const FORMAT: Format = Format {
    about: "Chrome's JSON trace: open it at ui.perfetto.dev",
    needs: Needs::Wire,
    runs: View::written("perfetto", write_report),
    sweeps: None,
};

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut events = Vec::new();
    for (run, process) in report.runs.iter().zip(1..) {
        add(run, process, &mut events);
    }
    write(events, out)
}

fn write(events: Vec<Value>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &json!({ "displayTimeUnit": "ms", "traceEvents": events }))?;
    writeln!(out)
}

fn add(run: &RunReport, process: u32, events: &mut Vec<Value>) {
    let name = format!("{} under {}: {}", run.client, run.fault, run.verdict.name());
    let mut named = |track: usize, what: &str, args: Value| {
        events.push(json!({
            "ph": "M", "pid": process, "tid": track, "name": what, "args": args,
        }));
    };
    named(0, "process_name", json!({ "name": name }));
    let Some(scene) = Scene::new(run) else { return };
    let nodes: Vec<Node> = scene.lanes.iter().map(|lane| lane.node).collect();
    let mut slices = slices(run, &scene);
    let tracks = Tracks::of(&nodes, &mut slices);
    for (track, name) in tracks.names() {
        named(track, "thread_name", json!({ "name": name }));
        named(track, "thread_sort_index", json!({ "sort_index": track }));
    }
    for (slice, track) in slices.iter().zip(tracks.of_slices()) {
        let (from, to, name) = (slice.from, slice.to, &slice.name);
        let category = slice.topic.category();
        events.push(json!({
            "ph": "X", "pid": process, "tid": track, "ts": from, "dur": to - from,
            "name": name, "cat": category,
        }));
        if let Some(arrow) = &slice.arrow {
            let id = u64::from(process) << 32 | arrow.number;
            events.push(match arrow.end {
                End::Tail => json!({
                    "ph": "s", "id": id, "pid": process, "tid": track, "ts": from,
                    "name": name, "cat": category,
                }),
                End::Head => json!({
                    "ph": "f", "bp": "e", "id": id, "pid": process, "tid": track, "ts": from,
                    "name": name, "cat": category,
                }),
            });
        }
    }
    for mark in &scene.marks {
        events.push(json!({
            "ph": "i", "s": "t", "pid": process, "tid": tracks.main(mark.node), "ts": mark.at,
            "name": mark.text, "cat": if mark.is_witness { "witness" } else { "event" },
            "args": { "sequence": mark.sequence },
        }));
    }
}

/// Returns the spans of a run. A message has a short span at each end, joined by an arrow; a
/// message that did not arrive has only the first span.
fn slices(run: &RunReport, scene: &Scene) -> Vec<Slice> {
    let mut slices = Vec::new();
    let mut add = |topic, node, (from, to), name: String| {
        slices.push(Slice { node, topic, from, to, name, arrow: None });
    };
    for held in scene.overlaps() {
        let names: Vec<String> = held.who.iter().map(Node::to_string).collect();
        let both = format!("BOTH {}", names.join(" + "));
        add(Topic::Overlap, held.who[0], (held.from, held.to), both);
    }
    for one in &scene.believed {
        add(Topic::Believed, one.node, (one.from, one.to), "believes it holds".to_owned());
    }
    for one in &scene.keys {
        let owner = one.owner.map_or("somebody".to_owned(), |owner| owner.to_string());
        add(Topic::Lock, one.node, (one.from, one.to), format!("lock of {owner}"));
    }
    for fault in &scene.faults {
        let planned = run.plan.faults.iter().find(|timed| timed.id == fault.id);
        let words = planned.map_or(fault.kind.to_string(), |timed| plan_text::fault(&timed.fault));
        let hit = scene.lanes.iter().map(|lane| lane.node).filter(|node| *node != node.machine());
        let hit = hit.filter(|thread| fault.nodes.contains(&thread.machine()));
        for node in fault.nodes.iter().copied().chain(hit) {
            let name = format!("fault {}: {words}", fault.id);
            add(Topic::Fault, node, (fault.from, fault.to), name);
        }
    }
    let mut end_of = |node, at: u64, name: String, arrow| {
        slices.push(Slice { node, topic: Topic::Message, from: at, to: at + 1, name, arrow });
    };
    for (message, number) in scene.messages.iter().zip(1_u64..) {
        let label = message.label.clone();
        let Some(arrived) = message.arrived_us else {
            end_of(message.from, message.sent_us.0, format!("lost: {label}"), None);
            continue;
        };
        let tail = Some(Arrow { number, end: End::Tail });
        end_of(message.from, message.sent_us.0, label.clone(), tail);
        end_of(message.to, arrived.0, label, Some(Arrow { number, end: End::Head }));
    }
    slices
}
