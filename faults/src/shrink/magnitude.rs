//! The magnitudes of a fault, such as durations and clock rates, each as a signed number.

use crate::fault::Fault;
use crate::node::Node;
use crate::time::Micros;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// A field of a fault that can be reduced. The name contains the unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Magnitude {
    /// Duration of the fault, in microseconds.
    DurationUs,
    /// Downtime of a crashed node, in microseconds. A node that never restarts has none.
    DownUs,
    /// Maximum delay added to a message, in microseconds. The maximum also caps the minimum delay.
    ExtraUsMax,
    /// Minimum delay added to a message, in microseconds.
    ExtraUsMin,
    /// Time added to each command, in microseconds.
    ExtraUs,
    /// Rate of a clock's drift, in parts per million.
    RatePpm,
    /// Size of a clock step, in microseconds; negative for a step back.
    OffsetUs,
}

impl Magnitude {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn in_words(self) -> &'static str {
        match self {
            Magnitude::DurationUs => "duration",
            Magnitude::DownUs => "downtime",
            Magnitude::ExtraUsMax => "maximum delay",
            Magnitude::ExtraUsMin => "minimum delay",
            Magnitude::ExtraUs => "delay of each command",
            Magnitude::RatePpm => "clock rate",
            Magnitude::OffsetUs => "clock step",
        }
    }

    /// Returns the step of the minimization: a millisecond, or one part per million.
    pub fn step(self) -> u64 {
        if self == Magnitude::RatePpm { 1 } else { 1_000 }
    }
}

pub fn magnitudes(fault: &Fault) -> Vec<(Magnitude, i64)> {
    let us = |span: &Micros| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    match fault {
        Fault::Pause { duration_us, .. }
        | Fault::Suspend { duration_us, .. }
        | Fault::Partition { duration_us, .. }
        | Fault::LostReply { duration_us, .. }
        | Fault::LostRequest { duration_us, .. } => {
            vec![(Magnitude::DurationUs, us(duration_us))]
        }
        Fault::Crash { down_us, .. } | Fault::PowerLoss { down_us, .. } => {
            down_us.iter().map(|down| (Magnitude::DownUs, us(down))).collect()
        }
        Fault::Delay { extra_us_min, extra_us_max, duration_us, .. } => vec![
            (Magnitude::DurationUs, us(duration_us)),
            (Magnitude::ExtraUsMax, us(extra_us_max)),
            (Magnitude::ExtraUsMin, us(extra_us_min)),
        ],
        Fault::ClockDrift { rate_ppm, duration_us, .. } => {
            vec![
                (Magnitude::DurationUs, us(duration_us)),
                (Magnitude::RatePpm, i64::from(*rate_ppm)),
            ]
        }
        Fault::ClockJump { offset_us, .. } => vec![(Magnitude::OffsetUs, *offset_us)],
        Fault::SlowServer { extra_us, duration_us, .. } => {
            vec![(Magnitude::DurationUs, us(duration_us)), (Magnitude::ExtraUs, us(extra_us))]
        }
        Fault::Evict { .. }
        | Fault::FlushAll { .. }
        | Fault::Promote { .. }
        | Fault::Operator { .. } => Vec::new(),
    }
}

pub fn with_magnitude(fault: &Fault, magnitude: Magnitude, value: i64) -> Fault {
    let mut fault = fault.clone();
    let span = Micros(value.unsigned_abs());
    match (&mut fault, magnitude) {
        (
            Fault::Pause { duration_us, .. }
            | Fault::Suspend { duration_us, .. }
            | Fault::Partition { duration_us, .. }
            | Fault::LostReply { duration_us, .. }
            | Fault::LostRequest { duration_us, .. }
            | Fault::Delay { duration_us, .. }
            | Fault::ClockDrift { duration_us, .. }
            | Fault::SlowServer { duration_us, .. },
            Magnitude::DurationUs,
        ) => *duration_us = span,
        (Fault::Crash { down_us, .. } | Fault::PowerLoss { down_us, .. }, Magnitude::DownUs) => {
            *down_us = Some(span)
        }
        (Fault::Delay { extra_us_min, extra_us_max, .. }, Magnitude::ExtraUsMax) => {
            *extra_us_max = span;
            *extra_us_min = span.min(*extra_us_min);
        }
        (Fault::Delay { extra_us_min, .. }, Magnitude::ExtraUsMin) => *extra_us_min = span,
        (Fault::SlowServer { extra_us, .. }, Magnitude::ExtraUs) => *extra_us = span,
        (Fault::ClockDrift { rate_ppm, .. }, Magnitude::RatePpm) => {
            *rate_ppm = i32::try_from(value).unwrap_or(*rate_ppm);
        }
        (Fault::ClockJump { offset_us, .. }, Magnitude::OffsetUs) => *offset_us = value,
        _ => {}
    }
    fault
}

pub(super) fn node_lists(fault: &mut Fault) -> Vec<&mut Vec<Node>> {
    match fault {
        Fault::Partition { side_a, side_b, .. } => vec![side_a, side_b],
        Fault::Delay { from, to, .. } => vec![from, to],
        _ => Vec::new(),
    }
}
