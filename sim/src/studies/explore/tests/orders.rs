use super::*;
use crate::setup::scenario::Hold;
use crate::setup::scenario::SlowLink;
use crate::studies::explore::plan::level::Added;
use crate::studies::explore::plan::order::{delays, order, reach};
use crate::studies::explore::plan::place::{Placed, order_sites};
use crate::studies::explore::plan::scout::Message;
use fencepost_reports::digest;

fn ordered(client: &str, fault: &str, (faults, delays): (u8, u8)) -> Bounds {
    let mut bounds = bounds(client, fault, faults);
    bounds.scenario.timing.latency = SpanRange::new(Span(Micros(200)), Span::millis(2));
    Bounds { delays, ..bounds }
}

fn late(bounds: &Bounds, base: &Base) -> Vec<FaultPlan> {
    let calm = FaultPlan::default();
    let scout = scout(bounds, base, &calm).expect("it runs");
    let origin = Origin { bounds, base, prefix: &calm, scout: &scout };
    let placed = order_sites(bounds).into_iter().map(|site| origin.place(&site).expect("it runs"));
    placed.flat_map(|placed| placed.plans).collect()
}

fn arrivals(scout: &Scout) -> Vec<((Node, Node), usize, SimTime)> {
    let mut counts = std::collections::BTreeMap::new();
    let of = |message: &Message| {
        let count = counts.entry(message.link()).or_insert(0);
        *count += 1;
        Some((message.link(), *count, message.arrived?))
    };
    scout.messages.iter().filter_map(of).collect()
}

#[test]
fn a_late_message_passes_a_neighbour_and_is_no_later_than_the_latencies_allow() {
    let bounds = ordered("single-node", "none", (0, 1));
    let base = &bases(&bounds)[0];
    let calm = scout(&bounds, base, &FaultPlan::default()).expect("it runs");
    let plans = late(&bounds, base);
    assert!(plans.len() > 20, "{}", plans.len());
    for plan in plans {
        let Fault::Delay { from, to, extra_us_max, .. } = &plan.faults[0].fault else {
            panic!("{plan}")
        };
        let link = (from[0], to[0]);
        assert!(*extra_us_max <= Micros(1_800), "{plan}");
        let sent =
            |message: &&Message| message.link() == link && message.sent == plan.faults[0].at_us;
        let own = calm.messages.iter().find(sent).expect("something is sent then");
        let was = own.arrived.expect("it arrives");
        let is = was + *extra_us_max;
        let passed = |at: &SimTime| *at >= was && *at <= is;
        let others = calm.messages.iter().filter(|one| one.to == link.1 && !sent(one));
        let all = others.filter_map(|one| one.arrived).chain(calm.timers_of(link.1));
        assert!(all.chain(calm.leases.iter().copied()).any(|at| passed(&at)), "{plan}");
        let seen = scout(&bounds, base, &plan).expect("it runs");
        let arrives = seen.messages.iter().find(sent).and_then(|one| one.arrived);
        assert_eq!(arrives, Some(is), "{plan}");
    }
}

#[test]
fn every_message_is_made_to_pass_its_next_neighbour_and_a_delay_left_out_is_noticed() {
    let bounds = ordered("single-node", "none", (0, 1));
    for base in &bases(&bounds)[..1] {
        let calm = scout(&bounds, base, &FaultPlan::default()).expect("it runs");
        let plans = late(&bounds, base);
        let missing = |plans: &[FaultPlan]| {
            let mut missing = Vec::new();
            for (link, place, at) in arrivals(&calm) {
                for (other, _, next) in arrivals(&calm) {
                    let is_probe =
                        [link, other].iter().any(|link| [link.0, link.1].contains(&Node::Probe));
                    let span = reach(&bounds, base, link);
                    if is_probe || other.1 != link.1 || other == link || next < at {
                        continue;
                    }
                    let sent = calm.messages.iter().filter(|one| one.link() == link);
                    let sent = sent.map(|one| one.sent).nth(place - 1).expect("it was sent");
                    if next + bounds.scenario.timing.quantum.0 > at + span
                        || calm.turns.iter().all(|turn| turn.0 < sent)
                    {
                        continue;
                    }
                    let past = |plan: &FaultPlan| {
                        let timed = &plan.faults[0];
                        timed.fault.links() == [link]
                            && timed.at_us == sent
                            && at + timed.fault.linger() > next
                    };
                    if !plans.iter().any(past) {
                        missing.push((link, place, other));
                    }
                }
            }
            missing
        };
        assert_eq!(missing(&plans), []);
        let mut fewer = plans.clone();
        let first = plans[0].faults[0].clone();
        fewer.retain(|plan| {
            plan.faults[0].at_us != first.at_us
                || plan.faults[0].fault.links() != first.fault.links()
        });
        assert!(!missing(&fewer).is_empty(), "a message that is never late is noticed");
    }
}

