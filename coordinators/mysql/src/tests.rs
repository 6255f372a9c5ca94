//! Tests that inspect internals or move the clocks.

mod anything;
mod depth;
mod tables;
mod taps;
mod time;
mod world;
