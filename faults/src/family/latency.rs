use super::Incident;
use super::timing::{span, starts, up_to};
use crate::draw::{chance, subset, uniform};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let starts = starts(rng, setting);
    let slow = |at| {
        let (from, to) = link(rng, setting);
        let extra_us_max = span(rng, setting.knobs.latency);
        let extra_us_min = up_to(rng, extra_us_max);
        let duration_us = span(rng, setting.knobs.spell);
        let is_link = !from.is_empty() && !to.is_empty();
        let fault = Fault::Delay { from, to, extra_us_min, extra_us_max, duration_us };
        is_link.then_some(Incident::lone(at, fault))
    };
    starts.into_iter().filter_map(slow).collect()
}

fn link(rng: &mut ChaCha8Rng, setting: &Setting) -> (Vec<Node>, Vec<Node>) {
    let all = setting.servers();
    let (clients, servers) = (some(rng, &setting.clients()), some(rng, &all));
    let others = all.iter().copied().filter(|node| !servers.contains(node)).collect::<Vec<_>>();
    match (uniform(rng, 0..=2), setting.is_replicated() && !others.is_empty() && chance(rng, 500)) {
        (0, true) => (servers, others),
        (0 | 1, _) => (clients, servers),
        _ => (servers, clients),
    }
}

fn some(rng: &mut ChaCha8Rng, nodes: &[Node]) -> Vec<Node> {
    let count = uniform(rng, 1..=nodes.len().max(1) as u64) as usize;
    subset(rng, nodes, count)
}
