use super::Incident;
use super::timing::{span, span_often_past, starts, up_to};
use crate::draw::{any, chance};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::Setting;
use crate::time::Micros;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let clients = setting.clients();
    let starts = starts(rng, setting);
    let late = |at| {
        let from = vec![any(rng, &clients)?];
        let half_a_lease = Micros(setting.ttl_us.as_micros() / 2);
        let extra_us_max = span_often_past(rng, setting.knobs.storage_delay, half_a_lease);
        // With a low minimum, a read can be fast and the next write late.
        let extra_us_min = if chance(rng, 500) { up_to(rng, extra_us_max) } else { Micros::ZERO };
        let duration_us = span(rng, setting.knobs.spell);
        let to = vec![Node::Storage];
        let fault = Fault::Delay { from, to, extra_us_min, extra_us_max, duration_us };
        Some(Incident::lone(at, fault))
    };
    starts.into_iter().filter_map(late).collect()
}
