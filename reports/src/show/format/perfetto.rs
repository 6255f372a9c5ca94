//! Chrome's JSON trace, which ui.perfetto.dev opens: a process for each run, a thread for each
//! node.
//!
//! The format is that of "Trace Event Format" (Google, 2016): `X` is a span, `i` an instant, `s`
//! and `f` the ends of an arrow, `M` a name.

use super::{Format, Needs, plan_text};
use crate::show::picture::{Scene, Span};
use crate::summary::report::{Report, RunReport};
use crate::summary::sweep::Sweep;
use fencepost_faults::Node;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Chrome's JSON trace.
pub(super) struct Perfetto;

impl Format for Perfetto {
    fn name(&self) -> &'static str {
        "perfetto"
    }

    fn about(&self) -> &'static str {
        "Chrome's JSON trace: open it at ui.perfetto.dev"
    }

    fn needs(&self) -> Needs {
        Needs::Wire
    }

    fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut events = Vec::new();
        for (run, process) in report.runs.iter().zip(1..) {
            add(run, process, &mut events);
        }
        write(events, out)
    }

    /// A sweep has no times: each cell is a counter.
    fn tells_of_sweeps(&self) -> bool {
        false
    }

    fn write_sweep(&self, _: &Sweep, _: &mut dyn Write) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn write(events: Vec<Value>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &json!({ "displayTimeUnit": "ms", "traceEvents": events }))?;
    writeln!(out)
}

fn add(run: &RunReport, process: u32, events: &mut Vec<Value>) {
    let name = format!("{} under {}: {}", run.client, run.fault, run.verdict.name());
    events.push(json!({ "ph": "M", "pid": process, "tid": 0, "name": "process_name", "args": { "name": name } }));
    let Some(scene) = Scene::new(run) else { return };
    let thread = |node: Node| {
        scene.lanes.iter().position(|lane| lane.node == node).map_or(0, |place| place + 1)
    };
    for lane in &scene.lanes {
        let thread = thread(lane.node);
        let name = lane.node.to_string();
        events
            .push(json!({ "ph": "M", "pid": process, "tid": thread, "name": "thread_name", "args": { "name": name } }));
        events.push(json!({ "ph": "M", "pid": process, "tid": thread, "name": "thread_sort_index", "args": { "sort_index": thread } }));
    }
    let mut span = |node: Node, (from, to): (u64, u64), name: String, category: &str| {
        events.push(json!({ "ph": "X", "pid": process, "tid": thread(node), "ts": from, "dur": to - from, "name": name, "cat": category }));
    };
    for held in scene.overlaps() {
        let names: Vec<String> = held.who.iter().map(Node::to_string).collect();
        span(held.who[0], (held.from, held.to), format!("BOTH {}", names.join(" + ")), "overlap");
    }
    let owner = |one: &Span| one.owner.map_or("somebody".to_owned(), |owner| owner.to_string());
    for one in &scene.believed {
        span(one.node, (one.from, one.to), "believes it holds".to_owned(), "believed");
    }
    for one in &scene.keys {
        span(one.node, (one.from, one.to), format!("lock of {}", owner(one)), "server");
    }
    for fault in &scene.faults {
        let planned = run.plan.faults.iter().find(|timed| timed.id == fault.id);
        let words = planned.map_or(fault.kind.to_string(), |timed| plan_text::fault(&timed.fault));
        let hit = scene.lanes.iter().map(|lane| lane.node).filter(|node| *node != node.machine());
        let hit = hit.filter(|thread| fault.nodes.contains(&thread.machine()));
        for node in fault.nodes.iter().copied().chain(hit) {
            span(node, (fault.from, fault.to), format!("fault {}: {words}", fault.id), "fault");
        }
    }
    for mark in &scene.marks {
        events.push(
            json!({ "ph": "i", "s": "t", "pid": process, "tid": thread(mark.node), "ts": mark.at, "name": mark.text,
            "cat": if mark.is_witness { "witness" } else { "event" }, "args": { "sequence": mark.sequence } }),
        );
    }
    for (message, number) in scene.messages.iter().zip(1_u64..) {
        let id = u64::from(process) << 32 | number;
        let (from, to) = (thread(message.from), thread(message.to));
        let Some(arrived) = message.arrived_us else {
            let name = format!("lost: {}", message.label);
            events.push(json!({ "ph": "i", "s": "t", "pid": process, "tid": from, "ts": message.sent_us.0, "name": name, "cat": "message" }));
            continue;
        };
        events.push(json!({ "ph": "s", "id": id, "pid": process, "tid": from, "ts": message.sent_us.0, "name": message.label, "cat": "message" }));
        events.push(json!({ "ph": "f", "bp": "e", "id": id, "pid": process, "tid": to, "ts": arrived.0, "name": message.label, "cat": "message" }));
    }
}
