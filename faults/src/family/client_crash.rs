use super::Incident;
use super::timing::{span, starts};
use crate::draw::{any, chance};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::Setting;
use rand_chacha::ChaCha8Rng;

fn survivors_min(processes: u16) -> u16 {
    if processes <= 2 { 1 } else { 2 }
}

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let clients = setting.clients();
    let mut may_die = setting.processes.saturating_sub(survivors_min(setting.processes));
    let mut dead: Vec<Node> = Vec::new();
    let mut drawn = Vec::new();
    for at in starts(rng, setting) {
        let (victim, for_good) = (any(rng, &clients), chance(rng, 500));
        let away = span(rng, setting.knobs.client_down);
        let Some(node) = victim.filter(|node| !dead.contains(node)) else { continue };
        let for_good = for_good && may_die > 0;
        if for_good {
            may_die -= 1;
            dead.push(node);
        }
        let down_us = if for_good { None } else { Some(away) };
        drawn.push(Incident::lone(at, Fault::Crash { node, down_us }));
    }
    drawn
}
