//! Tests of the server through its messages, with a simulated clock and disk.

mod anything;
mod depth;
mod replication;
mod serializable;
mod taps;
mod time;
mod transactions;
mod world;
