//! Tests of the whole machine: a cluster in a small world of its own, and bytes of any kind.

mod anything;
mod cluster;
mod taps;
mod world;
