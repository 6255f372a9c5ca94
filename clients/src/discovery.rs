//! Finds the primary through Sentinel (Redis documentation, "Guidelines for Redis clients with
//! support for Redis Sentinel"). The client asks the Sentinels in turn for the primary's address
//! (steps 1 and 2), moves the first Sentinel that knows the address to the front of the list,
//! connects to the primary, and checks its ROLE (step 3). Unless disabled, a listener also
//! subscribes to `+switch-master` at a Sentinel.

use crate::call_error::CallError;
use crate::connection::{Connection, Subscription};
use crate::env::{Address, Env, Spawned};
use crate::reply::Reply;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

const RESUBSCRIBE_DELAY: Duration = Duration::from_secs(1);

pub struct PrimaryFinder {
    env: Env,
    name: String,
    sentinels: Vec<Address>,
    timeout: Duration,
    switches: Rc<Cell<u64>>,
    listener: Option<Spawned>,
    listens: bool,
}

impl PrimaryFinder {
    pub fn new(env: &Env, name: &str, sentinels: &[Address], timeout: Duration) -> PrimaryFinder {
        PrimaryFinder {
            env: env.clone(),
            name: name.to_owned(),
            sentinels: sentinels.to_vec(),
            timeout,
            switches: Rc::new(Cell::new(0)),
            listener: None,
            listens: true,
        }
    }

    pub fn listening(mut self, listens: bool) -> PrimaryFinder {
        self.listens = listens;
        self
    }

    pub(crate) fn limit(&mut self, timeout: Duration) -> Duration {
        std::mem::replace(&mut self.timeout, timeout)
    }

    pub fn switches(&self) -> u64 {
        self.switches.get()
    }

    /// Connects to the primary that a Sentinel names, and checks that its ROLE is master.
    pub async fn connect(&mut self) -> Result<Connection, CallError> {
        self.listen();
        let address = self.ask_sentinels().await?;
        let verified = self.connect_to_master(&address).await;
        if verified.is_err() {
            // The next attempt begins with the next Sentinel, unlike in the guidelines.
            self.sentinels.rotate_left(1);
        }
        verified
    }

    async fn ask_sentinels(&mut self) -> Result<Address, CallError> {
        for index in 0..self.sentinels.len() {
            let asked = ask(&self.env, &self.sentinels[index], &self.name, self.timeout).await;
            if let Ok(Some(address)) = asked {
                self.sentinels[..=index].rotate_right(1);
                return Ok(address);
            }
        }
        Err(CallError::NoPrimary(format!(
            "none of {} sentinels knows {}",
            self.sentinels.len(),
            self.name
        )))
    }

    async fn connect_to_master(&self, address: &Address) -> Result<Connection, CallError> {
        let connection = Connection::open(&self.env, address, self.timeout).await?;
        let no_primary = |reason: &str| CallError::NoPrimary(format!("{address} {reason}"));
        // A lost reply is also a `NoPrimary` error, because ROLE changes no data.
        let (reply, connection) = connection
            .call(&[b"ROLE"])
            .await
            .map_err(|error| no_primary(&format!("did not report its role: {error}")))?;
        match reply.as_array().and_then(|elements| elements.first()?.as_bytes()) {
            Some(b"master") => Ok(connection),
            Some(role) => Err(no_primary(&format!("is a {}", String::from_utf8_lossy(role)))),
            None => Err(no_primary("did not report its role")),
        }
    }

    fn listen(&mut self) {
        if self.listens && self.listener.is_none() {
            let (env, name, sentinels) =
                (self.env.clone(), self.name.clone(), self.sentinels.clone());
            let task = count_switches(env, name, sentinels, self.timeout, self.switches.clone());
            self.listener = Some(self.env.spawn(task));
        }
    }
}

impl Drop for PrimaryFinder {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.abort();
        }
    }
}

async fn ask(
    env: &Env,
    sentinel: &Address,
    name: &str,
    timeout: Duration,
) -> Result<Option<Address>, CallError> {
    let connection = Connection::open(env, sentinel, timeout).await?;
    let (reply, _) =
        connection.call(&[b"SENTINEL", b"get-master-addr-by-name", name.as_bytes()]).await?;
    Ok(address_of(&reply))
}

fn address_of(reply: &Reply) -> Option<Address> {
    let [host, port] = reply.as_array()? else { return None };
    let host = std::str::from_utf8(host.as_bytes()?).ok()?.to_owned();
    let port = std::str::from_utf8(port.as_bytes()?).ok()?.parse().ok()?;
    Some(Address { host, port })
}

async fn count_switches(
    env: Env,
    name: String,
    sentinels: Vec<Address>,
    timeout: Duration,
    switches: Rc<Cell<u64>>,
) {
    let mut subscribed_before = false;
    for sentinel in sentinels.iter().cycle() {
        if let Ok(mut subscription) =
            Subscription::open(&env, sentinel, &[b"+switch-master"], timeout).await
        {
            // A switch may have happened while the client was not subscribed, so count one.
            if subscribed_before {
                switches.set(switches.get() + 1);
            }
            subscribed_before = true;
            while let Ok(message) = subscription.next().await {
                if concerns_primary(&message.payload, &name) {
                    switches.set(switches.get() + 1);
                }
            }
        }
        env.sleep(RESUBSCRIBE_DELAY).await;
    }
}

fn concerns_primary(payload: &[u8], name: &str) -> bool {
    payload.split(|byte| *byte == b' ').next() == Some(name.as_bytes())
}

#[cfg(test)]
mod tests;
