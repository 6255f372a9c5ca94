//! The random numbers of scripts: a function of nothing but what was drawn before.

use crate::state::scripts::INITIAL_RANDOM_STATE;
use std::cell::Cell;

/// The state after `srand48(0)`.
pub(crate) const SEED_ZERO_STATE: u64 = 0x330E;

/// `drand48` of POSIX in integers, as rand.c of Redis has it.
#[derive(Debug)]
pub(crate) struct ScriptRandom {
    /// The state, which a server keeps from one script to the next.
    pub(crate) state: Cell<u64>,
}

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

impl ScriptRandom {
    /// A generator in its initial state.
    pub(crate) fn new() -> Self {
        ScriptRandom { state: Cell::new(INITIAL_RANDOM_STATE) }
    }

    /// Starts anew, as `srand48`.
    pub(crate) fn seed(&self, seed: i32) {
        self.state.set(u64::from(seed as u32) << 16 | 0x330E);
    }

    /// The next number, from 0 up to but without 1. This is what `redis_math_random` in
    /// script_lua.c makes of `lrand48`.
    pub(crate) fn next(&self) -> f64 {
        let state = self.state.get().wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK;
        self.state.set(state);
        let number = state >> 17;
        (number % i32::MAX as u64) as f64 / f64::from(i32::MAX)
    }
}
