use crate::times::SESSION_LEASE_US;

pub use fencepost_machine::peers::Member;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    pub me: u8,
    /// All replicas of the cell, including this one. With fewer than two members, it runs alone.
    pub members: Vec<Member>,
    pub seed: u64,
    pub session_lease_us: u64,
    pub connections_max: usize,
    /// Prefix of the lock names that the replica reports to the judge. `None` reports no locks.
    pub tap_prefix: Option<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            me: 1,
            members: Vec::new(),
            seed: 0,
            session_lease_us: SESSION_LEASE_US,
            connections_max: 10_000,
            tap_prefix: None,
        }
    }
}

impl Config {
    pub(crate) fn answers_before_us(&self) -> u64 {
        self.session_lease_us / 3
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.id != self.me)
    }
}
