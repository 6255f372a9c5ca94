//! What the names in a report mean, for somebody who meets them for the first time: a rule that was
//! broken ([`of_kind`]); of a cause, its file says it. `fencepost explain NAME` prints it.

mod kinds;

pub use kinds::of_kind;

/// The meaning of one name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// What happened, in a sentence.
    pub what: &'static str,
    /// How it comes about.
    pub how: &'static str,
    /// What helps, and what does not.
    pub helps: &'static str,
}
