use super::entry::{Entry, Need};
use crate::explain::evidence::Case;
use crate::explain::evidence::standstill::wrong_clock;
use crate::explain::scene::{Scene, names};
use crate::judge::timeline::FaultSpan;
use fencepost_faults::{FaultKind, Impact, Node};

pub(super) static ENTRY: Entry = Entry {
    how: "The lock is a row that contains a time. The holder writes that time by its own clock, \
          and every other process compares that time with its own clock. A process with a fast \
          clock finds the row expired too early; a row written by a slow clock expires too early. \
          A row released by a fast clock looks locked to the others until their clocks reach its \
          time.",
    helps: "Let the database write and compare the time. In ShedLock, use usingDbTime(). A ttl \
            that is long compared with the clock error makes the violation rarer.",
    needs: &[Need::Impact(Impact::BendsClock)],
    between: Some(between),
    alone: Some(alone),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let gone = scene.gone().map(|(gone, _)| gone);
    let replacer = gone.and_then(|gone| scene.timeline.replacer(gone));
    let replacer = replacer.unwrap_or(scene.taker.process);
    format!(
        "{}Processes compare the time in the row with their own clocks, so {replacer} took the \
         lock of {} before its ttl of {} had passed.",
        last_skew(scene, [scene.holder.process, replacer].map(Node::machine)),
        scene.holder.process,
        scene.ttl()
    )
}

fn alone(case: &Case<'_, '_>) -> String {
    let Some(fault) = wrong_clock(case.timeline, case.finding) else {
        return String::new();
    };
    format!(
        "The clock of {} was wrong from {} on (fault {}), and processes compare the time in the \
         row with their own clocks.",
        names(fault.nodes),
        fault.from.time,
        fault.id
    )
}

fn last_skew(scene: &Scene<'_, '_>, both: [Node; 2]) -> String {
    let is_skew = |fault: &&FaultSpan<'_>| {
        matches!(fault.kind, FaultKind::ClockJump | FaultKind::ClockDrift)
            && fault.from.time <= scene.at
            && fault.nodes.iter().any(|node| both.contains(node))
    };
    scene.timeline.faults.iter().rev().find(is_skew).map_or(String::new(), |fault| {
        let hit: Vec<Node> =
            fault.nodes.iter().copied().filter(|node| both.contains(node)).collect();
        let verb = match fault.kind {
            FaultKind::ClockJump => "was stepped at",
            _ => "ran at the wrong rate from",
        };
        let (hit, from, id) = (names(&hit), fault.from.time, fault.id);
        format!("The clock of {hit} {verb} {from} (fault {id}). ")
    })
}
