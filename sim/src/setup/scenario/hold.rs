use crate::setup::span::{InvalidSpan, SpanRange};
use fencepost_faults::as_text;
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Drawn log-uniformly from a range.
    Drawn(SpanRange),
    /// Until the end of the validity that the lock reports, or for a ttl if the lock reports none.
    UntilValidity,
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::Drawn(range) => range.fmt(f),
            Hold::UntilValidity => f.write_str("until-validity"),
        }
    }
}

impl std::str::FromStr for Hold {
    type Err = InvalidSpan;

    fn from_str(text: &str) -> Result<Hold, Self::Err> {
        if text == "until-validity" {
            Ok(Hold::UntilValidity)
        } else {
            text.parse().map(Hold::Drawn)
        }
    }
}

as_text!(Hold, "A range of durations, like 10ms..8s, or `until-validity`.");
