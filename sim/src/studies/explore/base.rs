//! Base runs: fixed latencies, fixed starts, no fault.

use super::bounds::Bounds;
use crate::setup::scenario::{Hold, Scenario, SlowLink};
use crate::setup::span::{Span, SpanRange};
use fencepost_faults::Micros;
use fencepost_faults::setting::Setting;

/// The conditions of some runs.
pub(super) struct Base {
    /// For people.
    pub(super) name: String,
    pub(super) scenario: Scenario,
}

/// Every class of latencies with every class of starts.
///
/// Latencies: on every link the least, on every link the most, and, for each link of a process to a
/// server or to the storage, the most there and the least elsewhere. Starts: all processes at once
/// (the order of the hosts decides), and each half a hold after the one before it.
pub(super) fn bases(bounds: &Bounds) -> Vec<Base> {
    let scenario = &bounds.scenario;
    let setting = scenario.setting(scenario.topology(bounds.client, &bounds.families));
    let starts = [
        ("all start at once", Span::default()),
        ("each starts half a hold after the one before it", half_a_hold(scenario)),
    ];
    let latencies = latencies(scenario, &setting);
    let of = |(start, stagger): &(&str, Span)| {
        let (start, stagger) = (*start, *stagger);
        let base = move |(name, latency, slow_link): &(String, SpanRange, Option<SlowLink>)| Base {
            name: format!("{name}; {start}"),
            scenario: Scenario {
                latency: *latency,
                slow_link: *slow_link,
                stagger,
                ..scenario.clone()
            },
        };
        latencies.iter().map(base).collect::<Vec<_>>()
    };
    starts.iter().flat_map(of).collect()
}

fn latencies(scenario: &Scenario, setting: &Setting) -> Vec<(String, SpanRange, Option<SlowLink>)> {
    let SpanRange { min, max } = scenario.latency;
    let all =
        |span: Span| (format!("every message takes {span}"), SpanRange::new(span, span), None);
    if min == max {
        return vec![all(min)];
    }
    let servers = [setting.servers(), setting.sentinels(), vec![fencepost_faults::Node::Storage]];
    let slow = setting.clients().into_iter().flat_map(|client| {
        let link = move |server| {
            let link = SlowLink::new(client, server);
            let name = format!("messages between {client} and {server} take {max}, others {min}");
            (name, SpanRange::new(min, max), Some(link))
        };
        servers.concat().into_iter().map(link)
    });
    [all(min), all(max)].into_iter().chain(slow).collect()
}

fn half_a_hold(scenario: &Scenario) -> Span {
    let hold = match scenario.hold {
        Hold::Drawn(range) => range.max,
        Hold::UntilValidity => scenario.ttl,
    };
    Span(Micros(hold.0.0 / 2))
}
