//! Tests of a simulated cell, and of one replica alone.

mod anything;
mod cell;
mod locks;
mod world;
