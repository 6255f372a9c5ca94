use super::{Incident, cut_off, lag};
use crate::draw::{any, chance};
use crate::family::replication_lag::lagging;
use crate::family::strike::death;
use crate::family::timing::{before, span, starts_of, up_to};
use crate::fault::Fault;
use crate::node::Node;
use crate::setting::{Setting, Spans};
use crate::time::{Micros, SimTime};
use rand_chacha::ChaCha8Rng;

const PRIMARY: Node = Node::Server(1);
const STANDBY: Node = Node::Server(2);

/// Time from the failure to the promotion by an operator or a script.
const TAKEOVER: Spans = Spans::millis(500, 5_000);

pub(super) fn promotion(
    rng: &mut ChaCha8Rng,
    setting: &Setting,
    stopped_per_mille: u16,
) -> Incident {
    let at = starts_of(rng, setting, 1).first().copied().unwrap_or(setting.window.begin_us);
    let takeover = span(rng, TAKEOVER);
    let is_stopped = chance(rng, u64::from(stopped_per_mille));
    let isolate = setting.knobs.failover_by.isolates(chance(rng, 400));
    let client = any(rng, &setting.clients()).filter(|_| isolate);
    let (at, mut faults) = match client {
        Some(client) => {
            let cut = cut_off(rng, setting, vec![PRIMARY, client], takeover);
            let stop = Fault::PowerLoss { node: PRIMARY, down_us: None };
            let stopped = is_stopped.then_some((before(at + takeover, MOMENT), stop));
            (at, [(at, cut)].into_iter().chain(stopped).collect())
        }
        None => crash(rng, setting, at, (!is_stopped).then_some(takeover)),
    };
    faults.push((at + takeover, Fault::Promote { node: STANDBY }));
    Incident { at: Some(at), faults }
}

const MOMENT: Micros = Micros::from_millis(1);

fn crash(
    rng: &mut ChaCha8Rng,
    setting: &Setting,
    at: SimTime,
    down_at_least: Option<Micros>,
) -> (SimTime, Vec<(SimTime, Fault)>) {
    let lag = lag(rng, setting.knobs.replication_lag);
    let lead = lag + up_to(rng, Micros::from_secs(5));
    let crash_at = setting.window.nearest(at.max(setting.window.begin_us + lead));
    let lag_from = setting.window.nearest(before(crash_at, lead));
    let back =
        span(rng, Spans::new(Micros::from_secs(1), Micros(setting.ttl_us.0.max(1_000_000) * 2)));
    let death = death(rng, setting, PRIMARY, down_at_least.map(|least| least + back));
    let lagging = lagging(rng, setting, PRIMARY, (lag, crash_at.since(lag_from)));
    (crash_at, vec![(lag_from, lagging), (crash_at, death)])
}
