//! Explanations of the names in a report, for `fencepost explain NAME`.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// One sentence about the event.
    pub what: &'static str,
    /// Conditions of the event.
    pub how: &'static str,
    /// Measures that help, and measures that do not.
    pub helps: &'static str,
}
