use super::entry::Entry;
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;
use fencepost_faults::{FaultKind, Impact, Micros, Node};
use std::collections::BTreeSet;

pub(super) static ENTRY: Entry =
    Entry { between: Some(between), alone: Some(alone), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "The steps of several processes interleaved in an order that breaks the protocol.",
    how: "The protocol uses several commands where it needs one: it checks and then acts, or reads \
          and then writes.",
    helps: "Use one command, one script, or a transaction that watches the keys it read.",
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
    format!(
        "Several processes split the servers among them, released them and retried in step, so \
         none got a majority.{meanwhile}"
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
    if holder == taker {
        return format!("The steps of two acquisitions of {holder} interleaved{needed}.");
    }
    format!("The steps of {holder} and {taker} interleaved{needed}.")
}
