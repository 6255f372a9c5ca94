use crate::alone::launch;
use crate::machines::{Connection, Machines};
use fencepost_programs::{Ending, Launch};
use fencepost_testing::skip;
use std::path::Path;

const PORT: u16 = 6379;
const SECOND_US: u64 = 1_000_000;
const RELEASE: &str = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) \
                       end return 0";

fn redis(name: &str, folder: &Path, more: &[&str]) -> Option<Launch> {
    let path = std::env::var("PATH").unwrap_or_default();
    let Ok(program) = fencepost_programs::find_program("redis-server", folder, &path) else {
        skip("FENCEPOST_REAL_REDIS", "redis-server");
        return None;
    };
    let plain = [program.to_str().unwrap(), "--port", "6379", "--protected-mode", "no"];
    let words: Vec<&str> = plain.iter().chain(more).copied().collect();
    let mut launch = launch(&words);
    launch.folder = folder.to_owned();
    launch.host_name = name.to_owned();
    launch.sync_us = Some(1_000);
    Some(launch)
}

fn does(world: &mut Machines, at: Connection, words: &[&str]) -> String {
    let mut bytes = format!("*{}\r\n", words.len());
    words.iter().for_each(|word| bytes += &format!("${}\r\n{word}\r\n", word.len()));
    world.send(at, bytes.as_bytes());
    world.advance(50_000);
    world.received(at)
}

const MEMORY_ONLY: &[&str] = &["--save", "", "--appendonly", "no"];

fn one_life() -> Option<(Vec<String>, Vec<fencepost_programs::CallMade>)> {
    let folder = tempfile::tempdir().unwrap();
    let mut world = Machines::default();
    let server = world.start(&redis("client-1", folder.path(), MEMORY_ONLY)?);
    world.advance(SECOND_US);
    let client = world.connect(server, PORT).unwrap();
    let set = |value| ["SET", "lock", value, "NX", "PX", "10000"];
    let mut answers = vec![
        does(&mut world, client, &set("a")),
        does(&mut world, client, &set("b")),
        does(&mut world, client, &["PTTL", "lock"]),
    ];
    world.advance(10 * SECOND_US);
    answers.push(does(&mut world, client, &set("b")));
    answers.push(does(&mut world, client, &["EVAL", RELEASE, "1", "lock", "a"]));
    answers.push(does(&mut world, client, &["EVAL", RELEASE, "1", "lock", "b"]));
    does(&mut world, client, &set("c"));
    world.freeze(server);
    world.advance(11 * SECOND_US);
    world.resume(server);
    answers.push(does(&mut world, client, &["GET", "lock"]));
    does(&mut world, client, &set("d"));
    world.step_wall(server, 3_600 * SECOND_US as i64);
    answers.push(does(&mut world, client, &["GET", "lock"]));
    answers.push(does(&mut world, client, &["INFO"]));
    let calls = world.calls(server).to_vec();
    does(&mut world, client, &["SHUTDOWN", "NOSAVE"]);
    assert_eq!(world.ending(server), Some(&Ending::Exited(0)));
    Some((answers, calls))
}

#[test]
fn a_server_goes_by_the_clocks_of_its_machine_and_two_runs_are_equal() {
    let (Some(one), Some(other)) = (one_life(), one_life()) else { return };
    let told: Vec<&str> = one.0.iter().map(String::as_str).collect();
    let left: u64 = told[2].trim_start_matches(':').trim_end().parse().unwrap();
    assert!((9_800..=10_000).contains(&left), "{left}");
    let nil = "$-1\r\n";
    assert_eq!(told[..2], ["+OK\r\n", nil]);
    assert_eq!(told[3..8], ["+OK\r\n", ":0\r\n", ":1\r\n", nil, nil]);
    assert_eq!(one.0, other.0);
    assert_eq!(one.1, other.1);
}

fn after_the_end(fsync: &str, has_power: bool) -> Option<[String; 2]> {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--save", "", "--appendonly", "yes", "--appendfsync", fsync];
    let launch = redis("client-1", folder.path(), &words)?;
    let mut world = Machines::default();
    let server = world.start(&launch);
    world.advance(SECOND_US);
    let client = world.connect(server, PORT).unwrap();
    does(&mut world, client, &["SET", "early", "1", "PX", "100000"]);
    world.advance(5 * SECOND_US);
    does(&mut world, client, &["BGREWRITEAOF"]);
    world.advance(5 * SECOND_US);
    does(&mut world, client, &["SET", "other", "1"]);
    world.advance(SECOND_US / 5);
    does(&mut world, client, &["SET", "late", "1"]);
    world.kill(server);
    if !has_power {
        world.restore(server, folder.path());
    }
    world.restart(server);
    world.advance(SECOND_US);
    let client = world.connect(server, PORT).unwrap();
    let ttl = does(&mut world, client, &["PTTL", "early"]);
    let left: i64 = ttl.trim_start_matches(':').trim_end().parse().unwrap();
    assert!((80_000..100_000).contains(&left), "{left}");
    Some(["early", "late"].map(|key| does(&mut world, client, &["EXISTS", key])))
}

#[test]
fn a_killed_server_keeps_what_it_wrote_and_a_power_loss_takes_what_was_not_synced() {
    let Some(killed) = after_the_end("everysec", true) else { return };
    assert_eq!(killed, [":1\r\n", ":1\r\n"]);
    assert_eq!(after_the_end("everysec", false).unwrap(), [":1\r\n", ":0\r\n"]);
    assert_eq!(after_the_end("always", false).unwrap(), [":1\r\n", ":1\r\n"]);
}

