use crate::fakes::Fakes;
use crate::real::{Client, RealRedis, skip};
use fake_redis::NodeConfig;
use fake_redis::serve::ServeOptions;
use fencepost_testing::wait_for;
use std::process::Command;

fn fill(client: &mut Client) {
    let long = "abc".repeat(5_000);
    client.run("SET string value");
    client.run("SET number 12345");
    client.run(&format!("SET long {long}"));
    client.run("SET lock token NX PX 3600000");
    for size in [5, 600] {
        for index in 0..size {
            client.run(&format!("HSET hash{size} field{index} {index}"));
            client.run(&format!("RPUSH list{size} element{index}"));
            client.run(&format!("SADD integers{size} {index}"));
            client.run(&format!("SADD set{size} member{index}"));
            client.run(&format!("ZADD zset{size} {index}.5 member{index}"));
            client
                .run(&format!("XADD stream{size} 5-* field{} {index} n member{index}", index % 3));
        }
    }
    client.run("XDEL stream600 5-7 5-8 5-120");
    client.run("SELECT 3");
    client.run("SET elsewhere value");
    client.run("SELECT 0");
}

fn contents(client: &mut Client) -> Vec<String> {
    let mut lines = vec![
        client.run("MGET string number long lock"),
        client.run("PEXPIRETIME lock"),
        client.run("DBSIZE"),
    ];
    for size in [5, 600] {
        lines.push(client.run(&format!("LRANGE list{size} 0 -1")));
        lines.push(client.run(&format!("ZRANGE zset{size} 0 -1 WITHSCORES")));
        lines.push(client.run(&format!("XRANGE stream{size} - +")));
        for command in [
            format!("SMEMBERS set{size}"),
            format!("SMEMBERS integers{size}"),
            format!("HVALS hash{size}"),
        ] {
            let mut members: Vec<String> =
                client.run(&command).split('|').map(str::to_owned).collect();
            members.sort();
            lines.push(members.join("|"));
        }
    }
    client.run("SELECT 3");
    lines.push(client.run("GET elsewhere"));
    client.run("SELECT 0");
    lines
}

fn at_once() -> NodeConfig {
    NodeConfig { repl_diskless_sync_delay: 0, ..NodeConfig::default() }
}

#[track_caller]
fn wait_for_value(client: &mut Client, key: &str, value: &str) {
    let wanted = format!("${}|{value}", value.len());
    wait_for(&format!("{key} is {value}"), || {
        (client.run(&format!("GET {key}")) == wanted).then_some(())
    });
}

#[test]
fn a_real_server_follows_a_fake_one_by_full_and_partial_resynchronisation() {
    let fakes = Fakes::start(ServeOptions { node: at_once(), ..ServeOptions::default() });
    let mut primary = fakes.client(0);
    fill(&mut primary);
    let Some(real) = RealRedis::start(&["--replicaof", &format!("127.0.0.1 {}", fakes.ports[0])])
    else {
        return;
    };
    let mut replica = real.connect();
    wait_for_value(&mut replica, "string", "value");
    assert_eq!(contents(&mut replica), contents(&mut primary));
    primary.run("SET later 1");
    primary.run("XADD stream600 MAXLEN ~ 300 * field later");
    primary.run("EVAL redis.call('SET',KEYS[1],ARGV[1],'PX',3600000) 1 scripted 2");
    wait_for("the replica acknowledges", || (primary.run("WAIT 1 1000") == ":1").then_some(()));
    assert_eq!(replica.run("MGET later scripted"), "*2|$1|1|$1|2");
    assert_eq!(replica.run("XRANGE stream600 - +"), primary.run("XRANGE stream600 - +"));
    assert_eq!(replica.run("PEXPIRETIME scripted"), primary.run("PEXPIRETIME scripted"));
    primary.run("CLIENT KILL TYPE replica");
    primary.run("SET missed 3");
    wait_for_value(&mut replica, "missed", "3");
    let log = real.log();
    assert!(log.contains("MASTER <-> REPLICA sync: Finished with success"), "{log}");
    assert!(log.contains("Successful partial resynchronization with master"), "{log}");
}

#[test]
fn a_fake_server_follows_a_real_one_by_full_and_partial_resynchronisation() {
    let Some(real) =
        RealRedis::start(&["--requirepass", "secret", "--repl-diskless-sync-delay", "0"])
    else {
        return;
    };
    let mut primary = real.connect();
    primary.run("AUTH secret");
    // The data is plain strings, because fake-redis reads few packed encodings of real servers.
    primary.run("SET string value");
    primary.run("SET lock token NX PX 3600000");
    let node = NodeConfig { masterauth: Some("secret".into()), ..NodeConfig::default() };
    let fakes = Fakes::start(ServeOptions { node, ..ServeOptions::default() });
    let mut replica = fakes.client(0);
    replica.run(&format!("REPLICAOF 127.0.0.1 {}", real.port));
    wait_for_value(&mut replica, "string", "value");
    assert_eq!(replica.run("PEXPIRETIME lock"), primary.run("PEXPIRETIME lock"));
    primary.run("SET later 1 PX 3600000");
    assert_eq!(wait_for("the replica acknowledges", || Some(primary.run("WAIT 1 0"))), ":1");
    assert_eq!(replica.run("PEXPIRETIME later"), primary.run("PEXPIRETIME later"));
    assert_eq!(
        replica.run("SET later 2"),
        "-READONLY You can't write against a read only replica."
    );
    primary.run("CLIENT KILL TYPE replica");
    primary.run("SET missed 3");
    wait_for_value(&mut replica, "missed", "3");
    assert_eq!(primary.info("sync_full"), Some("1".to_owned()));
    assert_eq!(primary.info("sync_partial_ok"), Some("1".to_owned()));
    assert_eq!(replica.run("REPLICAOF NO ONE"), "+OK");
    assert_eq!(replica.run("SET promoted 4"), "+OK");
    primary.run(&format!("REPLICAOF 127.0.0.1 {}", fakes.ports[0]));
    wait_for_value(&mut primary, "promoted", "4");
    let log = real.log();
    assert!(log.contains("Successful partial resynchronization with master"), "{log}");
}

