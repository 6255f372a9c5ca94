//! What a server knows of its replicas, or of its primary.

mod failover;
mod history;
mod link;
mod replica;
mod step;
#[cfg(test)]
mod tests;
mod transfer;
mod waiting;

pub(crate) use failover::{Advance, FailoverOrder};
pub(crate) use history::History;
pub(crate) use link::Stage;
pub(crate) use replica::{Introduction, Progress, Replica, SyncRequest};
pub(crate) use step::Step;
pub(crate) use transfer::{Received, Transfer};
pub(crate) use waiting::{Goal, Waiting};

use crate::config::NodeConfig;
use crate::data::random::Random;
use crate::data::rdb::Origin;
use crate::protocol::outgoing::OutgoingIds;
use crate::state::client_key::ClientKey;
use bytes::BytesMut;
use failover::Failover;
use link::Link;
use std::collections::BTreeMap;

/// How often `replicationCron` runs, in microseconds.
const CRON_PERIOD_MICROS: i64 = 1_000_000;
/// The same during a failover.
const FAILOVER_PERIOD_MICROS: i64 = 100_000;
/// How long a primary without replicas keeps its backlog, in seconds: `repl-backlog-ttl`.
const BACKLOG_TTL_SECONDS: i64 = 3_600;

/// What a server knows of its replicas, or of its primary. It is the one or the other: whoever
/// changes sides does it by [`Replication::follow`] and [`Replication::lead`], which change all
/// that hangs on it. The stream grows here only, for the history and for the replicas alike.
#[derive(Debug)]
pub(crate) struct Replication {
    /// The primary that this server follows.
    primary: Option<(String, u16)>,
    /// The stream up to now.
    history: History,
    /// The database that the stream has selected; `None` makes the next command select anew.
    stream_db: Option<usize>,
    /// What the stream has gained for the replicas in this input.
    gained: BytesMut,
    /// Those who follow this server, in the order in which they came.
    replicas: Vec<Replica>,
    /// How many of them acknowledged lately, when they were last counted.
    good_replicas: usize,
    /// What clients said of themselves by REPLCONF, before they became replicas.
    introductions: BTreeMap<ClientKey, Introduction>,
    /// The connection to the primary.
    link: Link,
    /// Whether this server's data is the history up to its offset, so that it may ask a primary to
    /// go on from there.
    may_continue: bool,
    /// Since when there is no link to the primary, in seconds of the wall clock.
    down_since: Option<i64>,
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
            gained: BytesMut::new(),
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

    /// The server is up: from now on there are no replicas.
    pub(crate) fn start(&mut self, now_seconds: i64) {
        self.no_replicas_since = now_seconds;
    }

    /// The primary that this server follows.
    pub(crate) fn primary(&self) -> Option<&(String, u16)> {
        self.primary.as_ref()
    }

    /// Whether this server follows a primary.
    #[inline]
    pub(crate) fn is_replica(&self) -> bool {
        self.primary.is_some()
    }

    /// Follows a primary, whose link was dropped if there was another. A former primary offers its
    /// own history: the new primary may be its former replica and know it.
    pub(crate) fn follow(&mut self, host: &str, port: u16) {
        self.may_continue |= self.primary.is_none();
        self.primary = Some((host.to_owned(), port));
    }

    /// Is a primary from now on, after its link was dropped: the history up to this point stays
    /// valid under its old id, and what comes now has this one.
    pub(crate) fn lead(&mut self, id: String, now_seconds: i64) {
        self.primary = None;
        self.may_continue = false;
        self.history.branch_off(id);
        self.stream_db = None;
        self.no_replicas_since = now_seconds;
        self.down_since = None;
    }

    /// The stream up to now.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// How many bytes of the stream there were so far.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.history.offset()
    }

    /// Whether effects are to be given to [`Server::feed_replicas`]. A replica passes its primary's
    /// stream on instead.
    #[inline]
    pub(crate) fn wants_stream(&self) -> bool {
        self.primary.is_none() && self.history.has_backlog()
    }

    /// Counts an effect of a primary that nobody follows, so that WAITAOF can tell what is on disk
    /// from what is not.
    #[inline]
    pub(crate) fn count_unfollowed(&mut self) {
        if self.primary.is_none() {
            self.history.count();
        }
    }

    /// Where there is no backlog, one begins with the first replica, in a history of its own.
    pub(crate) fn begin_history(&mut self, id: impl FnOnce() -> String, backlog_size: usize) {
        if !self.history.has_backlog() {
            self.history.begin(id(), backlog_size);
        }
    }

    /// Whether the backlog is kept for nobody, and has been for long enough.
    pub(crate) fn keeps_backlog_for_nobody(&self, now_seconds: i64) -> bool {
        self.primary.is_none()
            && self.replicas.is_empty()
            && self.history.has_backlog()
            && now_seconds - self.no_replicas_since > BACKLOG_TTL_SECONDS
    }

    /// No longer keeps a backlog; what comes now is a history of this id.
    pub(crate) fn forget_history(&mut self, id: String) {
        self.history.forget(id);
    }

    /// Takes up the place that a loaded snapshot states: a replica may go on from there, a primary
    /// may serve those who were with it at that time.
    pub(crate) fn resume(&mut self, origin: &Origin, backlog_size: usize) {
        if self.is_replica() {
            self.history.adopt(&origin.id, origin.offset);
            self.may_continue = true;
        } else {
            self.history.continue_from(&origin.id, origin.offset, backlog_size);
        }
    }

    /// When the cron is to run next, in microseconds of the wall clock; `None` if there is nothing
    /// for it to do.
    pub(crate) fn next_cron(&self, now_micros: i64) -> Option<i64> {
        if self.runs_cron() {
            Some(now_micros + self.period_micros())
        } else if self.history.has_backlog() {
            let last = self.no_replicas_since + BACKLOG_TTL_SECONDS + 1;
            Some(last.max(now_micros.div_euclid(1_000_000) + 1) * 1_000_000)
        } else {
            None
        }
    }

    /// Whether there is anybody to keep in touch with, so that the cron goes on.
    #[inline]
    pub(crate) fn runs_cron(&self) -> bool {
        self.is_replica() || !self.replicas.is_empty()
    }

    /// From one run of the cron to the next, in microseconds.
    pub(crate) fn period_micros(&self) -> i64 {
        if self.is_failing_over() { FAILOVER_PERIOD_MICROS } else { CRON_PERIOD_MICROS }
    }

    /// The cron ran.
    pub(crate) fn count_cron_run(&mut self) {
        self.cron_runs += 1;
    }

    /// Whether this run of the cron pings the replicas.
    pub(crate) fn is_ping_due(&self, period: u32) -> bool {
        self.cron_runs.is_multiple_of(u64::from(period.max(1)))
            && !self.replicas.is_empty()
            && !self.withholds_pings()
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
