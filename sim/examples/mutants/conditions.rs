use fencepost_clients::{Coordinator, Definition, Deployment};

#[derive(Clone, Copy)]
pub(crate) struct Condition {
    pub(crate) fault: &'static str,
    pub(crate) scenario: &'static str,
    pub(crate) fits: fn(&Definition) -> bool,
    pub(crate) is_aimed: bool,
    pub(crate) times: u64,
}

impl Condition {
    const fn aimed(self) -> Condition {
        Condition { is_aimed: true, ..self }
    }

    const fn times(self, times: u64) -> Condition {
        Condition { times, ..self }
    }
}

const fn under(fault: &'static str, scenario: &'static str) -> Condition {
    Condition { fault, scenario, fits: |_| true, is_aimed: false, times: 1 }
}

const fn on_redis(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| lock.deployment.coordinator() == Coordinator::Redis;
    Condition { fits, ..under(fault, scenario) }
}

const fn on_masters(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| lock.deployment == Deployment::Independent;
    Condition { fits, ..under(fault, scenario) }
}

const fn on_primary(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| {
        let deployment = lock.deployment;
        deployment.coordinator() == Coordinator::Redis && deployment != Deployment::Independent
    };
    Condition { fits, ..under(fault, scenario) }
}

const fn on_etcd(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| lock.deployment.coordinator() == Coordinator::Etcd;
    Condition { fits, ..under(fault, scenario) }
}

const fn on_zookeeper(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| lock.deployment.coordinator() == Coordinator::ZooKeeper;
    Condition { fits, ..under(fault, scenario) }
}

const fn on_chubby(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| lock.deployment.coordinator() == Coordinator::Chubby;
    Condition { fits, ..under(fault, scenario) }
}

const fn on_gemfire(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| lock.deployment.coordinator() == Coordinator::GemFire;
    Condition { fits, ..under(fault, scenario) }
}

const fn on_ensemble(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| {
        matches!(lock.deployment.coordinator(), Coordinator::Etcd | Coordinator::ZooKeeper)
    };
    Condition { fits, ..under(fault, scenario) }
}

const fn with_tokens(fault: &'static str, scenario: &'static str) -> Condition {
    Condition { fits: |lock| lock.has_tokens, ..under(fault, scenario) }
}

