//! The claim of a certificate in words, with its limits.

use crate::setup::span::Span;
use crate::studies::explore::plan::bounds::{Bounds, Grain};
use crate::studies::explore::plan::rule::Rule;
use crate::studies::explore::plan::site::shortest_trap;
use fencepost_faults::Family;
use fencepost_faults::family::away_at_least;
use fencepost_faults::setting::{FailoverBy, Topology};

pub(crate) fn claim(bounds: &Bounds, conditions: usize) -> String {
    let scenario = &bounds.scenario;
    let servers = match scenario.topology(bounds.client, &bounds.families) {
        Topology::Standalone => "one server".to_owned(),
        Topology::Replicated { replicas, .. } => format!("a primary with {replicas} replicas"),
        Topology::Independent { masters, quorum } => {
            format!("{masters} independent masters (quorum {quorum})")
        }
        Topology::Ensemble { servers } => format!("an ensemble of {servers}"),
        Topology::Standby { .. } => "a primary with a standby".to_owned(),
    };
    let (processes, cycles) = (scenario.processes, scenario.cycles);
    let parties = format!(
        "{processes} processes of {cycles} {} each on {servers}, a lease of {} and a hold of {}",
        if cycles == 1 { "cycle" } else { "cycles" },
        scenario.ttl,
        scenario.hold
    );
    let client = bounds.client.name;
    let orders = orders(bounds);
    if bounds.faults == 0 {
        return format!(
            "No run without a fault breaks a rule of {client} with {parties}, under {conditions} \
             combinations of fixed latencies and starts{orders}."
        );
    }
    let count = if bounds.faults == 1 { "one fault" } else { "at most two faults" };
    let lengths = lengths(bounds);
    format!(
        "No plan with {count} of {} breaks a rule of {client} with {parties}, under {conditions} \
         combinations of fixed latencies and starts: faults begin just before and just after every \
         event of the run so far, at every target{lengths}{}{orders}.",
        bounds.families,
        fixed(bounds)
    )
}

fn lengths(bounds: &Bounds) -> String {
    if bounds.families.chosen().all(|family| family == Family::Failover) {
        return String::new();
    }
    let is_fine = bounds.grain == Grain::Fine;
    let by_looks = if is_fine && bounds.most().depth() > 1 {
        "every length just after a look of the network at the cut, and just before the next if \
         something is added"
    } else if is_fine {
        "every length just after a look of the network at the cut"
    } else {
        "every length just after a look of the network at the cut that no other follows within a \
         round trip"
    };
    let by_timers = if is_fine {
        "every length just after one timer or event and just before the next"
    } else {
        "one length half-way between every two timers or events that are further apart than a \
         round trip"
    };
    let are_cuts = |family: Family| family == Family::Partition;
    let are_some = bounds.rules.contains(&Rule::Gap) && bounds.families.chosen().any(are_cuts);
    let spans = match are_some {
        false => by_timers.to_owned(),
        true if bounds.families.chosen().all(are_cuts) => by_looks.to_owned(),
        true => format!("{by_timers} (of a partition {by_looks})"),
    };
    format!(", with {spans}, up to {}", bounds.longest)
}

fn orders(bounds: &Bounds) -> String {
    let latency = bounds.scenario.timing.latency;
    let count = match bounds.delays {
        0 => return String::new(),
        1 => "at most one message (what one machine sends another at one instant) arrives",
        _ => "at most two messages (each what one machine sends another at one instant) arrive",
    };
    let places = match bounds.grain {
        Grain::Fine => {
            "together with any later message, timer or end of a lease at its receiver, \
                        or just after it"
        }
        Grain::Coarse => "just after any later message, timer or end of a lease at its receiver",
    };
    format!(
        "; in each of these runs {count} late, {places}, by no more than latencies of up to {} \
         allow",
        latency.max
    )
}

fn fixed(bounds: &Bounds) -> String {
    let (mut said, scenario) = (String::new(), &bounds.scenario);
    for family in bounds.families.chosen() {
        let delay = scenario.faults.restart_delay;
        match family {
            Family::Restart if delay.min == delay.max => {
                said.push_str(&format!("; servers come back after {}", delay.min));
            }
            Family::Restart => {
                said.push_str(&format!("; servers come back after {} or {}", delay.min, delay.max));
            }
            Family::Failover => said.push_str(&failures(bounds)),
            Family::LostReply | Family::LostRequest => said.push_str(&format!(
                "; the next {} within {} or {} is lost",
                if family == Family::LostReply { "reply" } else { "request" },
                Span(shortest_trap(&bounds.scenario)),
                bounds.longest
            )),
            Family::ClientCrash => said.push_str("; processes also die for good"),
            Family::Partition => said.push_str(
                "; a partition cuts one link, one way or both ways, or one machine off from the \
                 other side",
            ),
            Family::Latency | Family::StorageDelay => {
                said.push_str("; a delay holds up what one machine sends another at one instant");
            }
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
            "the first primary dies, loses power, stands still, or is cut off alone or with one \
             process"
        }
        (Topology::Replicated { .. }, FailoverBy::Crash) => "the first primary dies or loses power",
        (Topology::Replicated { .. }, FailoverBy::Isolation) => {
            "the first primary is cut off alone or with one process"
        }
        (Topology::Replicated { .. }, FailoverBy::Pause) => "the first primary stands still",
        _ => "a server dies, loses power, or is cut off",
    };
    let least = Span(away_at_least(&setting));
    let longest = Some(bounds.longest).filter(|longest| *longest > least);
    let longest = longest.map_or_else(String::new, |longest| format!(" or {longest}"));
    format!("; {who} for {least}{longest}")
}

pub(crate) fn not_covered(bounds: &Bounds) -> String {
    let faults = match bounds.faults {
        0 => "any fault".to_owned(),
        1 => "two or more faults, faults of other families".to_owned(),
        count => format!("more than {count} faults, faults of other families"),
    };
    let lengths = match bounds.faults {
        0 => String::new(),
        _ => {
            format!(", other lengths of faults than these and longer ones than {}", bounds.longest)
        }
    };
    let orders = match bounds.delays {
        0 => "other message orders than those of these latencies and faults".to_owned(),
        1 => "message orders that need more than one late message".to_owned(),
        count => format!("message orders that need more than {count} late messages"),
    };
    format!(
        "Not covered: {faults}{lengths}; {orders}; more processes or cycles, other leases, holds, \
         waits and starts; what else than seed {} may draw; and whatever the simulated servers, \
         network and clocks do not model.",
        bounds.seed
    )
}
