//! A primary, a replica or another Sentinel as this Sentinel sees it (`sentinelRedisInstance`), and
//! the commands that it is sent regularly.

use super::{
    Address,
    core::{Context, Core},
    link::{Expected, Link},
    period,
    said::Heard,
};
use crate::protocol::outgoing::Outgoing;

/// The channel on which Sentinels find each other.
pub(crate) const HELLO_CHANNEL: &str = "__sentinel__:hello";

/// How many unanswered commands a link may hold before the regular ones wait
/// (`SENTINEL_MAX_PENDING_COMMANDS`).
const PENDING_COMMANDS_MAX: usize = 100;

/// What an instance is to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The monitored primary.
    Master,
    /// One of its replicas.
    Replica,
    /// Another Sentinel that monitors the same primary.
    Sentinel,
}

/// How closely the replicas of a primary are watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watch {
    /// As long as all is well.
    Usual,
    /// While the primary is down or being replaced.
    Close,
}

/// How far a replica has come in being pointed at the new primary (`SRI_RECONF_*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reconfigured {
    /// Nothing was sent.
    No,
    /// SLAVEOF was sent.
    Sent,
    /// It reports the new primary, but its link is not up.
    InProgress,
    /// It follows the new primary, or was given up on.
    Done,
}

/// An instance as we see it. All times are milliseconds of the wall clock, 0 for never.
#[derive(Debug)]
pub(crate) struct Instance {
    /// What it is.
    pub(crate) kind: Kind,
    /// The name of a primary, `host:port` of a replica, the run id of a Sentinel.
    pub(crate) name: String,
    /// Its run id, once known.
    pub(crate) run_id: Option<String>,
    /// Where it is.
    pub(crate) address: Address,
    /// The connections to it.
    pub(crate) link: Link,
    /// How long it may be silent.
    pub(crate) down_after_ms: i64,
    /// Whether we believe it to be down.
    pub(crate) subjectively_down: bool,
    /// Whether it was told to end a script that kept it busy.
    pub(crate) script_kill_sent: bool,
    /// When it was last found down, kept after it has come back.
    pub(crate) down_since: i64,
    /// When our hello last reached it.
    pub(crate) last_published: i64,
    /// When INFO last came.
    pub(crate) info_refreshed: i64,
    /// What it says it is: a primary or a replica.
    pub(crate) role_reported: Kind,
    /// Since when it says so.
    pub(crate) role_reported_since: i64,
    /// What a replica says about its replication.
    pub(crate) replication: ReplicaReport,
    /// Whether it was chosen for promotion.
    pub(crate) promoted: bool,
    /// How far it follows the promoted one.
    pub(crate) reconfigured: Reconfigured,
    /// When it was told to.
    pub(crate) reconfigure_sent: i64,
    /// What another Sentinel says.
    pub(crate) opinion: Opinion,
    /// Its last hello.
    pub(crate) heard: Option<Heard>,
}

/// What a replica's INFO says about its replication.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReplicaReport {
    /// How long it has been without its primary; 0 if it has it.
    pub(crate) link_down_ms: i64,
    /// `slave_priority`: lower is promoted first, 0 never.
    pub(crate) priority: i64,
    /// How much of the stream it has processed.
    pub(crate) offset: u64,
    /// Whom it follows, if it has said so.
    pub(crate) master_host: Option<String>,
    /// At which port.
    pub(crate) master_port: u16,
    /// Whether `master_link_status` is up.
    pub(crate) link_up: bool,
    /// When the address it follows last changed.
    pub(crate) changed_at: i64,
    /// Whether it wants to be listed (`replica-announced`).
    pub(crate) announced: bool,
}

/// What another Sentinel says about the primary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Opinion {
    /// Whether it finds the primary down.
    pub(crate) master_down: bool,
    /// When it last said so, or the contrary.
    pub(crate) replied_at: i64,
    /// The run id for which it voted, if it told us.
    pub(crate) leader: Option<String>,
    /// In which epoch.
    pub(crate) leader_epoch: u64,
    /// When its hello last came.
    pub(crate) last_hello: i64,
}

impl Instance {
    /// An instance that nothing is known of yet (`createSentinelRedisInstance`).
    pub(crate) fn new(
        kind: Kind,
        name: String,
        address: Address,
        down_after_ms: i64,
        now: i64,
    ) -> Self {
        Self {
            kind,
            name,
            run_id: None,
            address,
            link: Link::new(now),
            down_after_ms,
            subjectively_down: false,
            script_kill_sent: false,
            down_since: 0,
            last_published: now,
            info_refreshed: 0,
            role_reported: kind,
            role_reported_since: now,
            replication: ReplicaReport::unknown(now),
            promoted: false,
            reconfigured: Reconfigured::No,
            reconfigure_sent: 0,
            opinion: Opinion {
                master_down: false,
                replied_at: now,
                leader: None,
                leader_epoch: 0,
                last_hello: now,
            },
            heard: None,
        }
    }

    /// How often INFO is due. A replica is watched closely while its primary is in trouble or it
    /// has lost it.
    pub(crate) fn info_period(&self, watch: Watch) -> i64 {
        let urgent = self.kind == Kind::Replica
            && (watch == Watch::Close || self.replication.link_down_ms != 0);
        if urgent { period::INFO_URGENT_MS } else { period::INFO_MS }
    }

    /// How often PING is due.
    pub(crate) fn ping_period(&self) -> i64 {
        self.down_after_ms.min(period::PING_MS)
    }

