//! Describes a violation in at most twelve sentences, each about one event.

mod between;
mod fault;
mod lease;
mod lost;
mod storage;
#[cfg(test)]
mod tests;
mod wait;

use crate::explain::cause::{Cause, Measure, Tells};
use crate::explain::evidence::release;
use crate::explain::narrate;
use crate::explain::scene::Scene;
use crate::judge::checker::stale_write;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::{Acquisition, FaultSpan, Moment, SectionEnd, Timeline};
use crate::record::history::{Turn, What};
use between::{Between, Relevance};
use fault::{begins, names};
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const LINES_MAX: usize = 12;
const FAULTS_MAX: usize = 4;
/// Longest time from the end of a fault to a promotion that the fault caused.
const DETECTION_MAX: Micros = Micros::from_secs(5);

/// A sentence of the narrative and its supporting event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// One sentence of the narrative.
    pub text: String,
    /// `sequence` of the event in the history of the run.
    pub event: u64,
}

pub(crate) fn narrative(timeline: &Timeline<'_>, finding: &Finding, cause: Cause) -> Vec<Line> {
    let mut story = Story { timeline, told: Vec::new() };
    match finding.clash {
        Some(clash) if cause.tells(finding.kind) == Tells::Takeover => {
            story.takeover(clash, finding);
        }
        Some(clash) => story.clash(clash, finding, cause),
        None => story.last_lock(finding, cause),
    }
    for index in &finding.witness {
        let weight = match timeline.history.events[*index].what {
            What::Server { .. } | What::Storage { .. } => Weight::Turn,
            _ => Weight::Witness,
        };
        story.add_event(weight, *index);
    }
    story.lines()
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// The grants and entries of a clash, its late write, and faults that delayed a write or
    /// release.
    Core,
    /// A turning point, such as a loss of the lock or a change of role.
    Turn,
    /// A fault that may have contributed to the violation.
    Fault,
    Witness,
    Detail,
}

struct Story<'t, 'h> {
    timeline: &'t Timeline<'h>,
    told: Vec<(Weight, usize, String)>,
}

impl Story<'_, '_> {
    fn add(&mut self, weight: Weight, index: usize, text: String) {
        if self.told.iter().all(|(_, known, _)| *known != index) {
            self.told.push((weight, index, text));
        }
    }

    fn add_event(&mut self, weight: Weight, index: usize) {
        let history = self.timeline.history;
        let event = &history.events[index];
        let text = match event.what {
            What::Healed if self.timeline.faults.is_empty() => "The run has no faults.".to_owned(),
            What::Healed => "All faults have ended.".to_owned(),
            _ => {
                let text = narrate::text(history, event);
                format!("{} {}.", event.node, text.trim_end_matches('.'))
            }
        };
        self.add(weight, index, text);
    }

    fn lines(mut self) -> Vec<Line> {
        self.told.sort_by_key(|(weight, index, _)| (*weight, *index));
        self.told.truncate(LINES_MAX);
        self.told.sort_by_key(|(_, index, _)| *index);
        let events = &self.timeline.history.events;
        self.told
            .into_iter()
            .map(|(_, index, text)| Line { text, event: events[index].sequence })
            .collect()
    }

    fn clash(&mut self, clash: Clash, finding: &Finding, cause: Cause) {
        let timeline = self.timeline;
        let (holder, taker) =
            (&timeline.acquisitions[clash.earlier], &timeline.acquisitions[clash.later]);
        self.granted(holder);
        if let Some(heard) = holder.completed.filter(|heard| !self.is_nested(*heard)) {
            let believing = holder
                .valid_for
                .map_or(String::new(), |valid| format!(", with a validity of {valid}"));
            let beside = self.beside(clash.later, heard);
            self.add(
                Weight::Core,
                heard.index,
                format!("{} enters its critical section{beside}{believing}.", holder.process),
            );
        }
        if let Some(heard) = holder.completed.filter(|heard| self.is_nested(*heard)) {
            self.add_event(Weight::Core, heard.index);
        }
        self.faults(clash, finding);
        self.wrong_clock(clash, finding, cause);
        self.lost(holder, taker);
        self.replaced(&Scene::new(timeline, finding, clash));
        self.lost_counter(holder, taker);
        self.turns(holder, taker);
        self.granted(taker);
        self.enters(clash);
        if let Some(late) = clash.late_write {
            let touched =
                timeline.storage.iter().find(|request| request.acquisition == Some(clash.later));
            if let Some(touched) = touched {
                self.add_event(Weight::Turn, touched.moment.index);
            }
            self.sent(clash);
            self.add_event(Weight::Core, late);
            if let Some(again) = stale_write::granted_again(timeline, clash) {
                self.add_event(Weight::Turn, again.index);
            }
        } else {
            self.waits_for_storage(holder);
        }
        self.leaves(clash);
    }

