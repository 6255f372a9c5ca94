//! How a command ended, as an exit status.

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// No violation, or all as expected.
    AsExpected,
    /// Nothing was exercised.
    Unknown,
    /// A violation, or something not as expected.
    Violated,
    /// SIGINT ended it, whatever it had found.
    Interrupted,
    /// SIGTERM ended it, whatever it had found.
    Terminated,
}

impl Outcome {
    /// The exit status. A failure is 2.
    pub fn status(self) -> u8 {
        match self {
            Outcome::AsExpected => 0,
            Outcome::Violated => 1,
            Outcome::Unknown => 3,
            // As a shell tells of a command that the signal killed.
            Outcome::Interrupted => 130,
            Outcome::Terminated => 143,
        }
    }
}
