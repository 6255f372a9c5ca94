use super::Incident;
use super::timing::{span_often_past, starts};
use crate::draw::any;
use crate::fault::Fault;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let clients = setting.clients();
    let starts = starts(rng, setting);
    let suspend = |at| {
        let node = any(rng, &clients)?;
        let duration_us = span_often_past(rng, setting.knobs.pause, setting.ttl_us);
        Some(Incident::lone(at, Fault::Suspend { node, duration_us }))
    };
    starts.into_iter().filter_map(suspend).collect()
}
