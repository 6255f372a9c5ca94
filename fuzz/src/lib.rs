//! What the fuzz targets share: machines without a network, and programs made of bytes.

pub mod bench;
pub mod programs;

/// Parts of an input, separated by a byte that text does not have: what it is about, and the rest.
pub fn parts(input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    input
        .split(|byte| *byte == 0xff)
        .filter_map(|part| part.split_first())
        .map(|(first, rest)| (*first, rest))
}
