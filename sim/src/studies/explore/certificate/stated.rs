use crate::setup::scenario::{LockScript, Scenario};
use crate::setup::span::Span;
use crate::studies::explore::plan::bounds::{Bounds, Grain};
use crate::studies::explore::plan::level::Level;
use crate::studies::explore::plan::rule::Rule;
use crate::studies::explore::plan::validate::InvalidBounds;
use crate::studies::explore::run::ledger::{Slice, Units, parts};
use crate::studies::explore::run::sum::Sum;
use clap::ValueEnum;
use fencepost_clients::find;
use fencepost_reports::documents::certificate::{
    LeftOut, Runs, Slice as StatedSlice, StatedBounds,
};
use std::collections::BTreeSet;

pub(crate) fn stated_runs(bounds: &Bounds, sum: &Sum) -> Runs {
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

pub(crate) fn stated_pruned(bounds: &Bounds, sum: &Sum) -> LeftOut {
    LeftOut {
        gap_places: sum.pruned.places_in_gaps,
        idle_plans: sum.pruned.idle,
        colliding_plans: sum.pruned.colliding,
        same_order_plans: (bounds.delays > 0).then_some(sum.pruned.same_order),
    }
}

pub(crate) fn stated(bounds: &Bounds, conditions: &[String]) -> StatedBounds {
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

pub(crate) fn stated_slice(slice: &Slice) -> StatedSlice {
    StatedSlice {
        faults: slice.level.faults,
        delays: slice.level.delays,
        from: slice.units.start as u64,
        to: slice.units.end as u64,
        runs: slice.runs,
        digest: slice.digest.clone(),
    }
}

/// Returns the bounds that a document states. Fails for unknown names and invalid values.
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
    let script = scenario.scripts.iter().find(|script| script.name == stated.client);
    let bounds = Bounds {
        client: script
            .map(LockScript::definition)
            .or_else(|| find(&stated.client))
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

pub(crate) fn read_slice(stated: &StatedSlice) -> Slice {
    Slice {
        level: Level { faults: stated.faults, delays: stated.delays },
        units: stated.from as usize..stated.to as usize,
        runs: stated.runs,
        digest: stated.digest.clone(),
    }
}

pub(crate) fn are_all(slices: &[StatedSlice], units: &Units) -> bool {
    let cut = |slice: &StatedSlice| {
        let slice = read_slice(slice);
        (slice.level, slice.units)
    };
    slices.iter().map(cut).eq(parts(units))
}
