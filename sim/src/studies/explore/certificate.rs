//! Certificates: what was done, in words and numbers, and whether it comes out again.

use super::bounds::{Bounds, Grain, InvalidBounds};
use super::ledger::{Ledger, Slice, Units};
use super::partial::{are_all, read_slice};
use super::prune::Rule;
use super::site::shortest_trap;
use super::sum::Sum;
use super::work::{Exploration, FailedPlan, Progress};
use crate::run::verdicts::tool;
use crate::setup::scenario::Scenario;
use crate::setup::span::Span;
use crate::studies::sweep::Stop;
use clap::ValueEnum;
use fencepost_clients::find;
use fencepost_faults::Family;
use fencepost_faults::family::away_at_least;
use fencepost_faults::setting::{FailoverBy, Topology};
use fencepost_reports::documents::certificate::{
    Certificate, FORMAT, LeftOut, Runs, Slice as StatedSlice, StatedBounds, version_of,
};
use fencepost_reports::sha256;
use std::collections::BTreeSet;

/// The certificate of work that found nothing. Its checksum is still missing.
pub fn certificate(bounds: &Bounds, conditions: &[String], ledger: &Ledger) -> Certificate {
    let digests: String = ledger.slices().map(|slice| slice.digest.as_str()).collect();
    Certificate {
        format: FORMAT.to_owned(),
        version: version_of(bounds.delays),
        tool: tool(),
        checksum: None,
        claim: claim(bounds, conditions.len()),
        not_covered: not_covered(bounds),
        bounds: stated(bounds, conditions),
        runs: stated_runs(bounds, ledger.sum()),
        left_out: stated_pruned(bounds, ledger.sum()),
        digest: sha256(digests.as_bytes()),
        slices: ledger.slices().map(stated_slice).collect(),
    }
}

pub(super) fn stated_runs(bounds: &Bounds, sum: &Sum) -> Runs {
    Runs {
        all: sum.all_runs(),
        by_faults: sum.runs,
        by_delays: (bounds.delays > 0).then_some(sum.by_delays),
        valid: sum.valid,
        unknown: sum.unknown,
        violated: sum.violated,
        fired: sum.fired,
        contended: sum.contended,
    }
}

pub(super) fn stated_pruned(bounds: &Bounds, sum: &Sum) -> LeftOut {
    LeftOut {
        gap_places: sum.pruned.places_in_gaps,
        idle_plans: sum.pruned.idle,
        colliding_plans: sum.pruned.colliding,
        same_order_plans: (bounds.delays > 0).then_some(sum.pruned.same_order),
    }
}

pub(super) fn stated(bounds: &Bounds, conditions: &[String]) -> StatedBounds {
    StatedBounds {
        client: bounds.client.name.to_owned(),
        fault: bounds.families.to_string(),
        faults: bounds.faults,
        delays: bounds.delays,
        longest_us: bounds.longest.0,
        grain: grain_name(bounds.grain),
        rules: bounds.acting_rules().map(|rule| rule.name().to_owned()).collect(),
        seed: bounds.seed,
        conditions: conditions.to_vec(),
        scenario: serde_json::json!(bounds.scenario),
    }
}

