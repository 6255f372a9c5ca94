//! `lost-reply`: a server applies a command and the connection is reset before the reply leaves.
//! Must never lose the command itself.

use super::Drawn;
use super::timing::{span, starts};
use crate::draw::any;
use crate::fault::Fault;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Drawn {
    let (clients, servers) = (setting.clients(), setting.servers());
    let starts = starts(rng, setting);
    let trap = |at| {
        let (server, client) = (any(rng, &servers)?, any(rng, &clients)?);
        Some((
            at,
            Fault::LostReply { server, client, duration_us: span(rng, setting.knobs.lost_reply) },
        ))
    };
    starts.into_iter().filter_map(trap).collect()
}