#[test]
fn a_server_starts_with_a_log_whose_last_command_was_torn() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"];
    let Some(launch) = redis("client-1", folder.path(), &words) else { return };
    let mut world = Machines::default();
    let server = world.start(&launch);
    world.advance(SECOND_US);
    let client = world.connect(server, PORT).unwrap();
    does(&mut world, client, &["SET", "early", "1"]);
    world.advance(5 * SECOND_US);
    does(&mut world, client, &["SET", "other", "1"]);
    world.advance(SECOND_US / 5);
    does(&mut world, client, &["SET", "first", "1"]);
    does(&mut world, client, &["SET", "last", "1"]);
    world.kill(server);
    world.tear(server, folder.path(), |unsynced| unsynced - 3);
    world.restart(server);
    world.advance(SECOND_US);
    let client = world.connect(server, PORT).unwrap();
    let left = ["early", "first", "last"].map(|key| does(&mut world, client, &["EXISTS", key]));
    assert_eq!(left, [":1\r\n", ":1\r\n", ":0\r\n"]);
}

fn when_syncs_fail(fsync: &str) -> Option<(Vec<String>, Option<Ending>, bool)> {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--save", "", "--appendonly", "yes", "--appendfsync", fsync];
    let launch = redis("client-1", folder.path(), &words)?;
    let mut world = Machines::default();
    let server = world.start(&launch);
    world.advance(SECOND_US);
    let client = world.connect(server, PORT).unwrap();
    let mut answers = vec![does(&mut world, client, &["SET", "a", "1", "PX", "5000"])];
    world.fail_syncs(server, Some(libc::EIO));
    answers.push(does(&mut world, client, &["SET", "b", "1"]));
    world.advance(2 * SECOND_US);
    if world.ending(server).is_none() {
        answers.push(does(&mut world, client, &["SET", "c", "1"]));
        answers.push(does(&mut world, client, &["PING"]));
        world.fail_syncs(server, None);
        world.advance(2 * SECOND_US);
        answers.push(does(&mut world, client, &["SET", "c", "1"]));
        world.advance(3 * SECOND_US);
        answers.push(does(&mut world, client, &["SET", "c", "1"]));
    }
    Some((answers, world.ending(server).cloned(), world.has_failed_sync(server)))
}

#[test]
fn a_server_exits_or_refuses_writes_when_its_syncs_fail() {
    let Some((answers, ending, _)) = when_syncs_fail("always") else { return };
    assert_eq!(
        (answers, ending),
        (vec!["+OK\r\n".to_owned(), String::new()], Some(Ending::Exited(1)))
    );
    let (answers, ending, has_failed) = when_syncs_fail("everysec").unwrap();
    let refusal = "-MISCONF Errors writing to the AOF file: Input/output error\r\n";
    // The server refuses writes until it has logged the expiry of a key.
    assert_eq!(answers, ["+OK\r\n", "+OK\r\n", refusal, refusal, refusal, "+OK\r\n"]);
    assert_eq!((ending, has_failed), (None, true));
}

#[test]
fn a_snapshot_is_saved_by_a_child_and_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(launch) = redis("client-1", folder.path(), MEMORY_ONLY) else { return };
    let mut world = Machines::default();
    let server = world.start(&launch);
    world.advance(SECOND_US);
    let client = world.connect(server, PORT).unwrap();
    does(&mut world, client, &["SET", "k", "1"]);
    assert!(does(&mut world, client, &["BGSAVE"]).starts_with("+Background saving started"));
    world.advance(SECOND_US);
    let told = does(&mut world, client, &["INFO", "persistence"]);
    assert!(told.contains("rdb_last_bgsave_status:ok"), "{told}");
    world.kill(server);
    world.restore(server, folder.path());
    world.restart(server);
    world.advance(SECOND_US);
    let client = world.connect(server, PORT).unwrap();
    assert_eq!(does(&mut world, client, &["GET", "k"]), "$1\r\n1\r\n");
}

#[test]
fn a_replica_takes_over_the_data_of_its_primary_from_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("1"), folder.path().join("2"));
    std::fs::create_dir(&one).unwrap();
    std::fs::create_dir(&other).unwrap();
    let follows = ["--save", "", "--replicaof", "10.0.0.1", "6379"];
    let follows: Vec<&str> =
        follows.into_iter().chain(["--repl-diskless-sync-delay", "0"]).collect();
    let Some(primary) = redis("client-1", &one, MEMORY_ONLY) else { return };
    let replica = redis("nobody", &other, &follows).unwrap();
    let mut world = Machines::default();
    let servers = (world.start(&primary), world.start(&replica));
    world.advance(SECOND_US);
    let client = world.connect(servers.0, PORT).unwrap();
    does(&mut world, client, &["SET", "k", "1"]);
    world.advance(5 * SECOND_US);
    assert_eq!(does(&mut world, client, &["WAIT", "1", "1000"]), ":1\r\n");
    let reader = world.connect(servers.1, PORT).unwrap();
    assert_eq!(does(&mut world, reader, &["GET", "k"]), "$1\r\n1\r\n");
    assert!(world.connect(servers.1, 1).is_none(), "nobody listens there");
}
