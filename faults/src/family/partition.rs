use super::timing::{span, starts};
use super::{Drawn, Incident};
use crate::draw::{chance, subset, uniform};
use crate::fault::{Direction, Fault};
use crate::node::Node;
use crate::setting::{CutOff, Setting, Spans};
use crate::time::{Micros, SimTime};
use rand_chacha::ChaCha8Rng;

const FLAPPING_PER_MILLE: u64 = 250;
const FLAP: Spans = Spans::millis(50, 2_000);

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let cuts: Vec<(SimTime, Cut)> =
        starts(rng, setting).into_iter().filter_map(|at| Some((at, cut(rng, setting)?))).collect();
    let incident = |(at, cut): (SimTime, Cut)| {
        let mut times = vec![(at, cut.lasts)];
        if chance(rng, FLAPPING_PER_MILLE) {
            times.extend(flaps(rng, setting, at + cut.lasts));
        }
        let faults: Drawn = times.into_iter().map(|(at, lasts)| (at, cut.fault(lasts))).collect();
        Incident { at: Some(at), faults }
    };
    cuts.into_iter().map(incident).collect()
}

struct Cut {
    side_a: Vec<Node>,
    side_b: Vec<Node>,
    direction: Direction,
    lasts: Micros,
}

impl Cut {
    fn fault(&self, duration_us: Micros) -> Fault {
        let (side_a, side_b) = (self.side_a.clone(), self.side_b.clone());
        Fault::Partition { side_a, side_b, direction: self.direction, duration_us }
    }
}

fn cut(rng: &mut ChaCha8Rng, setting: &Setting) -> Option<Cut> {
    let (side_a, side_b) = sides(rng, setting);
    let direction = if chance(rng, 500) { Direction::Both } else { Direction::AToB };
    let lasts = span(rng, setting.knobs.partition);
    let is_cut = !side_a.is_empty() && !side_b.is_empty();
    is_cut.then_some(Cut { side_a, side_b, direction, lasts })
}

fn flaps(rng: &mut ChaCha8Rng, setting: &Setting, from: SimTime) -> Vec<(SimTime, Micros)> {
    let Spans { min_us, max_us } = setting.knobs.partition;
    let shortest = FLAP.min_us.max(min_us).min(max_us);
    let downs = Spans::new(shortest, FLAP.max_us.min(max_us).max(shortest));
    let mut cuts = Vec::new();
    let mut at = from;
    for _ in 0..uniform(rng, 2..=5) {
        let (up, down) = (span(rng, FLAP), span(rng, downs));
        at = at + up;
        if at <= setting.window.end_us {
            cuts.push((at, down));
        }
        at = at + down;
    }
    if min_us > FLAP.max_us { Vec::new() } else { cuts }
}

fn sides(rng: &mut ChaCha8Rng, setting: &Setting) -> (Vec<Node>, Vec<Node>) {
    let (servers, sentinels) = (setting.servers(), setting.sentinels());
    let mut some_servers = some(rng, &servers);
    some_servers.truncate(setting.knobs.count_struck(some_servers.len()));
    let some_clients = some(rng, &setting.clients());
    let others: Vec<Node> =
        servers.iter().copied().filter(|node| !some_servers.contains(node)).collect();
    let some_sentinels = some(rng, &sentinels);
    let from_clients = chance(rng, 500);
    // Independent masters never exchange messages, so a cut between them would have no effect.
    let (side_a, side_b) = match chance(rng, 500) {
        _ if setting.knobs.cut_off == CutOff::Storage => (some_clients, vec![Node::Storage]),
        _ if from_clients || !setting.is_replicated() => (some_clients, some_servers),
        false if !others.is_empty() => (some_servers, others),
        _ if sentinels.is_empty() => (some_servers, others),
        _ => (some_sentinels, some_servers),
    };
    if chance(rng, 500) { (side_a, side_b) } else { (side_b, side_a) }
}

fn some(rng: &mut ChaCha8Rng, nodes: &[Node]) -> Vec<Node> {
    let count = uniform(rng, 1..=nodes.len().max(1) as u64) as usize;
    subset(rng, nodes, count)
}
