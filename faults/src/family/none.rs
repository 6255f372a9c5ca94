use super::Incident;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(_: &mut ChaCha8Rng, _: &Setting) -> Vec<Incident> {
    Vec::new()
}
