//! Locks whose value begins with a Unix time, which processes compare with their clocks.

use crate::judge::timeline::{Acquisition, KeySpan, Moment, Timeline};
use fencepost_faults::{Impact, Micros, Node, SimTime};

/// A number of at least this size counts as a Unix time in seconds or milliseconds.
const UNIX_TIME_MIN: u64 = 1_000_000_000;
/// A Unix time of at least this size counts as milliseconds.
const UNIX_MILLIS_MIN: u64 = 100_000_000_000;

pub(crate) fn begins_with_unix_time(key: &KeySpan<'_>) -> bool {
    unix_time(key).is_some()
}

fn unix_time(key: &KeySpan<'_>) -> Option<u64> {
    let time = key.value.and_then(|value| value.split(':').next()?.parse().ok());
    time.filter(|time| UNIX_TIME_MIN <= *time)
}

/// Returns when a process read its clock to write the value that it set at `set`, if only the time
/// in that value ends the lease. The history does not record the start of the Unix epoch. It
/// follows from the writer that read its clock soonest after the start of its acquire.
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

/// Returns the Unix time in the value. Returns `None` if it is in whole seconds, which are too
/// coarse, if the server also ends the lease, or if the writer's clock was wrong.
fn unix_micros(timeline: &Timeline<'_>, key: &KeySpan<'_>) -> Option<u64> {
    let millis = unix_time(key).filter(|time| UNIX_MILLIS_MIN <= *time)?;
    let is_right = !had_wrong_clock(timeline, key.by?, key.from);
    let micros = millis.checked_mul(Micros::from_millis(1).0)?;
    (is_right && key.runs_out.is_none()).then_some(micros)
}

fn had_wrong_clock(timeline: &Timeline<'_>, writer: Node, at: Moment) -> bool {
    let mut faults = timeline.faults.iter();
    faults.any(|fault| fault.does(Impact::BendsClock, writer) && fault.from < at)
}

/// Returns the acquire in which a process wrote the value.
fn attempt<'t, 'h>(timeline: &'t Timeline<'h>, key: &KeySpan<'_>) -> Option<&'t Acquisition<'h>> {
    timeline.acquiring(key.by?, key.from)
}
