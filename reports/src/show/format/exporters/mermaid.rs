use crate::record::history::{Action, What};
use crate::show::format::{Format, Needs, Page, Sweeps};
use crate::show::view::View;
use crate::summary::report::{Report, RunReport, TimelineEntry};
use crate::summary::sweep::Sweep;
use fencepost_faults::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

pub(crate) const FORMAT: Format = Format {
    about: "a Mermaid sequence diagram of the first violated run; for a sweep, a pie chart of the \
            verdicts",
    needs: Needs::Findings,
    runs: View::written("mermaid", write_report),
    sweeps: Some(Sweeps { view: SWEEPS, has_baselines: false }),
};

const SWEEPS: View<Sweep> = View::written("mermaid", write_sweep);

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let shown = report.runs.iter().find(|run| !run.violations.is_empty()).or(report.runs.first());
    writeln!(out, "sequenceDiagram")?;
    let Some(run) = shown else { return Ok(()) };
    writeln!(
        out,
        "  %% {} under {}, seed {}: {}",
        plain(&run.client),
        plain(&run.fault),
        report.seed,
        run.verdict.name()
    )?;
    let nodes: BTreeSet<Node> = run.timeline.iter().flat_map(nodes).collect();
    if nodes.is_empty() {
        writeln!(out, "  participant all as {}", plain(&run.client))?;
        return writeln!(out, "  Note over all: {}", run.verdict.name());
    }
    for node in nodes {
        let word = if node.is_process() { "actor" } else { "participant" };
        writeln!(out, "  {word} {} as {node}", id(node))?;
    }
    write_entries(run, out)
}

fn write_sweep(_: Page, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    let total =
        |count: fn(&crate::summary::sweep::Cell) -> u64| sweep.cells.iter().map(count).sum::<u64>();
    writeln!(out, "pie showData\n  title Runs of seeds {}", sweep.seeds)?;
    writeln!(out, "  \"valid\" : {}", total(|cell| cell.valid))?;
    writeln!(out, "  \"violated\" : {}", total(|cell| cell.violated))?;
    writeln!(out, "  \"unknown\" : {}", total(|cell| cell.unknown))
}

fn write_entries(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    // Count activations, because Mermaid rejects diagrams that deactivate an inactive participant.
    let mut depth: BTreeMap<Node, u32> = BTreeMap::new();
    for entry in &run.timeline {
        let (here, text) = (id(entry.process), plain(&entry.text));
        let mark = if entry.witness { "★ " } else { "" };
        let at = entry.time_us;
        match &entry.what {
            What::Server { by: Some(by), .. } | What::Storage { by, .. } => {
                writeln!(out, "  {here}->>{}: {mark}{at} {text}", id(*by))?;
            }
            What::Ok { owner: Some(_), .. } => {
                *depth.entry(entry.process).or_default() += 1;
                writeln!(out, "  activate {here}\n  Note over {here}: {mark}{at} {text}")?;
            }
            What::Invoke { action: Action::Release, .. } | What::Lost | What::Crashed => {
                writeln!(out, "  Note over {here}: {mark}{at} {text}")?;
                let open = depth.entry(entry.process).or_default();
                let ended =
                    if matches!(entry.what, What::Invoke { .. }) { (*open).min(1) } else { *open };
                *open -= ended;
                for _ in 0..ended {
                    writeln!(out, "  deactivate {here}")?;
                }
            }
            What::FaultBegan { nodes, .. } if nodes.len() > 1 => {
                let ends = (nodes.iter().min(), nodes.iter().max());
                let (Some(first), Some(last)) = ends else { continue };
                writeln!(out, "  Note over {},{}: {mark}{at} ⚡ {text}", id(*first), id(*last))?;
            }
            What::FaultBegan { .. } | What::FaultEnded { .. } => {
                writeln!(out, "  Note over {here}: {mark}{at} ⚡ {text}")?;
            }
            _ => writeln!(out, "  Note over {here}: {mark}{at} {text}")?,
        }
    }
    Ok(())
}

fn nodes(entry: &TimelineEntry) -> Vec<Node> {
    let mut nodes = vec![entry.process];
    match &entry.what {
        What::Server { by: Some(by), .. } | What::Storage { by, .. } => nodes.push(*by),
        What::FaultBegan { nodes: named, .. } => nodes.extend(named),
        _ => {}
    }
    nodes
}

fn id(node: Node) -> String {
    node.to_string().replace('-', "").replace('.', "thread")
}

/// Replaces characters that would end a statement or begin an entity, a directive or markup.
fn plain(text: &str) -> String {
    let text = text.replace([';', '\n', '#'], ",").replace("%%", "% %");
    text.replace('<', "#lt;").replace('>', "#gt;")
}
