//! Scripts: their cache and the Lua in which they run. Must never know what the commands do that they call.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// The scripts that a server knows by their SHA-1; empty after a restart.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptCache {
    bodies: IndexMap<[u8; 40], Box<[u8]>, FxBuildHasher>,
}