    /// Describes how an acquiring process removed another process's lock.
    fn takeover(&mut self, clash: Clash, finding: &Finding) {
        let timeline = self.timeline;
        let owner = &timeline.acquisitions[clash.later];
        self.granted(owner);
        if let Some(heard) = owner.completed {
            self.add_event(Weight::Core, heard.index);
        }
        self.faults(Clash { earlier: clash.later, ..clash }, finding);
        let removed = finding.witness.last().map(|index| timeline.moment(*index));
        let remover = finding.processes.first().zip(removed);
        if let Some(attempt) = remover.and_then(|(by, at)| timeline.acquiring(*by, at)) {
            self.add_event(Weight::Turn, attempt.invoked.index);
        }
        let steps = |fault: &&FaultSpan<'_>| {
            fault.kind.impact() == Impact::BendsClock
                && remover.is_some_and(|(by, at)| fault.names(by.machine()) && fault.from < at)
        };
        if let Some(fault) = timeline.faults.iter().rev().find(steps) {
            self.add(Weight::Fault, fault.from.index, begins(fault));
        }
    }

    /// Returns whether this acquire wrote the value before the grant, as a script that is sent
    /// twice does.
    fn created_itself(&self, one: &Acquisition<'_>, granted: Moment) -> bool {
        self.timeline.keys.iter().any(|span| {
            span.by == Some(one.process)
                && one.invoked < span.from
                && span.from <= granted
                && self.timeline.is_lock_of(span, one)
        })
    }

    fn granted(&mut self, one: &Acquisition<'_>) {
        let Some(grant) = &one.grant else { return };
        let header = &self.timeline.history.header;
        let (node, process, ttl) = (grant.node, one.process, self.lease_of(one, grant));
        let text = match header.quorum {
            _ if header.has_queue() => {
                format!("{process} becomes first in the queue at {node}.")
            }
            _ if header.has_no_ttl()
                && header.has_members()
                && self.recorded_lease(grant).is_some() =>
            {
                let ends = header.place().1;
                format!("{node} grants the lock to {process}{ttl}, or until its {ends} ends.")
            }
            _ if header.has_no_ttl() => {
                let kept = if header.lives_with_session { header.place().1 } else { "connection" };
                format!("{node} grants the lock to {process} for as long as its {kept} lasts.")
            }
            0 | 1 if !grant.created && self.created_itself(one, grant.moment) => {
                format!("{node} grants the lock to {process} once more{ttl}.")
            }
            0 | 1 if !grant.created => {
                let own = process.machine();
                format!("{node} finds a lock of {own} and grants it to {process} as well{ttl}.")
            }
            0 | 1 => format!("{node} grants the lock to {process}{ttl}."),
            quorum => {
                format!(
                    "{node} grants the lock to {process}{ttl}, which completes the quorum of \
                     {quorum} for {process}."
                )
            }
        };
        self.add(Weight::Core, grant.moment.index, text);
    }

    fn faults(&mut self, clash: Clash, finding: &Finding) {
        let timeline = self.timeline;
        let both = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
        let until = finding.at + finding.duration;
        let between = Between::new(timeline, clash, until, self.is_split(both[0], both[1]));
        let left = timeline.section_of(clash.earlier).and_then(|section| section.to);
        let left = left.map_or(until, |left| left.time);
        let faults = between.faults().into_iter();
        let faults = faults.filter(|(_, fault)| !self.is_before_release(fault, finding));
        // Include all faults that delay a message or hit the holder or servers, as each may matter.
        let faults = faults.enumerate().filter(|(place, (relevance, _))| {
            *place < FAULTS_MAX || *relevance <= Relevance::OfServers
        });
        let faults: Vec<_> = faults.map(|(_, fault)| fault).collect();
        for (relevance, fault) in faults {
            let weight = match relevance {
                Relevance::Delays => Weight::Core,
                Relevance::OfHolder | Relevance::OfServers => Weight::Fault,
                _ if between.from <= fault.from.time => Weight::Witness,
                Relevance::OfTaker | Relevance::Other => Weight::Detail,
            };
            self.add(weight, fault.from.index, begins(fault));
            let frozen = fault.kind.impact() == Impact::Freezes;
            if let Some(to) = fault.to.filter(|to| frozen && to.time <= until.max(left)) {
                self.add(weight, to.index, format!("{} resumes.", names(fault.nodes)));
            }
        }
    }

    /// Returns whether the fault delayed messages, but was over when the foreign release was sent.
    /// Pauses do not count: they may have made the release late.
    fn is_before_release(&self, fault: &FaultSpan<'_>, finding: &Finding) -> bool {
        let removed = finding.witness.last().map(|index| self.timeline.moment(*index));
        let remover = finding.processes.first().zip(removed);
        let remover = remover.filter(|_| finding.kind == Kind::ForeignRelease);
        let sent = remover.and_then(|(by, at)| release::sent(self.timeline, *by, at));
        let holds_up = fault.kind.impact() == Impact::HoldsUpMessages;
        holds_up && sent.is_some_and(|sent| fault.to.is_some_and(|to| to < sent))
    }

    fn wrong_clock(&mut self, clash: Clash, finding: &Finding, cause: Cause) {
        let kind = match cause.measure() {
            Some(Measure::ClockStep) => FaultKind::ClockJump,
            Some(Measure::ClockRate) => FaultKind::ClockDrift,
            _ => return,
        };
        let scene = Scene::new(self.timeline, finding, clash);
        for fault in scene.wrong_clocks(kind) {
            self.add(Weight::Turn, fault.from.index, begins(fault));
        }
    }

    fn is_split(&self, holder: &Acquisition<'_>, taker: &Acquisition<'_>) -> bool {
        let grants = holder.grant.as_ref().zip(taker.grant.as_ref());
        grants.is_some_and(|(held, taken)| held.node != taken.node)
            && self.timeline.history.header.quorum <= 1
    }

    fn turns(&mut self, holder: &Acquisition<'_>, taker: &Acquisition<'_>) {
        let (Some(held), Some(taken)) = (&holder.grant, &taker.grant) else { return };
        let servers = || held.servers.iter().chain(&taken.servers).map(|(server, _)| *server);
        let mut is_first_alarm = true;
        // If two primaries exist, one of them may have been promoted before both grants.
        let roles = &self.timeline.roles;
        let promoted = roles.promoted(taken.node, taken.moment);
        let promoted = promoted.max(roles.promoted(held.node, held.moment));
        let is_split = self.is_split(holder, taker);
        let from = promoted.filter(|_| is_split).map_or(held.moment, |at| at.min(held.moment));
        if let Some(promoted) = promoted.filter(|at| is_split && *at < held.moment) {
            self.reason_of_promotion([held.node, taken.node], promoted);
        }
        for index in from.index..taken.moment.index {
            let event = &self.timeline.history.events[index];
            let What::Turn { turn, about } = event.what else { continue };
            let concerns = servers().any(|one| one == event.node || Some(one) == about);
            let weight = match turn {
                _ if !concerns => continue,
                Turn::Promoted => {
                    // Only alarms before the promotion can have caused the promotion.
                    is_first_alarm = false;
                    Weight::Turn
                }
                Turn::Unaware | Turn::TookOver => Weight::Turn,
                Turn::Demoted => Weight::Detail,
                Turn::ObjectivelyDown if std::mem::take(&mut is_first_alarm) => Weight::Detail,
                _ => continue,
            };
            self.add_event(weight, index);
        }
    }

    /// Adds the last fault that made one of the two servers unreachable before the promotion.
    fn reason_of_promotion(&mut self, servers: [Node; 2], promoted: Moment) {
        let timeline = self.timeline;
        let promoted_at = timeline.history.events[promoted.index].node;
        let since = SimTime(promoted.time.0.saturating_sub(DETECTION_MAX.0));
        let hides = |fault: &&FaultSpan<'_>| {
            let impact = fault.kind.impact();
            matches!(impact, Impact::Kills | Impact::Freezes | Impact::HoldsUpMessages)
                && fault.from <= promoted
                && fault.touches(since, promoted.time)
                && servers.iter().any(|server| *server != promoted_at && fault.names(*server))
                && !fault.nodes.iter().any(|node| node.is_process())
        };
        if let Some(fault) = timeline.faults.iter().rev().find(hides) {
            self.add(Weight::Fault, fault.from.index, begins(fault));
        }
    }

    fn is_nested(&self, heard: Moment) -> bool {
        narrate::is_nested(self.timeline.history, &self.timeline.history.events[heard.index])
    }

    fn enters(&mut self, clash: Clash) {
        let timeline = self.timeline;
        let taker = &timeline.acquisitions[clash.later];
        let Some(heard) = taker.completed else { return };
        if self.is_nested(heard) {
            self.add_event(Weight::Core, heard.index);
            return;
        }
        let beside = self.beside(clash.earlier, heard);
        self.add(
            Weight::Core,
            heard.index,
            format!("{} enters its critical section{beside}.", taker.process),
        );
    }

    fn beside(&self, other: usize, entered: Moment) -> String {
        let section = self.timeline.section_of(other).filter(|section| section.covers(entered));
        section.map_or(String::new(), |section| {
            format!(" while {} is still in its own", section.process)
        })
    }

    fn leaves(&mut self, clash: Clash) {
        let timeline = self.timeline;
        let (holder, taker) =
            (&timeline.acquisitions[clash.earlier], &timeline.acquisitions[clash.later]);
        let Some(section) = timeline.section_of(clash.earlier) else { return };
        let Some(left) = section.to else { return };
        if narrate::is_inner_release(timeline.history, &timeline.history.events[left.index]) {
            self.add_event(Weight::Detail, left.index);
            return;
        }
        let header = &timeline.history.header;
        let gone = || timeline.gone(holder).map(|(gone, _)| gone.time);
        let (end, what) = match header.has_no_ttl() {
            true if header.lives_with_session => (gone(), format!("{} was gone", header.place().0)),
            true => (gone(), "lock was gone".to_owned()),
            false => {
                let (end, is_late) = self.lease_ended(holder, taker, left).unzip();
                let first = timeline
                    .gone(holder)
                    .filter(|(at, _)| header.quorum > 1 && end.is_some_and(|end| end == at.time));
                let what = match first {
                    _ if is_late == Some(true) => "expired lock was removed".to_owned(),
                    Some((at, _)) => {
                        let server = timeline.history.events[at.index].node;
                        format!("lock had expired at {server}")
                    }
                    None => "lease had expired".to_owned(),
                };
                (end, what)
            }
        };
        let late = match end.filter(|end| *end < left.time) {
            Some(end) => format!(", {} after its {what}", left.time.since(end)),
            None => String::new(),
        };
        let leaves = match section.ended_by {
            SectionEnd::Lost => "notices that it lost the lock",
            SectionEnd::Crash => {
                narrate::crashes(timeline.history, &timeline.history.events[left.index])
            }
            SectionEnd::Release | SectionEnd::Open => "leaves its critical section",
        };
        // A process may write after it noticed the loss, so its exit explains a later write.
        let weight = match section.ended_by {
            SectionEnd::Lost => Weight::Turn,
            _ => Weight::Detail,
        };
        self.add(weight, left.index, format!("{} {leaves}{late}.", holder.process));
    }
}
