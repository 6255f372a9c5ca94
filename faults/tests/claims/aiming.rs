use crate::settings::{independent, replicated, standalone};
use fencepost_faults::aim::{AimContext, Phase, Place, Stretch, aimed, is_aimed};
use fencepost_faults::{
    Direction, DrawnIncident, FAMILIES, Families, Family, Fault, Incident, Micros, Node, Seed,
    Setting, SimTime, Stream, Window, generate, incidents, plan_of,
};
use std::collections::BTreeMap;

const QUANTUM: Micros = Micros(100);

fn command(phase: Phase, number: u32, client: u16, server: Node, sent: u64) -> Place {
    let stretch = Stretch::Command {
        server,
        sent: SimTime(sent),
        arrived: Some(SimTime(sent + 1_000)),
        answered: Some(SimTime(sent + 1_100)),
        heard: Some(SimTime(sent + 2_000)),
    };
    Place { phase, number, client: Node::Client(client), stretch }
}

fn places() -> Vec<Place> {
    let redis = Node::Redis(1);
    let mut all: Vec<Place> = (0..100)
        .map(|number| command(Phase::Waiting, 1, 3, redis, 10_000_000 + number * 100_000))
        .collect();
    all.extend([
        command(Phase::Taking, 1, 2, redis, 21_000_000),
        command(Phase::Taking, 2, 2, redis, 21_005_000),
        command(Phase::Writing, 1, 2, Node::Storage, 22_000_000),
        command(Phase::Releasing, 1, 2, redis, 23_000_000),
        Place {
            phase: Phase::Holding,
            number: 0,
            client: Node::Client(2),
            stretch: Stretch::Quiet { from: SimTime(21_010_000), to: SimTime(22_000_000) },
        },
    ]);
    all
}

fn lone(fault: Fault) -> DrawnIncident {
    let at = SimTime(5_000_000);
    let incident = Incident { at: Some(at), faults: vec![(at, fault)] };
    DrawnIncident { family: Family::Pause, incident }
}

fn moved(seed: u64, drawn: &DrawnIncident, setting: &Setting) -> Option<DrawnIncident> {
    let places = places();
    let context = AimContext { setting, quantum: QUANTUM, places: &places, others: &[] };
    aimed(&mut Seed(seed).stream(Stream::Aim), drawn, setting.window, &context)
}

fn fault(moved: &DrawnIncident) -> &(SimTime, Fault) {
    &moved.incident.faults[0]
}

#[test]
fn every_phase_is_as_likely_and_every_command_of_it() {
    let pause = lone(Fault::Pause { node: Node::Client(1), duration_us: Micros(1) });
    let mut met: BTreeMap<u64, u32> = BTreeMap::new();
    for seed in 0..1_000 {
        let at = fault(&moved(seed, &pause, &standalone()).unwrap()).0.0;
        let phase = [10_000_000, 21_000_000, 21_005_000, 21_010_000, 22_000_000, 23_000_000];
        let begin = phase.into_iter().filter(|begin| *begin <= at).max().unwrap();
        *met.entry(begin).or_default() += 1;
    }
    let counts: Vec<u32> = met.values().copied().collect();
    assert_eq!(counts.len(), 6, "{met:?}");
    for (count, expected) in counts.iter().zip([200, 100, 100, 200, 200, 200]) {
        assert!(count.abs_diff(expected) < expected / 4 + 15, "{met:?}");
    }
}

#[test]
fn what_hits_a_message_begins_just_before_that_message() {
    let (client, server) = (Node::Client(1), Node::Redis(1));
    let lost = lone(Fault::LostReply { server, client, duration_us: Micros(1) });
    let unheard = lone(Fault::LostRequest { server, client, duration_us: Micros(1) });
    let slow = |from, to| {
        let (extra, duration_us) = (Micros(5), Micros(1));
        let fault =
            Fault::Delay { from, to, extra_us_min: extra, extra_us_max: extra, duration_us };
        lone(fault)
    };
    let asking = slow(vec![client], vec![server]);
    let answering = slow(vec![server], vec![client]);
    let writing = slow(vec![client], vec![Node::Storage]);
    for seed in 0..100 {
        let at = |drawn| fault(&moved(seed, drawn, &standalone()).unwrap()).0.0 % 5_000;
        assert_eq!([at(&lost), at(&unheard)], [1_000, 1_000]);
        assert_eq!([at(&asking), at(&answering), at(&writing)], [0, 1_100, 0]);
    }
}

