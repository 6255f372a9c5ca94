use super::Incident;
use super::timing::traps;
use crate::fault::Fault;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    traps(rng, setting, |server, client, duration_us| Fault::LostReply {
        server,
        client,
        duration_us,
    })
}
