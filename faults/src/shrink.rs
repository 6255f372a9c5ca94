//! Minimizes a violating plan: removes faults and nodes, reduces magnitudes and rounds start times.

mod ddmin;
mod magnitude;
mod oracle;

use crate::fault::Fault;
use crate::plan::{FaultPlan, TimedFault};
use crate::time::SimTime;
use magnitude::node_lists;
use oracle::Oracle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use magnitude::{Magnitude, magnitudes, with_magnitude};

const GRAINS_US: [u64; 4] = [1_000_000, 100_000, 10_000, 1_000];

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShrunkPlan {
    /// The minimized plan. `violates` is `true` for it, although a smaller plan may exist.
    pub plan: FaultPlan,
    /// The thresholds of the plan's magnitudes, in plan order; empty after [`fewest_faults`].
    pub boundaries: Vec<Boundary>,
    pub calls: u32,
    /// `false` if the search reached the limit on calls before the plan was minimal.
    pub complete: bool,
}

/// Threshold of a fault's magnitude for the violation, in microseconds or parts per million.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Boundary {
    /// `id` of the fault in the plan.
    pub fault: u32,
    /// Field of the fault whose threshold this is. The name contains the unit.
    pub magnitude: Magnitude,
    /// Value at which the violation still happens.
    pub enough: i64,
    /// Value one step closer to zero that did not cause a violation; `null` if none was tried.
    pub not_enough: Option<i64>,
}

/// Minimizes a plan for which `violates` returns `true`, with at most `calls_max` calls. Returns
/// `None` if no call returns `true` for the plan itself.
///
/// Faults keep their ids and kinds, gain no nodes or magnitude, and move by less than a second.
/// `violates` must depend on the plan alone, but need not be monotone.
pub fn shrink(
    plan: &FaultPlan,
    calls_max: u32,
    violates: impl FnMut(&FaultPlan) -> bool,
) -> Option<ShrunkPlan> {
    let mut oracle = Oracle::new(calls_max, violates);
    if !oracle.violates(plan) {
        return None;
    }
    let mut best = plan.clone();
    let mut first_round = true;
    loop {
        let before = best.clone();
        best = leave_out_faults(best, &mut oracle);
        best = leave_out_nodes(best, &mut oracle);
        best = lessen_magnitudes(best, first_round, &mut oracle);
        best = round_starts(best, &mut oracle);
        first_round = false;
        if best == before || oracle.refused() {
            break;
        }
    }
    let boundaries = boundaries(&best, &oracle);
    Some(ShrunkPlan { plan: best, boundaries, calls: oracle.calls(), complete: !oracle.refused() })
}

/// Like [`shrink`], but only removes whole faults.
pub fn fewest_faults(
    plan: &FaultPlan,
    calls_max: u32,
    violates: impl FnMut(&FaultPlan) -> bool,
) -> Option<ShrunkPlan> {
    let mut oracle = Oracle::new(calls_max, violates);
    if !oracle.violates(plan) {
        return None;
    }
    let plan = leave_out_faults(plan.clone(), &mut oracle);
    Some(ShrunkPlan {
        plan,
        boundaries: Vec::new(),
        calls: oracle.calls(),
        complete: !oracle.refused(),
    })
}

fn leave_out_faults<F: FnMut(&FaultPlan) -> bool>(
    plan: FaultPlan,
    oracle: &mut Oracle<F>,
) -> FaultPlan {
    let faults =
        ddmin::ddmin(plan.faults, |faults| oracle.violates(&FaultPlan::new(faults.to_vec())));
    FaultPlan::new(faults)
}

fn leave_out_nodes<F: FnMut(&FaultPlan) -> bool>(
    mut best: FaultPlan,
    oracle: &mut Oracle<F>,
) -> FaultPlan {
    for index in 0..best.faults.len() {
        for list in 0..node_lists(&mut best.faults[index].fault).len() {
            let nodes = node_lists(&mut best.faults[index].fault)[list].clone();
            for node in nodes {
                let mut fewer = best.clone();
                let left = &mut node_lists(&mut fewer.faults[index].fault)[list];
                left.retain(|other| *other != node);
                if !left.is_empty() && oracle.violates(&fewer) {
                    best = fewer;
                }
            }
        }
    }
    best
}

