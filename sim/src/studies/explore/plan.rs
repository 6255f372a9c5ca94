//! Enumerates the plans within bounds, and prunes equivalent plans.

pub(crate) mod rule;

pub(crate) mod level;

pub(crate) mod bounds;

pub(crate) mod base;

pub(crate) mod scout;

pub(crate) mod site;

pub(crate) mod magnitude;

pub(crate) mod order;

pub(crate) mod prune;

pub(crate) mod place;

pub(crate) mod validate;
