use crate::explain::evidence::period::Period;
use crate::judge::timeline::{KeySpan, Outcome, Timeline};
use crate::record::history::What;
use fencepost_faults::Micros;

/// Returns the values that servers have at the end of the period, except the locks of the process
/// whose entry ends the period and the recent locks of processes that enter later.
pub(super) fn remaining_values<'t, 'h>(
    timeline: &'t Timeline<'h>,
    period: Period,
) -> impl Iterator<Item = &'t KeySpan<'h>> {
    let Period { from, until } = period;
    let entered = timeline.sections.iter().find(move |section| {
        section.from.time == until && (until < timeline.end || section.from.time > from)
    });
    let taker = entered.map(|section| &timeline.acquisitions[section.acquisition]);
    // A process that gets the lock later may already have locked some of the servers.
    let granted_later = timeline.acquisitions.iter().filter(move |one| {
        one.outcome == Outcome::Granted && one.completed.is_some_and(|at| until <= at.time)
    });
    let is_new = move |span: &KeySpan<'_>| !period.is_mostly(until.since(span.from.time));
    timeline.keys.iter().filter(move |span| {
        let its_own = || taker.is_some_and(|taker| timeline.is_lock_of(span, taker));
        let of_next = || granted_later.clone().any(|one| timeline.is_lock_of(span, one));
        span.from.time < until
            && timeline.existed_until(span) >= until
            && !its_own()
            && !(is_new(span) && of_next())
    })
}

pub(super) fn values_for_most_of<'t, 'h>(
    timeline: &'t Timeline<'h>,
    period: Period,
) -> impl Iterator<Item = &'t KeySpan<'h>> {
    let Period { from, until } = period;
    let stood = move |span: &&KeySpan<'_>| {
        let end = timeline.existed_until(span).min(until);
        period.is_mostly(end.since(span.from.time.max(from)))
    };
    timeline.keys.iter().filter(|span| span.by.is_some()).filter(stood)
}

pub(super) fn waiter_died(timeline: &Timeline<'_>, Period { from, until }: Period) -> bool {
    let within = |span: &KeySpan<'_>| {
        timeline.existed_until(span).min(until).since(span.from.time.max(from))
    };
    let stood = timeline.keys.iter().map(within).fold(Micros::ZERO, |sum, span| sum + span);
    let mut acquisitions = timeline.acquisitions.iter();
    let died = acquisitions.any(|one| {
        let end = one.completed.filter(|end| end.time <= until);
        end.is_some_and(|end| matches!(timeline.history.events[end.index].what, What::Crashed))
    });
    died && stood.0 * 10 < until.since(from).0
}