pub(crate) const CONDITIONS: &[Condition] = &[
    under("none", ""),
    under("none", "hold = \"until-validity\""),
    under("none", "hold = \"9s..9800ms\""),
    under("none", "availability = \"2s\""),
    on_masters("none", "masters = 3"),
    under("lost-reply", "").aimed(),
    under("client-crash", "").aimed(),
    under("pause", "").aimed(),
    under("partition", "").aimed(),
    under("restart", ""),
    on_redis("restart", "persistence = \"aof-always\""),
    under("failover", ""),
    on_primary("failover", "wait-replicas = 1"),
    on_primary("failover+replication-lag", "wait-replicas = 1"),
    under("clock-jump", ""),
    under("latency", "extra-latency = \"1s..15s\""),
    under("none", "hold = \"12s..20s\""),
    under("none", "acquire-timeout = \"120s\""),
    under("pause", "pause = \"4s..6s\"").aimed(),
    under("none", "cycles = 30"),
    under("none", "hold = \"22s..28s\""),
    // The choice of the promoted replica matters because only one of two replicas lags.
    on_primary("failover", "wait-replicas = 1; hold = \"1s..3s\"; lagging-replicas = 1").aimed(),
    on_primary(
        "failover",
        "wait-replicas = 1; lagging-replicas = 1; replication-lag = \"8s..12s\"",
    )
    .aimed()
    .times(4),
    on_primary("failover", "availability = \"20s\""),
    on_redis(
        "restart",
        "persistence = \"aof-always\"; think = \"1s..12s\"; hold = \"6s..9s\"; \
         restart-delay = \"100ms..1s\"",
    )
    .aimed(),
    on_masters("restart", "persistence = \"aof-always\"; masters = 3; hold = \"until-validity\"")
        .aimed(),
    under("restart", "hold = \"10ms..300ms\"; cycles = 20").aimed(),
    under("none", "availability = \"5s\""),
    on_primary(
        "failover",
        "wait-replicas = 1; replicas = 3; lagging-replicas = 1; replication-lag = \"20s..30s\"; \
         failover-by = \"crash\"; ttl = \"30s\"; hold = \"14s..28s\"; think = \"1s..3s\"; \
         cycles = 20",
    )
    .times(2),
    on_primary(
        "failover",
        "wait-replicas = 1; replicas = 3; lagging-replicas = 1; replication-lag = \"20s..30s\"; \
         failover-by = \"crash\"; ttl = \"60s\"; hold = \"115s..118s\"; think = \"3s..6s\"; \
         cycles = 1; acquire-timeout = \"50s\"",
    ),
    on_primary("none", "cycles = 1; hold = \"19s..19200ms\"; acquire-timeout = \"9300ms\""),
    on_primary(
        "restart",
        "persistence = \"aof-always\"; cycles = 1; hold = \"19s..19200ms\"; \
         acquire-timeout = \"9300ms\"",
    ),
    on_primary(
        "restart",
        "ttl = \"30s\"; processes = 2; stagger = \"40s\"; cycles = 1; hold = \"55s..58s\"",
    ),
    on_primary(
        "failover",
        "failover-by = \"crash\"; cycles = 40; hold = \"10ms..1s\"; think = \"1s..3s\"; \
         retry = \"500ms..1s\"; acquire-timeout = \"20s\"; availability = \"20s\"",
    ),
    on_primary("none", "ttl = \"120s\""),
    on_masters("pause", "pause = \"12s..15s\"; hold = \"8s..9s\""),
    on_masters(
        "failover",
        "masters = 3; availability = \"3s\"; hold = \"10ms..500ms\"; think = \"500ms..1s\"; \
         cycles = 30",
    ),
    with_tokens("none", "think = \"8s..12s\"; cycles = 12; hold = \"10ms..100ms\""),
    // A lease that is renewed at intervals of a third of its ttl survives a pause of just under two
    // thirds of the ttl.
    on_etcd("pause", "pause = \"6500ms..6650ms\"; hold = \"14s..18s\""),
    on_etcd(
        "none",
        "latency = \"1ms..20ms\"; hold = \"1ms..5ms\"; cycles = 30; acquire-timeout = \"120s\"",
    ),
    on_ensemble("restart", "hold = \"14s..18s\"").aimed().times(16),
    on_zookeeper("client-crash", "ensemble = 1"),
    on_primary("client-crash", "processes = 8; latency = \"1ms..50ms\"; retry = \"5ms..20ms\""),
    // Pauses of 35 s to 45 s outlast a session plus a shortened lock-delay. Pauses of 66 s to 71 s
    // end shortly before a session plus a full lock-delay, and pauses of 85 s or more outlast both.
    on_chubby("pause", "pause = \"35s..45s\"").times(2),
    on_chubby("pause", "pause = \"66s..71s\"").times(4),
    on_chubby("pause", "pause = \"85s..100s\"").times(4),
    // The master keeps a silent session for at least 12 s, slightly longer than these pauses.
    on_chubby("pause", "pause = \"11s..11900ms\"; hold = \"8s..15s\"").aimed().times(8),
    on_chubby("client-crash", "availability = \"14s\"").aimed().times(4),
    on_chubby(
        "partition",
        "processes = 2; cycles = 4; ttl = \"90s\"; hold = \"160s..170s\"; think = \"1s..2s\"; \
         acquire-timeout = \"400s\"; partition = \"150s..170s\"; struck-servers = 5; \
         fault-window = \"10s..600s\"",
    )
    .times(4),
    on_gemfire("failover", "hold = \"6s..9s\"").aimed().times(8),
    // The grantor keeps a silent member for at least 7.998 s, slightly longer than these pauses.
    on_gemfire("pause", "pause = \"7500ms..7900ms\"").times(2),
    on_gemfire("client-crash", "availability = \"12s\""),
];
