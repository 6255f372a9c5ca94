//! Tests of whole servers: in a cluster in a small world, and with arbitrary bytes.

mod anything;
mod cluster;
mod taps;
mod world;
