//! Family `pause`: processes, sometimes servers, pause, as in garbage collection (Kleppmann 2016).

use super::Incident;
use super::timing::{span, span_often_past, starts};
use crate::draw::{any, chance};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::{Setting, Spans, Topology, Victims};
use crate::time::Micros;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    starts(rng, setting)
        .into_iter()
        .filter_map(|at| Some(Incident::lone(at, pause(rng, setting)?)))
        .collect()
}

fn pause(rng: &mut ChaCha8Rng, setting: &Setting) -> Option<Fault> {
    let server = chance(rng, 125) || setting.knobs.victims == Victims::Servers;
    let nodes = if server { setting.servers() } else { setting.clients() };
    let node = any(rng, &nodes)?;
    let duration_us = match node {
        Node::Redis(_) | Node::Server(_) => span(rng, unnoticed(setting)),
        _ => span_often_past(rng, setting.knobs.pause, setting.ttl_us),
    };
    Some(Fault::Pause { node, duration_us })
}

fn unnoticed(setting: &Setting) -> Spans {
    let Spans { min_us, max_us } = setting.knobs.pause;
    let Topology::Replicated { down_after_us, .. } = setting.topology else {
        return setting.knobs.pause;
    };
    let most = Micros(down_after_us.as_micros() / 2).min(max_us);
    Spans::new(min_us.min(most), most)
}
