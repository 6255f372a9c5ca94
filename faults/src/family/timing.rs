//! Draws start times and durations, usually in whole milliseconds, so that plans are readable.

use super::Incident;
use crate::draw::{any, chance, log_uniform, uniform};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::{Setting, Spans};
use crate::time::{Micros, SimTime};
use rand_core::Rng;

pub(super) fn starts(rng: &mut impl Rng, setting: &Setting) -> Vec<SimTime> {
    let counts = setting.knobs.counts;
    let count = uniform(rng, u64::from(counts.min)..=u64::from(counts.max));
    starts_of(rng, setting, count)
}

pub(super) fn starts_of(rng: &mut impl Rng, setting: &Setting, count: u64) -> Vec<SimTime> {
    let window = setting.window;
    let part = window.length().as_micros() / count.max(1);
    (0..count)
        .map(|index| {
            let offset = uniform(rng, index * part..=(index + 1) * part);
            window.nearest(window.begin_us + whole_millis(Micros(offset)))
        })
        .collect()
}

pub(super) fn traps(
    rng: &mut impl Rng,
    setting: &Setting,
    trap: fn(server: Node, client: Node, duration_us: Micros) -> Fault,
) -> Vec<Incident> {
    let (clients, servers) = (setting.clients(), setting.servers());
    let starts = starts(rng, setting);
    let drawn = |at| {
        let (server, client) = (any(rng, &servers)?, any(rng, &clients)?);
        let duration_us = span(rng, setting.knobs.lost_reply);
        Some(Incident::lone(at, trap(server, client, duration_us)))
    };
    starts.into_iter().filter_map(drawn).collect()
}

pub(super) fn span(rng: &mut impl Rng, spans: Spans) -> Micros {
    let (min, max) = (spans.min_us.as_micros(), spans.max_us.as_micros());
    let drawn = if min == 0 { uniform(rng, 0..=max) } else { log_uniform(rng, min..=max) };
    whole_millis(Micros(drawn)).max(spans.min_us)
}

pub(super) fn span_often_past(rng: &mut impl Rng, spans: Spans, threshold: Micros) -> Micros {
    let least =
        if chance(rng, 500) { threshold.min(spans.max_us).max(spans.min_us) } else { spans.min_us };
    span(rng, Spans::new(least, spans.max_us))
}

pub(super) fn up_to(rng: &mut impl Rng, max: Micros) -> Micros {
    whole_millis(Micros(uniform(rng, 0..=max.as_micros())))
}

pub(super) fn before(at: SimTime, lead: Micros) -> SimTime {
    SimTime(at.as_micros().saturating_sub(lead.as_micros()))
}

fn whole_millis(span: Micros) -> Micros {
    if span.as_millis() == 0 { span } else { Micros::from_millis(span.as_millis()) }
}
