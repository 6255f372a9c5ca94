//! `replication-lag`: what a primary sends its replicas arrives late. Must never delay anything
//! else.

use super::Drawn;
use super::timing::{span, starts};
use crate::draw::{any, chance};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::{Setting, Topology};
use crate::time::Micros;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Drawn {
    let Topology::Replicated { .. } = setting.topology else { return Vec::new() };
    let redis = setting.redis();
    let starts = starts(rng, setting);
    let spell = |at| {
        // Usually the first primary; after a failover it may be any of them.
        let primary = if chance(rng, 750) { redis[0] } else { any(rng, &redis)? };
        let lag = span(rng, setting.knobs.replication_lag);
        Some((at, lagging(setting, primary, lag, span(rng, setting.knobs.spell))))
    };
    starts.into_iter().filter_map(spell).collect()
}

/// Every other server hears of `primary` late by three quarters of `lag` to `lag`.
pub(super) fn lagging(setting: &Setting, primary: Node, lag: Micros, duration_us: Micros) -> Fault {
    let to = setting.redis().into_iter().filter(|node| *node != primary).collect();
    let least = Micros::from_millis(lag.as_millis() * 3 / 4);
    Fault::Delay { from: vec![primary], to, extra_us_min: least, extra_us_max: lag, duration_us }
}
