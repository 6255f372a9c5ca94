//! The published results of one run and of many runs.

pub mod expectation;
pub mod facts;
pub mod published;
pub mod report;
pub mod stages;
pub mod sweep;
pub mod verdict;
pub mod violation;

#[cfg(test)]
mod wild_tests;
