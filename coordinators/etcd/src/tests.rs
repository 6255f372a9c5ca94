//! Tests of complete servers: in a simulated cluster, and with arbitrary bytes.

mod anything;
mod cluster;
mod taps;
mod world;
