//! Tests of complete servers: standalone, in an ensemble under faults, and with invalid bytes.

mod anything;
mod bounds;
mod client;
mod ensemble;
mod sessions;
mod settling;
mod taps;
mod world;
