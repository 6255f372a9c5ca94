//! The server to write to: a fixed one, or the primary that the Sentinels know. Must never know what is written.
//!
//! Follows "Guidelines for Redis clients with support for Redis Sentinel" (redis.io): ask the Sentinels in turn, move the one that answered to
//! the front, verify with ROLE, ask again after every disconnection; and listen to `+switch-master`, so that a connection to a primary that was
//! demoted without its knowledge is given up.

use crate::connection::{CallError, Connection, Reply, Session};
use crate::env::{Address, Env, Spawned};
use crate::lock::{Servers, Settings};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// How long the listener waits before it tries the next Sentinel.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// A session with whoever is the primary.
pub struct Primary {
    env: Env,
    timeout: Duration,
    source: Source,
    session: Option<Session>,
    /// Set by the listener when the Sentinels switched to another primary.
    switched: Rc<Cell<bool>>,
    listener: Option<Spawned>,
}

enum Source {
    Fixed(Address),
    Sentinels { name: String, sentinels: Vec<Address> },
}

impl Primary {
    /// A session with one server, or with the primary that the Sentinels name. Panics on independent masters: they have no primary.
    pub fn new(env: Env, servers: &Servers, settings: &Settings) -> Primary {
        let source = match servers {
            Servers::One(address) => Source::Fixed(address.clone()),
            Servers::Sentinels { name, sentinels } => {
                Source::Sentinels { name: name.clone(), sentinels: sentinels.clone() }
            }
            Servers::Independent(_) => panic!("independent masters have no primary"),
        };
        let switched = Rc::new(Cell::new(false));
        Primary { env, timeout: settings.command_timeout, source, session: None, switched, listener: None }
    }

    /// Sends a command to the primary and waits for its reply.
    pub async fn call(&mut self, command: &[&[u8]]) -> Result<Reply, CallError> {
        if self.switched.take() {
            self.session = None;
        }
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.find().await?,
        };
        let reply = session.call(command).await;
        let is_usable = match &reply {
            Ok(_) => true,
            Err(CallError::Refused(text)) => !is_not_primary(text),
            Err(CallError::NotSent(_) | CallError::Lost(_)) => false,
        };
        if is_usable {
            self.session = Some(session);
        }
        reply
    }

    /// A session with the server that is the primary at present.
    async fn find(&mut self) -> Result<Session, CallError> {
        let Source::Sentinels { name, sentinels } = &mut self.source else {
            let Source::Fixed(address) = &self.source else { unreachable!("a source is fixed or Sentinels") };
            return Ok(Session::new(self.env.clone(), address.clone(), self.timeout));
        };
        if self.listener.is_none() {
            let (env, switched) = (self.env.clone(), self.switched.clone());
            self.listener = Some(self.env.spawn(listen(env, sentinels.clone(), self.timeout, switched)));
        }
        for place in 0..sentinels.len() {
            let mut sentinel = Session::new(self.env.clone(), sentinels[place].clone(), self.timeout);
            let question: [&[u8]; 3] = [b"SENTINEL", b"get-master-addr-by-name", name.as_bytes()];
            let Ok(answer) = sentinel.call(&question).await else { continue };
            let Some(address) = address_of(&answer) else { continue };
            let mut session = Session::new(self.env.clone(), address, self.timeout);
            if session.call(&[b"ROLE"]).await.is_ok_and(|role| is_master(&role)) {
                sentinels[..=place].rotate_right(1);
                return Ok(session);
            }
        }
        Err(CallError::NotSent("no Sentinel names a server that says it is the primary".to_owned()))
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.abort();
        }
    }
}

/// Listens to one Sentinel after the other for a switch of the primary.
async fn listen(env: Env, sentinels: Vec<Address>, timeout: Duration, switched: Rc<Cell<bool>>) {
    for address in sentinels.iter().cycle() {
        if let Ok(mut connection) = Connection::open(&env, address, timeout).await
            && connection.send(&[b"SUBSCRIBE", b"+switch-master"]).await.is_ok()
        {
            while let Ok(message) = connection.receive().await {
                if is_message(&message) {
                    switched.set(true);
                }
            }
            // Whatever was said while nobody listened is missed: look again.
            switched.set(true);
        }
        env.sleep(LISTEN_AGAIN).await;
    }
}

/// Whether an error says that this server is not to be written to.
fn is_not_primary(error: &str) -> bool {
    ["READONLY", "MASTERDOWN", "LOADING"].iter().any(|code| error.starts_with(code))
}

fn address_of(answer: &Reply) -> Option<Address> {
    let Reply::Array(items) = answer else { return None };
    let text = |index: usize| match items.get(index) {
        Some(Reply::BulkString(bytes)) => std::str::from_utf8(bytes).ok(),
        _ => None,
    };
    Some(Address { host: text(0)?.to_owned(), port: text(1)?.parse().ok()? })
}

fn is_master(role: &Reply) -> bool {
    let Reply::Array(items) = role else { return false };
    matches!(items.first(), Some(Reply::BulkString(word)) if &word[..] == b"master")
}

fn is_message(message: &Reply) -> bool {
    let Reply::Array(items) = message else { return false };
    matches!(items.first(), Some(Reply::BulkString(word)) if &word[..] == b"message")
}
