//! Computes bounds on the thresholds of faults ([`bound`]). The formulas use times from a history,
//! such as the times of the grant and of the fault. The measured threshold may be worse than the
//! bound, because the other process also needs time for its next attempt and its messages.

use crate::explain::cause::{Cause, Measure, classify};
use crate::judge::checker::CHECKERS;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::{Acquisition, Timeline};
use crate::record::history::History;
use fencepost_faults::{Fault, FaultKind, Impact, Magnitude, Micros, Node, SimTime, TimedFault};

/// Microseconds by which a lease may end early at a server that counts milliseconds, like Redis.
const REDIS_TICK_US: i64 = 1_000;
/// Microseconds by which a lease may end early at a server that counts whole seconds.
const COARSE_TICK_US: i64 = 1_000_000;
const MILLION: i64 = 1_000_000;

#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    pub kind: Kind,
    pub cause: Cause,
    pub fault: &'q TimedFault,
    pub magnitude: Magnitude,
    /// Maximum latency of an undisturbed message.
    pub latency_max: Micros,
}

/// Returns the bound in the unit and with the sign of the magnitude; `None` if there is none.
pub fn bound(history: &History, question: &Question<'_>) -> Option<i64> {
    let timeline = Timeline::new(history);
    let clash = first(&timeline, question.kind, question.cause)?.clash?;
    // There is no formula for memberships, because a membership may end before the lease.
    if history.header.has_members() {
        return None;
    }
    let case = Case {
        timeline: &timeline,
        question,
        clash,
        holder: &timeline.acquisitions[clash.earlier],
    };
    match (&question.fault.fault, question.magnitude) {
        (Fault::Pause { node, .. } | Fault::Suspend { node, .. }, Magnitude::DurationUs) => {
            case.pause(*node)
        }
        (Fault::ClockJump { node, offset_us: 1.. }, Magnitude::OffsetUs) => case.clock_jump(*node),
        (Fault::ClockDrift { node, rate_ppm, .. }, Magnitude::RatePpm) => {
            case.clock_drift(*node, *rate_ppm)
        }
        (Fault::Crash { node, .. } | Fault::PowerLoss { node, .. }, Magnitude::DownUs) => {
            case.absence(*node)
        }
        (Fault::Delay { to, .. }, Magnitude::ExtraUsMax) if to.contains(&Node::Storage) => {
            case.storage_delay()
        }
        (Fault::Delay { from, .. }, Magnitude::ExtraUsMax) => case.replication_lag(from),
        _ => None,
    }
}

fn first(timeline: &Timeline<'_>, kind: Kind, cause: Cause) -> Option<Finding> {
    let findings = CHECKERS.iter().flat_map(|checker| (checker.check)(timeline));
    let same =
        findings.filter(|finding| finding.kind == kind && classify(timeline, finding) == cause);
    same.min_by_key(|finding| finding.at)
}

struct Case<'c, 'h> {
    timeline: &'c Timeline<'h>,
    question: &'c Question<'c>,
    clash: Clash,
    holder: &'c Acquisition<'h>,
}

impl Case<'_, '_> {
    fn tick(&self) -> i64 {
        match self.holder.grant.as_ref().map(|grant| grant.node) {
            Some(Node::Server(_)) if self.counts_seconds() => COARSE_TICK_US,
            _ => REDIS_TICK_US,
        }
    }

    fn counts_seconds(&self) -> bool {
        !self.has_no_ttl() && self.timeline.history.header.kept_as.is_none()
    }

    fn has_no_ttl(&self) -> bool {
        self.timeline.history.header.has_no_ttl()
    }

    fn pause(&self, node: Node) -> Option<i64> {
        if node != self.holder.process || self.others_than(&[]) {
            return None;
        }
        let resumed =
            self.timeline.faults.iter().find(|fault| fault.id == self.question.fault.id)?.to?.time;
        let work_left = span(resumed, self.until()?);
        Some(
            (span(self.began(), self.lease_end_before(None, Some(resumed))?)
                - work_left
                - self.tick())
            .max(0),
        )
    }

