//! Tests of the whole machine: a cluster in a small world, and arbitrary bytes.

mod anything;
mod cluster;
mod taps;
mod world;
