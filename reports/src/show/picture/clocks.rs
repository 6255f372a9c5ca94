//! Computes the errors of wall clocks from a run's faults.

use super::FaultBar;
use fencepost_faults::{Fault, FaultPlan, Node};
use std::collections::BTreeMap;

pub(crate) struct ClockLine {
    pub(crate) node: Node,
    /// Pairs of a true time and the clock's error at that time, in microseconds. A step of the
    /// clock adds two pairs with the same time.
    pub(crate) points: Vec<(u64, i64)>,
}

pub(super) fn lines(faults: &[FaultBar], plan: &FaultPlan, end: u64) -> Vec<ClockLine> {
    let mut changes: BTreeMap<Node, Vec<Change>> = BTreeMap::new();
    for bar in faults {
        match plan.faults.iter().find(|timed| timed.id == bar.id).map(|timed| &timed.fault) {
            Some(Fault::ClockJump { node, offset_us }) => {
                changes.entry(*node).or_default().push(Change {
                    at: bar.from,
                    step_us: *offset_us,
                    rate_ppm: 0,
                });
            }
            Some(Fault::ClockDrift { node, rate_ppm, .. }) => {
                let own = changes.entry(*node).or_default();
                own.push(Change { at: bar.from, step_us: 0, rate_ppm: i64::from(*rate_ppm) });
                own.push(Change { at: bar.to, step_us: 0, rate_ppm: -i64::from(*rate_ppm) });
            }
            _ => {}
        }
    }
    changes
        .into_iter()
        .map(|(node, changes)| ClockLine { node, points: points(changes, end) })
        .collect()
}

struct Change {
    at: u64,
    step_us: i64,
    rate_ppm: i64,
}

fn points(mut changes: Vec<Change>, end: u64) -> Vec<(u64, i64)> {
    changes.sort_by_key(|change| change.at);
    let (mut at, mut error, mut rate) = (0_u64, 0_i64, 0_i64);
    let mut points = vec![(0, 0)];
    for change in changes {
        error += drifted(rate, change.at - at);
        at = change.at;
        points.push((at, error));
        if change.step_us != 0 {
            error += change.step_us;
            points.push((at, error));
        }
        rate += change.rate_ppm;
    }
    points.push((end.max(at), error + drifted(rate, end.saturating_sub(at))));
    points
}

fn drifted(rate_ppm: i64, span: u64) -> i64 {
    let error = i128::from(rate_ppm) * i128::from(span) / 1_000_000;
    i64::try_from(error).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_two_points_at_one_instant() {
        let step = Change { at: 50, step_us: -7, rate_ppm: 0 };
        assert_eq!(points(vec![step], 100), [(0, 0), (50, 0), (50, -7), (100, -7)]);
    }

    #[test]
    fn the_error_of_a_drift_stays_when_it_ends() {
        let drift = |at, rate_ppm| Change { at, step_us: 0, rate_ppm };
        let line = points(vec![drift(0, 10_000), drift(1_000, -10_000)], 5_000);
        assert_eq!(line, [(0, 0), (0, 0), (1_000, 10), (5_000, 10)]);
    }
}
