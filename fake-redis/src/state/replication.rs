//! The server's view of its primary and of its replicas.

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

const CRON_PERIOD_MICROS: i64 = 1_000_000;
const FAILOVER_PERIOD_MICROS: i64 = 100_000;
/// Seconds before a primary without replicas drops its backlog (`repl-backlog-ttl`).
const BACKLOG_TTL_SECONDS: i64 = 3_600;

/// A server's role and replication state. Only `follow` and `lead` change the role.
#[derive(Debug, Default)]
pub(crate) struct Replication {
    primary: Option<(String, u16)>,
    history: History,
    stream_db: Option<usize>,
    new_bytes: BytesMut,
    replicas: Vec<Replica>,
    pub(crate) good_replicas: usize,
    introductions: BTreeMap<ClientKey, Introduction>,
    link: Link,
    /// `true` if the data matches `history`, so the server can ask for a partial resynchronization.
    pub(crate) may_continue: bool,
    pub(crate) down_since: Option<i64>,
    waiting: Vec<Waiting>,
    failover: Option<Failover>,
    wants_acknowledgements: bool,
    ids: OutgoingIds,
    pub(crate) cron_runs: u64,
    pub(crate) no_replicas_since: i64,
}

impl Replication {
    pub(crate) fn new(config: &NodeConfig, random: &mut Random) -> Self {
        let (primary, history) = (config.replica_of.clone(), History::new(random.hexadecimal(40)));
        Replication { primary, history, ..Replication::default() }
    }

    pub(crate) fn primary(&self) -> Option<&(String, u16)> {
        self.primary.as_ref()
    }

    #[inline]
    pub(crate) fn is_replica(&self) -> bool {
        self.primary.is_some()
    }

    /// Makes this server a replica. The caller must have closed any earlier link.
    pub(crate) fn follow(&mut self, host: &str, port: u16) {
        self.may_continue |= self.primary.is_none();
        self.primary = Some((host.to_owned(), port));
    }

    /// Makes this server a primary. The caller must have closed the link.
    pub(crate) fn lead(&mut self, id: String, now_seconds: i64) {
        self.primary = None;
        self.may_continue = false;
        self.history.branch_off(id);
        self.stream_db = None;
        self.no_replicas_since = now_seconds;
        self.down_since = None;
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.history.offset()
    }

    #[inline]
    pub(crate) fn wants_stream(&self) -> bool {
        self.primary.is_none() && self.history.has_backlog()
    }

    #[inline]
    pub(crate) fn count_without_replicas(&mut self) {
        if self.primary.is_none() {
            self.history.count();
        }
    }

    pub(crate) fn begin_history(&mut self, id: impl FnOnce() -> String, backlog_size: usize) {
        if !self.history.has_backlog() {
            self.history.begin(id(), backlog_size);
        }
    }

    pub(crate) fn has_expired_backlog(&self, now_seconds: i64) -> bool {
        self.primary.is_none()
            && self.replicas.is_empty()
            && self.history.has_backlog()
            && now_seconds - self.no_replicas_since > BACKLOG_TTL_SECONDS
    }

    pub(crate) fn forget_history(&mut self, id: String) {
        self.history.forget(id);
    }

    pub(crate) fn resume(&mut self, origin: &Origin, backlog_size: usize) {
        if self.is_replica() {
            self.history.adopt(&origin.id, origin.offset);
            self.may_continue = true;
        } else {
            self.history.continue_from(&origin.id, origin.offset, backlog_size);
        }
    }

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

    #[inline]
    pub(crate) fn runs_cron(&self) -> bool {
        self.is_replica() || !self.replicas.is_empty()
    }

    pub(crate) fn period_micros(&self) -> i64 {
        if self.is_failing_over() { FAILOVER_PERIOD_MICROS } else { CRON_PERIOD_MICROS }
    }

    pub(crate) fn is_ping_due(&self, period: u32) -> bool {
        self.cron_runs.is_multiple_of(u64::from(period.max(1)))
            && !self.replicas.is_empty()
            && !self.are_pings_suspended()
    }

    /// Returns `None` if the server has no replication position to store in a snapshot
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
