use super::*;
use bytes::Bytes;
use fencepost_machine::ConnectionId;

const NOW: i64 = 1_700_000_000;

fn primary() -> Replication {
    let mut random = Random::new(1);
    let mut replication = Replication::new(&NodeConfig::default(), &mut random);
    replication.no_replicas_since = NOW;
    replication.begin_history(|| "a".repeat(40), 1_000);
    replication
}

fn replica(key: usize, progress: Progress) -> Replica {
    Replica {
        client: ClientKey(key),
        connection: ConnectionId(key as u32),
        host: "redis-2".to_owned(),
        port: 6_379,
        acknowledged: 0,
        synced: 0,
        acknowledged_at: NOW,
        silent: false,
        progress,
    }
}

fn shared(replication: &mut Replication) -> Vec<(u32, Bytes)> {
    let mut sent = Vec::new();
    if replication.has_new_bytes() {
        replication.share_new_bytes(|connection, bytes| sent.push((connection.0, bytes)));
    }
    sent
}

#[test]
fn a_former_primary_may_continue_and_a_leader_begins_a_branch_of_its_history() {
    let mut replication = primary();
    replication.feed(0, &[b"SET", b"a", b"1"]);
    let (id, offset) = (replication.history().id().to_owned(), replication.offset());
    replication.follow("redis-2", 6_379);
    assert!(replication.may_continue && !replication.wants_stream());
    replication.lead("b".repeat(40), NOW + 5);
    assert!(!replication.is_replica() && !replication.may_continue);
    let history = replication.history();
    assert_eq!((history.id(), history.second_id()), ("b".repeat(40).as_str(), id.as_str()));
    assert_eq!(history.second_offset(), offset as i64 + 1);
    replication.add_replica(replica(7, Progress::Follows));
    replication.feed(0, &[b"DEL", b"a"]);
    let [(7, bytes)] = &shared(&mut replication)[..] else { panic!("one replica") };
    assert!(bytes.starts_with(b"*2\r\n$6\r\nSELECT\r\n"), "{bytes:?}");
}

#[test]
fn the_stream_reaches_who_follows_and_is_held_for_who_loads() {
    let mut replication = primary();
    replication.feed_without_database(&[b"PING"]);
    assert_eq!(shared(&mut replication), [], "nobody is there");
    let loads = Progress::Loads(BytesMut::new());
    let all = [Progress::Follows, loads, Progress::Waits(NOW)];
    all.into_iter().enumerate().for_each(|(key, one)| replication.add_replica(replica(key, one)));
    replication.feed_without_database(&[b"PING"]);
    let ping = Bytes::from_static(b"*1\r\n$4\r\nPING\r\n");
    assert_eq!(shared(&mut replication), [(0, ping.clone())]);
    assert_eq!(shared(&mut replication), [], "it is sent once");
    let (_, held) = replication.acknowledge(ClientKey(1), 0, None, NOW).unwrap();
    assert_eq!(held, ping);
    let (_, held) = replication.acknowledge(ClientKey(1), 0, None, NOW).unwrap();
    assert!(held.is_empty(), "it is handed out once");
    assert_eq!(replication.acknowledge(ClientKey(9), 0, None, NOW), None, "no replica");
    assert!(!replication.replicas()[2].is_online());
}

#[test]
fn a_backlog_is_kept_for_an_hour_after_the_last_replica() {
    let mut replication = primary();
    replication.add_replica(replica(1, Progress::Follows));
    replication.wait(Waiting {
        client: ClientKey(1),
        offset: 0,
        goal: Goal::Applied { replicas: 1 },
        until_ms: None,
    });
    assert!(!replication.forget_client(ClientKey(2), NOW + 1), "it was none");
    assert!(replication.forget_client(ClientKey(1), NOW + 10));
    assert_eq!(replication.waiting(), []);
    let end = NOW + 10 + BACKLOG_TTL_SECONDS;
    assert!(!replication.has_expired_backlog(end));
    assert!(replication.has_expired_backlog(end + 1));
    assert_eq!(replication.next_cron(NOW * 1_000_000), Some((end + 1) * 1_000_000));
}

#[test]
fn who_waits_has_the_replicas_asked_once() {
    let mut replication = primary();
    replication.add_replica(replica(1, Progress::Follows));
    let goal = Goal::Applied { replicas: 1 };
    let waiting = Waiting { client: ClientKey(5), offset: 0, goal, until_ms: None };
    replication.wait(waiting.clone());
    let asked = Bytes::from_static(b"*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n");
    assert_eq!(shared(&mut replication), [(1, asked)]);
    assert_eq!(shared(&mut replication), []);
    replication.end_wait(&waiting);
    assert_eq!(replication.end_all_waits(), []);
}
