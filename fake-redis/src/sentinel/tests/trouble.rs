use super::{SentinelDeployment, count};

#[test]
fn below_the_quorum_nothing_happens() {
    let mut deployment = SentinelDeployment::new(3, 3, 3);
    deployment.world.crash("sentinel-3");
    deployment.world.run_for(5_000);
    deployment.all_events();
    deployment.world.crash("redis-1");
    deployment.world.run_for(60_000);
    let events = deployment.all_events();
    assert_eq!(count(&events, "+sdown"), 2, "{events:#?}");
    assert_eq!((count(&events, "+odown"), count(&events, "+try-failover")), (0, 0));
    assert_eq!(deployment.master_at(1), "redis-1 6379");
}

#[test]
fn a_quorum_without_a_majority_elects_nobody() {
    let mut deployment = SentinelDeployment::new(3, 3, 1);
    deployment.world.crash("sentinel-2");
    deployment.world.crash("sentinel-3");
    deployment.world.run_for(5_000);
    deployment.all_events();
    deployment.world.crash("redis-1");
    deployment.world.run_for(15_000);
    let events = deployment.events(1);
    assert_eq!(count(&events, "+odown"), 1);
    assert_eq!(count(&events, "+try-failover"), 1, "{events:#?}");
    assert_eq!(count(&events, "-failover-abort-not-elected"), 1);
    deployment.world.run_for(45_000);
    assert_eq!(deployment.master_at(1), "redis-1 6379");
    let retries = count(&deployment.events(1), "+try-failover");
    assert!(
        (1..=2).contains(&retries),
        "twice the failover timeout lies between two attempts: {retries}"
    );
}

#[test]
fn without_an_eligible_replica_the_failover_is_given_up() {
    let mut deployment = SentinelDeployment::new(2, 3, 2);
    deployment.topology.change("redis-2", |part| part.priority = 0);
    deployment.world.run_for(11_000);
    deployment.all_events();
    deployment.world.crash("redis-1");
    deployment.world.run_for(10_000);
    let events = deployment.all_events();
    assert_eq!(count(&events, "-failover-abort-no-good-slave"), 1, "{events:#?}");
    assert_eq!(count(&events, "+switch-master"), 0);
}

#[test]
fn a_replica_that_dies_before_its_promotion_is_given_up_on() {
    let mut deployment = SentinelDeployment::new(2, 3, 2);
    deployment.all_events();
    deployment.world.crash("redis-1");
    let mut leader_events = Vec::new();
    while count(&leader_events, "+failover-state-send-slaveof-noone") == 0 {
        deployment.world.run_for(1);
        leader_events.extend(deployment.all_events());
    }
    deployment.world.crash("redis-2");
    deployment.world.run_for(15_000);
    let events = deployment.all_events();
    assert_eq!(count(&events, "-failover-abort-slave-timeout"), 1, "{events:#?}");
    assert_eq!(deployment.master_at(1), "redis-1 6379");
}

#[test]
fn a_primary_that_answers_again_in_time_stays() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    deployment.all_events();
    deployment.world.isolate("redis-1");
    deployment.world.run_for(700);
    deployment.world.heal();
    deployment.world.run_for(30_000);
    assert_eq!(count(&deployment.all_events(), "+odown"), 0);
    assert_eq!(deployment.master_at(1), "redis-1 6379");
}

#[test]
fn a_silent_but_connected_primary_is_down_after_the_configured_time() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    deployment.all_events();
    deployment.world.isolate("redis-1");
    let silent_at = deployment.world.elapsed_ms();
    let mut events = Vec::new();
    while count(&events, "+sdown") == 0 {
        deployment.world.run_for(10);
        events.extend(deployment.all_events());
    }
    let took = deployment.world.elapsed_ms() - silent_at;
    assert!(
        (1_000..2_250).contains(&took),
        "up to a ping period, down-after, and a tick: {took} ms"
    );
}

#[test]
fn after_a_clock_jump_a_sentinel_does_not_act_for_thirty_seconds() {
    for jump_ms in [60_000, -60_000] {
        let mut deployment = SentinelDeployment::new(3, 1, 1);
        deployment.all_events();
        deployment.world.step_clock("sentinel-1", jump_ms);
        deployment.world.run_for(2_000);
        assert_eq!(deployment.events(1), ["+tilt #tilt mode entered"]);
        deployment.world.crash("redis-1");
        deployment.world.run_for(25_000);
        let info = deployment.world.ask_text("sentinel-1", &["INFO", "sentinel"]);
        assert!(info.contains("sentinel_tilt:1"), "{info}");
        assert_eq!(deployment.events(1), Vec::<String>::new());
        // As in Redis, Sentinel sends no PING until a clock that was set back has caught up.
        deployment.world.run_for(if jump_ms > 0 { 15_000 } else { 75_000 });
        let events = deployment.events(1);
        assert_eq!(events[0], "-tilt #tilt mode exited");
        assert_eq!(count(&events, "+switch-master"), 1, "{events:#?}");
    }
}

#[test]
fn a_small_clock_step_is_no_reason_for_tilt() {
    for step_ms in [1_500, -50] {
        let mut deployment = SentinelDeployment::new(3, 1, 1);
        deployment.all_events();
        deployment.world.step_clock("sentinel-1", step_ms);
        deployment.world.run_for(5_000);
        assert_eq!(count(&deployment.events(1), "+tilt"), 0, "{step_ms}");
    }
}

#[test]
fn a_sentinel_in_the_minority_learns_of_the_failover_when_the_network_heals() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    deployment.world.isolate("sentinel-3");
    deployment.world.cut("sentinel-3", "redis-1");
    deployment.world.crash("redis-1");
    deployment.world.run_for(12_000);
    assert_eq!(deployment.master_at(1), "redis-2 6379");
    assert_eq!(deployment.master_at(3), "redis-1 6379");
    deployment.world.heal();
    deployment.await_master(10_000, "redis-2");
}
