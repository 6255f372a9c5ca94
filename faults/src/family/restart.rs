//! Family `restart`: servers crash or lose power, and restart with their persisted data (Redis
//! documentation, "Distributed Locks", section "Performance, crash recovery and fsync").

use super::strike::{death, strikes};
use super::timing::span;
use super::{Drawn, Incident};
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let mut drawn = Vec::new();
    for strike in strikes(rng, setting) {
        let at = strike.first();
        let mut faults: Drawn = strike.shield.into_iter().collect();
        for (at, node) in strike.hits {
            let away = span(rng, setting.knobs.restart_delay);
            faults.push((at, death(rng, setting, node, Some(away))));
        }
        drawn.push(Incident { at, faults });
    }
    drawn
}
