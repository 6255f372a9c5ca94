//! Locks whose value begins with a Unix time, which processes compare with their clocks or with the
//! server's clock.

use crate::judge::timeline::{Acquisition, KeySpan, Moment, Timeline};
use fencepost_faults::{Impact, Micros, Node, SimTime};

/// A number of at least this size counts as a Unix time in seconds or milliseconds.
const UNIX_TIME_MIN: u64 = 1_000_000_000;
/// A Unix time of at least this size counts as milliseconds.
const UNIX_MILLIS_MIN: u64 = 100_000_000_000;
/// A clock counts as fast only if a time in a value is ahead by more than this.
const AHEAD_MIN: Micros = Micros::from_millis(20);

pub(crate) fn begins_with_unix_time(key: &KeySpan<'_>) -> bool {
    unix_time(key).is_some()
}

pub(super) fn has_unix_millis(key: &KeySpan<'_>) -> bool {
    unix_time(key).is_some_and(|time| UNIX_MILLIS_MIN <= time)
}

fn unix_time(key: &KeySpan<'_>) -> Option<u64> {
    let time = key.value.and_then(|value| value.split(':').next()?.parse().ok());
    time.filter(|time| UNIX_TIME_MIN <= *time)
}

/// Returns when a process read its clock to write the value that it set at `set`, if only the time
/// in that value ends the lease. The history does not record the Unix time at its start, so the
/// writer that read its clock soonest after its acquire began provides this time.
pub(super) fn clock_read(timeline: &Timeline<'_>, set: Moment) -> Option<SimTime> {
    let key = timeline.keys.iter().find(|key| key.from == set)?;
    let time = unix_micros(timeline, key)?;
    let began = attempt(timeline, key)?.invoked.time;
    let epochs = timeline.keys.iter().filter_map(|key| {
        let time = unix_micros(timeline, key)?;
        time.checked_sub(attempt(timeline, key)?.invoked.time.0)
    });
    let read = SimTime(time.checked_sub(epochs.min()?)?);
    Some(read.max(began).min(set.time))
}

/// Returns the Unix time in the value, in microseconds; `None` if the value has only whole seconds,
/// if the server also ends the lease, or if the writer's clock was wrong.
fn unix_micros(timeline: &Timeline<'_>, key: &KeySpan<'_>) -> Option<u64> {
    let millis = unix_time(key).filter(|time| UNIX_MILLIS_MIN <= *time)?;
    let is_right = !had_wrong_clock(timeline, key.by?, key.from);
    let micros = millis.checked_mul(Micros::from_millis(1).0)?;
    (is_right && key.runs_out.is_none()).then_some(micros)
}

/// Returns whether the times in the values come from the server's clock: a process whose clock was
/// right wrote a time that was still ahead, after a fault had changed the server's clock.
pub(super) fn is_by_server(timeline: &Timeline<'_>) -> bool {
    let Some(epoch) = epoch(timeline) else { return false };
    timeline.keys.iter().any(|key| {
        let ahead = clock_shown(key).is_some_and(|shown| epoch + signed(AHEAD_MIN) < shown);
        let is_of_server = |by| {
            !had_wrong_clock(timeline, by, key.from)
                && had_wrong_clock(timeline, key.node, key.from)
        };
        ahead && key.by.is_some_and(is_of_server)
    })
}

/// Returns whether the clock that both values show gained time between the two writes. Returns
/// `true` if a value shows no time.
pub(super) fn is_stepped_between(timeline: &Timeline<'_>, earlier: Moment, later: Moment) -> bool {
    let shown_at = |at: Moment| clock_shown(timeline.keys.iter().find(|key| key.from == at)?);
    let both = shown_at(earlier).zip(shown_at(later));
    both.is_none_or(|(before, after)| before + signed(AHEAD_MIN) < after)
}

/// Returns the difference between the time in the value and the time at which it was written, in
/// microseconds. It is constant while the clock is right.
fn clock_shown(key: &KeySpan<'_>) -> Option<i64> {
    let millis =
        unix_time(key).filter(|time| UNIX_MILLIS_MIN <= *time && key.runs_out.is_none())?;
    let micros = millis.checked_mul(Micros::from_millis(1).0)?;
    i64::try_from(micros).ok()?.checked_sub(i64::try_from(key.from.time.0).ok()?)
}

/// Returns the largest result of [`clock_shown`] before any clock was wrong.
fn epoch(timeline: &Timeline<'_>) -> Option<i64> {
    let mut faults = timeline.faults.iter();
    let bent = faults.find(|fault| fault.kind.impact() == Impact::BendsClock)?.from;
    timeline.keys.iter().filter(|key| key.from < bent).filter_map(clock_shown).max()
}

fn signed(span: Micros) -> i64 {
    i64::try_from(span.0).unwrap_or(i64::MAX)
}

fn had_wrong_clock(timeline: &Timeline<'_>, writer: Node, at: Moment) -> bool {
    let mut faults = timeline.faults.iter();
    faults.any(|fault| fault.does(Impact::BendsClock, writer) && fault.from < at)
}

/// Returns the acquire in which a process wrote the value.
fn attempt<'t, 'h>(timeline: &'t Timeline<'h>, key: &KeySpan<'_>) -> Option<&'t Acquisition<'h>> {
    timeline.acquiring(key.by?, key.from)
}
