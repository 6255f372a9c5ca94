//! `restart`: servers die and come back after the restart delay, with what their persistence kept
//! (Redis documentation, "Distributed Locks", section "Performance, crash recovery and fsync").
//! Must never leave a server dead.

use super::Drawn;
use super::strike::{death, strikes};
use super::timing::span;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Drawn {
    let mut drawn = Drawn::new();
    for strike in strikes(rng, setting) {
        drawn.extend(strike.shield);
        for (at, node) in strike.hits {
            let away = span(rng, setting.knobs.restart_delay);
            drawn.push((at, death(rng, setting, node, Some(away))));
        }
    }
    drawn
}
