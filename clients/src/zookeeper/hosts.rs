//! The order in which a client tries servers ([`Hosts`], `StaticHostProvider` of ZooKeeper 3.8).

use crate::env::{Address, Draw, Env};
use std::time::Duration;

/// Delay after a round in which the client tried every server (`hostProvider.next(1000)`).
const ROUND_DELAY: Duration = Duration::from_secs(1);

pub struct Hosts {
    servers: Vec<Address>,
    current: Option<usize>,
    last: Option<usize>,
}

impl Hosts {
    pub fn shuffled(env: &Env, servers: &[Address]) -> Hosts {
        assert!(!servers.is_empty(), "an ensemble has a server");
        let mut servers = servers.to_vec();
        for place in (1..servers.len()).rev() {
            let other = (u128::from(env.random(Draw::Jitter)) * (place as u128 + 1)) >> 64;
            servers.swap(place, other as usize);
        }
        Hosts { servers, current: None, last: None }
    }

    pub fn count(&self) -> u32 {
        u32::try_from(self.servers.len()).unwrap_or(u32::MAX)
    }

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
