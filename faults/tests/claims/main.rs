//! What the crate promises, one file for each subject. Only the public interface is used.

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
