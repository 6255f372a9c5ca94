use super::Incident;
use super::timing::{span, starts, up_to};
use crate::draw::{chance, uniform};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::Setting;
use crate::time::{Micros, SimTime};
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let most = rate_max(setting.knobs.drift_ppm);
    if most == 0 {
        return Vec::new();
    }
    let extreme = chance(rng, 600);
    let lasting = chance(rng, 700);
    let clients = setting.clients().into_iter().map(|node| (node, -most));
    let servers = setting.servers().into_iter().map(|node| (node, most));
    let hosts: Vec<(Node, i32)> = clients.chain(servers).collect();
    let rate = |rng: &mut ChaCha8Rng, worst: i32| if extreme { worst } else { any_rate(rng, most) };
    if lasting {
        let (at, length) = (setting.window.begin_us, setting.window.length());
        let all = hosts.into_iter();
        let faults = all.map(|(node, worst)| drift(node, rate(rng, worst), at, length)).collect();
        return vec![Incident { at: None, faults }];
    }
    // All hosts drift at the same time, so that a run combines fast and slow clocks.
    let mut drawn = Vec::new();
    for at in starts(rng, setting) {
        let length = span(rng, setting.knobs.spell) + up_to(rng, setting.ttl_us);
        let all = hosts.iter();
        let faults = all.map(|(node, worst)| drift(*node, rate(rng, *worst), at, length)).collect();
        drawn.push(Incident { at: Some(at), faults });
    }
    drawn
}

/// Limits each clock's rate `h` so that a fast clock gains at most `drift` on a slow one:
/// `(1 + h) / (1 - h) <= 1 + drift`, so `h <= drift / (2 + drift)`.
fn rate_max(drift_ppm: u32) -> i32 {
    let drift = u64::from(drift_ppm);
    i32::try_from(drift * 1_000_000 / (2_000_000 + drift)).unwrap_or(i32::MAX)
}

fn any_rate(rng: &mut ChaCha8Rng, most: i32) -> i32 {
    let width = u64::from(most.unsigned_abs()) * 2;
    i32::try_from(uniform(rng, 0..=width)).unwrap_or(most) - most
}

fn drift(node: Node, rate_ppm: i32, at: SimTime, duration_us: Micros) -> (SimTime, Fault) {
    (at, Fault::ClockDrift { node, rate_ppm, duration_us })
}
