//! Family `failover`. With Sentinel, the primary crashes, pauses or is isolated, and the promoted
//! replica may lack the primary's last writes (Redis documentation, "Distributed Locks", section on
//! failover-based implementations). `promotion` and `absence` draw for other deployments.

mod promotion;
mod sentinel;

use super::Incident;
use super::absence::{absences, longer_than_any_lease};
use super::replication_lag::lagging;
use super::strike::death;
use super::timing::{before, span, starts_of, up_to};
use crate::draw::{any, chance, uniform};
use crate::fault::{Direction, Fault};
use crate::node::Node;
use crate::setting::{Setting, Spans, Topology};
use crate::time::{Micros, SimTime};
use rand_chacha::ChaCha8Rng;

/// Maximum number of failovers by Sentinel per plan. A third failover would rarely lose a lock.
const STRIKES_MAX: u16 = 2;
/// Share of failovers that pause the primary, per thousand, unless `failover_by` names an event.
const FROZEN_PER_MILLE: u64 = 200;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let Topology::Replicated { down_after_us, .. } = setting.topology else {
        return match setting.topology {
            Topology::Ensemble { servers: 1 } => Vec::new(),
            Topology::Standby { stopped_per_mille } => {
                vec![promotion::promotion(rng, setting, stopped_per_mille)]
            }
            _ => absences(rng, setting),
        };
    };
    let (counts, by) = (setting.knobs.counts, setting.knobs.failover_by);
    let count = uniform(
        rng,
        u64::from(counts.min.min(STRIKES_MAX))..=u64::from(counts.max.min(STRIKES_MAX)),
    );
    let takeover = takeover(down_after_us);
    let mut strikes = Vec::new();
    for (index, at) in starts_of(rng, setting, count).into_iter().enumerate() {
        // The plan cannot know which server is the primary after the first failover, so half of the
        // later failovers hit a random server.
        let guess = any(rng, &setting.servers()).unwrap_or(Node::Redis(1));
        let primary = if index == 0 || chance(rng, 500) { Node::Redis(1) } else { guess };
        let isolate = by.isolates(chance(rng, 400));
        let incident = match any(rng, &setting.clients()) {
            Some(client) if isolate => {
                Incident::lone(at, isolation(rng, setting, [primary, client], takeover))
            }
            _ => lagged_crash(rng, setting, primary, at, takeover),
        };
        strikes.push((at, primary, incident));
    }
    let mut drawn = Vec::new();
    for (at, primary, incident) in strikes {
        let frozen = freeze(rng, setting, primary, takeover);
        let freezes = by.pauses(chance(rng, FROZEN_PER_MILLE));
        drawn.push(if freezes { Incident::lone(at, frozen) } else { incident });
        drawn.extend(sentinel::disturbance(rng, setting, at));
    }
    drawn
}

/// Pauses the primary for longer than a takeover takes: by 1 s to one lease. After such a pause, a
/// primary of Redis 7.0.15 accepted writes for 10 s (measured), until a Sentinel demoted it.
fn freeze(rng: &mut ChaCha8Rng, setting: &Setting, node: Node, takeover: Micros) -> Fault {
    let longer = Spans::new(Micros::from_secs(1), setting.ttl_us.max(Micros::from_secs(1)));
    Fault::Pause { node, duration_us: takeover + span(rng, longer) }
}

/// Returns the minimum downtime for a failover: with Sentinel, the time that a takeover needs;
/// otherwise, a time longer than any lease.
pub fn away_at_least(setting: &Setting) -> Micros {
    match setting.topology {
        Topology::Replicated { down_after_us, .. } => takeover(down_after_us),
        _ => longer_than_any_lease(setting.ttl_us),
    }
}

/// Estimates the time from a failure to the first write at the new primary. A Sentinel waits for
/// down-after, polls the other Sentinels, waits for an election, and checks the replicas
/// (`sentinelFailoverStateMachine` in sentinel.c).
fn takeover(down_after_us: Micros) -> Micros {
    Micros(down_after_us.as_micros().saturating_mul(2)) + Micros::from_secs(2)
}

fn lagged_crash(
    rng: &mut ChaCha8Rng,
    setting: &Setting,
    primary: Node,
    at: SimTime,
    takeover: Micros,
) -> Incident {
    let lag = lag(rng, setting.knobs.replication_lag);
    let lead = lag + up_to(rng, Micros::from_secs(5));
    let crash_at = setting.window.nearest(at.max(setting.window.begin_us + lead));
    let lag_from = setting.window.nearest(before(crash_at, lead));
    let away = takeover
        + span(rng, Spans::new(Micros::from_secs(1), Micros(setting.ttl_us.0.max(1_000_000) * 2)));
    let lagging = lagging(rng, setting, primary, (lag, crash_at.since(lag_from) + takeover));
    let death = death(rng, setting, primary, Some(away));
    Incident { at: Some(crash_at), faults: vec![(lag_from, lagging), (crash_at, death)] }
}

/// Draws a replication lag, mostly from the range's upper half: short lags rarely lose a write.
pub(super) fn lag(rng: &mut ChaCha8Rng, range: Spans) -> Micros {
    let half = Micros(range.max_us.as_micros() / 2).max(range.min_us);
    let least = if chance(rng, 800) { half } else { range.min_us };
    span(rng, Spans::new(least, range.max_us))
}

fn isolation(
    rng: &mut ChaCha8Rng,
    setting: &Setting,
    minority: [Node; 2],
    takeover: Micros,
) -> Fault {
    let sentinels = setting.sentinels();
    let mut side_a = minority.to_vec();
    if sentinels.len() >= 3 && chance(rng, 500) {
        side_a.extend(any(rng, &sentinels));
    }
    cut_off(rng, setting, side_a, takeover)
}

fn cut_off(rng: &mut ChaCha8Rng, setting: &Setting, side_a: Vec<Node>, takeover: Micros) -> Fault {
    let others = [setting.servers(), setting.sentinels(), setting.clients()].concat();
    let side_b = others.into_iter().filter(|node| !side_a.contains(node)).collect();
    let grant = Spans::new(
        Micros(setting.ttl_us.as_micros() / 2),
        Micros(setting.ttl_us.as_micros().saturating_mul(2)),
    );
    let duration_us = takeover + span(rng, grant);
    Fault::Partition { side_a, side_b, direction: Direction::Both, duration_us }
}
