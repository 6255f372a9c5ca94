//! Family `failover` without Sentinel or standby: servers are down or cut off longer than a lease.

use super::strike::death;
use super::timing::{span, starts};
use super::{Drawn, Incident};
use crate::draw::{chance, subset, uniform};
use crate::fault::{Direction, Fault};
use crate::node::Node;
use crate::setting::{Setting, Spans};
use crate::time::{Micros, SimTime};
use rand_chacha::ChaCha8Rng;

pub(super) fn absences(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let mut drawn = Vec::new();
    let mut all_back = SimTime::ZERO;
    for at in starts(rng, setting) {
        let absence = absence(rng, setting, at);
        if at >= all_back {
            all_back = absence
                .iter()
                .filter_map(|(at, fault)| Some(*at + fault.duration()?))
                .max()
                .unwrap_or(at);
            // Wait one more lease, so that locks on other servers expire before the next failure.
            all_back = all_back + setting.ttl_us;
            drawn.push(Incident { at: Some(at), faults: absence });
        }
    }
    drawn
}

fn absence(rng: &mut ChaCha8Rng, setting: &Setting, at: SimTime) -> Drawn {
    let most = setting.spare_servers().max(1);
    let count = uniform(rng, 1..=most as u64) as usize;
    let gone = subset(rng, &setting.servers(), count);
    let ttl = setting.ttl_us.as_micros();
    let away = longer_than_any_lease(setting.ttl_us)
        + span(rng, Spans::new(Micros::from_secs(1), Micros(ttl.max(1_000_000) * 2)));
    if chance(rng, 500) {
        return vec![(at, isolated(setting, gone, away))];
    }
    gone.into_iter().map(|node| (at, death(rng, setting, node, Some(away)))).collect()
}

pub(super) fn longer_than_any_lease(ttl_us: Micros) -> Micros {
    Micros(ttl_us.as_micros() + ttl_us.as_micros() / 5)
}

fn isolated(setting: &Setting, side_a: Vec<Node>, duration_us: Micros) -> Fault {
    let side_b = setting.targets().into_iter().filter(|node| !side_a.contains(node)).collect();
    Fault::Partition { side_a, side_b, direction: Direction::Both, duration_us }
}
