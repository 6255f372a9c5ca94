use super::minimal::{Minimal, with_plan};
use super::target::Target;
use fencepost_faults::shrink::Boundary as Found;
use fencepost_faults::{Fault, FaultPlan, Magnitude, TimedFault, with_magnitude};
use fencepost_reports::explain::arithmetic::{Question, bound};
use fencepost_reports::explain::cause::Measure;
use fencepost_reports::summary::report::Boundary;
use fencepost_reports::{Cause, History};

pub(super) fn threshold(minimal: &Minimal, target: Target, history: &History) -> Option<Boundary> {
    let plan = &minimal.spec.plan;
    let analytic = |timed: &TimedFault, magnitude| {
        let latency_max = minimal.spec.scenario.timing.latency.max.0;
        bound(
            history,
            &Question {
                kind: target.kind,
                cause: target.cause,
                fault: timed,
                magnitude,
                latency_max,
            },
        )
    };
    if let Some((timed, enough, not_enough)) = longest_absence(minimal, target) {
        let analytic = analytic(timed, Magnitude::DownUs);
        let quantity = Magnitude::DownUs.name().to_owned();
        let not_enough_cause = other_cause(minimal, target, timed, Magnitude::DownUs, not_enough);
        return Some(Boundary {
            fault: timed.id,
            quantity,
            enough,
            not_enough,
            not_enough_cause,
            analytic,
        });
    }
    let stated: Vec<&Found> =
        minimal.boundaries.iter().filter(|found| found.not_enough.is_some()).collect();
    let (timed, found) = stated
        .iter()
        .filter_map(|found| {
            Some((plan.faults.iter().find(|timed| timed.id == found.fault)?, *found))
        })
        .min_by_key(|(timed, found)| !is_decisive(target.cause, &timed.fault, found.magnitude))?;
    let not_enough = found.not_enough?;
    Some(Boundary {
        fault: found.fault,
        quantity: found.magnitude.name().to_owned(),
        enough: found.enough,
        not_enough,
        not_enough_cause: other_cause(minimal, target, timed, found.magnitude, not_enough),
        analytic: analytic(timed, found.magnitude),
    })
}

/// Returns the cause at `not_enough` if the violation happens there too, but for another cause.
pub fn cause_beyond(minimal: &Minimal, target: Target, found: &Found) -> Option<Cause> {
    let timed = minimal.spec.plan.faults.iter().find(|timed| timed.id == found.fault)?;
    other_cause(minimal, target, timed, found.magnitude, found.not_enough?)
}

fn other_cause(
    minimal: &Minimal,
    target: Target,
    timed: &TimedFault,
    magnitude: Magnitude,
    value: i64,
) -> Option<Cause> {
    let changed = |one: &TimedFault| match one.id == timed.id {
        true => TimedFault { fault: with_magnitude(&one.fault, magnitude, value), ..one.clone() },
        false => one.clone(),
    };
    let faults = minimal.spec.plan.faults.iter().map(changed).collect();
    target.other_cause(&with_plan(&minimal.spec, &FaultPlan::new(faults)))
}

fn is_decisive(cause: Cause, fault: &Fault, magnitude: Magnitude) -> bool {
    let Some(measure) = cause.measure() else { return false };
    match (measure, fault) {
        (Measure::Pause, Fault::Pause { .. } | Fault::Suspend { .. })
        | (Measure::ClockStep, Fault::ClockJump { .. }) => true,
        (Measure::ClockRate, Fault::ClockDrift { .. }) => magnitude == Magnitude::RatePpm,
        (
            Measure::StorageDelay | Measure::Latency | Measure::ReplicationLag,
            Fault::Delay { .. },
        ) => magnitude == Magnitude::ExtraUsMax,
        _ => false,
    }
}

/// Returns the first temporary server crash in the plan, a downtime that shows the violation, and
/// the next longer downtime, which does not. Returns `None` if the plan has no such crash, if a
/// downtime longer by two ttls also shows the violation, or if the cause is not a short absence.
fn longest_absence(minimal: &Minimal, target: Target) -> Option<(&TimedFault, i64, i64)> {
    let early = target.cause.measure() == Some(Measure::Absence);
    let spec = &minimal.spec;
    let (index, timed, down) =
        spec.plan.faults.iter().enumerate().find_map(|(index, timed)| match &timed.fault {
            Fault::Crash { node, down_us: Some(down) }
            | Fault::PowerLoss { node, down_us: Some(down) }
                if node.is_server() =>
            {
                Some((index, timed, *down))
            }
            _ => None,
        })?;
    let step = i64::try_from(Magnitude::DownUs.step()).unwrap_or(1);
    let shown = |down: i64| {
        let mut plan: FaultPlan = spec.plan.clone();
        plan.faults[index].fault = with_magnitude(&timed.fault, Magnitude::DownUs, down);
        target.is_shown_by(&with_plan(spec, &plan))
    };
    let down = i64::try_from(down.as_micros()).ok()?;
    let steps_max = i64::try_from(spec.scenario.ttl.0.as_micros()).ok()? * 2 / step;
    if !early || shown(down + steps_max * step) {
        return None;
    }
    let (mut enough, mut too_many) = (0, steps_max);
    while too_many - enough > 1 {
        let middle = enough + (too_many - enough) / 2;
        if shown(down + middle * step) {
            enough = middle;
        } else {
            too_many = middle;
        }
    }
    Some((timed, down + enough * step, down + too_many * step))
}
