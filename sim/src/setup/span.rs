//! Time spans and their texts, such as `250us`, `1.5s` and `50ms..200ms`.

use fencepost_faults::{Micros, as_text};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Span(pub Micros);

/// A range of time spans, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpanRange {
    pub min: Span,
    pub max: Span,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidSpan {
    #[error("duration '{0}': expected a number with a unit, like 250us, 20ms, 10s, 1.5s or 1m")]
    Span(String),
    #[error("range '{0}': expected the shorter duration first, like 50ms..200ms")]
    Reversed(String),
}

impl Span {
    pub const fn millis(millis: u64) -> Span {
        Span(Micros::from_millis(millis))
    }

    pub const fn secs(secs: u64) -> Span {
        Span(Micros::from_secs(secs))
    }
}

impl SpanRange {
    /// `max` must not be shorter than `min`.
    pub const fn new(min: Span, max: Span) -> SpanRange {
        SpanRange { min, max }
    }

    pub fn micros(self) -> RangeInclusive<u64> {
        self.min.0.0..=self.max.0.0
    }

    pub fn durations(self) -> RangeInclusive<Duration> {
        self.min.into()..=self.max.into()
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        span.0.into()
    }
}

impl FromStr for Span {
    type Err = InvalidSpan;

    fn from_str(text: &str) -> Result<Span, InvalidSpan> {
        let invalid = || InvalidSpan::Span(text.to_owned());
        let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(invalid)?;
        let (number, unit) = text.split_at(unit_at);
        let unit_us: u64 = match unit {
            "us" | "µs" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            "m" | "min" => 60_000_000,
            "h" => 3_600_000_000,
            _ => return Err(invalid()),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole: u64 = whole.parse().map_err(|_| invalid())?;
        let fraction = match fraction {
            "" if number.contains('.') => return Err(invalid()),
            "" => 0,
            digits if digits.len() > 9 => return Err(invalid()),
            digits => {
                let scale = 10_u64.pow(digits.len() as u32);
                u128::from(digits.parse::<u64>().map_err(|_| invalid())?) * u128::from(unit_us)
                    / u128::from(scale)
            }
        };
        let micros = whole
            .checked_mul(unit_us)
            .and_then(|us| us.checked_add(fraction as u64))
            .ok_or_else(invalid)?;
        if micros > 366 * 24 * 3_600_000_000 { Err(invalid()) } else { Ok(Span(Micros(micros))) }
    }
}

impl FromStr for SpanRange {
    type Err = InvalidSpan;

    fn from_str(text: &str) -> Result<SpanRange, InvalidSpan> {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        let (min, max) = (min.parse()?, max.parse()?);
        if min > max {
            Err(InvalidSpan::Reversed(text.to_owned()))
        } else {
            Ok(SpanRange { min, max })
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for SpanRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max { self.min.fmt(f) } else { write!(f, "{}..{}", self.min, self.max) }
    }
}

as_text!(Span, "A duration with its unit, like 250us, 20ms or 10s.");
as_text!(SpanRange, "A duration, or a range of durations like 50ms..200ms.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_they_are_written() {
        for text in ["250us", "20ms", "10s", "1.5s", "3.00025s", "0us"] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.to_string(), text);
        }
        assert_eq!("1m".parse::<Span>().unwrap(), Span::secs(60));
        assert_eq!("1.5s".parse::<Span>().unwrap(), Span::millis(1_500));
        assert_eq!("50ms..200ms".parse::<SpanRange>().unwrap().to_string(), "50ms..200ms");
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in
            ["", "10", "s", "-1s", "1.s", "1 s", "1d", "99999999999999999999s", "9999h0", "1e3s"]
        {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
        assert!("5s..1s".parse::<SpanRange>().is_err());
    }
}
