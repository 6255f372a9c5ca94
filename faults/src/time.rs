use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// A point in virtual time, in microseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SimTime(pub u64);

/// A duration in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Micros(pub u64);

impl SimTime {
    pub const ZERO: SimTime = SimTime(0);
    /// A time later than any event in any run.
    pub const NEVER: SimTime = SimTime(u64::MAX);

    pub const fn as_micros(self) -> u64 {
        self.0
    }

    pub const fn since(self, earlier: SimTime) -> Micros {
        Micros(self.0.saturating_sub(earlier.0))
    }
}

impl Micros {
    pub const ZERO: Micros = Micros(0);

    pub const fn from_millis(millis: u64) -> Micros {
        Micros(millis * 1_000)
    }

    pub const fn from_secs(secs: u64) -> Micros {
        Micros(secs * 1_000_000)
    }

    pub const fn as_micros(self) -> u64 {
        self.0
    }

    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }
}

impl From<Micros> for Duration {
    fn from(span: Micros) -> Duration {
        Duration::from_micros(span.0)
    }
}

impl From<Duration> for Micros {
    fn from(span: Duration) -> Micros {
        Micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Add<Micros> for SimTime {
    type Output = SimTime;
    fn add(self, span: Micros) -> SimTime {
        SimTime(self.0.saturating_add(span.0))
    }
}

impl Add for Micros {
    type Output = Micros;
    fn add(self, other: Micros) -> Micros {
        Micros(self.0.saturating_add(other.0))
    }
}

impl Sub for Micros {
    type Output = Micros;
    fn sub(self, other: Micros) -> Micros {
        Micros(self.0.saturating_sub(other.0))
    }
}

/// Formats as `3s`, `3.250s` or `3.250100s`, and times below one second as [`Micros`].
impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            us if us < 1_000_000 => return Micros(us).fmt(f),
            us if us % 1_000_000 == 0 => format!("{}s", us / 1_000_000),
            us if us % 1_000 == 0 => format!("{}.{:03}s", us / 1_000_000, us / 1_000 % 1_000),
            us => format!("{}.{:06}s", us / 1_000_000, us % 1_000_000),
        };
        f.pad(&text)
    }
}

/// Formats in the largest unit that fits: `250us`, `74.9ms`, `3.25s`.
impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (per_unit, digits, unit) = match self.0 {
            us if us < 1_000 => (1, 0, "us"),
            us if us < 1_000_000 => (1_000, 3, "ms"),
            _ => (1_000_000, 6, "s"),
        };
        let (whole, rest) = (self.0 / per_unit, self.0 % per_unit);
        let text = match rest {
            0 => format!("{whole}{unit}"),
            rest => {
                let decimals = format!("{rest:0digits$}");
                format!("{whole}.{}{unit}", decimals.trim_end_matches('0'))
            }
        };
        f.pad(&text)
    }
}
