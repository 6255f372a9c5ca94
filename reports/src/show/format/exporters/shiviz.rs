//! Writes the history as a log for ShiViz. The second line of each event contains the vector clock.
//! ShiViz parses the log with its default expression, `(?<event>.*)\n(?<host>\S*) (?<clock>{.*})`.

use crate::explain::narrate;
use crate::record::history::{History, What};
use crate::show::format::{Format, Needs, Page};
use crate::show::view::View;
use crate::summary::report::Report;
use fencepost_faults::Node;
use std::collections::BTreeMap;
use std::io::{self, Write};

type Clock = BTreeMap<Node, u64>;

pub(crate) const FORMAT: Format = Format {
    about: "a log of the first violated run with vector clocks, for ShiViz",
    needs: Needs::History,
    runs: View::written("shiviz", write_report),
    sweeps: None,
};

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let shown = report.runs.iter().find(|run| !run.violations.is_empty()).or(report.runs.first());
    match shown.and_then(|run| run.history.as_ref()) {
        Some(history) => write_history(history, out),
        None => Ok(()),
    }
}

fn write_history(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut clocks: BTreeMap<Node, Clock> = BTreeMap::new();
    let mut done_for: BTreeMap<Node, Clock> = BTreeMap::new();
    for event in &history.events {
        let mut clock = clocks.remove(&event.node).unwrap_or_default();
        let asked_by = match &event.what {
            What::Server { by: Some(by), .. } | What::Storage { by, .. } => Some(*by),
            _ => None,
        };
        if let Some(by) = asked_by {
            join(&mut clock, clocks.get(&by));
        }
        if matches!(event.what, What::Ok { .. }) {
            join(&mut clock, done_for.get(&event.node));
        }
        if matches!(event.what, What::Invoke { .. }) {
            done_for.remove(&event.node);
        }
        let threads: Vec<Node> = match event.what {
            What::Crashed | What::Started => threads_of(event.node, &clocks),
            _ => Vec::new(),
        };
        // A crash or restart follows all earlier events of the threads, so join their clocks.
        threads.iter().for_each(|thread| join(&mut clock, clocks.get(thread)));
        *clock.entry(event.node).or_default() += 1;
        for thread in threads {
            join(clocks.entry(thread).or_default(), Some(&clock));
        }
        if let Some(by) = asked_by {
            join(done_for.entry(by).or_default(), Some(&clock));
        }
        let json = serde_json::to_string(
            &clock
                .iter()
                .map(|(node, ticks)| (node.to_string(), *ticks))
                .collect::<BTreeMap<_, _>>(),
        )?;
        writeln!(
            out,
            "{} {}\n{} {json}",
            event.time_us,
            narrate::text(history, event),
            event.node
        )?;
        clocks.insert(event.node, clock);
    }
    Ok(())
}

fn threads_of(machine: Node, clocks: &BTreeMap<Node, Clock>) -> Vec<Node> {
    clocks.keys().filter(|node| node.machine() == machine && **node != machine).copied().collect()
}

fn join(clock: &mut Clock, other: Option<&Clock>) {
    for (node, ticks) in other.into_iter().flatten() {
        let own = clock.entry(*node).or_default();
        *own = (*own).max(*ticks);
    }
}
