//! A primary and its replicas, after Redis 7.0's replication.c.
//!
//! Where to look: `history` is the stream and who may continue it; `primary` feeds replicas,
//! `follower` and `handshake` are a replica's link, `transfer` is the snapshot on its way, `wait`
//! are clients that wait for acknowledgements, `failover` hands the primary's place to a replica,
//! `report` is INFO and ROLE.

mod failover;
mod follower;
mod handshake;
mod history;
mod primary;
mod report;
#[cfg(test)]
mod tests;
mod transfer;
mod wait;

pub(crate) use failover::FailoverOrder;
pub(crate) use primary::SyncRequest;
pub(crate) use wait::Goal;

use crate::client::{Client, ClientKey, Role};
use crate::config::{NodeConfig, RedisVersion};
use crate::outgoing::OutgoingIds;
use crate::random::Random;
use crate::rdb::Origin;
use crate::server::Server;
use crate::timers::Timer;
use failover::Failover;
use fencepost_machine::WallTime;
use follower::Link;
use history::History;
use primary::{Introduction, Replica};
use std::collections::BTreeMap;
use wait::Waiting;

/// How often `replicationCron` runs, in microseconds.
const CRON_PERIOD_MICROS: i64 = 1_000_000;
/// The same during a failover.
const FAILOVER_PERIOD_MICROS: i64 = 100_000;
/// How long a primary without replicas keeps its backlog, in seconds: `repl-backlog-ttl`.
const BACKLOG_TTL_SECONDS: i64 = 3_600;

/// What a server knows of its replicas, or of its primary.
#[derive(Debug)]
pub(crate) struct Replication {
    /// The primary that this server follows.
    pub(crate) primary: Option<(String, u16)>,
    /// The stream up to now.
    history: History,
    /// The database that the stream has selected; `None` makes the next command select anew.
    stream_db: Option<usize>,
    /// Those who follow this server, in the order in which they came.
    replicas: Vec<Replica>,
    /// What clients said of themselves by REPLCONF, before they became replicas.
    introductions: BTreeMap<ClientKey, Introduction>,
    /// The connection to the primary.
    link: Link,
    /// Whether this server's data is the history up to its offset, so that it may ask a primary to
    /// go on from there.
    may_continue: bool,
    /// Since when there is no link to the primary, in seconds of the wall clock.
    down_since: Option<i64>,
    /// How long the stream was when the current command began.
    pub(crate) offset_before: u64,
    /// Clients that wait for acknowledgements.
    waiting: Vec<Waiting>,
    /// The failover that has begun here.
    failover: Option<Failover>,
    /// Whether replicas are to be asked for one.
    wants_acknowledgements: bool,
    /// Ids for connections to primaries.
    ids: OutgoingIds,
    /// How often the cron ran.
    cron_runs: u64,
    /// Since when there are no replicas, in seconds of the wall clock.
    no_replicas_since: i64,
}

impl Replication {
    /// The state of a server that starts.
    pub(crate) fn new(config: &NodeConfig, random: &mut Random) -> Self {
        Replication {
            primary: config.replica_of.clone(),
            history: History::new(random.hexadecimal(40)),
            stream_db: None,
            replicas: Vec::new(),
            introductions: BTreeMap::new(),
            link: Link::default(),
            may_continue: false,
            down_since: None,
            offset_before: 0,
            waiting: Vec::new(),
            failover: None,
            wants_acknowledgements: false,
            ids: OutgoingIds::new(),
            cron_runs: 0,
            no_replicas_since: 0,
        }
    }

    /// Whether this server follows a primary.
    pub(crate) fn is_replica(&self) -> bool {
        self.primary.is_some()
    }

    /// Whether a replica's link to its primary is up and synchronised.
    pub(crate) fn is_link_up(&self) -> bool {
        self.link.is_up()
    }

    /// Whether effects are to be given to [`Server::feed_replicas`]. A replica passes its primary's
    /// stream on instead.
    pub(crate) fn wants_stream(&self) -> bool {
        self.primary.is_none() && self.history.has_backlog()
    }

    /// Counts an effect of a primary that nobody follows, so that WAITAOF can tell what is on disk
    /// from what is not.
    pub(crate) fn count_unfollowed(&mut self) {
        if self.primary.is_none() {
            self.history.count();
        }
    }

    /// How many bytes of the stream there were so far.
    pub(crate) fn offset(&self) -> u64 {
        self.history.offset()
    }

    /// From one run of the cron to the next, in microseconds.
    fn period_micros(&self) -> i64 {
        if self.is_failing_over() { FAILOVER_PERIOD_MICROS } else { CRON_PERIOD_MICROS }
    }

    /// Whether enough replicas acknowledged lately for writes to be taken
    /// (`min-replicas-to-write`). The age is counted in whole seconds, as in
    /// `refreshGoodSlavesCount`.
    pub(crate) fn has_enough_replicas(&self, config: &NodeConfig, now: WallTime) -> bool {
        if config.min_replicas_to_write == 0 || config.min_replicas_max_lag == 0 {
            return true;
        }
        self.good_replicas(config.min_replicas_max_lag, seconds(now))
            >= config.min_replicas_to_write as usize
    }

    /// Where in the history the data stands, for a snapshot; `None` if that means nothing
    /// (`rdbPopulateSaveInfo`).
    pub(crate) fn origin(&self, primary_db: usize) -> Option<Origin> {
        let stream_db = match self.primary {
            None if self.history.has_backlog() => self.stream_db.unwrap_or(0),
            Some(_) if self.may_continue => primary_db,
            _ => return None,
        };
        Some(Origin { id: self.history.id().to_owned(), offset: self.history.offset(), stream_db })
    }
}

