//! Finds a holder that waits for another lock while other processes wait for the holder's lock.

use crate::judge::finding::Finding;
use crate::judge::timeline::Timeline;

pub(super) fn is_held_by_a_waiter(timeline: &Timeline<'_>, finding: &Finding) -> bool {
    let until = finding.at + finding.duration;
    timeline.sections.iter().any(|section| {
        let process = section.process.machine();
        let asks_again = timeline
            .acquisitions
            .iter()
            .any(|one| one.process.machine() == process && section.from < one.invoked);
        finding.processes.contains(&process)
            && section.from.time <= finding.at
            && section.ends(timeline.end) >= until
            && !asks_again
    })
}
