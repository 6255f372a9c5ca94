//! The random numbers of scripts: the same in every run. Must never know Lua.

use std::cell::Cell;

/// `drand48` of POSIX in integers, as rand.c of Redis has it, from the seed 0.
#[derive(Debug)]
pub(crate) struct ScriptRandom {
    state: Cell<u64>,
}

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

impl ScriptRandom {
    /// A generator that was seeded with 0.
    pub(crate) fn new() -> Self {
        let random = ScriptRandom { state: Cell::new(0) };
        random.seed(0);
        random
    }

    /// Starts anew, as `srand48`.
    pub(crate) fn seed(&self, seed: i32) {
        self.state.set(u64::from(seed as u32) << 16 | 0x330E);
    }

    /// The next number, from 0 up to but without 1. This is what `redis_math_random` in script_lua.c makes of `lrand48`.
    pub(crate) fn next(&self) -> f64 {
        let state = self.state.get().wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK;
        self.state.set(state);
        let number = state >> 17;
        (number % i32::MAX as u64) as f64 / f64::from(i32::MAX)
    }
}
