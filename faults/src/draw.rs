//! Draws integers from a random stream. The draws of `rand` may change between versions.

use rand_core::Rng;
use std::ops::RangeInclusive;

/// Uniform, by widening multiplication (Lemire 2019) without the rejection step: the bias is below
/// 2^-32 for every range used here. An empty range gives its start.
pub fn uniform(rng: &mut impl Rng, range: RangeInclusive<u64>) -> u64 {
    let (low, high) = (*range.start(), *range.end());
    let width = u128::from(high.saturating_sub(low)) + 1;
    let offset = (u128::from(rng.next_u64()) * width) >> 64;
    low + u64::try_from(offset).unwrap_or(u64::MAX)
}

/// Log-uniform: each doubling is equally likely. Uses integers only, so it is the same on every
/// machine. Raises `low` to 1.
pub fn log_uniform(rng: &mut impl Rng, range: RangeInclusive<u64>) -> u64 {
    let low = (*range.start()).max(1);
    let high = (*range.end()).max(low);
    // log2 in 16.16 fixed point, linear within an octave: exact at the powers of two, and monotone
    // in between.
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

/// True with the given chance in a thousand.
pub fn chance(rng: &mut impl Rng, per_mille: u64) -> bool {
    uniform(rng, 0..=999) < per_mille
}

/// One of the items. Panics if there are none.
pub fn pick<'a, T>(rng: &mut impl Rng, items: &'a [T]) -> &'a T {
    let last = items.len().checked_sub(1).expect("pick needs at least one item");
    &items[uniform(rng, 0..=last as u64) as usize]
}

/// One of the items; `None`, without a draw, if there are none.
pub fn any<T: Copy>(rng: &mut impl Rng, items: &[T]) -> Option<T> {
    if items.is_empty() { None } else { Some(*pick(rng, items)) }
}

/// A random subset of at most `count` items, in their original order.
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
