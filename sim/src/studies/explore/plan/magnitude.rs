//! The magnitudes of a fault: one or two for every interval in which the fault can end.

use super::bounds::{Bounds, Grain};
use super::scout::Scout;
use fencepost_faults::{Micros, SimTime};
use std::collections::BTreeSet;

pub(crate) fn ends(bounds: &Bounds, from: SimTime, longest: &Scout) -> Vec<SimTime> {
    let timers = longest.timers.iter().map(|(at, _)| at);
    let all = longest.told.iter().chain(timers).chain(&longest.leases);
    between(bounds, from, all.copied().collect())
}

/// Returns the classes of a cut's end times, each as its earliest and latest time. All end times
/// between two consecutive checks by the network give the same run.
pub(crate) fn between_timers(
    bounds: &Bounds,
    from: SimTime,
    looks: impl Iterator<Item = SimTime>,
) -> Vec<(SimTime, SimTime)> {
    let quantum = bounds.scenario.timing.quantum.0.0;
    let last = SimTime(aligned(from.0 + bounds.longest.0.0, quantum));
    let looks: BTreeSet<SimTime> = looks.filter(|at| *at >= from && *at < last).collect();
    let looks: Vec<SimTime> = looks.into_iter().collect();
    let looks = match bounds.grain {
        Grain::Fine => looks.into_iter().map(|look| (look, look)).collect(),
        Grain::Coarse => spread_instants(&looks, round_trip(bounds)),
    };
    let next = looks.iter().skip(1).map(|look| look.0).chain([last]);
    looks.iter().zip(next).map(|(look, next)| (SimTime(look.1.0 + quantum), next)).collect()
}

/// A clock step takes effect immediately, so only the ends of leases separate the classes of sizes.
pub(crate) fn steps(bounds: &Bounds, from: SimTime, scout: &Scout) -> Vec<SimTime> {
    between(bounds, from, scout.leases.clone())
}

fn between(bounds: &Bounds, from: SimTime, timers: BTreeSet<SimTime>) -> Vec<SimTime> {
    let quantum = bounds.scenario.timing.quantum.0.0;
    let last = SimTime(aligned(from.0 + bounds.longest.0.0, quantum));
    let ahead: Vec<SimTime> = timers.into_iter().filter(|at| *at > from && *at < last).collect();
    let mut ends: BTreeSet<SimTime> = match bounds.grain {
        Grain::Fine => ahead
            .iter()
            .flat_map(|at| [at.0 - quantum, at.0 + quantum].map(|at| aligned(at, quantum)))
            .chain([aligned(from.0 + quantum, quantum)])
            .map(SimTime)
            .collect(),
        Grain::Coarse => {
            half_spans(from, last, &spread_instants(&ahead, round_trip(bounds)), quantum)
        }
    };
    ends.insert(last);
    ends.into_iter().filter(|end| *end > from && *end <= last).collect()
}

fn half_spans(
    from: SimTime,
    last: SimTime,
    ahead: &[(SimTime, SimTime)],
    quantum: u64,
) -> BTreeSet<SimTime> {
    let begins = ahead.iter().map(|group| group.0).chain([last]);
    let ends = [from].into_iter().chain(ahead.iter().map(|group| group.1));
    ends.zip(begins)
        .map(|(end, begin)| SimTime(aligned(end.0.midpoint(begin.0), quantum)))
        .collect()
}

fn spread_instants(instants: &[SimTime], span: Micros) -> Vec<(SimTime, SimTime)> {
    let groups = instants.chunk_by(|earlier, later| later.since(*earlier) <= span);
    groups.filter_map(|group| Some((*group.first()?, *group.last()?))).collect()
}

fn round_trip(bounds: &Bounds) -> Micros {
    let scenario = &bounds.scenario;
    Micros(
        2 * scenario.timing.latency.max.0.0
            + scenario.timing.service_time.0.0
            + scenario.timing.quantum.0.0,
    )
}

fn aligned(at: u64, quantum: u64) -> u64 {
    at.div_ceil(quantum) * quantum
}
