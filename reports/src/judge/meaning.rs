//! Explanations of the names in a report, for readers who are new to them.

/// `fencepost explain NAME` prints this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// One sentence about the event.
    pub what: &'static str,
    /// Conditions under which the event happens.
    pub how: &'static str,
    /// Measures that help, and measures that do not.
    pub helps: &'static str,
}
