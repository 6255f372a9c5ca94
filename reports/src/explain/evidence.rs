//! The evidence for a finding in its history, as a [`Case`].

mod counter;
pub(super) mod early_loss;
pub(super) mod flight;
mod given_up;
mod held;
mod lease;
mod loss;
mod lost_wakeup;
mod overrun;
mod owners;
mod period;
pub(super) mod release;
mod session;
pub(super) mod standstill;
mod takeover;
mod unfounded;
mod untrue_answer;
mod value_time;

pub(super) use counter::Counter;
pub(super) use early_loss::LockLoss;
pub(super) use flight::InFlightWrite;
pub(super) use held::LongSection;
pub(super) use lease::{
    COARSE, GRANULARITY, Lease, ROUNDING, has_no_lease, is_measured_by_wrong_clocks,
    is_taken_again, last_lease, lost_at, overwritten_until,
};
pub(super) use loss::{EarlyExpiry, Loss, Remover, is_of_members, renewed_over};
pub(super) use overrun::Overrun;
pub(super) use release::LateRelease;
pub(super) use session::SessionLoss;
pub(super) use standstill::{Standstill, set_again, standing};
pub(super) use unfounded::granted_by;
pub(super) use untrue_answer::{Obstacle, UntrueAnswer};
pub(super) use value_time::begins_with_unix_time;

use crate::judge::finding::{Finding, Kind};
use crate::judge::timeline::{Acquisition, Moment, Timeline, creator};
use fencepost_faults::{Node, SimTime};
use period::Period;
use std::cell::OnceCell;

pub(super) struct Case<'t, 'h> {
    pub(super) timeline: &'t Timeline<'h>,
    pub(super) finding: &'t Finding,
    losses: OnceCell<Vec<LockLoss<'t, 'h>>>,
    overrun: OnceCell<Option<Overrun<'t, 'h>>>,
    standstill: OnceCell<Option<Standstill>>,
}

impl<'t, 'h> Case<'t, 'h> {
    pub(super) fn new(timeline: &'t Timeline<'h>, finding: &'t Finding) -> Case<'t, 'h> {
        let (losses, overrun, standstill) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Case { timeline, finding, losses, overrun, standstill }
    }

    pub(super) fn losses(&self) -> &[LockLoss<'t, 'h>] {
        let clash = self.finding.clash;
        self.losses.get_or_init(|| {
            clash.map_or(Vec::new(), |clash| early_loss::of_clash(self.timeline, clash))
        })
    }

    pub(super) fn overrun(&self) -> Option<&Overrun<'t, 'h>> {
        let overrun = || Overrun::of_clash(self.timeline, self.finding.clash?);
        let is_over = self.losses().is_empty();
        self.overrun.get_or_init(|| overrun().filter(|_| is_over)).as_ref()
    }

    pub(super) fn is_at(&self, wanted: Standstill) -> bool {
        let standstill = || standstill::of_finding(self.timeline, self.finding);
        *self.standstill.get_or_init(standstill) == Some(wanted)
    }

    pub(super) fn first_in_queue(&self) -> Option<Node> {
        let first = session::first_node(self.timeline, Period::of_finding(self.finding))?;
        creator(self.timeline.history, first.value?)
    }

    pub(super) fn kept_by_count(&self) -> Option<(Vec<Node>, Node)> {
        if self.finding.kind != Kind::WrongAnswer {
            return standstill::kept_by_count(self.timeline, self.finding);
        }
        let servers = untrue_answer::kept_by_count(self.timeline, self.finding);
        let owner = *self.finding.processes.first()?;
        (!servers.is_empty()).then_some((servers, owner))
    }

    pub(super) fn taken_back(&self) -> Option<(Node, Moment)> {
        untrue_answer::taken_back(self.timeline, self.grant()?)
    }

    pub(super) fn unconfirmed_release(&self) -> Option<(Node, SimTime, Option<SimTime>)> {
        standstill::unconfirmed_release(self.timeline, self.finding)
    }

