use super::entry::Entry;
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::timeline::KeyEnd;
use crate::record::history::SlowAnswers;
use fencepost_faults::{FaultKind, Impact, Micros, Node};
use std::collections::BTreeSet;

pub(super) static ENTRY: Entry = Entry {
    how: "The protocol uses several commands where it needs one: it checks and then acts, or reads \
          and then writes. Or its command overwrites a lock that another process has, such as SET \
          without NX.",
    helps: "Use one command, one script, or a transaction that watches the keys it read. The \
            command must set the lock only if no lock is set.",
    between: Some(between),
    alone: Some(alone),
    ..Entry::PLAIN
};

fn alone(case: &Case<'_, '_>) -> String {
    let (from, until) = (case.finding.at, case.finding.at + case.finding.duration);
    let faults = case.timeline.faults.iter().filter(|fault| {
        let takes_away = matches!(fault.kind.impact(), Impact::Kills | Impact::Freezes);
        let is_cut = fault.kind == FaultKind::Partition;
        (takes_away || is_cut) && fault.within(from, until) > Micros::ZERO
    });
    let away: BTreeSet<String> = faults
        .flat_map(|fault| fault.nodes)
        .filter(|node| node.is_server())
        .map(Node::to_string)
        .collect();
    let meanwhile = match away.len() {
        0 => String::new(),
        1 => format!(" Meanwhile {} was unreachable for some time.", words(&away)),
        _ => format!(" Meanwhile {} were not all reachable for some time.", words(&away)),
    };
    let slow = case.timeline.history.header.slow_answers.map(slow).unwrap_or_default();
    format!(
        "Several processes split the servers among them, released them and retried in step, so \
         none got a majority.{meanwhile}{slow}"
    )
}

fn slow(answers: SlowAnswers) -> String {
    format!(
        " In this run, an answer can take {}, but a process waits only {} for it.",
        answers.round_trip_us, answers.waits_us
    )
}

fn words(names: &BTreeSet<String>) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.join(", ")
}

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let replacer = scene.gone().and_then(|(gone, _)| scene.timeline.replacer(gone));
    let taker = replacer.unwrap_or(taker);
    let needed = match scene.timeline.faults.iter().any(|fault| fault.from.time <= scene.at) {
        true => "",
        false => "; no fault was needed",
    };
    if let Some(server) = overwritten_at(scene, taker) {
        return format!(
            "{taker} asked for the lock after {holder} had acquired it. {server} granted it to \
             {taker} although {server} still had the lock of {holder}{needed}."
        );
    }
    if holder == taker {
        return format!("The steps of two acquisitions of {holder} interleaved{needed}.");
    }
    format!("The steps of {holder} and {taker} interleaved{needed}.")
}

/// Returns the server at which the taker overwrote the holder's lock, if the taker's acquire began
/// after the holder's acquire had ended, so that their steps did not interleave.
fn overwritten_at(scene: &Scene<'_, '_>, replacer: Node) -> Option<Node> {
    let (holder, taker) = (scene.holder, scene.taker);
    let (gone, how) = scene.gone()?;
    let is_later = holder.completed.is_some_and(|completed| completed < taker.invoked);
    let is_taken = taker.grant.as_ref().is_some_and(|grant| grant.moment == gone);
    let overwrites = is_later && is_taken && how == KeyEnd::Replaced && replacer == taker.process;
    overwrites.then(|| scene.timeline.history.events[gone.index].node)
}
