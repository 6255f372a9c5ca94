use super::Incident;
use super::timing::{span, starts};
use crate::draw::any;
use crate::fault::Fault;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let servers = setting.servers();
    let starts = starts(rng, setting);
    let slow = |at| {
        let node = any(rng, &servers)?;
        let (extra_us, duration_us) =
            (span(rng, setting.knobs.service), span(rng, setting.knobs.spell));
        Some(Incident::lone(at, Fault::SlowServer { node, extra_us, duration_us }))
    };
    starts.into_iter().filter_map(slow).collect()
}