    fn clock_jump(&self, node: Node) -> Option<i64> {
        let applies = self.is_about(Measure::ClockStep)
            && !self.others_than(&[FaultKind::Partition, FaultKind::Crash, FaultKind::PowerLoss]);
        // A renewal after the step belongs to a lease that the step did not end.
        let lease_end = self.lease_end_before(Some(node), Some(self.began()))?;
        let left = span(self.until()?, lease_end) - self.tick();
        applies.then_some(left.max(0))
    }

    /// Returns the smallest drift, in ppm, with which a fast server ends the lease too early, or a
    /// slow holder's validity outlasts the lease.
    fn clock_drift(&self, node: Node, rate_ppm: i32) -> Option<i64> {
        if !self.is_about(Measure::ClockRate)
            || self.others_than(&[FaultKind::Partition, FaultKind::Crash, FaultKind::PowerLoss])
        {
            return None;
        }
        let (from, to, own_time) = if node == self.holder.process && rate_ppm < 0 {
            let heard = self.holder.completed?.time;
            (heard, self.lease_end(None)?, signed(self.holder.valid_for?))
        } else if rate_ppm > 0 {
            let lease_end = self.lease_end(Some(node))?;
            let ttl = self.timeline.history.header.ttl_us;
            (SimTime(lease_end.0.saturating_sub(ttl.0)), self.until()?, signed(ttl) - self.tick())
        } else {
            return None;
        };
        // Until the fault began, the clock ran at the right rate.
        let before = span(from, self.began()).max(0);
        let drifting = span(from.max(self.began()), to);
        let left = own_time - before;
        (drifting > 0 && left > 0).then(|| left.saturating_mul(MILLION) / drifting - MILLION)
    }

    /// Returns the longest downtime, in microseconds, with which the server is back before the
    /// holder leaves and before the lost lease would have ended.
    fn absence(&self, node: Node) -> Option<i64> {
        let early = self.is_about(Measure::Absence);
        let clocks =
            self.timeline.faults.iter().any(|fault| fault.kind.impact() == Impact::BendsClock);
        if !early || clocks || self.question.kind != Kind::Overlap {
            return None;
        }
        Some(span(self.began(), self.lease_end(Some(node))?.min(self.until()?)))
    }

    /// Returns the smallest delay in µs that puts the write after the next holder's first request.
    fn storage_delay(&self) -> Option<i64> {
        let landed = self.clash.late_write?;
        let request =
            self.timeline.storage.iter().find(|request| request.moment.index == landed)?;
        let sent = self.timeline.invocation_of(request.operation)?.time;
        let touched = self
            .timeline
            .storage
            .iter()
            .find(|request| request.acquisition == Some(self.clash.later))?;
        let applies = self.is_about(Measure::StorageDelay) && !self.others_than(&[]);
        applies.then(|| {
            (span(sent, touched.moment.time) - signed(self.question.latency_max) - self.tick())
                .max(0)
        })
    }

    /// Returns the smallest lag in µs with which a server's failure can lose an unreplicated grant.
    fn replication_lag(&self, from: &[Node]) -> Option<i64> {
        let grant = self.holder.grant.as_ref()?;
        let applies = self.is_about(Measure::ReplicationLag) && from.contains(&grant.node);
        let mut deaths =
            self.timeline.faults.iter().filter(|fault| fault.does(Impact::Kills, grant.node));
        let died = deaths.find(|fault| fault.from >= grant.moment)?.from.time;
        let only = !self.others_than(&[FaultKind::Crash, FaultKind::PowerLoss]);
        let lag = span(grant.moment.time, died) - signed(self.question.latency_max);
        (applies && only).then_some(lag.max(0))
    }

    fn is_about(&self, measure: Measure) -> bool {
        self.question.cause.measure() == Some(measure)
    }

    fn began(&self) -> SimTime {
        self.question.fault.at_us
    }