#[test]
fn no_message_is_late_on_a_link_that_takes_the_most() {
    let bounds = ordered("redlock", "none", (0, 1));
    let all = bases(&bounds);
    let slow =
        all.iter().find(|base| base.scenario.timing.slow_link.is_some()).expect("there is one");
    let [a, b] = slow.scenario.timing.slow_link.map(SlowLink::nodes).expect("it has one");
    assert_eq!(reach(&bounds, slow, (a, b)), Micros::ZERO);
    assert_eq!(reach(&bounds, slow, (b, a)), Micros::ZERO);
    assert_eq!(reach(&bounds, slow, (Node::Client(2), Node::Storage)), Micros(1_800));
    assert!(late(&bounds, &all[1]).is_empty(), "every message takes the most");
}

#[test]
fn grain_says_whether_messages_also_arrive_together() {
    let fine = Bounds { grain: Grain::Fine, ..ordered("single-node", "none", (0, 1)) };
    let coarse = Bounds { grain: Grain::Coarse, ..fine.clone() };
    let base = &bases(&fine)[0];
    let calm = scout(&fine, base, &FaultPlan::default()).expect("it runs");
    let mut more = 0;
    for message in &calm.messages {
        let place = (message.link(), message.sent);
        let (few, all) = (delays(&coarse, base, place, &calm), delays(&fine, base, place, &calm));
        assert!(few.is_subset(&all));
        more += all.len() - few.len();
    }
    assert!(more > 0);
}

#[test]
fn the_order_of_a_run_is_that_of_its_messages_and_not_of_their_times() {
    let bounds = ordered("single-node", "none", (0, 1));
    let base = &bases(&bounds)[0];
    let calm = FaultPlan::default();
    let own = scout(&bounds, base, &calm).expect("it runs");
    let of = |plan: &FaultPlan| order(&calm, &scout(&bounds, base, plan).expect("it runs"));
    assert_eq!(of(&calm), order(&calm, &own));
    let orders: BTreeSet<String> = late(&bounds, base).iter().map(of).collect();
    assert!(orders.len() > 5, "delays make other orders: {}", orders.len());
    assert!(orders.len() < late(&bounds, base).len(), "and some make the same");
}

#[test]
fn sound_locks_keep_every_rule_in_every_order() {
    for (client, fault, counts) in [
        ("single-node", "none", (0, 2)),
        ("redlock", "none", (0, 1)),
        ("single-node", "lost-reply", (1, 1)),
    ] {
        let sum = *quiet(&ordered(client, fault, counts)).sum();
        assert!(sum.valid > 0 && sum.violated == 0, "{client} under {fault}: {sum:?}");
        assert_eq!(sum.by_delays.iter().sum::<u64>(), sum.all_runs());
        assert!(sum.by_delays[usize::from(counts.1)] > 0, "{sum:?}");
        assert_eq!(sum.pruned.same_order > 0, counts.0 + counts.1 > 1, "{sum:?}");
    }
}

fn shown_after(bounds: &Bounds) -> BTreeSet<String> {
    let mut work = Exploration::unplaced(bounds, 1);
    work.place_all(&Stop::new()).expect("it can be placed");
    let mut shown = BTreeSet::new();
    for (base, first) in work.roots_of(Added::Delay).filter(|(base, _)| *base == 0) {
        let base = &work.bases[base];
        let scout = scout(bounds, base, first).expect("it runs");
        let origin = Origin { bounds, base, prefix: first, scout: &scout };
        for site in work.sites(Added::Fault) {
            let Placed { plans, .. } = origin.place(site).expect("it runs");
            shown.extend(plans.into_iter().flat_map(|plan| broken(bounds, base, plan)));
        }
    }
    shown
}

