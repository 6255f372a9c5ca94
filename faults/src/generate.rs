use crate::collision::collide;
use crate::families::Families;
use crate::family::{Draw, Drawing, Drawn, Family, Incident, Swarmed, swarm};
use crate::fault::Fault;
use crate::plan::{FaultPlan, TimedFault};
use crate::seed::Seed;
use crate::setting::Setting;
use crate::time::SimTime;

/// Draws the fault plan of a seed. No two of its faults collide.
pub fn generate(seed: Seed, families: &Families, setting: &Setting) -> FaultPlan {
    let incidents = incidents(seed, families, setting);
    plan_of(incidents.into_iter().flat_map(|drawn| drawn.incident.faults).collect())
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawnIncident {
    pub family: Family,
    pub incident: Incident,
}

/// Draws the same faults as [`generate`], grouped by incident.
pub fn incidents(seed: Seed, families: &Families, setting: &Setting) -> Vec<DrawnIncident> {
    let mut all: Vec<DrawnIncident> = Vec::new();
    for family in families.chosen() {
        match family.drawing() {
            Drawing::Own(draw) => all.extend(drawn_by(seed, family, draw, setting)),
            Drawing::Swarm => all.extend(swarmed(seed, setting)),
        }
    }
    without_collisions(all)
}

/// Numbers the faults from 1 in order of their start.
pub fn plan_of(mut drawn: Drawn) -> FaultPlan {
    drawn.sort_by_key(|(at, _)| *at);
    let numbered = (1..).zip(drawn);
    FaultPlan::new(numbered.map(|(id, (at_us, fault))| TimedFault { id, at_us, fault }).collect())
}

fn swarmed(seed: Seed, setting: &Setting) -> Vec<DrawnIncident> {
    let part = |on: &Swarmed| match on.family.drawing() {
        Drawing::Own(draw) => drawn_by(seed, on.family, draw, &on.soften(setting)),
        Drawing::Swarm => Vec::new(),
    };
    swarm(seed).iter().flat_map(part).collect()
}

fn drawn_by(seed: Seed, family: Family, draw: Draw, setting: &Setting) -> Vec<DrawnIncident> {
    let drawn = draw(&mut seed.stream(family.stream()), setting);
    let own = |incident| DrawnIncident { family, incident };
    without_collisions(drawn.into_iter().map(own).collect())
}

fn without_collisions(mut all: Vec<DrawnIncident>) -> Vec<DrawnIncident> {
    let mut drawn: Vec<(usize, SimTime, Fault)> = Vec::new();
    for (place, one) in all.iter_mut().enumerate() {
        let faults = one.incident.faults.drain(..);
        drawn.extend(faults.map(|(at, fault)| (place, at, fault)));
    }
    drawn.sort_by_key(|(_, at, _)| *at);
    let mut kept: Vec<TimedFault> = Vec::new();
    for (place, at_us, fault) in drawn {
        let timed = TimedFault { id: 0, at_us, fault };
        if !kept.iter().any(|earlier| collide(earlier, &timed)) {
            all[place].incident.faults.push((at_us, timed.fault.clone()));
            kept.push(timed);
        }
    }
    all.retain(|one| !one.incident.faults.is_empty());
    all
}
