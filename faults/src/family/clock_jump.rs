//! `clock-jump`: a wall clock is stepped, so that leases at a server end too early (forward) or too
//! late (back). Must never touch Sentinels: their TILT mode is a story of its own.

use super::Drawn;
use super::strike::strikes;
use super::timing::span;
use crate::draw::{any, chance};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::Setting;
use crate::time::SimTime;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Drawn {
    let mut drawn = Drawn::new();
    for strike in strikes(rng, setting) {
        let at_a_client = chance(rng, 150);
        let client = any(rng, &setting.clients());
        match client {
            Some(client) if at_a_client => {
                drawn.extend(strike.hits.first().map(|(at, _)| jump(rng, setting, *at, client)))
            }
            _ => {
                drawn.extend(strike.shield);
                drawn
                    .extend(strike.hits.into_iter().map(|(at, node)| jump(rng, setting, at, node)));
            }
        }
    }
    drawn
}

/// Mostly forward: that is the way in which a lease is lost.
fn jump(rng: &mut ChaCha8Rng, setting: &Setting, at: SimTime, node: Node) -> (SimTime, Fault) {
    let forward = chance(rng, 800);
    let distance =
        i64::try_from(span(rng, setting.knobs.clock_jump).as_micros()).unwrap_or(i64::MAX);
    (at, Fault::ClockJump { node, offset_us: if forward { distance } else { -distance } })
}