#[test]
fn leaving_out_equal_orders_loses_no_violation() {
    for (client, fault, shows) in [
        ("set-ex-del", "lost-reply", false),
        ("setnx-expire", "lost-reply", true),
        ("single-node", "clock-jump", true),
    ] {
        let few = ordered(client, fault, (1, 1));
        let mut all = few.clone();
        all.rules.remove(&Rule::Order);
        let (pruned, whole) = (shown_after(&few), shown_after(&all));
        assert_eq!(pruned, whole, "{client} under {fault}");
        assert_eq!(!whole.is_empty(), shows, "{client} under {fault}: {whole:?}");
    }
}

/// The holder's DEL arrives after its lease has ended and another process has acquired the lock.
#[test]
fn a_late_message_shows_what_the_same_run_without_it_does_not() {
    let mut bounds = ordered("set-px-get-del", "none", (0, 1));
    let fixed = |millis| SpanRange::new(Span::millis(millis), Span::millis(millis));
    bounds.scenario.timing.latency = SpanRange::new(Span::millis(10), Span::millis(60));
    (bounds.scenario.ttl, bounds.scenario.calls.retry) = (Span::secs(1), fixed(182));
    bounds.scenario.hold = Hold::Drawn(fixed(890));
    let base = &bases(&bounds)[0];
    assert_eq!(broken(&bounds, base, FaultPlan::default()), Vec::<String>::new());
    let found = late(&bounds, base).into_iter().find(|plan| {
        broken(&bounds, base, plan.clone()).iter().any(|one| one.starts_with("foreign-release"))
    });
    let spec = bounds.spec(base, found.expect("a late DEL deletes the lock of another"));
    assert_eq!(spec.validate(), Ok(()));
    let [fast, turmoil] =
        [Engine::Fast, Engine::Turmoil].map(|engine| spec.run(engine).expect("it runs"));
    assert_eq!(digest(&fast.history), digest(&turmoil.history));
}

#[test]
fn a_certificate_of_orders_says_so_and_comes_out_again_whole_or_in_shards() {
    let bounds = ordered("single-node", "lost-reply", (1, 1));
    let work = Exploration::new(&bounds, 2, &Stop::new()).expect("it can be placed");
    let quiet = quiet(&bounds);
    let written = certificate(&bounds, &work.conditions(), &quiet);
    assert_eq!((written.version, written.bounds.delays), (2, 1));
    assert!(written.claim.contains("at most one message"), "{}", written.claim);
    assert!(written.not_covered.contains("more than one late message"), "{}", written.not_covered);
    let checked = check(&written, &bounds, &work, Extent::Whole, &Silent, &Stop::new());
    assert!(matches!(checked, Ok(Checked::Same { .. })), "{checked:?}");
    let parts: Vec<_> =
        (1..=3).map(|index| shards::part(&bounds, Shard { index, count: 3 })).collect();
    assert_eq!(shards::merged(&parts), written);
}

#[test]
fn a_site_of_orders_has_no_plans_where_nothing_is_sent() {
    let bounds = ordered("single-node", "none", (0, 1));
    let base = &bases(&bounds)[0];
    let calm = FaultPlan::default();
    let scout = scout(&bounds, base, &calm).expect("it runs");
    let origin = Origin { bounds: &bounds, base, prefix: &calm, scout: &scout };
    let nowhere = Site::Overtaken { from: Node::Redis(1), to: Node::Storage };
    assert!(origin.place(&nowhere).expect("it runs").plans.is_empty());
}

#[test]
fn a_survey_counts_each_order_once() {
    for (client, fault, counts) in
        [("single-node", "none", (0, 2)), ("fencing", "lost-reply", (1, 1))]
    {
        let bounds = ordered(client, fault, counts);
        let survey = Exploration::unplaced(&bounds, 2).survey(&Stop::new()).expect("it runs");
        let (about, exact) = (survey.all_runs(), u128::from(quiet(&bounds).sum().all_runs()));
        assert!(about * 3 >= exact && about <= exact * 3, "{client}: {about}, not {exact}");
    }
}