    /// Returns the process that set the lock again after releasing it, how often, and when first.
    pub(super) fn set_again(&self) -> Option<(Node, usize, SimTime)> {
        let again = standstill::set_again(self.timeline, self.finding)?;
        Some((again[0].by?, again.len(), again[0].from.time))
    }

    pub(super) fn has_no_expiry(&self) -> Option<(Node, Node)> {
        standstill::has_no_expiry(self.timeline, self.finding)
    }

    pub(super) fn lacks_expiry(&self) -> bool {
        standstill::lacks_expiry(self.timeline, self.finding)
    }

    pub(super) fn has_lost_request(&self) -> Option<(Node, Node)> {
        standstill::has_lost_request(self.timeline, self.finding)
    }

    pub(super) fn is_gone(&self, wanted: SessionLoss) -> bool {
        let gone = |clash| session::of_clash(self.timeline, clash);
        self.finding.clash.and_then(gone) == Some(wanted)
    }

    pub(super) fn is_in_flight(&self, wanted: InFlightWrite) -> bool {
        let flight = |clash| flight::of_clash(self.timeline, clash);
        self.finding.clash.and_then(flight) == Some(wanted)
    }

    pub(super) fn counter(&self) -> Option<Counter<'t, 'h>> {
        Counter::of_clash(self.timeline, self.finding.clash?)
    }

    pub(super) fn held(&self) -> Option<LongSection> {
        LongSection::of_finding(self.timeline, self.finding)
    }

    pub(super) fn is_untrue_answer(&self, wanted: UntrueAnswer) -> bool {
        untrue_answer::of_finding(self.timeline, self.finding) == Some(wanted)
    }

    /// Returns the acquisition whose answer was wrong.
    pub(super) fn grant(&self) -> Option<&'t Acquisition<'h>> {
        let is_answer = self.finding.kind == Kind::WrongAnswer;
        untrue_answer::grant(self.timeline, self.finding).filter(|_| is_answer)
    }

    pub(super) fn is_entered_ungranted(&self) -> bool {
        self.finding.clash.is_some_and(|clash| unfounded::of_clash(self.timeline, clash))
    }

    pub(super) fn is_promised_too_long(&self) -> bool {
        let is_promised = |clash| unfounded::is_promised_too_long(self.timeline, clash);
        self.finding.clash.is_some_and(is_promised)
    }

    pub(super) fn late_release(&self) -> Option<LateRelease> {
        let clash = self.finding.clash.filter(|_| self.finding.kind == Kind::ForeignRelease)?;
        let remover = *self.finding.processes.first()?;
        let removed = release::removal(self.timeline, self.finding)?;
        let taker = &self.timeline.acquisitions[clash.later];
        release::late_release(self.timeline, remover, removed, taker)
    }

    pub(super) fn shares_owner(&self) -> bool {
        self.finding.clash.is_some_and(|clash| owners::shares_owner(self.timeline, clash))
    }

    pub(super) fn shares_client_id(&self) -> bool {
        self.finding.clash.is_some_and(|clash| owners::shares_client_id(self.timeline, clash))
    }

    pub(super) fn is_overwritten(&self) -> bool {
        let is_overwritten = |clash| owners::is_overwritten(self.timeline, self.finding, clash);
        self.finding.clash.is_some_and(is_overwritten)
    }

    pub(super) fn left_no_record(&self) -> bool {
        self.finding.clash.is_some_and(|clash| owners::left_no_record(self.timeline, clash))
    }

    pub(super) fn was_never_recorded(&self) -> bool {
        let never = |clash| release::was_never_recorded(self.timeline, self.finding, clash);
        self.finding.clash.is_some_and(never)
    }

    pub(super) fn is_takeover(&self) -> bool {
        let remover = self.finding.processes.first();
        remover
            .zip(release::removal(self.timeline, self.finding))
            .is_some_and(|(by, at)| takeover::is_stale_takeover(self.timeline, *by, at))
    }

    pub(super) fn left_lock_delay(&self) -> bool {
        given_up::left_lock_delay(self.timeline, Period::of_finding(self.finding))
    }

    pub(super) fn has_queue(&self) -> bool {
        self.timeline.history.header.has_queue()
    }
}
