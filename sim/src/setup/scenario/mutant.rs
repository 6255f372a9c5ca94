//! Which mistake is planted in a run, if one is.

/// The name of a mistake in the table of `hosts::mutants`. It is planted where a lock's bytes pass
/// or in its servers; no scenario file can ask for one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mutant(pub &'static str);
