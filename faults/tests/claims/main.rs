//! The promises of the crate, one file per subject, through the public interface only.

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
