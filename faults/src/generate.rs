//! From a seed to a fault plan. Must never know any one family: it only puts together what they draw.

use crate::collision::collide;
use crate::families::Families;
use crate::family::{Drawing, Drawn, FAMILIES, swarm};
use crate::plan::{FaultPlan, TimedFault};
use crate::seed::{Seed, Stream};
use crate::setting::Setting;

/// Draws the fault plan of a seed. The same arguments always give the same plan.
///
/// Each family draws from a stream of its own. Where two faults would hold the same thing of the same node or link in the same way at once (a
/// crash of a server that is already down), the one that begins later is left out, and of two that begin together the one whose family
/// stands later in the table.
pub fn generate(seed: Seed, families: &Families, setting: &Setting) -> FaultPlan {
    let mut drawn = Drawn::new();
    for (place, family) in families.chosen() {
        match family.drawing {
            Drawing::Own(_) => drawn.extend(draw(seed, place, setting)),
            Drawing::Swarm => {
                drawn.extend(swarm(seed).iter().flat_map(|on| draw(seed, on.family, &on.soften(setting))));
            }
        }
    }
    plan_of(drawn)
}

/// What one family draws of a seed.
fn draw(seed: Seed, place: usize, setting: &Setting) -> Drawn {
    match FAMILIES[place].drawing {
        Drawing::Own(draw) => draw(&mut seed.stream(Stream::Plan(place as u16)), setting),
        Drawing::Swarm => Drawn::new(),
    }
}

/// The faults in order, without those that collide with an earlier one, numbered from 1.
fn plan_of(mut drawn: Drawn) -> FaultPlan {
    drawn.sort_by_key(|(at, _)| *at);
    let mut faults: Vec<TimedFault> = Vec::new();
    for (at_us, fault) in drawn {
        let timed = TimedFault { id: faults.len() as u32 + 1, at_us, fault };
        if !faults.iter().any(|earlier| collide(earlier, &timed)) {
            faults.push(timed);
        }
    }
    FaultPlan::new(faults)
}
