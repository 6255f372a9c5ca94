use super::{SentinelDeployment, count};

#[test]
fn sentinels_find_the_replicas_and_each_other() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    for sentinel in ["sentinel-1", "sentinel-2", "sentinel-3"] {
        let info = deployment.world.ask_text(sentinel, &["INFO", "sentinel"]);
        let expected =
            "master0:name=mymaster,status=ok,address=redis-1:6379,slaves=2,sentinels=3\r\n";
        assert!(info.ends_with(expected), "{info}");
    }
    let events = deployment.all_events();
    assert_eq!(count(&events, "+sentinel"), 6);
}

#[test]
fn a_healthy_deployment_stays_as_it_is() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    deployment.all_events();
    deployment.world.run_for(120_000);
    assert_eq!(deployment.all_events(), Vec::<String>::new());
    assert_eq!(deployment.master_at(1), "redis-1 6379");
}

#[test]
fn a_dead_primary_is_replaced_and_all_sentinels_and_replicas_agree() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    deployment.topology.change("redis-3", |part| part.offset = 2_000);
    deployment.world.run_for(11_000);
    deployment.world.crash("redis-1");
    let died_at = deployment.world.elapsed_ms();
    deployment.await_master(10_000, "redis-3");
    let took = deployment.world.elapsed_ms() - died_at;
    assert!((1_000..6_000).contains(&took), "{took} ms");
    deployment.world.run_for(5_000);
    assert_eq!(deployment.topology.part("redis-3").master, None);
    assert_eq!(deployment.topology.part("redis-2").master.as_deref(), Some("redis-3"));
}

#[test]
fn one_sentinel_leads_and_the_others_follow_its_hello() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    deployment.all_events();
    deployment.world.crash("redis-1");
    deployment.world.run_for(10_000);
    let events = deployment.all_events();
    let switches: Vec<&String> =
        events.iter().filter(|event| event.starts_with("+switch-master")).collect();
    assert_eq!(
        switches,
        ["+switch-master mymaster redis-1 6379 redis-2 6379"; 3].iter().collect::<Vec<_>>()
    );
    assert_eq!(count(&events, "+elected-leader"), 1, "{events:#?}");
    assert_eq!(count(&events, "+config-update-from"), 2);
    assert_eq!(count(&events, "+promoted-slave"), 1);
    assert_eq!(count(&events, "+slave-reconf-done"), 1);
    assert_eq!(count(&events, "+failover-end"), 1);
}

#[test]
fn the_leader_tells_every_step_in_order() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    deployment.all_events();
    deployment.world.crash("redis-1");
    deployment.world.run_for(10_000);
    let told: Vec<Vec<String>> = (1..=3).map(|sentinel| deployment.events(sentinel)).collect();
    let leader = told.iter().find(|events| count(events, "+elected-leader") == 1).unwrap();
    let channels: Vec<&str> = leader.iter().map(|event| event.split(' ').next().unwrap()).collect();
    let expected = [
        "+sdown",
        "+odown",
        "+new-epoch",
        "+try-failover",
        "+vote-for-leader",
        "+elected-leader",
        "+failover-state-select-slave",
        "+selected-slave",
        "+failover-state-send-slaveof-noone",
        "+failover-state-wait-promotion",
        "+promoted-slave",
        "+failover-state-reconf-slaves",
        "+slave-reconf-sent",
        "+slave-reconf-inprog",
        "+slave-reconf-done",
        "+failover-end",
        "+switch-master",
        "+slave",
        "+slave",
    ];
    let steps: Vec<&str> =
        channels.iter().copied().filter(|channel| expected.contains(channel)).collect();
    assert_eq!(steps[..expected.len()], expected, "{leader:#?}");
}

#[test]
fn the_same_seeds_give_the_same_story() {
    let story = || {
        let mut deployment = SentinelDeployment::new(3, 3, 2);
        deployment.world.crash("redis-1");
        deployment.world.run_for(10_000);
        (deployment.all_events(), deployment.world.elapsed_ms())
    };
    assert_eq!(story(), story());
}

#[test]
fn two_candidates_never_lead_in_one_epoch() {
    for quorum in [1, 2] {
        let mut deployment = SentinelDeployment::new(3, 5, quorum);
        deployment.all_events();
        deployment.world.crash("redis-1");
        deployment.world.run_for(60_000);
        let mut votes = std::collections::BTreeMap::new();
        for sentinel in 1..=5 {
            let mut epochs = std::collections::BTreeSet::new();
            for event in deployment.events(sentinel) {
                if let Some(vote) = event.strip_prefix("+vote-for-leader ") {
                    let (leader, epoch) = vote.split_once(' ').unwrap();
                    assert!(
                        epochs.insert(epoch.to_owned()),
                        "sentinel {sentinel} votes twice in epoch {epoch}"
                    );
                    *votes.entry((epoch.to_owned(), leader.to_owned())).or_insert(0) += 1;
                }
            }
        }
        assert!(votes.values().any(|count| *count >= 3), "nobody was elected: {votes:?}");
        let mut won: Vec<&String> =
            votes.iter().filter(|(_, count)| **count >= 3).map(|((epoch, _), _)| epoch).collect();
        let all = won.len();
        won.dedup();
        assert_eq!(won.len(), all, "two leaders in one epoch: {votes:?}");
        deployment.await_master(1_000, "redis-2");
    }
}

#[test]
fn priority_decides_before_offset_and_zero_is_never_promoted() {
    let mut deployment = SentinelDeployment::new(4, 3, 2);
    deployment.topology.change("redis-2", |part| part.offset = 9_000);
    deployment.topology.change("redis-3", |part| part.priority = 10);
    deployment.topology.change("redis-4", |part| part.priority = 0);
    deployment.world.run_for(11_000);
    deployment.world.crash("redis-1");
    deployment.await_master(10_000, "redis-3");
}

#[test]
fn replicas_are_pointed_at_the_new_primary_one_at_a_time() {
    let mut deployment = SentinelDeployment::new(4, 3, 2);
    for server in ["redis-3", "redis-4"] {
        deployment.topology.change(server, |part| part.link_up = false);
    }
    deployment.all_events();
    deployment.world.crash("redis-1");
    deployment.world.run_for(8_000);
    let told = ["redis-3", "redis-4"].map(|server| deployment.topology.part(server).told.len());
    assert_eq!(
        told.iter().sum::<usize>(),
        1,
        "the second waits until the first is in step: {told:?}"
    );
    for server in ["redis-3", "redis-4"] {
        deployment.topology.change(server, |part| part.link_up = true);
    }
    deployment.world.run_for(4_000);
    for server in ["redis-3", "redis-4"] {
        assert_eq!(deployment.topology.part(server).told, ["redis-2 6379"]);
    }
}

#[test]
fn an_operator_may_demand_a_failover_of_a_healthy_primary() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    let reply = deployment.world.ask_text("sentinel-2", &["SENTINEL", "FAILOVER", "mymaster"]);
    assert_eq!(reply, "OK");
    let again = deployment.world.ask_text("sentinel-2", &["SENTINEL", "FAILOVER", "mymaster"]);
    assert_eq!(again, "-INPROG Failover already in progress");
    deployment.await_master(5_000, "redis-2");
    deployment.world.run_for(25_000);
    let told = deployment.topology.part("redis-1").told;
    assert_eq!(told, ["redis-2 6379"], "the old primary is alive and becomes a replica");
}
