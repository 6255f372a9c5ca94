//! What is published of one run and of many.
//!
//! In: findings with their causes. Out: a [`verdict`] over one history, the [`report`] of one run
//! and the [`sweep`] over many. A report is joined from [`stages`], the first of which are its
//! [`facts`]. A [`violation`] is a finding with its cause, its words and its name; an
//! [`expectation`] is what somebody had said before.

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
