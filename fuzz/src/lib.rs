//! Fuzz targets. `run.sh` runs them with libFuzzer, and `cargo test` on the stored inputs.

pub mod bench;
pub mod programs;
pub mod targets;

/// Splits an input into pieces. A piece begins with a byte for its kind and a byte for its length.
pub fn pieces(mut input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[kind, length], rest) = input.split_first_chunk()?;
        let (piece, rest) = rest.split_at(rest.len().min(usize::from(length)));
        input = rest;
        Some((kind, piece))
    })
}

/// Splits an input at the byte 0xff. The first byte of a part is its kind.
pub fn parts(input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    input
        .split(|byte| *byte == 0xff)
        .filter_map(|part| part.split_first())
        .map(|(first, rest)| (*first, rest))
}
