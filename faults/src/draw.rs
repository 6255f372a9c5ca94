//! Draws from a random stream. The results do not depend on the version of `rand`.

use rand_core::Rng;
use std::ops::RangeInclusive;

/// Draws a uniform integer (Lemire 2019, without rejection; the bias is below 2^-32 for fewer than
/// 2^32 values). For an empty range, returns its start.
pub fn uniform(rng: &mut impl Rng, range: RangeInclusive<u64>) -> u64 {
    let (low, high) = (*range.start(), *range.end());
    let width = u128::from(high.saturating_sub(low)) + 1;
    let offset = (u128::from(rng.next_u64()) * width) >> 64;
    low + u64::try_from(offset).unwrap_or(u64::MAX)
}

/// Draws an approximately log-uniform integer. Treats a lower bound of 0 as 1.
pub fn log_uniform(rng: &mut impl Rng, range: RangeInclusive<u64>) -> u64 {
    let low = (*range.start()).max(1);
    let high = (*range.end()).max(low);
    // Approximates log2 in 16.16 fixed point, exactly at powers of two and linearly between them.
    let fixed_log2 = |x: u64| {
        let whole = u64::from(x.ilog2());
        let fraction = (u128::from(x) << 16 >> whole) as u64 - (1 << 16);
        whole << 16 | fraction
    };
    let drawn = uniform(rng, fixed_log2(low)..=fixed_log2(high));
    let (whole, fraction) = (drawn >> 16, drawn & 0xffff);
    let value = (u128::from((1 << 16) + fraction) << whole >> 16) as u64;
    value.clamp(low, high)
}

pub fn chance(rng: &mut impl Rng, per_mille: u64) -> bool {
    uniform(rng, 0..=999) < per_mille
}

/// Panics if `items` is empty.
pub fn pick<'a, T>(rng: &mut impl Rng, items: &'a [T]) -> &'a T {
    let last = items.len().checked_sub(1).expect("pick needs at least one item");
    &items[uniform(rng, 0..=last as u64) as usize]
}

pub fn any<T: Copy>(rng: &mut impl Rng, items: &[T]) -> Option<T> {
    if items.is_empty() { None } else { Some(*pick(rng, items)) }
}

pub fn subset<T: Copy>(rng: &mut impl Rng, items: &[T], count: usize) -> Vec<T> {
    let mut wanted = count.min(items.len());
    let mut chosen = Vec::with_capacity(wanted);
    for (index, item) in items.iter().enumerate() {
        let left = (items.len() - index) as u64;
        if uniform(rng, 1..=left) <= wanted as u64 {
            chosen.push(*item);
            wanted -= 1;
        }
    }
    chosen
}
