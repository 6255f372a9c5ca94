//! Pauses or crashes a Sentinel, or steps its clock, near a failover. A Sentinel enters TILT mode
//! if its clock goes back, or advances by more than two seconds, between two runs of its timer
//! (`sentinelCheckTiltCondition` in sentinel.c).

use super::Incident;
use crate::draw::{any, chance, uniform};
use crate::family::timing::{before, span, up_to};
use crate::fault::Fault;
use crate::setting::{Setting, Spans};
use crate::time::{Micros, SimTime};
use rand_chacha::ChaCha8Rng;

const PER_MILLE: u64 = 300;
/// Smallest number of Sentinels that keeps a majority after the loss of one Sentinel.
const SENTINELS_MIN: usize = 3;
const AWAY: Spans = Spans::millis(500, 20_000);
const STEP: Spans = Spans::millis(500, 10_000);

pub(super) fn disturbance(
    rng: &mut ChaCha8Rng,
    setting: &Setting,
    lost_at: SimTime,
) -> Option<Incident> {
    let happens = chance(rng, PER_MILLE);
    let sentinels = setting.sentinels();
    let node = any(rng, &sentinels)?;
    let around = Micros::from_secs(3);
    let at = setting.window.nearest(before(lost_at, around) + up_to(rng, around + around));
    let away = span(rng, AWAY);
    let step = span(rng, STEP).as_micros() as i64;
    let fault = match uniform(rng, 0..=3) {
        0 => Fault::Pause { node, duration_us: away },
        1 => Fault::Crash { node, down_us: Some(away) },
        2 => Fault::ClockJump { node, offset_us: step },
        _ => Fault::ClockJump { node, offset_us: -step },
    };
    (happens && sentinels.len() >= SENTINELS_MIN).then(|| Incident::lone(at, fault))
}
