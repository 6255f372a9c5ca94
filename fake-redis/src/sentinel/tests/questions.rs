use super::SentinelDeployment;
use redis_protocol::resp2::types::BytesFrame;

#[test]
fn clients_ask_for_the_primary_by_name() {
    let mut deployment = SentinelDeployment::new(2, 1, 1);
    let world = &mut deployment.world;
    let ask = ["SENTINEL", "get-master-addr-by-name", "mymaster"];
    assert_eq!(world.ask_text("sentinel-1", &ask), "redis-1 6379");
    assert_eq!(
        world.ask("sentinel-1", &["sentinel", "GET-MASTER-ADDR-BY-NAME", "other"]),
        BytesFrame::Null
    );
}

#[test]
fn a_subscriber_is_told_of_the_switch_and_may_not_ask_meanwhile() {
    let mut deployment = SentinelDeployment::new(2, 1, 1);
    let client = deployment.world.connect("sentinel-1");
    let confirmed = deployment.world.call(client, &["SUBSCRIBE", "+switch-master"]);
    assert_eq!(crate::world::text(&confirmed), "subscribe +switch-master 1");
    let refused = crate::world::text(&deployment.world.call(client, &["ROLE"]));
    assert!(refused.starts_with("-ERR Can't execute 'role'"), "{refused}");
    assert_eq!(crate::world::text(&deployment.world.call(client, &["PING"])), "pong ");
    deployment.world.crash("redis-1");
    deployment.world.run_for(10_000);
    let told = deployment.world.drain_texts(client);
    assert_eq!(told, ["message +switch-master mymaster redis-1 6379 redis-2 6379"]);
}

#[test]
fn a_vote_is_given_once_per_epoch_to_whoever_asks_first() {
    let mut deployment = SentinelDeployment::new(2, 1, 1);
    let mut ask = |epoch: &str, candidate: &str| {
        let words = ["SENTINEL", "is-master-down-by-addr", "redis-1", "6379", epoch, candidate];
        deployment.world.ask_text("sentinel-1", &words)
    };
    assert_eq!(ask("5", "*"), "0 * 0");
    assert_eq!(ask("5", "aaaa"), "0 aaaa 5");
    assert_eq!(ask("5", "bbbb"), "0 aaaa 5");
    assert_eq!(ask("4", "bbbb"), "0 aaaa 5");
    assert_eq!(ask("6", "bbbb"), "0 bbbb 6");
}

#[test]
fn the_quorum_check_counts_sentinels_that_answer() {
    let mut deployment = SentinelDeployment::new(2, 3, 2);
    let ask = ["SENTINEL", "CKQUORUM", "mymaster"];
    let good = deployment.world.ask_text("sentinel-1", &ask);
    assert_eq!(good, "OK 3 usable Sentinels. Quorum and failover authorization can be reached");
    deployment.world.crash("sentinel-2");
    deployment.world.crash("sentinel-3");
    deployment.world.run_for(3_000);
    let bad = deployment.world.ask_text("sentinel-1", &ask);
    assert!(
        bad.starts_with(
            "-NOQUORUM 1 usable Sentinels. Not enough available Sentinels to reach the specified"
        ),
        "{bad}"
    );
}

#[test]
fn instances_are_listed_as_maps_of_fields() {
    let mut deployment = SentinelDeployment::new(3, 2, 2);
    let world = &mut deployment.world;
    let master = world.ask_text("sentinel-1", &["SENTINEL", "MASTER", "mymaster"]);
    assert!(master.starts_with("name mymaster ip redis-1 port 6379 runid 0000"), "{master}");
    assert!(master.contains("flags master link-pending-commands"), "{master}");
    assert!(
        master.ends_with(
            "num-slaves 2 num-other-sentinels 1 quorum 2 failover-timeout 10000 parallel-syncs 1"
        ),
        "{master}"
    );
    let replicas = world.ask_text("sentinel-1", &["SENTINEL", "REPLICAS", "mymaster"]);
    assert!(
        replicas.contains(
            "master-host redis-1 master-port 6379 slave-priority 100 slave-repl-offset 1000"
        ),
        "{replicas}"
    );
    let sentinels = world.ask_text("sentinel-1", &["SENTINEL", "SENTINELS", "mymaster"]);
    assert!(sentinels.contains("ip sentinel-2 port 26379"), "{sentinels}");
    assert_eq!(
        world.ask_text("sentinel-1", &["SENTINEL", "MASTER", "x"]),
        "-ERR No such master with that name"
    );
}

#[test]
fn reset_forgets_and_finds_again() {
    let mut deployment = SentinelDeployment::new(3, 2, 2);
    assert_eq!(deployment.world.ask_text("sentinel-1", &["SENTINEL", "RESET", "my*"]), "1");
    let info = deployment.world.ask_text("sentinel-1", &["INFO"]);
    assert!(info.contains("slaves=0,sentinels=1"), "{info}");
    deployment.world.run_for(15_000);
    let info = deployment.world.ask_text("sentinel-1", &["INFO"]);
    assert!(info.contains("slaves=2,sentinels=2"), "{info}");
}

#[test]
fn resp3_clients_get_maps_and_pushes() {
    let mut deployment = SentinelDeployment::new(2, 1, 1);
    let world = &mut deployment.world;
    let client = world.connect("sentinel-1");
    world.send_command(client, &["HELLO", "3"]);
    world.run_for(5);
    let raw = world.raw(client);
    assert!(raw.starts_with("%6\r\n$6\r\nserver\r\n$5\r\nredis\r\n"), "{raw}");
    world.send_command(client, &["SUBSCRIBE", "+sdown"]);
    world.run_for(5);
    assert_eq!(world.raw(client), ">3\r\n$9\r\nsubscribe\r\n$6\r\n+sdown\r\n:1\r\n");
}

#[test]
fn malformed_requests_are_refused_as_redis_does() {
    let mut deployment = SentinelDeployment::new(2, 1, 1);
    let world = &mut deployment.world;
    assert_eq!(
        world.ask_text("sentinel-1", &["GET", "k"]),
        "-ERR unknown command 'GET', with args beginning with: 'k' "
    );
    assert_eq!(
        world.ask_text("sentinel-1", &["ROLE", "x"]),
        "-ERR wrong number of arguments for 'role' command"
    );
    let publish = ["PUBLISH", "channel", "x"];
    let refusal = "-ERR Only HELLO messages are accepted by Sentinel instances.";
    assert_eq!(world.ask_text("sentinel-1", &publish), refusal);
    let client = world.connect("sentinel-1");
    world.send_raw(client, b"*1\r\n:3\r\n");
    world.run_for(5);
    assert_eq!(world.raw(client), "-ERR Protocol error: expected '$', got ':'\r\n");
    assert!(!world.is_open(client));
}
