//! The [`Meaning`] of a name in a report, for a first-time reader.

/// The meaning of one name, printed by `fencepost explain NAME`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// A description of the event in one sentence.
    pub what: &'static str,
    /// The mechanism that leads to the event.
    pub how: &'static str,
    /// Measures that help, and measures that do not.
    pub helps: &'static str,
}
