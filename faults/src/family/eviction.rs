use super::Incident;
use super::strike::victims;
use super::timing::starts;
use crate::draw::chance;
use crate::fault::Fault;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let servers = setting.servers();
    let mut drawn = Vec::new();
    for at in starts(rng, setting) {
        let flush = chance(rng, 500);
        let lose =
            |node| (at, if flush { Fault::FlushAll { node } } else { Fault::Evict { node } });
        let faults = victims(rng, setting, &servers).into_iter().map(lose).collect();
        drawn.push(Incident { at: Some(at), faults });
    }
    drawn
}
