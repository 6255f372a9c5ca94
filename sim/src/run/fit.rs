//! Checks whether a scenario, a lock and faults fit together.

mod empty_world;

use crate::hosts::coordinators::{ServerSetup, entry};
use crate::setup::scenario::{OldPrimary, RedisVersion, Scenario, SlowLink};
use empty_world::EmptyWorld;
use fencepost_clients::{
    CLIENTS, Coordinator, Definition, Deployment, Env, HostKey, ServerLock, Servers, Usage,
};
use fencepost_faults::setting::{FailoverBy, InvalidSetting, Topology};
use fencepost_faults::{Families, Family, Node, Seed};
use std::rc::Rc;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Incompatible {
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    #[error("slow-link '{link}': expected two of the machines {valid}")]
    SlowLink { link: SlowLink, valid: String },
    #[error("{key} '{value}' works only with locks on {expected}, but {client} uses {coordinator}")]
    Coordinator {
        key: &'static str,
        value: String,
        expected: &'static str,
        client: &'static str,
        coordinator: &'static str,
    },
    #[error(
        "redis-version '{0}' does not work with a real server: remove this setting, because it \
         selects what the simulated Redis imitates"
    )]
    RealVersion(&'static str),
    #[error("failover-by '{}': expected {expected} for {client}", .by.name())]
    FailoverBy { by: FailoverBy, client: &'static str, expected: &'static str },
    #[error(
        "{key} '{value}' does not work with {program}: remove this setting, because a program sets \
         its own timeouts"
    )]
    GivesUp { key: &'static str, value: &'static str, program: String },
    #[error(
        "client '{client}' uses {coordinator}, but --servers names no real server for \
         {coordinator}: expected a lock on {expected}"
    )]
    Servers { client: &'static str, coordinator: &'static str, expected: String },
    #[error(
        "threads '{threads}': expected 1, because {client} does not distinguish the threads of a \
         process; {others} do"
    )]
    Threads { threads: u16, client: &'static str, others: String },
    #[error(
        "{key} '{value}': expected {expected}, because a run of {client} under {families} has \
         {replicas}"
    )]
    Replicas {
        key: &'static str,
        value: u16,
        expected: String,
        client: &'static str,
        families: Families,
        replicas: String,
    },
}

pub fn fits(
    scenario: &Scenario,
    client: &Definition,
    families: &Families,
) -> Result<(), Incompatible> {
    let setting = scenario.setting(scenario.topology(client, families));
    setting.validate()?;
    if let Some(link) = scenario.timing.slow_link {
        let targets = setting.targets();
        if !link.nodes().iter().all(|node| targets.contains(node)) {
            let valid: Vec<String> = targets.iter().map(ToString::to_string).collect();
            return Err(Incompatible::SlowLink { link, valid: valid.join(", ") });
        }
    }
    check_settings(scenario, client)?;
    check_replicas(scenario, &setting.topology, (client, families))?;
    check_binary(scenario, client)?;
    check_failover(scenario.faults.failover_by, client)?;
    if let (Some((key, value)), Some(program)) = (scenario.gives_up(), scenario.program(client)) {
        return Err(Incompatible::GivesUp { key, value, program: program.name.clone() });
    }
    let is_script = scenario.script(client).is_some();
    if scenario.threads == 1 || (!is_script && knows_threads(client)) {
        return Ok(());
    }
    let others: Vec<&str> =
        CLIENTS.iter().filter(|one| knows_threads(one)).map(|one| one.name).collect();
    Err(Incompatible::Threads {
        threads: scenario.threads,
        client: client.name,
        others: others.join(", "),
    })
}

fn check_binary(scenario: &Scenario, client: &Definition) -> Result<(), Incompatible> {
    let coordinator = client.deployment.coordinator().name();
    if scenario.binaries.is_empty() || scenario.binaries.contains_key(coordinator) {
        return Ok(());
    }
    let names: Vec<&str> = scenario.binaries.keys().map(String::as_str).collect();
    let expected = names.join(", ");
    Err(Incompatible::Servers { client: client.name, coordinator, expected })
}

