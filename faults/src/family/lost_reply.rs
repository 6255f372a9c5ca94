//! `lost-reply`: a server applies a command and the connection is reset before the reply leaves.
//! Must never lose the command itself.

use super::Incident;
use super::timing::{span, starts};
use crate::draw::any;
use crate::fault::Fault;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let (clients, servers) = (setting.clients(), setting.servers());
    let starts = starts(rng, setting);
    let trap = |at| {
        let (server, client) = (any(rng, &servers)?, any(rng, &clients)?);
        let duration_us = span(rng, setting.knobs.lost_reply);
        Some(Incident::lone(at, Fault::LostReply { server, client, duration_us }))
    };
    starts.into_iter().filter_map(trap).collect()
}
