use super::Incident;
use super::timing::{span, starts};
use crate::draw::{any, chance, subset};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::Setting;
use crate::time::Micros;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    if !setting.is_replicated() {
        return Vec::new();
    }
    let servers = setting.servers();
    let starts = starts(rng, setting);
    let spell = |at| {
        let primary = if chance(rng, 750) { servers[0] } else { any(rng, &servers)? };
        let lag = span(rng, setting.knobs.replication_lag);
        let spell = span(rng, setting.knobs.spell);
        Some(Incident::lone(at, lagging(rng, setting, primary, (lag, spell))))
    };
    starts.into_iter().filter_map(spell).collect()
}

pub(super) fn lagging(
    rng: &mut ChaCha8Rng,
    setting: &Setting,
    primary: Node,
    (lag, duration_us): (Micros, Micros),
) -> Fault {
    let mut to = setting.servers();
    to.retain(|node| *node != primary);
    if let Some(most) = setting.knobs.lagging_replicas {
        to = subset(rng, &to, usize::from(most.get()));
    }
    let least = Micros::from_millis(lag.as_millis() * 3 / 4);
    Fault::Delay { from: vec![primary], to, extra_us_min: least, extra_us_max: lag, duration_us }
}
