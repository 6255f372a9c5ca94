use crate::setup::span::Span;
use crate::studies::explore::plan::bounds::{Bounds, Grain};
use crate::studies::explore::plan::rule::Rule;
use crate::studies::explore::plan::site::shortest_trap;
use fencepost_faults::Family;
use fencepost_faults::family::away_at_least;
use fencepost_faults::setting::{FailoverBy, Topology};

pub(crate) fn claim(bounds: &Bounds, conditions: usize) -> String {
    let client = bounds.client.name;
    let runs = runs(bounds, conditions);
    let orders = orders(bounds);
    if bounds.faults == 0 {
        return format!("No run without a fault breaks a rule of {client}. {runs}{orders}");
    }
    let count = if bounds.faults == 1 { "one fault" } else { "at most two faults" };
    format!(
        "No plan with {count} of {} breaks a rule of {client}. {runs} Faults begin just before and \
         just after every event of the run so far, at every target.{}{}{orders}",
        bounds.families,
        lengths(bounds),
        fixed(bounds)
    )
}

fn runs(bounds: &Bounds, conditions: usize) -> String {
    let scenario = &bounds.scenario;
    let servers = match scenario.topology(bounds.client, &bounds.families) {
        Topology::Standalone => "one server".to_owned(),
        Topology::Replicated { replicas, .. } => format!("a primary with {replicas} replicas"),
        Topology::Independent { masters, quorum } => {
            format!("{masters} independent masters (quorum {quorum})")
        }
        Topology::Ensemble { servers } => format!("an ensemble of {servers} servers"),
        Topology::Standby { .. } => "a primary with a standby".to_owned(),
    };
    let (processes, cycles) = (scenario.processes, scenario.cycles);
    format!(
        "Each run has {processes} processes with {cycles} {} each, {servers}, a lease of {} and \
         critical sections of {}, under one of {conditions} combinations of fixed latencies and \
         start times.",
        if cycles == 1 { "cycle" } else { "cycles" },
        scenario.ttl,
        scenario.hold
    )
}

fn lengths(bounds: &Bounds) -> String {
    if bounds.families.chosen().all(|family| family == Family::Failover) {
        return String::new();
    }
    let is_fine = bounds.grain == Grain::Fine;
    let by_checks = if is_fine && bounds.most().depth() > 1 {
        "just after each time that the network checks the partition and, if the plan is extended, \
         just before the next time"
    } else if is_fine {
        "just after each time that the network checks the partition"
    } else {
        "just after each time that the network checks the partition without checking it again \
         within a round trip"
    };
    let by_timers = if is_fine {
        "just after each timer or event and just before the next one"
    } else {
        "halfway between any two timers or events that are further apart than a round trip"
    };
    let is_partition = |family: Family| family == Family::Partition;
    let has_checks = bounds.rules.contains(&Rule::Gap);
    let ends = match has_checks && bounds.families.chosen().any(is_partition) {
        false => by_timers.to_owned(),
        true if bounds.families.chosen().all(is_partition) => by_checks.to_owned(),
        true => format!("{by_timers} (a partition {by_checks})"),
    };
    format!(" They end {ends}, and last up to {}.", bounds.longest)
}

fn orders(bounds: &Bounds) -> String {
    let latency = bounds.scenario.timing.latency;
    let count = match bounds.delays {
        0 => return String::new(),
        1 => "at most one message (all that one machine sends another at one instant) arrives",
        _ => "at most two messages (all that one machine sends another at one instant) arrive",
    };
    let places = match bounds.grain {
        Grain::Fine => {
            "together with a later message, timer or end of a lease at the receiver, or just after \
             it"
        }
        Grain::Coarse => "just after a later message, timer or end of a lease at the receiver",
    };
    format!(
        " In each run, {count} late: {places}, at every such place that latencies of up to {} \
         allow.",
        latency.max
    )
}

fn fixed(bounds: &Bounds) -> String {
    let (mut said, scenario) = (String::new(), &bounds.scenario);
    for family in bounds.families.chosen() {
        let delay = scenario.faults.restart_delay;
        match family {
            Family::Restart if delay.min == delay.max => {
                said.push_str(&format!(" Servers are back after {}.", delay.min));
            }
            Family::Restart => {
                said.push_str(&format!(" Servers are back after {} or {}.", delay.min, delay.max));
            }
            Family::Failover => said.push_str(&failures(bounds)),
            Family::LostReply | Family::LostRequest => said.push_str(&format!(
                " The next {} within {} or {} is lost.",
                if family == Family::LostReply { "reply" } else { "request" },
                Span(shortest_trap(&bounds.scenario)),
                bounds.longest
            )),
            Family::ClientCrash => said.push_str(" Some processes crash for good."),
            Family::Partition => said.push_str(
                " A partition separates the two machines of one link, in one or both directions, \
                 or one machine from all machines of the other side.",
            ),
            Family::Latency | Family::StorageDelay => said
                .push_str(" A delay holds up all that one machine sends another at one instant."),
            _ => {}
        }
    }
    said
}

fn failures(bounds: &Bounds) -> String {
    let scenario = &bounds.scenario;
    let setting = scenario.setting(scenario.topology(bounds.client, &bounds.families));
    let who = match (setting.topology, setting.knobs.failover_by) {
        (Topology::Replicated { .. }, FailoverBy::Drawn) => {
            "The first primary crashes, loses power, is paused, or is isolated alone or with one \
             process"
        }
        (Topology::Replicated { .. }, FailoverBy::Crash) => {
            "The first primary crashes or loses power"
        }
        (Topology::Replicated { .. }, FailoverBy::Isolation) => {
            "The first primary is isolated alone or with one process"
        }
        (Topology::Replicated { .. }, FailoverBy::Pause) => "The first primary is paused",
        _ => "A server crashes, loses power, or is isolated",
    };
    let least = Span(away_at_least(&setting));
    let longest = Some(bounds.longest).filter(|longest| *longest > least);
    let longest = longest.map_or_else(String::new, |longest| format!(" or {longest}"));
    format!(" {who} for {least}{longest}.")
}

pub(crate) fn not_covered(bounds: &Bounds) -> String {
    let faults = match bounds.faults {
        0 => "faults".to_owned(),
        1 => "two or more faults, and faults of other families".to_owned(),
        count => format!("more than {count} faults, and faults of other families"),
    };
    let lengths = match bounds.faults {
        0 => String::new(),
        _ => format!("; faults of other lengths, and longer ones than {}", bounds.longest),
    };
    let orders = match bounds.delays {
        0 => "message orders that these latencies and faults do not produce".to_owned(),
        1 => "message orders that need more than one late message".to_owned(),
        count => format!("message orders that need more than {count} late messages"),
    };
    format!(
        "Not covered: {faults}{lengths}; {orders}; more processes or cycles; other leases, \
         critical sections, retry delays and start times; random values that seed {} does not \
         draw; and anything that the simulated servers, network and clocks do not model.",
        bounds.seed
    )
}
