use crate::cases::{Case, case, first_broken, found};
use fencepost::hosts::programs::ProgramDeployment;
use fencepost_clients::Coordinator;
use fencepost_reports::{Cause, Kind, Verdict};
use std::collections::BTreeSet;

const MEMCACHED: &str = r#"
from clients import *
server = Memcached()
holds(lambda: server(f"add {KEY} 0 {TTL // 1000} 1\r\n{ME}") == "STORED",
      lambda: server(f"delete {KEY}") == "DELETED")
"#;

const ZOOKEEPER: &str = r#"
from clients import *
server = ZooKeeper()
holds(lambda: server.create("/" + KEY), lambda: server.delete("/" + KEY))
"#;

const ETCD: &str = r#"
from clients import *
lease = None
def take():
    global lease
    try:
        lease = etcd("lease/grant", TTL=str(TTL // 1000))["ID"]
        return etcd_create(option("KEY") or KEY, lease)
    except (OSError, KeyError): return False
holds(take, lambda: "error" not in etcd("lease/revoke", ID=lease))
"#;

const POSTGRESQL: &str = r#"
from clients import *
server, number = Postgresql(), env("LOCK_NUMBER")
if option("ROW"):
    try: server("CREATE TABLE jobs (id int PRIMARY KEY); INSERT INTO jobs VALUES (7)")
    except ValueError: time.sleep(1)
    holds(lambda: server("BEGIN; SELECT id FROM jobs WHERE id = 7 FOR UPDATE") == ["7"],
          lambda: server("COMMIT") == [])
elif option("LEASE"):
    end = f"now() + interval '{TTL} milliseconds'"
    holds(lambda: server(f"INSERT INTO shedlock VALUES ('orders', {end}, now(), '{ME}') "
                         f"ON CONFLICT (name) DO UPDATE SET lock_until = {end}, locked_at = now(), "
                         f"locked_by = '{ME}' WHERE shedlock.lock_until <= now() RETURNING 1") == ["1"],
          lambda: server(f"UPDATE shedlock SET lock_until = now() WHERE locked_by = '{ME}'") == [])
else:
    holds(lambda: server(f"SELECT pg_try_advisory_lock({number})") == ["t"],
          lambda: server(f"SELECT pg_advisory_unlock({number})") == ["t"])
"#;

const MYSQL: &str = r#"
from clients import *
server = Mysql()
if option("ROW"):
    holds(lambda: server("BEGIN") or server(f"SELECT name FROM locks WHERE name = '{KEY}' FOR UPDATE") == [KEY],
          lambda: server("COMMIT") is None)
else:
    holds(lambda: server(f"SELECT GET_LOCK('{KEY}', 1)") == ["1"],
          lambda: server(f"SELECT RELEASE_LOCK('{KEY}')") == ["1"])
"#;

type Worker = (Coordinator, &'static str, &'static [(&'static str, &'static str)]);
const WORKERS: &[Worker] = &[
    (Coordinator::Memcached, MEMCACHED, &[]),
    (Coordinator::ZooKeeper, ZOOKEEPER, &[]),
    (Coordinator::Etcd, ETCD, &[]),
    (Coordinator::PostgreSql, POSTGRESQL, &[]),
    (Coordinator::MySql, MYSQL, &[]),
    (Coordinator::MySql, MYSQL, &[("ROW", "1")]),
];

fn worker((coordinator, text, options): Worker, cycles: u32) -> Case {
    case(text, cycles).on(coordinator).with(options)
}

#[test]
fn a_worker_on_each_coordinator_is_judged_by_what_its_servers_grant() {
    for of in WORKERS {
        let (Some(facts), Some(again)) = (worker(*of, 3).run(), worker(*of, 3).run()) else {
            return;
        };
        let (name, programs) = (of.0.name(), &facts.programs);
        assert_eq!(facts.verdict, Verdict::Valid, "{name}: {:?} {programs:?}", found(&facts));
        assert_eq!(facts.acquisitions, 10, "{name}: {programs:?}");
        assert_eq!(facts.note, None, "{name}");
        assert_eq!(facts.history_digest, again.history_digest, "{name}");
        let is_grant = |text: &str| {
            text.contains("grants the lock") || text.ends_with(" at the head of the queue")
        };
        let grants: Vec<_> = facts.timeline.iter().filter(|entry| is_grant(&entry.text)).collect();
        assert_eq!(grants.len(), 10, "{name}: {:?}", facts.timeline);
        let told = serde_json::to_value(&grants).unwrap();
        let owners: BTreeSet<String> =
            told.as_array().unwrap().iter().map(|grant| grant["value"].to_string()).collect();
        assert!(owners.len() >= 4, "{name}: each process is an owner of its own: {owners:?}");
    }
}

#[test]
fn a_worker_can_have_one_server_of_an_ensemble_or_a_cluster() {
    for of in &WORKERS[1..3] {
        let one = worker(*of, 2).deployed(ProgramDeployment::Single);
        let Some(facts) = one.under("restart", 1).run() else { return };
        assert!(facts.acquisitions >= 2, "{}: {:?}", of.0.name(), facts.programs);
    }
}

#[test]
fn another_key_than_the_stated_one_is_found_and_named() {
    let postgresql = (Coordinator::PostgreSql, POSTGRESQL, &[("ROW", "1")][..]);
    let etcd = (Coordinator::Etcd, ETCD, &[("KEY", "app/mutex")][..]);
    for (of, key) in [(postgresql, "'jobs/7'"), (etcd, "'app/mutex'")] {
        let Some(facts) = worker(of, 2).run() else { return };
        assert_eq!(facts.verdict, Verdict::Valid, "{:?} {:?}", found(&facts), facts.programs);
        let note = facts.note.unwrap_or_default();
        assert!(note.contains(key), "{note}");
    }
}

#[test]
fn a_program_that_uses_grpc_is_told_to_take_a_real_etcd() {
    const GRPC: &str = r#"
from clients import *
def take():
    server = socket.create_connection((HOST, int(PORT)), 10)
    server.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    return server.recv(100) != b""
holds(take, lambda: True)
"#;
    let Some(facts) = worker((Coordinator::Etcd, GRPC, &[]), 2).run() else { return };
    let Verdict::Unknown { reason } = &facts.verdict else { panic!("{:?}", found(&facts)) };
    let advice = "client-1 uses gRPC, but the simulated etcd serves only its JSON gateway: add \
                  --servers real --deployment single";
    assert_eq!(reason, advice);
}

#[test]
fn a_row_with_an_end_is_a_lease_and_ends_with_it() {
    let of = (Coordinator::PostgreSql, POSTGRESQL, &[("LEASE", "1")][..]);
    let paused = |seed| worker(of, 4).under("pause", seed);
    let Some((_, facts)) = first_broken(0..8, Kind::Overlap, paused) else { return };
    assert!(found(&facts).contains(&(Kind::Overlap, Cause::HolderPause)), "{:?}", found(&facts));
}

#[test]
fn a_database_that_restarts_forgets_its_connections_locks() {
    first_broken(0..6, Kind::Overlap, |seed| worker(WORKERS[4], 4).under("restart", seed));
}
