//! Tests of the whole machine: in a cluster in a small world, and with arbitrary bytes.

mod anything;
mod cluster;
mod taps;
mod world;
