//! `eviction`: servers run out of memory and evict what expires (locks first), or an operator
//! flushes them. Must never stop a server.

use super::Drawn;
use super::strike::victims;
use super::timing::starts;
use crate::draw::chance;
use crate::fault::Fault;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Drawn {
    let servers = setting.servers();
    let mut drawn = Drawn::new();
    for at in starts(rng, setting) {
        let flush = chance(rng, 500);
        let lose =
            |node| (at, if flush { Fault::FlushAll { node } } else { Fault::Evict { node } });
        drawn.extend(victims(rng, setting, &servers).into_iter().map(lose));
    }
    drawn
}
