//! Tests that inspect the server's internal state or move its clocks.

mod anything;
mod depth;
mod tables;
mod taps;
mod time;
mod world;
