//! Tests the crate's public interface, with one file per subject.

mod aiming;
mod draws;
mod failovers;
mod families;
mod faults;
mod names;
mod plans;
mod settings;
mod shrinking;
mod snapshots;
mod streams;
