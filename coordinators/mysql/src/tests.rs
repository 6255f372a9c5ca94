//! Tests that need to see inside, or to move the clocks.

mod anything;
mod depth;
mod tables;
mod taps;
mod time;
mod world;
