//! Tests of whole servers: alone, in an ensemble under faults, and under bytes that make no sense.

mod anything;
mod bounds;
mod client;
mod ensemble;
mod sessions;
mod settling;
mod taps;
mod world;
