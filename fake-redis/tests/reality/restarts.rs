use crate::fakes::Fakes;
use crate::real::{Client, RealRedis};
use fake_redis::NodeConfig;
use fake_redis::config::{Fsync, Persistence};
use fake_redis::serve::ServeOptions;
use fencepost_testing::wait_for;
use std::path::Path;

fn kept_in(folder: &Path, nodes: u16, node: NodeConfig) -> Fakes {
    let dir = Some(folder.to_owned());
    Fakes::start(ServeOptions { nodes, dir, node, ..ServeOptions::default() })
}

fn lengthen(client: &mut Client) {
    let to_live = [300, 3_000, 30_000].into_iter().find(|to_live| {
        client.run(&format!("SET k v PX {to_live}"));
        client.run("BGREWRITEAOF");
        wait_for("the file is rewritten", || {
            client.info("aof_rewrite_in_progress").filter(|state| state == "0")
        });
        client.run("PEXPIRE k 600000") == ":1"
    });
    client.run(&format!("SET other v PX {}", to_live.unwrap()));
    wait_for("the first deadline is over", || (client.run("EXISTS other") == ":0").then_some(()));
}

#[test]
fn a_key_that_was_lengthened_after_a_rewrite_outlives_a_restart() {
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let Some(real) = RealRedis::start(&options) else { return };
    lengthen(&mut real.connect());
    let Some(real) = real.restart(&options) else { return };
    assert_eq!(real.connect().run("GET k"), "$1|v");
    let folder = tempfile::tempdir().unwrap();
    let persistence = Persistence::Aof { fsync: Fsync::Always };
    let node = NodeConfig { persistence, ..NodeConfig::default() };
    lengthen(&mut kept_in(folder.path(), 1, node.clone()).client(0));
    assert_eq!(kept_in(folder.path(), 1, node).client(0).run("GET k"), "$1|v");
}

/// After the call, the follower's disk has the primary's snapshot, but not the later write.
fn follow_for_a_moment(follower: &mut Client, primary: &mut Client, port: u16) {
    primary.run("CONFIG SET repl-diskless-sync-delay 0");
    primary.run("SET k old");
    follower.run(&format!("REPLICAOF 127.0.0.1 {port}"));
    wait_for("it follows", || (follower.run("GET k") == "$3|old").then_some(()));
    wait_for("it is in step", || {
        follower.info("master_link_status").filter(|status| status == "up")
    });
    assert_eq!(follower.run("REPLICAOF NO ONE"), "+OK");
    assert_eq!(follower.run("SET k new"), "+OK");
}

#[test]
fn without_persistence_the_snapshot_of_the_last_synchronisation_comes_back() {
    let (Some(one), Some(other)) = (RealRedis::start(&[]), RealRedis::start(&[])) else { return };
    follow_for_a_moment(&mut one.connect(), &mut other.connect(), other.port);
    let Some(one) = one.restart(&[]) else { return };
    assert_eq!(one.connect().run("GET k"), "$3|old");
    let folder = tempfile::tempdir().unwrap();
    let fakes = kept_in(folder.path(), 2, NodeConfig::default());
    follow_for_a_moment(&mut fakes.client(0), &mut fakes.client(1), fakes.ports[1]);
    drop(fakes);
    let fakes = kept_in(folder.path(), 2, NodeConfig::default());
    assert_eq!(fakes.client(0).run("GET k"), "$3|old");
    assert_eq!(fakes.client(1).run("GET k"), "$-1", "who was followed kept nothing");
}

fn states(primary: &mut Client) -> Vec<String> {
    let mut states: Vec<String> = Vec::new();
    wait_for("the replica has acknowledged", || {
        let replica = primary.info("slave0").unwrap_or_default();
        let state = replica.split(',').nth(2).unwrap_or_default().to_owned();
        if !state.is_empty() && states.last() != Some(&state) {
            states.push(state);
        }
        let acknowledged = replica.contains("state=online") && !replica.contains("offset=0,");
        acknowledged.then_some(())
    });
    states
}

#[test]
fn a_replica_waits_for_its_snapshot_before_it_is_online() {
    let Some(real) = RealRedis::start(&["--repl-diskless-sync-delay", "1"]) else { return };
    let node = NodeConfig { repl_diskless_sync_delay: 1, ..NodeConfig::default() };
    let fakes = Fakes::start(ServeOptions { node, ..ServeOptions::default() });
    for port in [real.port, fakes.ports[0]] {
        let mut primary = Client::of(port);
        primary.run("SET k v");
        let followed = format!("127.0.0.1 {port}");
        let Some(_replica) = RealRedis::start(&["--replicaof", &followed]) else { return };
        assert_eq!(states(&mut primary), ["state=wait_bgsave", "state=online"]);
    }
}
