use crate::call_error::CallError;
use crate::connection::{Connection, Subscription};
use crate::discovery::PrimaryFinder;
use crate::env::{Address, Env};
use crate::lock::{Servers, Settings};
use crate::reply::Reply;
use std::future::Future;
use std::io;
use std::time::Duration;

/// A client of one server, or of Sentinel's primary, with one connection for calls.
pub struct Session {
    target: Target,
    open: Option<Open>,
}

enum Target {
    Fixed { env: Env, address: Address, timeout: Duration },
    Primary(PrimaryFinder),
}

struct Open {
    connection: Connection,
    switches: u64,
}

impl Session {
    pub fn fixed(env: &Env, address: &Address, timeout: Duration) -> Session {
        Session {
            target: Target::Fixed { env: env.clone(), address: address.clone(), timeout },
            open: None,
        }
    }

    /// Panics for independent masters and for other coordinators.
    pub fn primary(env: &Env, servers: &Servers, settings: &Settings) -> Session {
        let timeout = settings.command_timeout;
        match servers {
            Servers::One(address) => Session::fixed(env, address, timeout),
            Servers::Sentinels { name, sentinels } => Session {
                target: Target::Primary(
                    PrimaryFinder::new(env, name, sentinels, timeout)
                        .listening(settings.hears_switches),
                ),
                open: None,
            },
            Servers::Independent(_) | Servers::Ensemble(_) => {
                panic!("one primary is needed, but the servers are {servers:?}")
            }
        }
    }

    pub fn independent(env: &Env, servers: &Servers, settings: &Settings) -> Vec<Session> {
        let Servers::Independent(addresses) = servers else {
            panic!("independent masters are needed, but the servers are {servers:?}")
        };
        addresses
            .iter()
            .map(|address| Session::fixed(env, address, settings.node_timeout))
            .collect()
    }

    /// Sends the command at most once. Replaces a connection that broke before the call.
    pub fn call(&mut self, words: &[&[u8]]) -> impl Future<Output = Result<Reply, CallError>> {
        let may_be_replaced = self.open.is_some();
        self.attempt(words, may_be_replaced)
    }

    /// Like [`Session::call`], but `limit` replaces the timeouts for connecting and for the reply.
    pub async fn call_within(
        &mut self,
        limit: Duration,
        words: &[&[u8]],
    ) -> Result<Reply, CallError> {
        let usual = self.limit(limit);
        let limited = Limited { session: self, usual };
        limited.session.call(words).await
    }

    fn limit(&mut self, limit: Duration) -> Duration {
        if let Some(open) = &mut self.open {
            open.connection.limit(limit);
        }
        match &mut self.target {
            Target::Fixed { timeout, .. } => std::mem::replace(timeout, limit),
            Target::Primary(finder) => finder.limit(limit),
        }
    }

    pub async fn call_on_the_same_connection(
        &mut self,
        words: &[&[u8]],
    ) -> Result<Reply, CallError> {
        if !self.leads_to_the_right_server() {
            return Err(CallError::Unsent(io::ErrorKind::NotConnected));
        }
        self.attempt(words, false).await
    }

    /// Opens a separate connection, which stays connected to its server after a failover.
    pub async fn subscribe(&mut self, channels: &[&[u8]]) -> Result<Subscription, CallError> {
        let open = Box::pin(self.target.connect()).await?;
        Subscription::subscribe(open.connection, channels).await
    }

    async fn attempt(&mut self, words: &[&[u8]], mut again: bool) -> Result<Reply, CallError> {
        loop {
            if !self.leads_to_the_right_server() {
                self.open = None;
                // Boxes the future, because its size would enlarge every call's future.
                match Box::pin(self.target.connect()).await {
                    Ok(open) => self.open = Some(open),
                    Err(CallError::Unsent(_)) if std::mem::take(&mut again) => continue,
                    Err(error) => return Err(error),
                }
            }
            let follows_primary = self.follows_primary();
            let mut in_use = InUse { open: &mut self.open, is_fit: false };
            let Some(open) = in_use.open else {
                return Err(CallError::Unsent(io::ErrorKind::NotConnected));
            };
            let reply = match open.connection.ask(words) {
                Ok(exchange) => exchange.await,
                Err(error) => Err(error),
            };
            let outcome = match reply {
                Ok(Reply::Error(text)) => Err(CallError::Server(text)),
                Err(CallError::Unsent(_)) if std::mem::take(&mut again) => continue,
                Err(error) => return Err(error),
                reply => reply,
            };
            in_use.is_fit = !(follows_primary && denies_being_primary(&outcome));
            return outcome;
        }
    }

    fn leads_to_the_right_server(&self) -> bool {
        match (&self.open, &self.target) {
            (None, _) => false,
            (Some(_), Target::Fixed { .. }) => true,
            (Some(open), Target::Primary(finder)) => open.switches == finder.switches(),
        }
    }

    fn follows_primary(&self) -> bool {
        matches!(self.target, Target::Primary(_))
    }
}

impl Target {
    async fn connect(&mut self) -> Result<Open, CallError> {
        match self {
            Target::Fixed { env, address, timeout } => Ok(Open {
                connection: Connection::open(env, address, *timeout).await?,
                switches: 0,
            }),
            Target::Primary(finder) => {
                let switches = finder.switches();
                Ok(Open { connection: finder.connect().await?, switches })
            }
        }
    }
}

struct Limited<'s> {
    session: &'s mut Session,
    usual: Duration,
}

impl Drop for Limited<'_> {
    fn drop(&mut self) {
        self.session.limit(self.usual);
    }
}

/// The connection during a call. Dropping `InUse` closes the connection unless `is_fit` is `true`.
struct InUse<'s> {
    open: &'s mut Option<Open>,
    is_fit: bool,
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        if !self.is_fit {
            *self.open = None;
        }
    }
}

fn denies_being_primary(outcome: &Result<Reply, CallError>) -> bool {
    let codes = ["READONLY", "MASTERDOWN", "UNBLOCKED"];
    matches!(
        outcome,
        Err(CallError::Server(error)) if codes.iter().any(|code| error.starts_with(code))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Answer, TestWorld, at};

    const USUAL: Duration = Duration::from_millis(500);

    fn within(limit: Duration) -> [bool; 2] {
        let world = TestWorld::new();
        world.serve("redis", |_| Answer::Late(2_000));
        let mut redis = Session::fixed(&world.env(), &at("redis"), USUAL);
        world.run(async move {
            let first = redis.call_within(limit, &[b"GET", b"a"]).await.is_ok();
            [first, redis.call(&[b"GET", b"a"]).await.is_ok()]
        })
    }

    #[test]
    fn a_limit_of_its_own_holds_for_one_call_only() {
        assert_eq!(within(Duration::from_secs(3)), [true, false]);
        assert_eq!(within(Duration::from_secs(1)), [false, false]);
    }
}
