//! The order in which a client tries servers ([`Hosts`], `StaticHostProvider` of ZooKeeper 3.8).

use crate::env::{Address, Draw, Env};
use std::time::Duration;

/// Delay after all servers have been tried (`hostProvider.next(1000)`).
const ROUND_DELAY: Duration = Duration::from_secs(1);

/// The servers of an ensemble, in one client's order.
pub struct Hosts {
    servers: Vec<Address>,
    current: Option<usize>,
    last: Option<usize>,
}

impl Hosts {
    /// Shuffles the servers with the process's random numbers. Panics if there are no servers.
    pub fn shuffled(env: &Env, servers: &[Address]) -> Hosts {
        assert!(!servers.is_empty(), "an ensemble has a server");
        let mut servers = servers.to_vec();
        for place in (1..servers.len()).rev() {
            let other = (u128::from(env.random(Draw::Jitter)) * (place as u128 + 1)) >> 64;
            servers.swap(place, other as usize);
        }
        Hosts { servers, current: None, last: None }
    }

    /// Returns the number of servers.
    pub fn count(&self) -> u32 {
        u32::try_from(self.servers.len()).unwrap_or(u32::MAX)
    }

    /// Returns the next server to try. Waits first if all servers have been tried.
    pub async fn next(&mut self, env: &Env) -> Address {
        let next = self.current.map_or(0, |current| (current + 1) % self.servers.len());
        self.current = Some(next);
        if self.last == Some(next) {
            env.sleep(ROUND_DELAY).await;
        }
        self.last.get_or_insert(0);
        self.servers[next].clone()
    }

    /// Records that the last tried server has accepted the session.
    pub fn connected(&mut self) {
        self.last = self.current;
    }
}
