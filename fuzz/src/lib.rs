//! Fuzz targets. `run.sh` builds them with libFuzzer; `cargo test` replays their corpora.

pub mod bench;
pub mod programs;
pub mod targets;

/// Pieces with a kind and a length, each a byte. For protocols that use every byte.
pub fn pieces(mut input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[kind, length], rest) = input.split_first_chunk()?;
        let (piece, rest) = rest.split_at(rest.len().min(usize::from(length)));
        input = rest;
        Some((kind, piece))
    })
}

/// Parts with a kind, their first byte. The separator never occurs in text.
pub fn parts(input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    input
        .split(|byte| *byte == 0xff)
        .filter_map(|part| part.split_first())
        .map(|(first, rest)| (*first, rest))
}
