//! Runs all plans within the bounds in parallel, and adds up the results.

pub(crate) mod trial;

pub(crate) mod sum;

pub(crate) mod ledger;

pub(crate) mod work;

pub(crate) mod survey;

pub(crate) mod firsts;
