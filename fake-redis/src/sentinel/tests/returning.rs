use super::{SentinelDeployment, config, count, scripted::ScriptedServer};
use crate::sentinel::Sentinel;

#[test]
fn the_old_primary_returns_and_becomes_a_replica() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    deployment.world.crash("redis-1");
    deployment.await_master(10_000, "redis-2");
    deployment.world.run_for(10_000);
    deployment.all_events();
    let server = ScriptedServer::new("redis-1", &deployment.topology);
    deployment.topology.change("redis-1", |part| part.run_id = "f".repeat(40));
    deployment.world.start("redis-1", server);
    deployment.world.run_for(30_000);
    assert_eq!(deployment.topology.part("redis-1").master.as_deref(), Some("redis-2"));
    let events = deployment.all_events();
    assert!(count(&events, "+convert-to-slave") >= 1, "{events:#?}");
    assert_eq!(count(&events, "-sdown"), 3);
    assert_eq!(deployment.master_at(1), "redis-2 6379");
}

#[test]
fn a_replica_that_follows_another_server_is_put_right_after_the_failover_timeout() {
    let mut deployment = SentinelDeployment::new(3, 1, 1);
    deployment.all_events();
    deployment.topology.change("redis-3", |part| part.master = Some("redis-2".to_owned()));
    deployment.world.run_for(9_000);
    assert_eq!(deployment.topology.part("redis-3").told, Vec::<String>::new());
    deployment.world.run_for(25_000);
    assert_eq!(deployment.topology.part("redis-3").told, ["redis-1 6379"]);
    assert_eq!(count(&deployment.events(1), "+fix-slave-config"), 1);
}

#[test]
fn a_restarted_server_is_told_as_a_reboot() {
    let mut deployment = SentinelDeployment::new(2, 1, 1);
    deployment.all_events();
    deployment.topology.change("redis-2", |part| part.run_id = "e".repeat(40));
    deployment.world.run_for(11_000);
    assert_eq!(
        deployment.events(1),
        ["+reboot slave redis-2:6379 redis-2 6379 @ mymaster redis-1 6379"]
    );
}

#[test]
fn a_primary_that_became_a_replica_counts_as_down_in_time() {
    let mut deployment = SentinelDeployment::new(3, 1, 1);
    deployment.all_events();
    deployment.topology.change("redis-1", |part| part.master = Some("redis-9".to_owned()));
    deployment.world.run_for(20_000);
    assert_eq!(count(&deployment.events(1), "+sdown"), 0);
    deployment.world.run_for(20_000);
    let events = deployment.events(1);
    assert_eq!(count(&events, "+switch-master"), 1, "{events:#?}");
}

fn self_portrait(deployment: &mut SentinelDeployment, host: &str) -> Vec<String> {
    let id = deployment.world.ask_text(host, &["SENTINEL", "MYID"]);
    let master = deployment.world.ask_text(host, &["SENTINEL", "MASTER", "mymaster"]);
    let field = |name: &str| {
        let mut words = master.split(' ').skip_while(|word| *word != name);
        words.nth(1).unwrap_or_default().to_owned()
    };
    vec![id, field("ip"), field("config-epoch"), field("num-slaves"), field("num-other-sentinels")]
}

#[test]
fn a_crashed_sentinel_comes_back_with_what_its_file_says() {
    let mut deployment = SentinelDeployment::new(3, 3, 2);
    deployment.world.crash("redis-1");
    deployment.await_master(10_000, "redis-2");
    let before = self_portrait(&mut deployment, "sentinel-2");
    deployment.world.lose_power("sentinel-2");
    let disk = deployment.world.disk("sentinel-2").image();
    let now = deployment.world.wall_time_of("sentinel-2");
    let config = config(2);
    deployment.world.start("sentinel-2", Sentinel::started(config, &disk, 77, now));
    assert_eq!(self_portrait(&mut deployment, "sentinel-2"), before);
    assert_eq!(deployment.master_at(2), "redis-2 6379");
}
