//! A strike hits servers within one lease, and may cut processes off from other servers.

use super::timing::{before, span, starts, up_to};
use crate::draw::{chance, subset, uniform};
use crate::fault::{Direction, Fault};
use crate::node::Node;
use crate::setting::{Setting, Spans};
use crate::time::{Micros, SimTime};
use rand_chacha::ChaCha8Rng;

pub(super) struct Strike {
    pub(super) hits: Vec<(SimTime, Node)>,
    /// Cuts processes off from servers that a quorum can spare, until after the first hit.
    pub(super) shield: Option<(SimTime, Fault)>,
}

impl Strike {
    pub(super) fn first(&self) -> Option<SimTime> {
        self.hits.iter().map(|(at, _)| *at).min()
    }
}

pub(super) fn strikes(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Strike> {
    starts(rng, setting).into_iter().map(|at| strike(rng, setting, at)).collect()
}

fn strike(rng: &mut ChaCha8Rng, setting: &Setting, at: SimTime) -> Strike {
    let servers = setting.servers();
    let spare = setting.spare_servers();
    let mut shielded = if spare > 0 && setting.processes > 0 && chance(rng, 500) {
        subset(rng, &servers, spare)
    } else {
        Vec::new()
    };
    if setting.knobs.struck_servers.is_some() {
        shielded.clear();
    }
    let reachable: Vec<Node> =
        servers.into_iter().filter(|node| !shielded.contains(node)).collect();
    let victims = victims(rng, setting, &reachable);
    let rolling = chance(rng, 500);
    let mut offset = || if rolling { up_to(rng, setting.ttl_us) } else { Micros::ZERO };
    let hits = victims
        .into_iter()
        .map(|node| (setting.window.nearest(at + offset()), node))
        .collect::<Vec<_>>();
    let first = hits.iter().map(|(at, _)| *at).min().unwrap_or(at);
    let shield =
        if shielded.is_empty() { None } else { Some(shield(rng, setting, shielded, first)) };
    Strike { hits, shield }
}

pub(super) fn victims(rng: &mut ChaCha8Rng, setting: &Setting, reachable: &[Node]) -> Vec<Node> {
    let count = uniform(rng, 1..=reachable.len().max(1) as u64) as usize;
    let mut victims = subset(rng, reachable, count);
    victims.truncate(setting.knobs.count_struck(victims.len()));
    let (primary_too, first) = (chance(rng, 750), setting.servers()[0]);
    if primary_too && setting.is_replicated() && !victims.contains(&first) && !victims.is_empty() {
        victims[0] = first;
    }
    victims
}

fn shield(
    rng: &mut ChaCha8Rng,
    setting: &Setting,
    side_b: Vec<Node>,
    first_hit: SimTime,
) -> (SimTime, Fault) {
    let ttl = setting.ttl_us.as_micros();
    let lead = span(rng, Spans::new(Micros(ttl / 4), setting.ttl_us));
    let from = setting.window.nearest(before(first_hit, lead));
    let after = span(rng, Spans::new(Micros::from_millis(1), Micros((ttl / 5).max(1_000))));
    let duration_us = first_hit.since(from) + after;
    (
        from,
        Fault::Partition {
            side_a: setting.clients(),
            side_b,
            direction: Direction::Both,
            duration_us,
        },
    )
}

pub(super) fn death(
    rng: &mut ChaCha8Rng,
    setting: &Setting,
    node: Node,
    down_us: Option<Micros>,
) -> Fault {
    if chance(rng, u64::from(setting.knobs.power_loss_per_mille)) {
        Fault::PowerLoss { node, down_us }
    } else {
        Fault::Crash { node, down_us }
    }
}
