//! Fuzz targets, listed in [`targets::TARGETS`]. `run.sh` builds them with libFuzzer, and `cargo
//! test` replays their corpora.

pub mod bench;
pub mod programs;
pub mod targets;

/// Splits an input into pieces. Each piece has a byte for its kind and a byte for its length, so
/// this is for protocols that use every byte.
pub fn pieces(mut input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[kind, length], rest) = input.split_first_chunk()?;
        let (piece, rest) = rest.split_at(rest.len().min(usize::from(length)));
        input = rest;
        Some((kind, piece))
    })
}

/// Splits an input into parts, the first byte of which is the kind. The separator never occurs in
/// text.
pub fn parts(input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    input
        .split(|byte| *byte == 0xff)
        .filter_map(|part| part.split_first())
        .map(|(first, rest)| (*first, rest))
}
