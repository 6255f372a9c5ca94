pub(crate) const SEED_ZERO_STATE: u64 = 0x330E;

/// The random number generator of scripts (`redisLrand48` in rand.c of Redis).
#[derive(Debug)]
pub(crate) struct ScriptRandom {
    pub(crate) state: u64,
}

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

impl ScriptRandom {
    pub(crate) fn at(state: u64) -> Self {
        ScriptRandom { state }
    }

    pub(crate) fn seed(&mut self, seed: i32) {
        self.state = u64::from(seed as u32) << 16 | SEED_ZERO_STATE;
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK;
        let number = self.state >> 17;
        (number % i32::MAX as u64) as f64 / f64::from(i32::MAX)
    }
}
