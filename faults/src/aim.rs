//! Moves an incident so that its main fault hits a process during a command or in a phase.

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

const AIMED_PER_MILLE: u64 = 500;
const TRIES_MAX: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub struct AimContext<'g> {
    pub setting: &'g Setting,
    /// Smallest step of virtual time.
    pub quantum: Micros,
    /// Places of all processes, from a run without the incident.
    pub places: &'g [Place],
    /// Incidents that are already placed. The moved incident must not collide with these.
    pub others: &'g [DrawnIncident],
}

/// Decides at random whether to aim an incident. Selects about half of the movable incidents.
pub fn is_aimed(rng: &mut impl Rng, drawn: &DrawnIncident) -> bool {
    chance(rng, AIMED_PER_MILLE) && main_fault(&drawn.incident).is_some()
}

/// Moves the incident to a random place in `part` of the window; `None` if no place fits.
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
    pub fn unmoved(&self, drawn: &DrawnIncident) -> Option<DrawnIncident> {
        is_free(drawn, self).then(|| drawn.clone())
    }
}

fn main_fault(incident: &Incident) -> Option<&Fault> {
    let at = incident.at?;
    incident.faults.iter().rev().find(|(begin, _)| *begin == at).map(|(_, fault)| fault)
}

/// Returns when the main fault may start so that the incident's other faults stay in the window.
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

fn follows(later: &[TimedFault], earlier: &[TimedFault], rest: Micros) -> bool {
    let over = earlier.iter().map(|timed| timed.ends_at().unwrap_or(SimTime::NEVER)).max();
    let begin = later.iter().map(|timed| timed.at_us).min();
    begin >= over.map(|over| over + rest)
}
