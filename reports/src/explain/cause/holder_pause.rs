use super::entry::{Entry, Measure, Need};
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::timeline::{FaultSpan, KeyEnd};
use crate::record::history::Change;
use fencepost_faults::{FaultKind, Impact, SimTime};

pub(super) static ENTRY: Entry = Entry {
    how: "Garbage collection, a suspended virtual machine, a stopped container or a disk stall \
          pauses the process, which does not notice the pause and continues as if it still held \
          the lock.",
    helps: "Use fencing tokens that the storage checks. A longer lease only makes the violation \
            rarer. Checking the clock before a write does not help, because the pause can come \
            after the check.",
    needs: &[Need::Impact(Impact::Freezes)],
    is_beyond_leases: true,
    between: Some(between),
    alone: Some(alone),
    measure: Some(Measure::Pause),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let (timeline, holder) = (scene.timeline, scene.holder);
    let from = holder.grant.as_ref().map_or(holder.invoked, |grant| grant.moment).time;
    let freezes = |fault: &&FaultSpan<'_>| fault.does(Impact::Freezes, holder.process);
    let pauses = || timeline.faults.iter().filter(freezes);
    let is_meanwhile = |fault: &FaultSpan<'_>, end: SimTime| {
        fault.from.time < end && fault.to.is_none_or(|to| end < to.time)
    };
    let deciding =
        scene.lease_ends().and_then(|end| pauses().find(|fault| is_meanwhile(fault, end)));
    let longest = || pauses().max_by_key(|fault| fault.within(from, scene.at));
    let holder = holder.process;
    let Some(fault) = deciding.or_else(longest) else { return format!("{holder} was paused.") };
    let (was, pause) = match fault.kind {
        FaultKind::Suspend => ("and its monotonic clock were suspended", "suspension"),
        _ => ("was paused", "pause"),
    };
    let from = fault.from.time;
    let until = match fault.to {
        Some(to) => format!("from {from} to {}", to.time),
        None => format!("from {from} until the end of the run"),
    };
    let header = &timeline.history.header;
    let removed = scene.gone().filter(|(at, how)| {
        let is_lost = |change| change != Change::Expired;
        header.quorum <= 1
            && at.time < fault.from.time
            && scene.lease_ends().is_none_or(|end| at.time < end)
            && matches!(how, KeyEnd::Changed { change, .. } if is_lost(*change))
    });
    if let Some((at, _)) = removed {
        return format!(
            "The lock of {holder} was gone at {}, before its lease was over. {holder} {was} \
             {until} and stayed in its critical section beyond its {} lease.",
            at.time,
            scene.lease()
        );
    }
    match scene.lease_ends() {
        _ if header.lives_with_session => {
            format!("{holder} {was} {until}; its {} ended during the {pause}.", header.place().1)
        }
        Some(end) if !is_meanwhile(fault, end) => {
            format!(
                "{holder} {was} {until}, so {holder} stayed in its critical section beyond its {} \
                 lease.",
                scene.lease()
            )
        }
        _ => {
            // A key that was already removed cannot expire, so only its lease ended.
            let ended = match scene.gone() {
                Some((_, KeyEnd::Changed { change, .. })) if change != Change::Expired => "ended",
                _ => "expired",
            };
            format!(
                "{holder} {was} {until}; its {} lease {ended} during the {pause}.",
                scene.lease()
            )
        }
    }
}

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::HeldForever => {
            "Without its pauses, the holder would have left within the bound. At the bound, its \
             lock had not expired."
        }
        _ => {
            "A process was paused while the answer to its command was in transit, and gave up on \
             the command when it resumed; the server had executed the command."
        }
    };
    said.to_owned()
}
