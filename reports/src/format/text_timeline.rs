//! What happened around one violation, a line each, with a lane for each process that took part.
//! Must never know why it happened.

use super::layout::{BOLD, DIM, RED};
use crate::history::{Action, What};
use crate::report::{RunReport, TimelineEntry};
use crate::violation::Violation;
use anstyle::Style;
use fencepost_faults::{Impact, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// How the processes stand.
struct Lanes {
    /// How many sections each is in, for every process with a lane.
    depth: BTreeMap<Node, u32>,
    /// The faults that hold machines still, and which.
    still: BTreeMap<u32, Vec<Node>>,
}

/// Writes the entries of the run's timeline that belong to a violation. Of entries that were all
/// `told` before, only those that convict are written again.
pub(crate) fn write(
    run: &RunReport,
    violation: &Violation,
    told: &mut BTreeSet<u64>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = shown(run, violation);
    if shown.is_empty() {
        return Ok(());
    }
    let anew = shown.iter().any(|entry| !told.contains(&entry.sequence));
    told.extend(shown.iter().map(|entry| entry.sequence));
    let processes = processes(violation);
    writeln!(out)?;
    write_head(&processes, out)?;
    let columns = Columns {
        who: shown.iter().map(|entry| place(entry).len()).max().unwrap_or(0),
        micros: shown.iter().any(|entry| !entry.time_us.0.is_multiple_of(1_000)),
    };
    let convicts: BTreeSet<u64> = violation.witness.iter().map(|event| event.sequence).collect();
    let depth = processes.iter().map(|process| (*process, 0)).collect();
    let mut lanes = Lanes { depth, still: BTreeMap::new() };
    for entry in shown {
        let line = lanes.line(entry);
        let convicts = convicts.contains(&entry.sequence);
        if anew || convicts {
            write_line(entry, &line, convicts, &columns, out)?;
        }
    }
    if !anew {
        return Ok(());
    }
    let legend = "> convicts   ┃ in its critical section   ┊ in it and standing still";
    writeln!(out, "{:18}{DIM}{legend}{DIM:#}", "")
}

/// How the lines are set.
struct Columns {
    /// How wide the place of an event is.
    who: usize,
    /// Whether times need more than milliseconds.
    micros: bool,
}

fn write_line(
    entry: &TimelineEntry,
    lanes: &str,
    convicts: bool,
    columns: &Columns,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lane_style = if lanes.split_whitespace().count() > 1 { RED } else { Style::new() };
    let (mark, style) = if convicts { ('>', BOLD) } else { (' ', DIM) };
    let (seconds, rest) = (entry.time_us.0 / 1_000_000, entry.time_us.0 % 1_000_000);
    let time = match columns.micros {
        true => format!("{seconds}.{rest:06}s"),
        false => format!("{seconds}.{:03}s", rest / 1_000),
    };
    let (place, who) = (place(entry), columns.who);
    let text = &entry.text;
    writeln!(
        out,
        "  {RED}{mark}{RED:#} \
         {time:>12}  {lane_style}{lanes}{lane_style:#}{style}{place:<who$}  {text}{style:#}"
    )
}

fn write_head(processes: &[Node], out: &mut dyn Write) -> io::Result<()> {
    let names: String = processes.iter().map(|process| format!("{process}  ")).collect();
    writeln!(out, "    {DIM}{:>12}  {}{DIM:#}", "time", names.trim_end())
}

/// The processes that get a lane, by number.
fn processes(violation: &Violation) -> Vec<Node> {
    let processes = violation.processes.iter().filter(|node| node.is_process());
    let processes: BTreeSet<Node> = processes.copied().collect();
    processes.into_iter().collect()
}

/// Where it happened; a fault happens nowhere.
fn place(entry: &TimelineEntry) -> String {
    match &entry.what {
        What::FaultBegan { .. } | What::FaultEnded { .. } | What::Healed => "nemesis".to_owned(),
        _ => entry.process.to_string(),
    }
}

fn shown<'r>(run: &'r RunReport, violation: &Violation) -> Vec<&'r TimelineEntry> {
    let witness: BTreeSet<u64> = violation.witness.iter().map(|event| event.sequence).collect();
    let (Some(first), Some(last)) = (witness.first(), witness.last()) else { return Vec::new() };
    let involved = |entry: &TimelineEntry| match entry.what {
        What::Crashed | What::Started => {
            let mut processes = violation.processes.iter();
            !entry.process.is_process()
                || processes.any(|process| process.machine() == entry.process)
        }
        _ => !entry.process.is_process() || violation.processes.contains(&entry.process),
    };
    let belongs = |entry: &&TimelineEntry| {
        let at = entry.sequence;
        let fault = matches!(entry.what, What::FaultBegan { .. } | What::FaultEnded { .. });
        let before = at < *first && fault && acts_on(run, entry, *first);
        let within = *first <= at && at <= *last && (fault || involved(entry));
        witness.contains(&at) || before || within
    };
    run.timeline.iter().filter(belongs).collect()
}

/// Whether the fault that begins with this entry still acts at event number `at`.
fn acts_on(run: &RunReport, entry: &TimelineEntry, at: u64) -> bool {
    let What::FaultBegan { fault, .. } = &entry.what else { return false };
    let mut later = run.timeline.iter().filter(|other| other.sequence > at);
    later
        .any(|other| matches!(&other.what, What::FaultEnded { fault: ended, .. } if ended == fault))
}

impl Lanes {
    /// The lanes of one line, after the entry took effect.
    fn line(&mut self, entry: &TimelineEntry) -> String {
        let edge = self.apply(entry);
        let mut line = String::new();
        for (process, depth) in &self.depth {
            let mark = match &edge {
                Some((edge, whose)) if whose.contains(process) && (*edge == '┏' || *depth == 0) => {
                    *edge
                }
                _ if *depth == 0 => ' ',
                _ if self.still.values().any(|machines| machines.contains(&process.machine())) => {
                    '┊'
                }
                _ => '┃',
            };
            let width = process.to_string().len() + 2;
            line.push_str(&format!("{mark:<width$}"));
        }
        line
    }

    /// Moves the lanes, and says which edge the entry draws, and in whose.
    fn apply(&mut self, entry: &TimelineEntry) -> Option<(char, Vec<Node>)> {
        match &entry.what {
            What::FaultBegan { fault, kind, nodes } if kind.impact() == Impact::Freezes => {
                self.still.insert(*fault, nodes.clone());
                None
            }
            What::FaultEnded { fault, .. } => {
                self.still.remove(fault);
                None
            }
            What::Ok { owner: Some(_), .. } => {
                *self.depth.get_mut(&entry.process)? += 1;
                Some(('┏', vec![entry.process]))
            }
            What::Invoke { action: Action::Release, .. } => {
                self.leave(|one| one == entry.process, |depth| depth - 1)
            }
            What::Lost => self.leave(|one| one == entry.process, |_| 0),
            What::Crashed => self.leave(|one| one.machine() == entry.process, |_| 0),
            _ => None,
        }
    }

    /// Those of these that are in a section leave it.
    fn leave(
        &mut self,
        who: impl Fn(Node) -> bool,
        change: fn(u32) -> u32,
    ) -> Option<(char, Vec<Node>)> {
        let mut left = Vec::new();
        for (process, depth) in
            self.depth.iter_mut().filter(|(process, depth)| **depth > 0 && who(**process))
        {
            *depth = change(*depth);
            left.push(*process);
        }
        (!left.is_empty()).then_some(('┗', left))
    }
}
