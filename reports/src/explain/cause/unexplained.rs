use super::entry::Entry;
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::timeline::{FaultSpan, Timeline};
use crate::record::listed::listed;
use fencepost_faults::{Node, SimTime};

pub(super) static ENTRY: Entry = Entry {
    how: "fencepost has rules for the other causes and never guesses. It does not see the locks of \
          your own servers (--server).",
    helps: "Check the evidence with --verbose or in the page. With your own servers, shrink the \
            report: the faults that remain are necessary. Otherwise a rule is missing, so please \
            report the seed.",
    between: Some(between),
    alone: Some(alone),
    ..Entry::PLAIN
};

const UNSEEN: &str = "fencepost does not see the locks of this server, so it does not know when \
                      one ended.";
const FAULTS_MAX: usize = 3;

fn between(scene: &Scene<'_, '_>) -> String {
    let timeline = scene.timeline;
    if !timeline.history.header.locks_unseen {
        return String::new();
    }
    let (holder, taker) = (scene.holder, scene.taker);
    let entered = holder.completed.unwrap_or(holder.invoked).time;
    let until = taker.completed.map_or(scene.at, |completed| completed.time);
    let told = faults(timeline, &scene.both(), (entered, until));
    let (after, lease) = (until.since(entered), timeline.history.header.ttl_us);
    let (holder, taker) = (holder.process, taker.process);
    let entered = format!(
        "{taker} entered its critical section {after} after {holder} had; programs are told to \
         use a lease of {lease}."
    );
    match told.is_empty() {
        true => format!("{UNSEEN} {entered} No fault affected them or a server meanwhile."),
        false => format!("{UNSEEN} {entered} Faults meanwhile: {told}."),
    }
}

fn alone(case: &Case<'_, '_>) -> String {
    let (timeline, finding) = (case.timeline, case.finding);
    if !timeline.history.header.locks_unseen {
        return String::new();
    }
    let until = finding.at + finding.duration;
    let told = faults(timeline, &finding.processes, (SimTime::ZERO, until));
    match told.is_empty() {
        true => format!("{UNSEEN} No fault affected these processes or a server before."),
        false => format!("{UNSEEN} The last faults before the end of that time: {told}."),
    }
}

fn faults(
    timeline: &Timeline<'_>,
    processes: &[Node],
    (from, until): (SimTime, SimTime),
) -> String {
    let concerns = |node: &Node| {
        node.is_server() || processes.iter().any(|process| process.machine() == *node)
    };
    let acted = timeline
        .faults
        .iter()
        .rev()
        .filter(|fault| fault.touches(from, until) && fault.nodes.iter().any(concerns));
    let mut told: Vec<String> = acted.take(FAULTS_MAX).map(|fault| described(fault)).collect();
    told.reverse();
    told.join("; ")
}

fn described(fault: &FaultSpan<'_>) -> String {
    let (kind, nodes, from) = (fault.kind, listed(fault.nodes, "and"), fault.from.time);
    match fault.to.map(|to| to.time).filter(|to| *to > from) {
        Some(to) => format!("{kind} of {nodes} from {from} to {to}"),
        None => format!("{kind} of {nodes} at {from}"),
    }
}
