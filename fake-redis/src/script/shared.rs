//! What the functions of a Lua state share with its engine.

use super::long::Ending;
use super::random::ScriptRandom;
use crate::state::scripts::Settings;
use std::cell::Cell;
use std::rc::Rc;

/// What the functions of a state share with its engine.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Random numbers of scripts.
    pub(crate) random: ScriptRandom,
    /// How cjson reads and writes, which is the running server's.
    pub(crate) json: Rc<Cell<Settings>>,
    /// How often this run was looked at.
    pub(crate) looks: Cell<u32>,
    /// Why this run has to end, once it has to.
    pub(crate) ending: Cell<Option<Ending>>,
    /// How many bytes were left when garbage was last collected in full during this run.
    pub(crate) alive: Cell<usize>,
}
