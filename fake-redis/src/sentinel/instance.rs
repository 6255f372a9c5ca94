use super::{
    Address,
    core::{Context, Core},
    hello_cache::LastHello,
    link::{Expected, Link},
    period,
};
use crate::protocol::outgoing::Outgoing;

pub(crate) const HELLO_CHANNEL: &str = "__sentinel__:hello";

/// Maximum number of unanswered commands (`SENTINEL_MAX_PENDING_COMMANDS`).
const PENDING_COMMANDS_MAX: usize = 100;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Master,
    Replica,
    Sentinel,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watch {
    Usual,
    Close,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reconfigured {
    No,
    Sent,
    InProgress,
    Done,
}

/// A monitored instance (`sentinelRedisInstance`). Times are wall-clock ms; 0 means never.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) kind: Kind,
    /// A primary's name, a replica's `host:port`, or a Sentinel's run id.
    pub(crate) name: String,
    pub(crate) run_id: Option<String>,
    pub(crate) address: Address,
    pub(crate) link: Link,
    pub(crate) down_after_ms: i64,
    pub(crate) subjectively_down: bool,
    pub(crate) script_kill_sent: bool,
    /// Start of the last down state, even if the instance is up again.
    pub(crate) down_since: i64,
    pub(crate) last_published: i64,
    pub(crate) info_refreshed: i64,
    pub(crate) role_reported: Kind,
    pub(crate) role_reported_since: i64,
    pub(crate) replication: ReplicaReport,
    pub(crate) promoted: bool,
    pub(crate) reconfigured: Reconfigured,
    pub(crate) reconfigure_sent: i64,
    pub(crate) opinion: Opinion,
    pub(crate) last_hello: Option<LastHello>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ReplicaReport {
    pub(crate) link_down_ms: i64,
    /// Priority for promotion (`slave_priority`): lower is preferred, and 0 prevents promotion.
    pub(crate) priority: i64,
    pub(crate) offset: u64,
    pub(crate) master_host: Option<String>,
    pub(crate) master_port: u16,
    pub(crate) link_up: bool,
    pub(crate) changed_at: i64,
    pub(crate) announced: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Opinion {
    pub(crate) master_down: bool,
    pub(crate) replied_at: i64,
    pub(crate) leader: Option<String>,
    pub(crate) leader_epoch: u64,
    pub(crate) last_hello: i64,
}

impl Instance {
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
            last_hello: None,
        }
    }

    /// Returns the interval between INFO commands in milliseconds. The interval is shorter for a
    /// replica that is watched closely or has no link to its primary.
    pub(crate) fn info_period(&self, watch: Watch) -> i64 {
        let urgent = self.kind == Kind::Replica
            && (watch == Watch::Close || self.replication.link_down_ms != 0);
        if urgent { period::INFO_URGENT_MS } else { period::INFO_MS }
    }

    pub(crate) fn ping_period(&self) -> i64 {
        self.down_after_ms.min(period::PING_MS)
    }

    pub(crate) fn not_down_for(&self, span_ms: i64, now: i64) -> bool {
        self.down_since == 0 || now - self.down_since > span_ms
    }

    /// Opens missing connections, at most once a second (`sentinelReconnectInstance`).
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

    /// Sends the INFO, PING and hello that are due (`sentinelSendPeriodicCommands`). Repeats an
    /// unanswered INFO or hello after a second, and an unanswered PING after half its period.
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

    pub(crate) fn ping_due(&self) -> i64 {
        let span = self.ping_period();
        (self.link.last_pong + span + 1).max(self.link.last_ping + span / 2 + 1)
    }

    pub(crate) fn hello_due(&self) -> i64 {
        (self.last_published + period::PUBLISH_MS + 1).max(retry_at(self.link.hello_pending_since))
    }

    pub(crate) fn force_hello(&mut self) {
        self.last_published -= period::PUBLISH_MS + 1;
        self.link.hello_pending_since = None;
    }

    /// Sends SLAVEOF and disconnects the instance's clients (`sentinelSendSlaveOf`).
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
    pub(crate) fn unknown(now: i64) -> Self {
        Self { priority: 100, changed_at: now, announced: true, ..Self::default() }
    }

    pub(crate) fn follows(&self, address: &Address) -> bool {
        self.master_host.as_deref().is_some_and(|host| address.is(host, self.master_port))
    }
}

fn retry_at(pending_since: Option<i64>) -> i64 {
    pending_since.map_or(0, |since| since + period::PING_MS)
}