/// Whole seconds of the wall clock, as `server.unixtime`.
fn seconds(now: WallTime) -> i64 {
    now.0.div_euclid(1_000_000)
}

impl Server {
    /// Starts replication when the server is up.
    pub(crate) fn start_replication(&mut self) {
        self.replication.no_replicas_since = seconds(self.now);
        self.connect_to_primary();
        self.schedule_replication();
    }

    /// Takes up the place in the replication history that a loaded snapshot states
    /// (`loadDataFromDisk`): a replica may go on from there, a primary may serve those who were
    /// with it at that time.
    pub(crate) fn resume_history(&mut self, origin: &Origin) {
        if self.is_replica() {
            self.replication.history.adopt(&origin.id, origin.offset);
            self.replication.may_continue = true;
            self.client_mut(ClientKey::PRIMARY).db = origin.stream_db;
        } else {
            self.replication.history.continue_from(
                &origin.id,
                origin.offset,
                self.config.backlog_size,
            );
        }
    }

    /// Runs when [`Timer::Replication`] is due (`replicationCron`).
    pub(crate) fn replication_cron(&mut self) {
        if self.asleep_until.is_some() {
            return self.schedule_replication();
        }
        self.advance_failover();
        self.check_link();
        self.acknowledge();
        self.check_replicas();
        self.replication.cron_runs += 1;
        self.schedule_replication();
    }

    /// Sees to it that the cron goes on after a step back of the wall clock, by which its deadline
    /// now lies far ahead: Redis runs it by the monotonic clock.
    pub(crate) fn keep_replication_cron(&mut self) {
        if self.is_replica() || !self.replication.replicas.is_empty() {
            self.timers.limit(
                Timer::Replication,
                WallTime(self.now.0 + self.replication.period_micros()),
                self.now,
            );
        }
    }

    /// Asks to be woken for the next run of the cron, if there is anything for it to do.
    fn schedule_replication(&mut self) {
        let replication = &self.replication;
        let next = if replication.is_replica() || !replication.replicas.is_empty() {
            Some(WallTime(self.now.0 + replication.period_micros()))
        } else if replication.history.has_backlog() {
            let last = replication.no_replicas_since + BACKLOG_TTL_SECONDS + 1;
            Some(WallTime(last.max(seconds(self.now) + 1) * 1_000_000))
        } else {
            None
        };
        self.timers.set(Timer::Replication, next);
    }

    /// Follows another primary (`replicationSetMaster`).
    pub(crate) fn follow(&mut self, host: &str, port: u16) {
        let was_primary = !self.is_replica();
        self.drop_link();
        self.replication.primary = Some((host.to_owned(), port));
        self.disconnect_waiting();
        self.disconnect_blocked();
        // A former primary offers its own history: the new primary may be its former replica and
        // know it.
        self.replication.may_continue |= was_primary;
        self.connect_to_primary();
        self.schedule_replication();
    }

    /// Whether it follows this primary already.
    pub(crate) fn follows(&self, host: &str, port: u16) -> bool {
        let primary = self.replication.primary.as_ref();
        primary.is_some_and(|(known, at)| known.eq_ignore_ascii_case(host) && *at == port)
    }

    /// Whether a client is a replica.
    pub(crate) fn is_followed_by(&self, key: ClientKey) -> bool {
        self.client(key).role == Role::Replica
    }

    /// Notes, after a command, up to where a client's WAIT will wait: from 7.2 on for its own
    /// writes only, before that for everybody's.
    pub(crate) fn note_write_offset(&mut self, key: ClientKey) {
        let offset = self.replication.offset();
        let client = self.client(key);
        let wrote = offset != self.replication.offset_before;
        if wrote || self.config.version < RedisVersion::V7_2 && !client.transaction.open {
            self.client_mut(key).write_offset = offset;
        }
    }

    /// Becomes a primary (`replicationUnsetMaster`): the old history stays valid up to this point,
    /// under its own id.
    pub(crate) fn promote(&mut self) {
        if !self.is_replica() {
            return;
        }
        self.drop_link();
        self.replication.primary = None;
        self.replication.may_continue = false;
        let id = self.random.hexadecimal(40);
        self.replication.history.branch_off(id);
        self.disconnect_replicas();
        self.replication.stream_db = None;
        self.replication.no_replicas_since = seconds(self.now);
        self.replication.down_since = None;
        // As a replica it masked expired keys, and now it has to delete them.
        self.schedule_expiry();
        self.schedule_replication();
    }

    /// A client's connection is gone; it may have been a replica's.
    pub(crate) fn client_gone(&mut self, key: ClientKey, _client: &Client) {
        let replication = &mut self.replication;
        replication.introductions.remove(&key);
        replication.waiting.retain(|waiting| waiting.client != key);
        let before = replication.replicas.len();
        replication.replicas.retain(|replica| replica.client != key);
        if before > 0 && replication.replicas.is_empty() {
            replication.no_replicas_since = seconds(self.now);
            self.schedule_replication();
        }
    }

    /// Ends an input: what the stream has gained leaves for the replicas, and acknowledgements for
    /// the primary.
    pub(crate) fn flush_replication(&mut self) {
        self.flush_stream();
        if let Some(message) = self.replication.link.take_message() {
            self.sends.push(message);
        }
    }
}
