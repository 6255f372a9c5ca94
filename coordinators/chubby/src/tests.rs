//! A cell in a small world, and one replica on a bench.

mod anything;
mod cell;
mod locks;
mod world;
