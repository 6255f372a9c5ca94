use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

#[derive(Debug, Clone)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..].copy_from_slice(b"fake-redis server seed 1");
        Random(ChaCha8Rng::from_seed(key))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    pub(crate) fn hexadecimal(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from(b"0123456789abcdef"[self.below(16)])).collect()
    }
}
