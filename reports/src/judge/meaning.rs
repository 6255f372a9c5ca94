//! What a name in a report means, for somebody who meets it for the first time. Each checker and
//! each cause has one.

/// The meaning of one name: `fencepost explain NAME` prints it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// What happened, in a sentence.
    pub what: &'static str,
    /// How it comes about.
    pub how: &'static str,
    /// What helps, and what does not.
    pub helps: &'static str,
}