fn lessen_magnitudes<F: FnMut(&FaultPlan) -> bool>(
    mut best: FaultPlan,
    first_round: bool,
    oracle: &mut Oracle<F>,
) -> FaultPlan {
    for index in 0..best.faults.len() {
        for (magnitude, _) in magnitudes(&best.faults[index].fault) {
            let value = value_of(&best.faults[index].fault, magnitude);
            let least = least(value, magnitude.step(), first_round, |less| {
                oracle.violates(&with_fault(
                    &best,
                    index,
                    with_magnitude(&best.faults[index].fault, magnitude, less),
                ))
            });
            let fault = with_magnitude(&best.faults[index].fault, magnitude, least);
            best = with_fault(&best, index, fault);
        }
    }
    best
}

/// Returns a value for which `holds` is true and, unless the value is less than a `step`, false one
/// `step` closer to zero. Prefers multiples of `step`. If not `thorough`, stops if one step fails.
fn least(value: i64, step: u64, thorough: bool, mut holds: impl FnMut(i64) -> bool) -> i64 {
    let sign = value.signum();
    let signed = |size: u64| sign * i64::try_from(size).unwrap_or(i64::MAX);
    let mut size = value.unsigned_abs();
    let whole = size - size % step;
    if whole != size && holds(signed(whole)) {
        size = whole;
    }
    let steps_max = size / step;
    if steps_max == 0 || !thorough && !holds(signed(size - step)) {
        return signed(size);
    }
    if holds(signed(size - steps_max * step)) {
        return signed(size - steps_max * step);
    }
    // Invariant: `holds` is true for `size - enough * step` and false for `size - too_many * step`.
    let (mut enough, mut too_many) = (0, steps_max);
    while too_many - enough > 1 {
        let middle = enough + (too_many - enough) / 2;
        if holds(signed(size - middle * step)) {
            enough = middle;
        } else {
            too_many = middle;
        }
    }
    signed(size - enough * step)
}

fn round_starts<F: FnMut(&FaultPlan) -> bool>(
    best: FaultPlan,
    oracle: &mut Oracle<F>,
) -> FaultPlan {
    let ids: Vec<u32> = best.faults.iter().map(|timed| timed.id).collect();
    ids.into_iter().fold(best, |best, id| {
        let Some(at) = best.faults.iter().find(|timed| timed.id == id).map(|timed| timed.at_us)
        else {
            return best;
        };
        let rounded = rounder(at).map(|rounded| with_start(&best, id, rounded)).find(|candidate| {
            // Rounding a start time could make two faults collide.
            candidate.collision().is_none() && oracle.violates(candidate)
        });
        rounded.unwrap_or(best)
    })
}

fn rounder(at: SimTime) -> impl Iterator<Item = SimTime> {
    let at = at.as_micros();
    GRAINS_US.into_iter().take_while(move |grain| !at.is_multiple_of(*grain)).flat_map(
        move |grain| {
            let (down, up) = (at - at % grain, at - at % grain + grain);
            if at - down <= up - at {
                [SimTime(down), SimTime(up)]
            } else {
                [SimTime(up), SimTime(down)]
            }
        },
    )
}

fn boundaries<F: FnMut(&FaultPlan) -> bool>(plan: &FaultPlan, oracle: &Oracle<F>) -> Vec<Boundary> {
    let of = |(index, timed): (usize, &TimedFault)| -> Vec<Boundary> {
        let boundary = |(magnitude, enough): (Magnitude, i64)| {
            let step = i64::try_from(magnitude.step()).unwrap_or(1);
            let less = (enough.abs() >= step).then(|| enough - enough.signum() * step);
            let tried = |less: &i64| {
                let plan = with_fault(plan, index, with_magnitude(&timed.fault, magnitude, *less));
                oracle.known(&plan) == Some(false)
            };
            Boundary { fault: timed.id, magnitude, enough, not_enough: less.filter(tried) }
        };
        magnitudes(&timed.fault).into_iter().map(boundary).collect()
    };
    plan.faults.iter().enumerate().flat_map(of).collect()
}

fn value_of(fault: &Fault, magnitude: Magnitude) -> i64 {
    magnitudes(fault)
        .into_iter()
        .find(|(other, _)| *other == magnitude)
        .map_or(0, |(_, value)| value)
}

fn with_fault(plan: &FaultPlan, index: usize, fault: Fault) -> FaultPlan {
    let mut plan = plan.clone();
    plan.faults[index].fault = fault;
    plan
}

fn with_start(plan: &FaultPlan, id: u32, at_us: SimTime) -> FaultPlan {
    let moved = |timed: &TimedFault| {
        if timed.id == id { TimedFault { at_us, ..timed.clone() } } else { timed.clone() }
    };
    FaultPlan::new(plan.faults.iter().map(moved).collect())
}
