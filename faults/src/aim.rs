//! Moving an incident to where a protocol can be hurt.
//!
//! Whoever runs the protocol says where its processes are when: each [`Place`] is a command with
//! its reply, or a stretch without any. [`aimed`] draws one of them and moves the incident there,
//! so that its fault begins at an instant at which it meets that very command, and names the
//! process and the server of the place instead of those that were drawn. All else stays as drawn:
//! how long, how much, how many. An incident stays in the window of the setting, does not collide
//! with another one, and keeps what its family promises of the time between two of them.

mod place;
mod target;

pub use place::{Phase, Place, Stretch};

use crate::collision::collide;
use crate::draw::{any, chance};
use crate::family::Incident;
use crate::fault::Fault;
use crate::generate::DrawnIncident;
use crate::plan::TimedFault;
use crate::setting::{Setting, Window};
use crate::time::{Micros, SimTime};
use rand_core::Rng;
use std::collections::BTreeSet;

/// How many incidents in a thousand are moved; the others stay where they were drawn.
const AIMED_PER_MILLE: u64 = 500;
/// How many places are tried for an incident that collides with others wherever it goes.
const TRIES_MAX: u32 = 8;

/// What an incident is moved in.
#[derive(Clone, Copy, Debug)]
pub struct AimContext<'g> {
    /// What plans are drawn for.
    pub setting: &'g Setting,
    /// The smallest step of time: faults begin at its multiples.
    pub quantum: Micros,
    /// Where processes are when, in the run of all `others`.
    pub places: &'g [Place],
    /// Whatever else goes wrong in the same run.
    pub others: &'g [DrawnIncident],
}

/// Whether an incident is to be moved: about every second one that can be.
pub fn is_aimed(rng: &mut impl Rng, drawn: &DrawnIncident) -> bool {
    chance(rng, AIMED_PER_MILLE) && main_fault(&drawn.incident).is_some()
}

/// The incident moved to a place within a part of the window: the phase is drawn evenly among those
/// that are met there, then the number of the command evenly among those of the phase, then one of
/// such places. `None` if there is no place for it.
pub fn aimed(
    rng: &mut impl Rng,
    drawn: &DrawnIncident,
    part: Window,
    context: &AimContext<'_>,
) -> Option<DrawnIncident> {
    let main = main_fault(&drawn.incident)?;
    let within = room(&drawn.incident, part, context.setting)?;
    let met = |place| {
        let instants = target::instants(main, place, within, context.quantum);
        (!instants.is_empty()).then_some((place, instants))
    };
    let candidates: Vec<(&Place, Vec<SimTime>)> = context.places.iter().filter_map(met).collect();
    (0..TRIES_MAX).find_map(|_| {
        let (place, at) = pick_evenly(rng, &candidates)?;
        let moved = target::moved_to(drawn, main, place, at)?;
        is_free(&moved, context).then_some(moved)
    })
}

impl AimContext<'_> {
    /// An incident that no place was found for, as it was drawn, unless it collides with what was
    /// moved meanwhile.
    pub fn unmoved(&self, drawn: &DrawnIncident) -> Option<DrawnIncident> {
        is_free(drawn, self).then(|| drawn.clone())
    }
}

/// The fault that strikes: the last of those that begin when the incident does.
fn main_fault(incident: &Incident) -> Option<&Fault> {
    let at = incident.at?;
    incident.faults.iter().rev().find(|(begin, _)| *begin == at).map(|(_, fault)| fault)
}

/// Where an incident may strike so that none of its faults begins before the part or after the
/// window.
fn room(incident: &Incident, part: Window, setting: &Setting) -> Option<Window> {
    let at = incident.at?;
    let first = incident.faults.iter().map(|(begin, _)| *begin).min()?;
    let last = incident.faults.iter().map(|(begin, _)| *begin).max()?;
    let (lead, tail) = (at.since(first), last.since(at));
    let latest = SimTime(setting.window.end_us.0.saturating_sub(tail.0));
    let room = Window { begin_us: part.begin_us + lead, end_us: part.end_us.min(latest) };
    (room.begin_us <= room.end_us).then_some(room)
}

fn pick_evenly<'p>(
    rng: &mut impl Rng,
    candidates: &[(&'p Place, Vec<SimTime>)],
) -> Option<(&'p Place, SimTime)> {
    let phases: BTreeSet<Phase> = candidates.iter().map(|(place, _)| place.phase).collect();
    let phase = any(rng, &Vec::from_iter(phases))?;
    let own: Vec<&(&Place, Vec<SimTime>)> =
        candidates.iter().filter(|(place, _)| place.phase == phase).collect();
    let numbers: BTreeSet<u32> = own.iter().map(|(place, _)| place.number).collect();
    let number = any(rng, &Vec::from_iter(numbers))?;
    let own: Vec<&(&Place, Vec<SimTime>)> =
        own.into_iter().filter(|(place, _)| place.number == number).collect();
    let (place, instants) = any(rng, &own)?;
    let at = match place.stretch {
        Stretch::Command { .. } => any(rng, instants)?,
        Stretch::Quiet { .. } => target::instant_between(rng, instants)?,
    };
    Some((*place, at))
}

/// Whether an incident neither collides with the others nor comes too close to one of its family.
fn is_free(moved: &DrawnIncident, context: &AimContext<'_>) -> bool {
    let timed = |(at_us, fault): &(SimTime, Fault)| TimedFault {
        id: 0,
        at_us: *at_us,
        fault: fault.clone(),
    };
    let own: Vec<TimedFault> = moved.incident.faults.iter().map(timed).collect();
    let rest = moved.family.rest(context.setting);
    context.others.iter().all(|other| {
        let faults: Vec<TimedFault> = other.incident.faults.iter().map(timed).collect();
        let is_apart = |rest: Micros| follows(&own, &faults, rest) || follows(&faults, &own, rest);
        let has_rest = other.family != moved.family || rest.is_none_or(is_apart);
        has_rest && !own.iter().any(|one| faults.iter().any(|other| collide(one, other)))
    })
}

/// Whether some faults begin only when others have been over for a while.
fn follows(later: &[TimedFault], earlier: &[TimedFault], rest: Micros) -> bool {
    let over = earlier.iter().map(|timed| timed.ends_at().unwrap_or(SimTime::NEVER)).max();
    let begin = later.iter().map(|timed| timed.at_us).min();
    begin >= over.map(|over| over + rest)
}
