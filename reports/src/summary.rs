//! The published form of one run and of many.
//!
//! In: findings with their causes. Out: a [`verdict`] over one history, the [`report`] of one run
//! and the [`sweep`] over many. [`stages`], the first of which are its [`facts`], make up a report.
//! A [`violation`] is a finding with its cause, its description and its name; an [`expectation`]
//! was stated before.

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
