//! `none`: nothing goes wrong. Must never draw anything.

use super::Drawn;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(_: &mut ChaCha8Rng, _: &Setting) -> Drawn {
    Vec::new()
}
