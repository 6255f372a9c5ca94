//! Base runs, with fixed latencies, fixed start times and no fault.

use super::bounds::Bounds;
use crate::run::RunSpec;
use crate::setup::scenario::{Hold, Scenario, SlowLink, Timing};
use crate::setup::span::{Span, SpanRange};
use fencepost_faults::setting::Setting;
use fencepost_faults::{Family, FaultPlan, Micros};
use std::rc::Rc;

pub(crate) struct Base {
    pub(crate) name: String,
    pub(crate) scenario: Scenario,
}

impl Bounds {
    pub(crate) fn spec(&self, base: &Base, plan: FaultPlan) -> RunSpec {
        let is_calm = plan.faults.is_empty();
        let families = match self.delays {
            0 => self.families.clone(),
            _ => self.families.clone().with(Family::Latency),
        };
        RunSpec {
            seed: self.seed,
            client: self.client,
            families: if is_calm { Family::None.into() } else { families },
            scenario: Rc::new(base.scenario.clone()),
            plan,
        }
    }
}

/// Returns the base runs. Latencies are all minimal, all maximal, or maximal only on one link of a
/// process. Processes start together, or at intervals of half a critical section.
pub(crate) fn bases(bounds: &Bounds) -> Vec<Base> {
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
                stagger,
                timing: Timing {
                    latency: *latency,
                    slow_link: *slow_link,
                    ..scenario.timing.clone()
                },
                ..scenario.clone()
            },
        };
        latencies.iter().map(base).collect::<Vec<_>>()
    };
    starts.iter().flat_map(of).collect()
}

fn latencies(scenario: &Scenario, setting: &Setting) -> Vec<(String, SpanRange, Option<SlowLink>)> {
    let SpanRange { min, max } = scenario.timing.latency;
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
