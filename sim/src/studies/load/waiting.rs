use crate::setup::span::{Span, SpanRange};
use fencepost_clients::Env;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

pub(super) const OWN_RETRY: SpanRange = SpanRange::new(Span::millis(10), Span::millis(30));

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// Retries immediately after each reply.
    None,
    Fixed(Span),
    Random(SpanRange),
    /// Each delay is drawn uniformly from 0 to a bound. The bound starts at the range's minimum,
    /// and each attempt doubles the bound up to the maximum.
    Exponential(SpanRange),
    /// The lock's own way of waiting, such as publish/subscribe.
    Own,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "--waiting '{0}': expected none, fixed:20ms, random:10ms..30ms, exponential:10ms..320ms or own"
)]
pub struct InvalidWaiting(String);

impl Waiting {
    pub(super) fn pause(self, attempt: u32, env: &Env) -> Duration {
        match self {
            Waiting::None | Waiting::Own => Duration::ZERO,
            Waiting::Fixed(span) => span.into(),
            Waiting::Random(range) => env.jitter(&range.durations()),
            Waiting::Exponential(range) => {
                let bound = range.min.0.0.saturating_mul(1 << attempt.min(40)).min(range.max.0.0);
                env.jitter(&(Duration::ZERO..=Duration::from_micros(bound)))
            }
        }
    }
}

impl FromStr for Waiting {
    type Err = InvalidWaiting;

    fn from_str(text: &str) -> Result<Waiting, InvalidWaiting> {
        let invalid = || InvalidWaiting(text.to_owned());
        match text.split_once(':') {
            None if text == "none" => Ok(Waiting::None),
            None if text == "own" => Ok(Waiting::Own),
            Some(("fixed", span)) => span.parse().map(Waiting::Fixed).map_err(|_| invalid()),
            Some(("random", range)) => range.parse().map(Waiting::Random).map_err(|_| invalid()),
            Some(("exponential", range)) => {
                range.parse().map(Waiting::Exponential).map_err(|_| invalid())
            }
            _ => Err(invalid()),
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Waiting::None => f.write_str("none"),
            Waiting::Own => f.write_str("own"),
            Waiting::Fixed(span) => write!(f, "fixed:{span}"),
            Waiting::Random(range) => write!(f, "random:{range}"),
            Waiting::Exponential(range) => write!(f, "exponential:{range}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_read_as_they_are_written() {
        for text in ["none", "own", "fixed:20ms", "random:10ms..30ms", "exponential:10ms..320ms"] {
            assert_eq!(text.parse::<Waiting>().unwrap().to_string(), text);
        }
        for text in ["", "fixed", "fixed:x", "none:3ms", "random:9ms..3ms"] {
            assert!(text.parse::<Waiting>().is_err(), "{text}");
        }
    }
}
