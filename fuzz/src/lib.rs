//! Fuzz targets, and their shared support: machines without a network, and programs encoded in
//! bytes.
//!
//! `run.sh` builds them with libFuzzer; `cargo test` replays their corpora without it.

pub mod bench;
pub mod programs;
pub mod targets;

/// Splits an input into pieces, each preceded by a byte for its kind and a byte for its length. For
/// protocols that use every byte.
pub fn pieces(mut input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[kind, length], rest) = input.split_first_chunk()?;
        let (piece, rest) = rest.split_at(rest.len().min(usize::from(length)));
        input = rest;
        Some((kind, piece))
    })
}

/// Splits an input at a byte that text never contains. Returns the first byte of each part, its
/// kind, and the rest.
pub fn parts(input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    input
        .split(|byte| *byte == 0xff)
        .filter_map(|part| part.split_first())
        .map(|(first, rest)| (*first, rest))
}
