//! The fuzz targets, and what they share: machines without a network, and programs made of bytes.
//!
//! `run.sh` builds them with libFuzzer; `cargo test` replays their corpora without it.

pub mod bench;
pub mod programs;
pub mod targets;

/// Pieces of an input, each behind a byte that says what it is about, and one with its length: for
/// protocols that every byte belongs to.
pub fn pieces(mut input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[kind, length], rest) = input.split_first_chunk()?;
        let (piece, rest) = rest.split_at(rest.len().min(usize::from(length)));
        input = rest;
        Some((kind, piece))
    })
}

/// Parts of an input, separated by a byte that text does not have: what it is about, and the rest.
pub fn parts(input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    input
        .split(|byte| *byte == 0xff)
        .filter_map(|part| part.split_first())
        .map(|(first, rest)| (*first, rest))
}
