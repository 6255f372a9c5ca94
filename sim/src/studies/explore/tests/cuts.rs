use super::*;
use fencepost_reports::Event;

/// Returns a run's events, but no faults, sequence numbers or holders' names that are numbers.
fn result_of(bounds: &Bounds, base: &Base, plan: &FaultPlan) -> Vec<Event> {
    let mut spec = bounds.spec(base, plan.clone());
    let nothing = Fault::ClockJump { node: Node::Storage, offset_us: 0 };
    let late = TimedFault { id: u32::MAX, at_us: SimTime(200_000_000), fault: nothing };
    spec.plan.faults.push(late);
    let events = spec.run(Engine::Fast).expect("it runs").history.events;
    let is_fault = |what: &What| matches!(what, What::FaultBegan { .. } | What::FaultEnded { .. });
    let own = events.into_iter().filter(|event| event.time_us < SimTime(190_000_000));
    let own = own.filter(|event| !is_fault(&event.what));
    own.map(|event| Event { sequence: 0, what: unnumbered(event.what), ..event }).collect()
}

fn unnumbered(what: What) -> What {
    let is_number = |name: &String| name.parse::<u32>().is_ok();
    let named = |name: Option<String>| name.filter(|name| !is_number(name));
    match what {
        What::Server { key, change, value, by, primary, token, lease_us } => {
            What::Server { key, change, value: named(value), by, primary, token, lease_us }
        }
        What::Ok { operation, owner, token, valid_for_us, value } => {
            What::Ok { operation, owner: named(owner), token, valid_for_us, value }
        }
        other => other,
    }
}

fn cut(site: &Site, from: SimTime, to: SimTime) -> FaultPlan {
    let fault = site.fault_of_length(to.since(from), Micros(100)).expect("a cut lasts");
    FaultPlan::new(vec![TimedFault { id: 1, at_us: from, fault }])
}

fn classes(origin: &Origin<'_>, site: &Site) -> Vec<[SimTime; 3]> {
    let placed = origin.place(site).expect("it runs");
    let span = |plan: &FaultPlan| {
        let timed = &plan.faults[0];
        (timed.at_us, timed.ends_at().expect("a cut ends"))
    };
    let latest: BTreeSet<(SimTime, SimTime)> = placed.alike.iter().map(span).collect();
    let of = |(from, earliest): (SimTime, SimTime)| {
        let next = latest.range((from, earliest)..).next().filter(|(other, _)| *other == from);
        Some([from, earliest, next?.1])
    };
    placed.plans.iter().map(span).filter_map(of).collect()
}

#[test]
fn a_cut_is_the_same_wherever_it_begins_and_ends_between_two_looks() {
    for client in ["single-node", "redlock", "redisson", "memcached-cas", "mysql-get-lock"] {
        let mut bounds = bounds(client, "partition", 2);
        bounds.grain = Grain::Fine;
        let base = &bases(&bounds)[0];
        let calm = FaultPlan::default();
        let scout = scout(&bounds, base, &calm).expect("it runs");
        let origin = Origin { bounds: &bounds, base, prefix: &calm, scout: &scout };
        let turns: Vec<SimTime> = scout.turns.iter().map(|turn| turn.0).collect();
        let (mut compared, mut apart) = (0, 0);
        for site in all_sites(&bounds).iter().step_by(2) {
            let links = cut(site, SimTime(0), SimTime(100)).faults[0].fault.links();
            let looks = scout.event_times_on(&links);
            let classes = classes(&origin, site);
            for [from, earliest, latest] in classes.iter().step_by(7) {
                let one = result_of(&bounds, base, &cut(site, *from, *earliest));
                let middle = SimTime(earliest.0.midpoint(latest.0) / 100 * 100).max(*earliest);
                for end in [middle, *latest] {
                    assert_eq!(one, result_of(&bounds, base, &cut(site, *from, end)), "{site:?}");
                }
                let before = looks.range(..*from).next_back().copied().unwrap_or_default();
                for at in turns.iter().filter(|at| **at > before && **at < *from).take(3) {
                    let at = SimTime(at.0.next_multiple_of(100));
                    assert_eq!(
                        one,
                        result_of(&bounds, base, &cut(site, at, *earliest)),
                        "{site:?}"
                    );
                    compared += 1;
                }
                let after = result_of(&bounds, base, &cut(site, *from, *latest + Micros(100)));
                apart += usize::from(one != after);
            }
        }
        assert!(compared > 10, "{client}: {compared}");
        assert!(apart > 20, "{client}: past a look it is another run, {apart}");
    }
}
