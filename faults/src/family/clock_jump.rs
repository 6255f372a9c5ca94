//! Family `clock-jump`: steps wall clocks, except those of Sentinels, which would enter TILT mode.

use super::Incident;
use super::strike::strikes;
use super::timing::span;
use crate::draw::{any, chance};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::{Setting, Victims};
use crate::time::SimTime;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let mut drawn = Vec::new();
    for strike in strikes(rng, setting) {
        let at_a_client = chance(rng, 150) && setting.knobs.victims == Victims::All;
        let client = any(rng, &setting.clients());
        let at = strike.first();
        let faults = match client {
            Some(client) if at_a_client => {
                let first = strike.hits.first();
                first.map(|(at, _)| jump(rng, setting, *at, client)).into_iter().collect()
            }
            _ => {
                let hits = strike.hits.into_iter();
                let jumps = hits.map(|(at, node)| jump(rng, setting, at, node));
                strike.shield.into_iter().chain(jumps).collect()
            }
        };
        drawn.push(Incident { at, faults });
    }
    drawn
}

/// Draws a clock step, usually forward, because a forward step ends leases early.
fn jump(rng: &mut ChaCha8Rng, setting: &Setting, at: SimTime, node: Node) -> (SimTime, Fault) {
    let forward = chance(rng, 800);
    let distance =
        i64::try_from(span(rng, setting.knobs.clock_jump).as_micros()).unwrap_or(i64::MAX);
    (at, Fault::ClockJump { node, offset_us: if forward { distance } else { -distance } })
}