    /// Whether it has not been found down for the given span (`sentinelRedisInstanceNoDownFor`).
    pub(crate) fn not_down_for(&self, span_ms: i64, now: i64) -> bool {
        self.down_since == 0 || now - self.down_since > span_ms
    }

    /// Opens the connections that are missing, at most once a second (`sentinelReconnectInstance`).
    pub(crate) fn reconnect(&mut self, context: &mut Context<'_>) {
        let now = context.core.now;
        if !self.link.disconnected
            || self.address.port == 0
            || now - self.link.last_reconnect < period::PING_MS
        {
            return;
        }
        self.link.last_reconnect = now;
        if self.link.command.is_none() {
            self.link.command = Some(self.open("cmd", context));
            self.link.command_since = now;
            self.link.ping(now);
        }
        if self.kind != Kind::Sentinel && self.link.pubsub.is_none() {
            let mut outgoing = self.open("pubsub", context);
            outgoing.command(&[b"SUBSCRIBE", HELLO_CHANNEL.as_bytes()], Expected::Nothing);
            self.link.pubsub = Some(outgoing);
            self.link.pubsub_since = now;
        }
        self.link.disconnected = false;
    }

    /// Sends PING, INFO and the hello message when they are due (`sentinelSendPeriodicCommands`).
    ///
    /// Where Redis repeats an unanswered INFO or PUBLISH at every tick until there are 100, this
    /// waits a second before it repeats one.
    pub(crate) fn send_periodic(
        &mut self,
        watch: Watch,
        hello: Option<&str>,
        context: &mut Context<'_>,
    ) {
        let now = context.core.now;
        if self.link.disconnected || self.link.pending() >= PENDING_COMMANDS_MAX {
            return;
        }
        if self.info_due(watch) <= now && self.link.command(&[b"INFO"], Expected::Info) {
            self.link.info_pending_since = Some(now);
        }
        if self.ping_due() <= now {
            self.link.ping(now);
        }
        if let Some(hello) = hello.filter(|_| self.hello_due() <= now) {
            let words: [&[u8]; 3] = [b"PUBLISH", HELLO_CHANNEL.as_bytes(), hello.as_bytes()];
            if self.link.command(&words, Expected::Published) {
                self.link.hello_pending_since = Some(now);
            }
        }
    }

    /// When INFO is due; never for Sentinels. All three assume that the link is connected.
    pub(crate) fn info_due(&self, watch: Watch) -> i64 {
        if self.kind == Kind::Sentinel {
            return i64::MAX;
        }
        let fresh_until = match self.info_refreshed {
            0 => 0,
            refreshed => refreshed + self.info_period(watch) + 1,
        };
        fresh_until.max(retry_at(self.link.info_pending_since))
    }

    /// When PING is due.
    pub(crate) fn ping_due(&self) -> i64 {
        let span = self.ping_period();
        (self.link.last_pong + span + 1).max(self.link.last_ping + span / 2 + 1)
    }

    /// When our hello is due.
    pub(crate) fn hello_due(&self) -> i64 {
        (self.last_published + period::PUBLISH_MS + 1).max(retry_at(self.link.hello_pending_since))
    }

    /// Makes the next hello due at once (`sentinelForceHelloUpdateDictOfRedisInstances`).
    pub(crate) fn force_hello(&mut self) {
        self.last_published -= period::PUBLISH_MS + 1;
        self.link.hello_pending_since = None;
    }

    /// Has the instance follow another one, or none, and drop its clients so that they ask where
    /// the primary is (`sentinelSendSlaveOf`). Returns whether it could be sent.
    pub(crate) fn send_slaveof(&mut self, master: Option<&Address>) -> bool {
        let port = master.map(|address| address.port.to_string());
        let (host, port) = match (master, &port) {
            (Some(address), Some(port)) => (address.host.as_bytes(), port.as_bytes()),
            _ => (b"NO".as_slice(), b"ONE".as_slice()),
        };
        let transaction: [&[&[u8]]; 6] = [
            &[b"MULTI"],
            &[b"SLAVEOF", host, port],
            &[b"CONFIG", b"REWRITE"],
            &[b"CLIENT", b"KILL", b"TYPE", b"normal"],
            &[b"CLIENT", b"KILL", b"TYPE", b"pubsub"],
            &[b"EXEC"],
        ];
        transaction.iter().all(|words| self.link.command(words, Expected::Nothing))
    }

    /// Opens one connection and names it, as `sentinelSetClientName` does.
    fn open(&self, purpose: &str, context: &mut Context<'_>) -> Outgoing<Expected> {
        let Core { ids, my_id, .. } = &mut *context.core;
        let mut outgoing =
            Outgoing::connect(ids, &self.address.host, self.address.port, context.out);
        let name = format!("sentinel-{}-{purpose}", &my_id[..8]);
        outgoing.command(&[b"CLIENT", b"SETNAME", name.as_bytes()], Expected::Nothing);
        outgoing
    }
}

impl ReplicaReport {
    /// What is assumed before the first INFO.
    pub(crate) fn unknown(now: i64) -> Self {
        Self {
            link_down_ms: 0,
            priority: 100,
            offset: 0,
            master_host: None,
            master_port: 0,
            link_up: false,
            changed_at: now,
            announced: true,
        }
    }

    /// Whether the replica says that it follows the given address.
    pub(crate) fn follows(&self, address: &Address) -> bool {
        self.master_host.as_deref().is_some_and(|host| address.is(host, self.master_port))
    }
}

/// When an unanswered command may be repeated.
fn retry_at(pending_since: Option<i64>) -> i64 {
    pending_since.map_or(0, |since| since + period::PING_MS)
}