fn check_settings(scenario: &Scenario, client: &Definition) -> Result<(), Incompatible> {
    let coordinator = client.deployment.coordinator();
    let servers = &scenario.servers;
    let version = servers.redis_version;
    let is_versioned = version != RedisVersion::default();
    if is_versioned && scenario.binaries.contains_key(Coordinator::Redis.name()) {
        return Err(Incompatible::RealVersion(version.name()));
    }
    let postgresql = |key, value: &str| (Coordinator::PostgreSql, key, value.to_owned());
    let stated = [
        servers.standby.map(|standby| postgresql("standby", standby.name())),
        (servers.old_primary != OldPrimary::Drawn)
            .then(|| postgresql("old-primary", servers.old_primary.name())),
        is_versioned.then(|| (Coordinator::Redis, "redis-version", version.name().to_owned())),
        servers.lock_delay.map(|delay| (Coordinator::Chubby, "lock-delay", delay.to_string())),
    ];
    let replicas = counts_of_replicas(scenario).into_iter().filter(|(_, count)| *count > 0);
    let replicas = replicas.map(|(key, count)| (Coordinator::Redis, key, count.to_string()));
    let stated = stated.into_iter().flatten().chain(replicas);
    let mut foreign = stated.filter(|(only_on, ..)| *only_on != coordinator);
    let Some((expected, key, value)) = foreign.next() else { return Ok(()) };
    let (client, coordinator) = (client.name, coordinator.name());
    Err(Incompatible::Coordinator { key, value, expected: expected.name(), client, coordinator })
}

