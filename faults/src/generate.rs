//! From a seed to a fault plan.

use crate::collision::collide;
use crate::families::Families;
use crate::family::{Draw, Drawing, Drawn, Family, Swarmed, swarm};
use crate::plan::{FaultPlan, TimedFault};
use crate::seed::Seed;
use crate::setting::Setting;

/// Draws the fault plan of a seed. The same arguments always give the same plan.
///
/// Each family draws from a stream of its own. Where two faults would hold the same thing of the
/// same node or link at once (a crash of a server that is already down), the one that begins later
/// is left out, and of two that begin together the one whose family stands later in the table:
/// first within each family, then among the families. So a combination holds nothing that its
/// families would not have drawn alone.
pub fn generate(seed: Seed, families: &Families, setting: &Setting) -> FaultPlan {
    let mut drawn = Drawn::new();
    for family in families.chosen() {
        match family.drawing() {
            Drawing::Own(draw) => drawn.extend(drawn_by(seed, family, draw, setting)),
            Drawing::Swarm => drawn.extend(swarmed(seed, setting)),
        }
    }
    FaultPlan::new(without_collisions(drawn))
}

/// What every family draws that the seed switches on.
fn swarmed(seed: Seed, setting: &Setting) -> Drawn {
    let part = |on: &Swarmed| match on.family.drawing() {
        Drawing::Own(draw) => drawn_by(seed, on.family, draw, &on.soften(setting)),
        Drawing::Swarm => Drawn::new(),
    };
    swarm(seed).iter().flat_map(part).collect()
}

/// What one family draws of a seed.
fn drawn_by(seed: Seed, family: Family, draw: Draw, setting: &Setting) -> Drawn {
    let drawn = draw(&mut seed.stream(family.stream()), setting);
    without_collisions(drawn).into_iter().map(|timed| (timed.at_us, timed.fault)).collect()
}

/// The faults in order, without those that collide with an earlier one, numbered from 1.
fn without_collisions(mut drawn: Drawn) -> Vec<TimedFault> {
    drawn.sort_by_key(|(at, _)| *at);
    let mut faults: Vec<TimedFault> = Vec::new();
    for (at_us, fault) in drawn {
        let timed = TimedFault { id: faults.len() as u32 + 1, at_us, fault };
        if !faults.iter().any(|earlier| collide(earlier, &timed)) {
            faults.push(timed);
        }
    }
    faults
}