fn grain_name(grain: Grain) -> String {
    grain.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

pub(super) fn stated_slice(slice: &Slice) -> StatedSlice {
    StatedSlice {
        faults: slice.level.faults,
        delays: slice.level.delays,
        from: slice.units.start as u64,
        to: slice.units.end as u64,
        runs: slice.runs,
        digest: slice.digest.clone(),
    }
}

/// What was run, in words.
fn claim(bounds: &Bounds, conditions: usize) -> String {
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

/// How long faults last, if that is left open.
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

/// Which messages come late.
fn orders(bounds: &Bounds) -> String {
    let latency = bounds.scenario.latency;
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

/// How much of a fault there is, where no timer decides it.
fn fixed(bounds: &Bounds) -> String {
    let (mut said, scenario) = (String::new(), &bounds.scenario);
    for family in bounds.families.chosen() {
        let delay = scenario.restart_delay;
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

/// Who fails in which way, and for how long.
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

/// What the claim leaves open, in one sentence.
fn not_covered(bounds: &Bounds) -> String {
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

/// The bounds that are stated. Errors: they name what there is not, or what cannot be enumerated.
pub fn bounds_of(stated: &StatedBounds) -> Result<Bounds, String> {
    let scenario: Scenario = serde_json::from_value(stated.scenario.clone())
        .map_err(|error| format!("bounds.scenario: {error}"))?;
    scenario.validate().map_err(|error| format!("bounds.scenario: {error}"))?;
    let named = |rule: &String| {
        let found = Rule::ALL.into_iter().find(|one| one.name() == rule);
        found.ok_or_else(|| format!("bounds.rules: '{rule}': expected gap, idle or order"))
    };
    let mut rules: BTreeSet<Rule> = stated.rules.iter().map(named).collect::<Result<_, _>>()?;
    if stated.delays == 0 {
        rules.insert(Rule::Order);
    }
    let bounds = Bounds {
        client: find(&stated.client)
            .ok_or_else(|| format!("bounds.client: unknown lock '{}'", stated.client))?,
        families: stated.fault.parse().map_err(|error| format!("bounds.fault: {error}"))?,
        faults: stated.faults,
        delays: stated.delays,
        scenario,
        longest: Span(stated.longest_us),
        grain: Grain::from_str(&stated.grain, false)
            .map_err(|_| format!("bounds.grain: '{}': expected fine or coarse", stated.grain))?,
        rules,
        seed: stated.seed,
    };
    bounds.validate().map_err(|error: InvalidBounds| error.to_string())?;
    Ok(bounds)
}

/// How much of a certificate is done again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// The runs without a fault, and four slices spread over the others.
    Sample,
    /// Every slice.
    Whole,
}

/// How a check of a certificate ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Checked {
    /// So many slices of so many came out as stated, in so many runs.
    Same {
        /// Slices that were done again.
        slices: usize,
        /// Slices that there are.
        of: usize,
        /// Runs that it took.
        runs: u64,
    },
    /// This slice came out otherwise.
    Differs(StatedSlice),
    /// Its slices, conditions or words are not those of its bounds.
    Foreign,
    /// It was stopped.
    Stopped,
}

/// How many slices a sample has, besides the first.
const SAMPLE: usize = 4;

/// Which slices are done again.
pub fn chosen(certificate: &Certificate, extent: Extent) -> Vec<&StatedSlice> {
    let slices = &certificate.slices;
    let (first, others) = (slices.iter().take(1), slices.iter().skip(1));
    let step = match extent {
        Extent::Sample => slices.len().saturating_sub(1).div_ceil(SAMPLE).max(1),
        Extent::Whole => 1,
    };
    first.chain(others.step_by(step)).collect()
}

/// The slices that are done again, as parts of the work.
pub fn parts_of(certificate: &Certificate, extent: Extent) -> Vec<Slice> {
    chosen(certificate, extent).into_iter().map(read_slice).collect()
}

/// How many units there are: of plans to which two or more things are added as many as the
/// certificate says, unless all that is added first is placed.
fn units(certificate: &Certificate, work: &Exploration<'_>) -> Units {
    let mut units = work.units();
    let deep = units.iter_mut().filter(|(level, _)| level.depth() > 1 && !work.has_all_firsts);
    for (level, count) in deep {
        let own = certificate.slices.iter().map(read_slice).filter(|slice| slice.level == *level);
        *count = own.map(|slice| slice.units.end).max().unwrap_or(0);
    }
    units
}

/// Does some slices again and compares. The work has at least the first faults placed that they
/// want ([`parts_of`]).
pub fn check(
    certificate: &Certificate,
    (bounds, work): (&Bounds, &Exploration<'_>),
    extent: Extent,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Checked, FailedPlan> {
    if stop.is_asked() {
        return Ok(Checked::Stopped);
    }
    let is_own = are_all(&certificate.slices, &units(certificate, work))
        && certificate.bounds.conditions == work.conditions()
        && certificate.claim == claim(bounds, work.conditions().len())
        && certificate.not_covered == not_covered(bounds);
    if !is_own {
        return Ok(Checked::Foreign);
    }
    let chosen = chosen(certificate, extent);
    let mut runs = 0;
    for stated in &chosen {
        let slice = read_slice(stated);
        let again = work.again(&slice, progress, stop)?;
        if stop.is_asked() {
            return Ok(Checked::Stopped);
        }
        if again.as_ref() != Some(&slice) {
            return Ok(Checked::Differs((*stated).clone()));
        }
        runs += slice.runs;
    }
    Ok(Checked::Same { slices: chosen.len(), of: certificate.slices.len(), runs })
}
