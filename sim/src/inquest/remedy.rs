//! Whether a safeguard would have prevented a violation. Must never know how the safeguard works.
//!
//! A safeguard also shifts what happens when, and a plan that is tuned to the millisecond misses
//! its moment then: that the violation is gone proves little by itself. So it is held to *prevent*
//! the violation only if
//!
//! 1. the same plan does not break the rule with it, for whatever cause;
//! 2. with all faults moved by some seconds if need be, every fault that acted still acts, and when
//!    the first one begins, the processes are where they were without the safeguard (as many locks
//!    taken, in or out of their critical sections), and the rule is kept;
//! 3. none of the plans nearby (all faults up to a second earlier or later, as hard as they are or
//!    a tenth harder) breaks the rule with it.
//!
//! If 1 fails, the safeguard does not help; if 2 or 3 fails, it only changes the schedule. Plans
//! nearby prove that much and no more: a fault four times as long is still a match for a lease four
//! times as long.

use super::minimal::with_plan;
use super::safeguard::{SAFEGUARDS, Safeguard};
use super::target::{Target, breaks, history as run};
use super::variation::{moved, near};
use crate::run::RunSpec;
use fencepost_faults::Node;
use fencepost_reports::report::{Effect, Remedy};
use fencepost_reports::{Action, History, Kind, What, judge};
use std::collections::BTreeSet;

/// Every safeguard that can be switched on, and what it does to the violation. `history` is that of
/// the spec.
pub fn remedies(spec: &RunSpec, target: Target, history: &History) -> Vec<Remedy> {
    let remedy = |safeguard: &Safeguard| {
        let effect = effect(spec, target.kind, safeguard, history)?;
        let (name, prevents) = (safeguard.name.to_owned(), effect == Effect::Prevents);
        Some(Remedy { name, prevents, effect: Some(effect) })
    };
    SAFEGUARDS.iter().filter_map(remedy).collect()
}

/// `None` if the safeguard cannot be switched on in this run, or the run cannot be made with it.
fn effect(spec: &RunSpec, kind: Kind, safeguard: &Safeguard, history: &History) -> Option<Effect> {
    let guarded = (safeguard.with)(spec)?;
    guarded.validate().ok()?;
    match safeguard.without {
        None => Some(compare(&guarded, kind, history)),
        Some(without) => {
            // Another lock asks its servers other things, so the same plan may miss. A plan nearby
            // that breaks the rule with that lock, but without the safeguard, is what the safeguard
            // has to prevent.
            let bare = without(&guarded);
            let broken = |spec: &RunSpec| run(spec).filter(|history| breaks(history, kind));
            let mut plans = std::iter::once(guarded.plan.clone())
                .chain(near(&guarded.plan))
                .chain(moved(&guarded.plan));
            let found = plans.find_map(|plan| Some((broken(&with_plan(&bare, &plan))?, plan)));
            match found {
                None => Some(Effect::ChangesTheSchedule),
                Some((history, plan)) => Some(compare(&with_plan(&guarded, &plan), kind, &history)),
            }
        }
    }
}

/// The three conditions above, for a run with the safeguard and the history of the run without it.
fn compare(guarded: &RunSpec, kind: Kind, without: &History) -> Effect {
    let Some(with) = run(guarded) else { return Effect::ChangesTheSchedule };
    if breaks(&with, kind) {
        return Effect::DoesNot;
    }
    let processes: BTreeSet<Node> = judge(without)
        .violations
        .into_iter()
        .filter(|one| one.kind == kind)
        .flat_map(|one| one.processes)
        .collect();
    let (acted, met) = (fired(without), scene(without, &processes));
    let alike = |with: &History| {
        !breaks(with, kind) && fired(with) == acted && scene(with, &processes) == met
    };
    let moved_alike = || {
        moved(&guarded.plan)
            .any(|plan| run(&with_plan(guarded, &plan)).is_some_and(|with| alike(&with)))
    };
    let same = alike(&with) || moved_alike();
    let comes_back = || {
        near(&guarded.plan)
            .any(|plan| run(&with_plan(guarded, &plan)).is_some_and(|h| breaks(&h, kind)))
    };
    if same && !comes_back() { Effect::Prevents } else { Effect::ChangesTheSchedule }
}

/// The faults that acted.
fn fired(history: &History) -> BTreeSet<u32> {
    let began = history.events.iter().filter_map(|event| match event.what {
        What::FaultBegan { fault, .. } => Some(fault),
        _ => None,
    });
    began.collect()
}

/// Where each process is when the first fault begins: how many locks it has taken, and how many it
/// has given back.
fn scene(history: &History, processes: &BTreeSet<Node>) -> Vec<(Node, usize, usize)> {
    let before =
        || history.events.iter().take_while(|event| !matches!(event.what, What::FaultBegan { .. }));
    let count = |node: Node, wanted: fn(&What) -> bool| {
        before().filter(|event| event.node == node && wanted(&event.what)).count()
    };
    let place = |node: &Node| {
        let taken = count(*node, |what| matches!(what, What::Ok { owner: Some(_), .. }));
        let given_back =
            count(*node, |what| matches!(what, What::Invoke { action: Action::Release, .. }));
        (*node, taken, given_back)
    };
    match fired(history).is_empty() {
        // Without faults there is no moment to compare.
        true => Vec::new(),
        false => processes.iter().map(place).collect(),
    }
}