#[test]
fn failover_hands_the_place_of_a_primary_to_a_real_server_and_back() {
    let fakes = Fakes::start(ServeOptions { node: at_once(), ..ServeOptions::default() });
    let mut fake = fakes.client(0);
    fake.run("SET k 1");
    let Some(real) = RealRedis::start(&["--replicaof", &format!("127.0.0.1 {}", fakes.ports[0])])
    else {
        return;
    };
    let mut other = real.connect();
    wait_for("the replica acknowledges", || (fake.run("WAIT 1 1000") == ":1").then_some(()));
    assert_eq!(fake.run(&format!("FAILOVER TO 127.0.0.1 {} TIMEOUT 60000", real.port)), "+OK");
    wait_for("the real server takes writes", || (other.run("SET k 2") == "+OK").then_some(()));
    wait_for("the failover has ended", || {
        fake.info("master_failover_state").filter(|state| state == "no-failover")
    });
    wait_for_value(&mut fake, "k", "2");
    assert_eq!(fake.info("role"), Some("slave".to_owned()));
    assert_eq!(other.run("FAILOVER"), "+OK");
    wait_for("the fake server takes writes", || (fake.run("SET k 3") == "+OK").then_some(()));
    wait_for_value(&mut other, "k", "3");
    assert_eq!(other.info("master_failover_state"), Some("no-failover".to_owned()));
    let log = real.log();
    assert_eq!(log.matches("Successful partial resynchronization with master").count(), 1, "{log}");
}

#[test]
fn a_real_sentinel_fails_over_from_one_fake_server_to_another() {
    let fakes = Fakes::start(ServeOptions { replicas: 2, ..ServeOptions::default() });
    let mut master = fakes.client(0);
    master.run("SET k v");
    wait_for("both replicas follow", || (master.run("WAIT 2 1000") == ":2").then_some(()));
    let Some(real) = RealRedis::sentinel(fakes.ports[0]) else { return };
    let mut sentinel = real.connect();
    let find = |sentinel: &mut Client| sentinel.run("SENTINEL GET-MASTER-ADDR-BY-NAME mymaster");
    wait_for("Sentinel knows both replicas", || {
        let known = sentinel.run("SENTINEL REPLICAS mymaster");
        fakes.ports[1..].iter().all(|port| known.contains(&format!("|{port}|"))).then_some(())
    });
    master.write(b"SHUTDOWN NOSAVE\r\n");
    let before = format!("|{}", fakes.ports[0]);
    let after = wait_for("another master", || {
        Some(find(&mut sentinel)).filter(|found| !found.ends_with(&before))
    });
    let promoted =
        fakes.ports.iter().position(|port| after.ends_with(&format!("|{port}"))).unwrap();
    let mut promoted = fakes.client(promoted);
    wait_for("the new master takes writes", || (promoted.run("SET k w") == "+OK").then_some(()));
    wait_for("the other replica follows it", || {
        (promoted.run("WAIT 1 1000") == ":1").then_some(())
    });
    assert_eq!(promoted.run("GET k"), "$1|w");
    assert!(promoted.run("ROLE").starts_with("*3|$6|master"));
}

fn output_of(program: &str, port: u16, arguments: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(program).args(["-p", &port.to_string()]).args(arguments).output()
    else {
        skip(program);
        return None;
    };
    assert!(output.status.success(), "{program}: {output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn redis_cli_and_redis_benchmark_work_as_they_are() {
    let fakes = Fakes::start(ServeOptions::default());
    let port = fakes.ports[0];
    let Some(answer) = output_of("redis-cli", port, &["SET", "k", "v", "PX", "100000"]) else {
        return;
    };
    assert_eq!(answer, "OK\n");
    assert_eq!(
        output_of("redis-cli", port, &["-3", "HELLO"]).unwrap().lines().next(),
        Some("server redis")
    );
    assert!(output_of("redis-cli", port, &["INFO"]).unwrap().contains("redis_version:7.0.15"));
    assert_eq!(output_of("redis-cli", port, &["--scan"]).unwrap(), "k\n");
    let arguments =
        ["-t", "set,get,incr,lpush,lpop,sadd,hset,zadd", "-n", "2000", "-P", "16", "-q"];
    let speeds = output_of("redis-benchmark", port, &arguments).unwrap();
    assert_eq!(speeds.matches("requests per second").count(), 8, "{speeds}");
    assert_eq!(fakes.client(0).run("DBSIZE"), ":6");
}
