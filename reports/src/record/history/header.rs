use super::setting::{Keeping, StorageRule};
use super::workload::Workload;
use fencepost_faults::{Families, Family, Micros, Seed, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts about the run that events do not state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Fault families, as in `--fault`, such as `pause`, `pause+failover` or `none`.
    pub fault: Families,
    /// Seed of all random values of the run.
    pub seed: Seed,
    /// Name of the locked resource, which is also the lock's key. If the run has several locks, the
    /// common prefix of their keys.
    pub resource: String,
    /// Lease or session timeout that the processes request, in microseconds.
    pub ttl_us: Micros,
    /// Number of servers that must grant the lock: a majority if the masters are independent,
    /// otherwise 1.
    pub quorum: u16,
    /// `true` if the lock's leases have fencing tokens.
    pub has_tokens: bool,
    /// Operations on the guarded value in each critical section.
    pub workload: Workload,
    /// Rule by which the storage checks fencing tokens.
    pub storage: StorageRule,
    /// Time in microseconds within which an acquire must succeed after all faults have ended.
    pub progress_bound_us: Micros,
    /// Number of faults in the run's plan.
    pub faults_planned: u32,
    /// Longest time in microseconds for which a live process may keep the lock, including renewals
    /// by a watchdog; absent if the run has no such bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_bound_us: Option<Micros>,
    /// `true` if a lock lasts as long as a session, a lease that its process keeps alive, or a
    /// membership. `false` if a lock lasts for the ttl or as long as a connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lives_with_session: bool,
    /// Form of a stored lock; absent for Redis, memcached, ZooKeeper and your own servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<Keeping>,
    /// Tolerance of a lock that serves waiters in order, in microseconds. A process that asks for
    /// the lock later than another process by more than the tolerance must not get the lock first.
    /// Absent for locks that promise no order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_bound_us: Option<Micros>,
    /// `true` if the run has one lock for each job, and each job must be done once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lock_per_job: bool,
    /// Availability requirement; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<Availability>,
    /// Period in which every sync of a server's disk failed; absent if syncs never failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_fails: Option<SyncFails>,
    /// `true` if fencepost did not record the servers' changes of the lock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locks_unseen: bool,
    /// `true` if the lock renews its lease while a process holds it. `false` for locks that last as
    /// long as a session, and for programs, whose renewals appear only as events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub renews: bool,
    /// Lock-delay in microseconds: after a session has ended, its lock stays taken for this time.
    /// Absent for locks without a lock-delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_delay_us: Option<Micros>,
    /// Set if an answer can take longer than a process waits for it, without any fault. Only for
    /// locks on independent masters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_answers: Option<SlowAnswers>,
}

/// Answers that can arrive after a process has stopped waiting for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SlowAnswers {
    /// Sum of the longest latencies of a request and its answer, in microseconds.
    pub round_trip_us: Micros,
    /// Time in microseconds for which a process waits for a server's answer.
    pub waits_us: Micros,
}

/// Period of virtual time in which every sync of a server's disk failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SyncFails {
    /// Virtual time in microseconds at which syncs began to fail.
    pub from_us: SimTime,
    /// Virtual time in microseconds at which syncs succeeded again.
    pub until_us: SimTime,
}

/// An availability requirement: while enough servers run and processes want a free lock, one of
/// them must get the lock within a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Availability {
    /// Time in microseconds within which a process must get the lock.
    pub bound_us: Micros,
    /// Total number of servers. Their names count up from `redis-1` or `server-1`.
    pub servers: u16,
    /// Number of servers that must run for the requirement to apply.
    pub needed: u16,
    /// `true` if the requirement applies only before healing, and only while no fault is active and
    /// no syncs fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub between_faults: bool,
}

impl Header {
    /// Returns a header that states only the lock, for a run without faults.
    pub(crate) fn bare(client: &str, resource: &str) -> Header {
        Header {
            client: client.to_owned(),
            fault: Family::None.into(),
            seed: Seed(0),
            resource: resource.to_owned(),
            ttl_us: Micros::ZERO,
            quorum: 1,
            has_tokens: false,
            workload: Workload::Register,
            storage: StorageRule::Fenced,
            progress_bound_us: Micros::ZERO,
            faults_planned: 0,
            held_bound_us: None,
            lives_with_session: false,
            kept_as: None,
            order_bound_us: None,
            lock_per_job: false,
            availability: None,
            sync_fails: None,
            locks_unseen: false,
            renews: false,
            lock_delay_us: None,
            slow_answers: None,
        }
    }

    /// Returns `true` for a lock that lasts as long as a session or connection.
    pub fn has_no_ttl(&self) -> bool {
        self.lives_with_session || self.kept_as == Some(Keeping::Connection)
    }

    /// Returns whether the key is the token counter of a built-in lock (`clients::fencing`).
    pub(crate) fn is_token_counter(&self, key: &str) -> bool {
        key.strip_suffix(":token") == Some(&*self.resource)
    }

    pub(crate) fn has_queue(&self) -> bool {
        let has_none = matches!(self.kept_as, Some(Keeping::Session | Keeping::Membership));
        self.lives_with_session && !has_none
    }

    /// Returns whether the servers commit each change of the lock to a majority before they answer.
    pub(crate) fn commits(&self) -> bool {
        self.lives_with_session && !self.has_members()
    }

    /// Returns whether the lock is a row. Such a row remains after its lease has ended.
    pub(crate) fn has_rows(&self) -> bool {
        matches!(self.kept_as, Some(Keeping::RowByClients | Keeping::RowByServer))
    }

    pub(crate) fn has_members(&self) -> bool {
        matches!(self.kept_as, Some(Keeping::Membership | Keeping::MemberLease))
    }

    pub(crate) fn place(&self) -> (&'static str, &'static str) {
        match self.kept_as {
            Some(Keeping::Lease) => ("key", "lease"),
            Some(Keeping::Session) => ("lock", "session"),
            Some(Keeping::Membership | Keeping::MemberLease) => ("lock", "membership"),
            _ => ("node", "session"),
        }
    }
}
