//! The meaning of a name in a report, for a first-time reader.

/// The meaning of one name, printed by `fencepost explain NAME`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// The event, in a sentence.
    pub what: &'static str,
    /// Its mechanism.
    pub how: &'static str,
    /// The measures that help, and those that do not.
    pub helps: &'static str,
}
