//! Faults late in a run, which a probe that starts too early would hide.

use super::{Bounds, Micros, Span, SpanRange, bounds, counterexample};
use crate::setup::scenario::Hold;

fn fixed(secs: u64) -> SpanRange {
    SpanRange::new(Span::secs(secs), Span::secs(secs))
}

#[track_caller]
fn is_broken_after(secs: u64, bounds: &Bounds) {
    let planned = counterexample(bounds);
    let at = planned.plan.faults[0].at_us;
    assert!(at.0 > secs * 1_000_000, "{planned:?}");
}

#[test]
fn a_fault_after_a_long_think_is_tried() {
    let mut bounds = bounds("set-ex-del", "pause", 1);
    bounds.scenario.think = fixed(180);
    is_broken_after(180, &bounds);
}

#[test]
fn a_fault_after_a_long_critical_section_is_tried() {
    let mut bounds = bounds("mysql-get-lock", "client-crash", 1);
    bounds.scenario.timing.latency = SpanRange::new(Span(Micros(200)), Span::millis(2));
    bounds.scenario.hold = Hold::Drawn(fixed(130));
    bounds.scenario.calls.acquire_timeout = Span::secs(600);
    is_broken_after(120, &bounds);
}

#[test]
fn a_late_storage_request_after_a_long_critical_section_is_tried() {
    let mut bounds = bounds("checked", "storage-delay", 1);
    bounds.scenario.hold = Hold::Drawn(fixed(130));
    bounds.scenario.ttl = Span::secs(150);
    bounds.scenario.calls.acquire_timeout = Span::secs(600);
    bounds.longest = Bounds::usual_longest(bounds.client, &bounds.families, &bounds.scenario);
    is_broken_after(120, &bounds);
}
