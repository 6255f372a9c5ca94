//! `partition`: the network between clients and servers, or among servers and Sentinels, is cut,
//! one way or both ways. Must never cut off the storage: that is `storage-delay`.

use super::Incident;
use super::timing::{span, starts};
use crate::draw::{chance, subset, uniform};
use crate::fault::{Direction, Fault};
use crate::node::Node;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let starts = starts(rng, setting);
    let cut = |at| {
        let (side_a, side_b) = sides(rng, setting);
        let direction = if chance(rng, 500) { Direction::Both } else { Direction::AToB };
        let duration_us = span(rng, setting.knobs.partition);
        let is_cut = !side_a.is_empty() && !side_b.is_empty();
        let fault = Fault::Partition { side_a, side_b, direction, duration_us };
        is_cut.then_some(Incident::lone(at, fault))
    };
    starts.into_iter().filter_map(cut).collect()
}

/// Half of the time clients against servers, else the servers (and Sentinels) among themselves.
fn sides(rng: &mut ChaCha8Rng, setting: &Setting) -> (Vec<Node>, Vec<Node>) {
    let (servers, sentinels) = (setting.servers(), setting.sentinels());
    let some_servers = some(rng, &servers);
    let some_clients = some(rng, &setting.clients());
    let others: Vec<Node> =
        servers.iter().copied().filter(|node| !some_servers.contains(node)).collect();
    let some_sentinels = some(rng, &sentinels);
    let from_clients = chance(rng, 500);
    // Independent masters never talk to each other, so there is nothing among them to cut.
    let (side_a, side_b) = match chance(rng, 500) {
        _ if from_clients || !setting.is_replicated() => (some_clients, some_servers),
        false if !others.is_empty() => (some_servers, others),
        _ if sentinels.is_empty() => (some_servers, others),
        _ => (some_sentinels, some_servers),
    };
    if chance(rng, 500) { (side_a, side_b) } else { (side_b, side_a) }
}

/// From one to all of the nodes.
fn some(rng: &mut ChaCha8Rng, nodes: &[Node]) -> Vec<Node> {
    let count = uniform(rng, 1..=nodes.len().max(1) as u64) as usize;
    subset(rng, nodes, count)
}
