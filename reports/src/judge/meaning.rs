//! Explanations of the names in a report, for `fencepost explain NAME`.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    pub how: &'static str,
    pub helps: &'static str,
}
