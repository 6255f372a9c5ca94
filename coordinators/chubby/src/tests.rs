//! Tests of a cell in a small world, and of one replica alone.

mod anything;
mod cell;
mod locks;
mod world;