    fn others_than(&self, kinds: &[FaultKind]) -> bool {
        let mut others =
            self.timeline.faults.iter().filter(|fault| fault.id != self.question.fault.id);
        others.any(|fault| !kinds.contains(&fault.kind))
    }

    fn until(&self) -> Option<SimTime> {
        let landed = self.clash.late_write.map(|index| self.timeline.moment(index).time);
        let left = self
            .timeline
            .section_of(self.clash.earlier)
            .map(|section| section.ends(self.timeline.end));
        landed.or(left)
    }

    fn lease_end(&self, at: Option<Node>) -> Option<SimTime> {
        self.lease_end_before(at, None)
    }

    /// Returns the true end, at the server `at`, of the lease that was last set before the time
    /// `before`. If `at` is `None`, returns the earliest such end.
    fn lease_end_before(&self, at: Option<Node>, before: Option<SimTime>) -> Option<SimTime> {
        let grant = self.holder.grant.as_ref().filter(|_| !self.has_no_ttl())?;
        let servers = grant
            .servers
            .iter()
            .map(|(node, _)| *node)
            .filter(|node| at.is_none_or(|at| at == *node));
        let ends = servers.filter_map(|server| {
            let spans = self
                .timeline
                .keys
                .iter()
                .filter(|key| key.node == server && key.value == self.holder.owner);
            let set = spans
                .flat_map(|key| &key.set)
                .filter(|set| before.is_none_or(|before| set.time < before))
                .max()?;
            let lease = self.timeline.lease_asked(*set);
            Some(set.time + lease.unwrap_or(self.timeline.history.header.ttl_us))
        });
        ends.min()
    }
}

fn span(from: SimTime, to: SimTime) -> i64 {
    signed(to.since(from)) - signed(from.since(to))
}

fn signed(span: Micros) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn of_pause(story: Story, cause: Cause) -> Option<i64> {
        let (node, duration_us) = (Node::Client(1), Micros::from_millis(17));
        let fault = Fault::Pause { node, duration_us };
        let fault = TimedFault { id: 1, at_us: SimTime(2_000), fault };
        let story = story.takes(1, 1, "a").fault_began(2, 1, "pause", &[node]);
        let story = story.expires(11, "a").takes(12, 2, "b").fault_ended(19, 1, "pause", node);
        let history = story.releases(20, 1).releases(21, 2).build();
        let (kind, magnitude) = (Kind::Overlap, Magnitude::DurationUs);
        let latency_max = Micros::ZERO;
        bound(&history, &Question { kind, cause, fault: &fault, magnitude, latency_max })
    }

    #[test]
    fn a_renewal_after_the_step_of_a_clock_does_not_raise_its_bound() {
        let of_step = |renewed: bool| {
            let node = Node::Redis(1);
            let fault = Fault::ClockJump { node, offset_us: 5_000 };
            let fault = TimedFault { id: 1, at_us: SimTime(4_000), fault };
            let story = Story::new().takes(1, 1, "a").fault_began(4, 1, "clock-jump", &[node]);
            let story = story.expires(6, "a").takes(7, 2, "b").releases(8, 2);
            let story = match renewed {
                true => story.removed(8, "b", 2).grants(9, 1, "a"),
                false => story,
            };
            let history = story.releases(10, 1).build();
            let (kind, cause) = (Kind::Overlap, Cause::ClockJump);
            let (magnitude, latency_max) = (Magnitude::OffsetUs, Micros::ZERO);
            bound(&history, &Question { kind, cause, fault: &fault, magnitude, latency_max })
        };
        assert_eq!(of_step(false), Some(1_000 - REDIS_TICK_US), "what was left of the lease");
        assert_eq!(of_step(true), of_step(false));
    }

    #[test]
    fn a_pause_must_outlast_a_lease_and_of_a_session_no_event_tells_how_long() {
        let of_lease = of_pause(Story::new(), Cause::HolderPause);
        assert_eq!(of_lease, Some(8_000 - REDIS_TICK_US), "what was left of it, but for the work");
        assert_eq!(of_pause(Story::with_sessions(), Cause::SessionExpired), None);
    }
}
