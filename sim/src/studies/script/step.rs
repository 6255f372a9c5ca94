use fencepost_faults::SimTime;
use fencepost_reports::Violation;
use serde_json::Value;

pub(super) const MARGIN_US: u64 = 500_000;
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) until: SimTime,
}

impl Span {
    pub(super) fn of(violation: &Violation) -> Span {
        Span { until: SimTime(violation.at_us.0 + MARGIN_US) }
    }

    pub(super) fn micros(self) -> u64 {
        self.until.0
    }
}

pub(super) struct Step {
    pub(super) at: SimTime,
    pub(super) class: Class,
    pub(super) what: Value,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Class {
    Fault,
    Reply,
    Client,
    Command,
}
