//! Tests of servers in a small world.

mod anything;
mod locks;
mod membership;
mod reality;
mod world;
