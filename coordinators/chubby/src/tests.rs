//! Tests of a cell in a small world, and of one replica on a bench.

mod anything;
mod cell;
mod locks;
mod world;