fn counts_of_replicas(scenario: &Scenario) -> [(&'static str, u16); 2] {
    let servers = &scenario.servers;
    [("min-replicas", servers.min_replicas), ("wait-replicas", servers.wait_replicas)]
}

fn check_replicas(
    scenario: &Scenario,
    topology: &Topology,
    (client, families): (&Definition, &Families),
) -> Result<(), Incompatible> {
    let replicas = match topology {
        Topology::Replicated { replicas, .. } => *replicas,
        Topology::Standalone
        | Topology::Independent { .. }
        | Topology::Ensemble { .. }
        | Topology::Standby { .. } => 0,
    };
    let mut counts = counts_of_replicas(scenario).into_iter();
    let Some((key, value)) = counts.find(|(_, count)| *count > replicas) else { return Ok(()) };
    let (expected, replicas) = match replicas {
        0 => ("0".to_owned(), "no replicas".to_owned()),
        1 => ("0 or 1".to_owned(), "1 replica".to_owned()),
        many => (format!("0 to {many}"), format!("{many} replicas")),
    };
    let (client, families) = (client.name, families.clone());
    Err(Incompatible::Replicas { key, value, expected, client, families, replicas })
}

/// On PostgreSQL, an operator promotes the standby only after the primary has failed or is cut off.
fn check_failover(by: FailoverBy, client: &Definition) -> Result<(), Incompatible> {
    let expected = match (by, client.deployment) {
        (FailoverBy::Drawn, _) | (_, Deployment::Primary) => return Ok(()),
        (FailoverBy::Crash | FailoverBy::Isolation, Deployment::PostgreSql(_)) => return Ok(()),
        (FailoverBy::Pause, Deployment::PostgreSql(_)) => "drawn, crash or isolation",
        _ => "drawn",
    };
    Err(Incompatible::FailoverBy { by, client: client.name, expected })
}

pub(crate) fn usage(scenario: &Scenario, client: &Definition) -> Usage {
    if scenario.program(client).is_some() {
        return Usage::PLAIN;
    }
    let env = Env::new(Rc::new(EmptyWorld), HostKey(0));
    scenario.build(client, env, &servers(client), &Scenario::default().settings()).usage()
}

/// Builds the lock in an empty world to query its support for threads.
pub fn knows_threads(client: &Definition) -> bool {
    let env = Env::new(Rc::new(EmptyWorld), HostKey(0));
    let lock = (client.build)(env.clone(), &servers(client), &Scenario::default().settings());
    lock.for_thread(env.for_thread(2)).is_some()
}

fn servers(client: &Definition) -> Servers {
    let scenario = Scenario::default();
    let topology = scenario.topology(client, &Families::from(Family::None));
    let setup = ServerSetup {
        seed: Seed(0),
        scenario: &scenario,
        topology,
        tap_prefix: None,
        lock: crate::setup::places::RESOURCE,
        server_lock: ServerLock::Unchecked,
    };
    (entry(client.deployment.coordinator()).servers)(&setup, Node::Client(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scenario::{FaultSizes, Servers};
    use crate::setup::span::Span;

    #[test]
    fn the_locks_that_know_threads_are_those_of_java_libraries() {
        let names: Vec<&str> =
            CLIENTS.iter().filter(|one| knows_threads(one)).map(|one| one.name).collect();
        let starts = ["redisson", "spring-registry", "jdbc-"];
        let java = |name: &&str| starts.iter().any(|start| name.starts_with(start));
        assert_eq!(names, CLIENTS.iter().map(|one| one.name).filter(java).collect::<Vec<_>>());
        assert_eq!(names.len(), 10);
    }

    fn refusal(scenario: &Scenario, client: &str, family: &str) -> Result<(), String> {
        let client = fencepost_clients::find(client).expect("the lock is in the table");
        fits(scenario, client, &family.parse().expect("a family"))
            .map_err(|unfit| unfit.to_string())
    }

    #[test]
    fn replicas_of_a_primary_are_refused_on_other_coordinators_than_redis() {
        let with = |servers: Servers, client: &str| {
            refusal(&Scenario { servers, ..Scenario::default() }, client, "none")
        };
        let demanded = || Servers { min_replicas: 1, ..Servers::default() };
        let awaited = || Servers { wait_replicas: 1, ..Servers::default() };
        assert_eq!(with(demanded(), "single-node"), Ok(()));
        let refused = |key: &str, client: &str, coordinator: &str| {
            Err(format!(
                "{key} '1' works only with locks on redis, but {client} uses {coordinator}"
            ))
        };
        assert_eq!(
            with(demanded(), "curator-mutex"),
            refused("min-replicas", "curator-mutex", "zookeeper")
        );
        assert_eq!(with(awaited(), "jdbc-5"), refused("wait-replicas", "jdbc-5", "postgresql"));
    }

    #[test]
    fn a_failover_is_by_what_the_servers_of_the_lock_answer_with_one() {
        let said = |failover_by, client: &str| {
            let faults = FaultSizes { failover_by, ..FaultSizes::default() };
            refusal(&Scenario { faults, ..Scenario::default() }, client, "failover")
        };
        let refused = |text: &str| Err(text.to_owned());
        assert_eq!(said(FailoverBy::Pause, "single-node"), Ok(()));
        assert_eq!(said(FailoverBy::Crash, "jdbc-5"), Ok(()));
        assert_eq!(
            said(FailoverBy::Pause, "jdbc-5"),
            refused("failover-by 'pause': expected drawn, crash or isolation for jdbc-5")
        );
        assert_eq!(said(FailoverBy::Drawn, "redlock"), Ok(()));
        for client in ["redlock", "etcd-mutex", "curator-mutex", "memcached-add", "mysql-get-lock"]
        {
            let text = format!("failover-by 'crash': expected drawn for {client}");
            assert_eq!(said(FailoverBy::Crash, client), Err(text));
        }
    }

    #[test]
    fn a_setting_of_one_coordinator_is_refused_on_others() {
        let servers = Servers { lock_delay: Some(Span::secs(5)), ..Servers::default() };
        let scenario = Scenario { servers, ..Scenario::default() };
        assert_eq!(refusal(&scenario, "chubby", "none"), Ok(()));
        let text = "lock-delay '5s' works only with locks on chubby, but redlock uses redis";
        assert_eq!(refusal(&scenario, "redlock", "none"), Err(text.to_owned()));
    }

    #[test]
    fn threads_are_refused_for_a_lock_that_knows_none() {
        let said = |threads, client: &str| {
            refusal(&Scenario { threads, ..Scenario::default() }, client, "none")
        };
        assert_eq!(said(1, "redlock"), Ok(()));
        assert_eq!(said(2, "spring-registry"), Ok(()));
        let refused = said(2, "redlock").unwrap_err();
        assert!(refused.starts_with("threads '2': expected 1, because redlock "), "{refused}");
        assert!(
            refused.ends_with("spring-registry, jdbc-4, jdbc-5, jdbc-5-app-id, jdbc-7 do"),
            "{refused}"
        );
    }
}
