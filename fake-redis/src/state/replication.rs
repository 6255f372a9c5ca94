//! What a server knows of its replicas, or of its primary.

mod failover;
mod history;
mod link;
mod replica;
mod step;
mod transfer;
mod waiting;

pub(crate) use failover::{Failover, FailoverOrder, Phase};
pub(crate) use history::History;
pub(crate) use link::{Link, Stage};
pub(crate) use replica::{Introduction, Progress, Replica, SyncRequest};
pub(crate) use step::Step;
pub(crate) use transfer::{End, Transfer};
pub(crate) use waiting::{Goal, Waiting};

use crate::config::NodeConfig;
use crate::data::random::Random;
use crate::data::rdb::Origin;
use crate::protocol::outgoing::OutgoingIds;
use crate::state::client_key::ClientKey;
use std::collections::BTreeMap;

/// How often `replicationCron` runs, in microseconds.
const CRON_PERIOD_MICROS: i64 = 1_000_000;
/// The same during a failover.
const FAILOVER_PERIOD_MICROS: i64 = 100_000;
/// How long a primary without replicas keeps its backlog, in seconds: `repl-backlog-ttl`.
pub(crate) const BACKLOG_TTL_SECONDS: i64 = 3_600;

/// What a server knows of its replicas, or of its primary.
#[derive(Debug)]
pub(crate) struct Replication {
    /// The primary that this server follows.
    pub(crate) primary: Option<(String, u16)>,
    /// The stream up to now.
    pub(crate) history: History,
    /// The database that the stream has selected; `None` makes the next command select anew.
    pub(crate) stream_db: Option<usize>,
    /// Those who follow this server, in the order in which they came.
    pub(crate) replicas: Vec<Replica>,
    /// How many of them acknowledged lately, when they were last counted.
    pub(crate) good_replicas: usize,
    /// What clients said of themselves by REPLCONF, before they became replicas.
    pub(crate) introductions: BTreeMap<ClientKey, Introduction>,
    /// The connection to the primary.
    pub(crate) link: Link,
    /// Whether this server's data is the history up to its offset, so that it may ask a primary to
    /// go on from there.
    pub(crate) may_continue: bool,
    /// Since when there is no link to the primary, in seconds of the wall clock.
    pub(crate) down_since: Option<i64>,
    /// Clients that wait for acknowledgements.
    pub(crate) waiting: Vec<Waiting>,
    /// The failover that has begun here.
    pub(crate) failover: Option<Failover>,
    /// Whether replicas are to be asked for one.
    pub(crate) wants_acknowledgements: bool,
    /// Ids for connections to primaries.
    pub(crate) ids: OutgoingIds,
    /// How often the cron ran.
    pub(crate) cron_runs: u64,
    /// Since when there are no replicas, in seconds of the wall clock.
    pub(crate) no_replicas_since: i64,
}

impl Replication {
    /// The state of a server that starts.
    pub(crate) fn new(config: &NodeConfig, random: &mut Random) -> Self {
        Replication {
            primary: config.replica_of.clone(),
            history: History::new(random.hexadecimal(40)),
            stream_db: None,
            replicas: Vec::new(),
            good_replicas: 0,
            introductions: BTreeMap::new(),
            link: Link::default(),
            may_continue: false,
            down_since: None,
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
    pub(crate) fn period_micros(&self) -> i64 {
        if self.is_failing_over() { FAILOVER_PERIOD_MICROS } else { CRON_PERIOD_MICROS }
    }

    /// Whether enough replicas acknowledged lately for writes to be taken
    /// (`min-replicas-to-write`).
    pub(crate) fn has_enough_replicas(&self, config: &NodeConfig) -> bool {
        config.min_replicas_max_lag == 0
            || self.good_replicas >= config.min_replicas_to_write as usize
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