#[test]
fn the_process_and_the_server_of_the_place_are_hit() {
    let setting = independent();
    let cut = lone(Fault::Partition {
        side_a: vec![Node::Redis(2), Node::Client(1)],
        side_b: vec![Node::Redis(1), Node::Redis(3), Node::Client(2), Node::Client(3)],
        direction: Direction::Both,
        duration_us: Micros(1),
    });
    for seed in 0..50 {
        let moved = moved(seed, &cut, &setting).unwrap();
        let (at, Fault::Partition { side_a, side_b, .. }) = fault(&moved) else { panic!() };
        let client = if at.0 < 21_000_000 { 3 } else { 2 };
        assert_eq!(side_a, &[Node::Redis(1), Node::Client(client)], "seed {seed}");
        let mut rest = side_b.clone();
        rest.sort();
        let other = Node::Client(5 - client);
        assert_eq!(rest, [Node::Redis(2), Node::Redis(3), Node::Client(1), other]);
    }
}

#[test]
fn a_lead_stays_as_far_ahead_and_the_whole_stays_in_its_part() {
    let node = Node::Redis(1);
    let crash = Fault::Crash { node, down_us: Some(Micros(7)) };
    let lag = Fault::SlowServer { node, extra_us: Micros(3), duration_us: Micros(4_000_000) };
    let at = SimTime(9_000_000);
    let faults = vec![(SimTime(5_000_000), lag), (at, crash)];
    let drawn =
        DrawnIncident { family: Family::Failover, incident: Incident { at: Some(at), faults } };
    let (setting, places) = (replicated(), places());
    let context = AimContext { setting: &setting, quantum: QUANTUM, places: &places, others: &[] };
    let part = Window { begin_us: SimTime(12_000_000), end_us: SimTime(20_000_000) };
    for seed in 0..50 {
        let moved = aimed(&mut Seed(seed).stream(Stream::Aim), &drawn, part, &context).unwrap();
        let begins: Vec<u64> = moved.incident.faults.iter().map(|(at, _)| at.0).collect();
        assert_eq!(begins[1] - begins[0], 4_000_000);
        assert!((12_000_000..=16_000_000).contains(&begins[0]), "{begins:?}");
    }
    let narrow = Window { begin_us: SimTime(18_000_000), end_us: SimTime(20_000_000) };
    assert_eq!(aimed(&mut Seed(0).stream(Stream::Aim), &drawn, narrow, &context), None);
}

#[test]
fn nothing_collides_and_masters_that_stay_away_have_their_rest() {
    let (setting, places) = (independent(), places());
    let away = |at: u64, node: u16| {
        let fault = Fault::Crash { node: Node::Redis(node), down_us: Some(Micros(1_000)) };
        let incident = Incident { at: Some(SimTime(at)), faults: vec![(SimTime(at), fault)] };
        DrawnIncident { family: Family::Failover, incident }
    };
    let others = [away(11_000_000, 4)];
    let context =
        AimContext { setting: &setting, quantum: QUANTUM, places: &places, others: &others };
    let mut some = 0;
    for seed in 0..100 {
        let mut rng = Seed(seed).stream(Stream::Aim);
        let Some(moved) = aimed(&mut rng, &away(2_000_000, 1), setting.window, &context) else {
            continue;
        };
        some += 1;
        let begin = fault(&moved).0.0;
        assert!(begin >= 11_001_000 + setting.ttl_us.0, "{begin}");
    }
    assert!(some > 50, "{some}");
    assert_eq!(context.unmoved(&away(5_000_000, 2)), None);
    assert!(context.unmoved(&away(40_000_000, 2)).is_some());
}

#[test]
fn the_incidents_are_the_plan() {
    for setting in [standalone(), replicated(), independent()] {
        for family in FAMILIES {
            for seed in (0..20).map(Seed) {
                let families = Families::from(*family);
                let drawn = incidents(seed, &families, &setting);
                let faults = drawn.into_iter().flat_map(|one| one.incident.faults).collect();
                assert_eq!(plan_of(faults), generate(seed, &families, &setting), "{family}");
            }
        }
    }
}

#[test]
fn what_fills_the_window_is_never_moved() {
    let drift = Families::from(Family::ClockDrift);
    let mut rng = Seed(1).stream(Stream::Aim);
    let lasting = (0..50).flat_map(|seed| incidents(Seed(seed), &drift, &standalone()));
    let lasting: Vec<DrawnIncident> = lasting.filter(|one| one.incident.at.is_none()).collect();
    assert!(lasting.len() > 20);
    assert!(!lasting.iter().any(|one| is_aimed(&mut rng, one)));
}
