//! Tests of the whole machine, with a cluster in a small world and with arbitrary bytes.

mod anything;
mod cluster;
mod taps;
mod world;
