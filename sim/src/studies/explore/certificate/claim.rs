use crate::setup::scenario::Hold;
use crate::setup::span::Span;
use crate::studies::explore::plan::bounds::{Bounds, Grain, small_scenario};
use crate::studies::explore::plan::place::sites_of;
use crate::studies::explore::plan::rule::Rule;
use crate::studies::explore::plan::site::{Measure, Site, shortest_trap};
use fencepost_clients::Coordinator;
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
    let hold = match scenario.hold {
        Hold::Drawn(range) => format!("critical sections of {range}"),
        Hold::UntilValidity => "critical sections as long as the validity of the lock".to_owned(),
    };
    format!(
        "Each run has {} with {} each, {}, a lease of {} and {hold}, under one of {conditions} \
         combinations of fixed latencies and start times.{}",
        counted(scenario.processes.into(), "process", "processes"),
        counted(scenario.cycles, "cycle", "cycles"),
        servers(bounds),
        scenario.ttl,
        settings(bounds)
    )
}

fn counted(count: u32, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn servers(bounds: &Bounds) -> String {
    match bounds.scenario.topology(bounds.client, &bounds.families) {
        Topology::Standalone | Topology::Ensemble { servers: 1 } => "one server".to_owned(),
        Topology::Replicated { replicas, .. } => {
            format!("a primary with {}", counted(replicas.into(), "replica", "replicas"))
        }
        Topology::Independent { masters, quorum } => {
            let masters = counted(masters.into(), "independent master", "independent masters");
            format!("{masters} (quorum {quorum})")
        }
        Topology::Ensemble { servers } => format!("an ensemble of {servers} servers"),
        Topology::Standby { .. } => "a primary with a standby".to_owned(),
    }
}

/// Settings that other sentences of the claim state, or that `explore` does not use.
const STATED_ELSEWHERE: [&str; 10] = [
    "processes", "cycles", "ttl", "hold", "masters", "ensemble", "replicas", "restart-delay",
    "failover-by", "strategy",
];

/// States settings that differ from the small scenario or decide what these families' faults do.
fn settings(bounds: &Bounds) -> String {
    let has = |families: &[Family]| bounds.families.chosen().any(|one| families.contains(&one));
    let is_redis = bounds.client.deployment.coordinator() == Coordinator::Redis;
    let persistence = is_redis && has(&[Family::Restart, Family::Failover]);
    let decisive = [
        persistence.then_some("persistence"),
        has(&[Family::StorageDelay]).then_some("storage-timeout"),
    ];
    let decisive: Vec<&str> = decisive.into_iter().flatten().collect();
    let all = bounds.scenario.values_beside(&small_scenario(), &decisive);
    let own = all.into_iter().filter(|(key, _)| !STATED_ELSEWHERE.contains(&key.as_str()));
    let told: Vec<String> = own.map(|(key, value)| format!("{key}={value}")).collect();
    match told.is_empty() {
        true => String::new(),
        false => format!(" Settings: {}.", told.join(", ")),
    }
}

/// Returns `true` if `explore` chooses the ends of the family's faults.
fn has_ends(bounds: &Bounds, family: Family) -> bool {
    let measure = |site: &Site| site.measure(&bounds.scenario, bounds.longest.0);
    sites_of(bounds, family).iter().any(|site| matches!(measure(site), Measure::Ends))
}

fn lengths(bounds: &Bounds) -> String {
    let own: Vec<Family> = bounds.families.chosen().filter(|one| has_ends(bounds, *one)).collect();
    if own.is_empty() {
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
    let has_checks = bounds.rules.contains(&Rule::Gap);
    let ends = match has_checks && own.contains(&Family::Partition) {
        false => by_timers.to_owned(),
        true if own.len() == 1 => by_checks.to_owned(),
        true => format!("{by_timers} (a partition {by_checks})"),
    };
    let which = match own.len() == bounds.families.chosen().count() {
        true => "They".to_owned(),
        false => {
            let names: Vec<&str> = own.iter().map(|family| family.name()).collect();
            format!("Faults of {}", names.join(" and "))
        }
    };
    format!(" {which} end {ends}, and last up to {}.", bounds.longest)
}

fn steps(bounds: &Bounds) -> String {
    let longest = bounds.longest;
    match bounds.grain {
        Grain::Fine => {
            let quantum = bounds.scenario.timing.quantum;
            format!(
                " Clocks step forward and back by just less and just more than the time to each \
                 end of a lease, by {quantum}, and by {longest}."
            )
        }
        Grain::Coarse => format!(
            " Clocks step forward and back by {longest}, and by the time to the middle of each \
             interval between the step, the ends of leases and {longest} later. Ends of leases \
             within a round trip of each other count as one."
        ),
    }
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
            Family::Restart => {
                let first = match delay.min == Span::default() {
                    true => "immediately".to_owned(),
                    false => format!("after {}", delay.min),
                };
                let other = match delay.min == delay.max {
                    true => String::new(),
                    false => format!(" or after {}", delay.max),
                };
                said.push_str(&format!(" Servers are back {first}{other}."));
            }
            Family::Failover => said.push_str(&failures(bounds)),
            Family::LostReply | Family::LostRequest => said.push_str(&format!(
                " The next {} within {} or {} is lost.",
                if family == Family::LostReply { "reply" } else { "request" },
                Span(shortest_trap(&bounds.scenario)),
                bounds.longest
            )),
            Family::ClockJump => said.push_str(&steps(bounds)),
            Family::Eviction => said.push_str(" A server evicts keys or is flushed."),
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
        _ => other_lengths(bounds),
    };
    let orders = match bounds.delays {
        0 => "message orders that these latencies and faults do not produce".to_owned(),
        1 => "message orders that need more than one late message".to_owned(),
        count => format!("message orders that need more than {count} late messages"),
    };
    format!(
        "Not covered: {faults}{lengths}; {orders}; more processes or cycles; other leases, \
         critical sections, retry delays, start times and other settings, such as time limits and \
         persistence; random values that seed {} does not draw; and anything that the simulated \
         servers, network and clocks do not model.",
        bounds.seed
    )
}

fn other_lengths(bounds: &Bounds) -> String {
    let (mut said, longest) = (String::new(), bounds.longest);
    let lasts = |family| {
        matches!(family, Family::LostReply | Family::LostRequest | Family::Failover)
            || has_ends(bounds, family)
    };
    if bounds.families.chosen().any(lasts) {
        said.push_str(&format!(
            "; faults of other lengths, including faults longer than {longest}"
        ));
    }
    for family in bounds.families.chosen() {
        match family {
            Family::ClockJump => said.push_str(&format!(
                "; clock steps of other sizes, including steps larger than {longest}"
            )),
            Family::Restart => said.push_str("; other downtimes of restarted servers"),
            _ => {}
        }
    }
    said
}
