//! The meaning of a name in a report, for readers who are new to it.

/// The explanation of a name that `fencepost explain NAME` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// A description of the event in one sentence.
    pub what: &'static str,
    /// Conditions under which the event happens.
    pub how: &'static str,
    /// Measures that help, and measures that do not.
    pub helps: &'static str,
}
